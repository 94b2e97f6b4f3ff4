"""How impure may the top of a score be? The constants of :mod:`purely.prior.ceiling`, from many tables.

``python -m experiments.promises --keep`` keeps the scores of every draw. What the class prior's interval is made of is
read off them, a row a draw. Then the constants are fitted by the mean log density at the true share, every table
weighing the same: on all, and on every other one, judged on the rest.

    PURELY_DATA=folder python -m experiments.promises --tables choose --draws 8 --keep --out build/choices
    PURELY_DATA=folder python -m experiments.promises --tables strangers-choose --draws 7 --keep --out build/choices
    python -m experiments.prior_posterior --scores build/choices/scores --jobs 2
    python -m experiments.prior_posterior --summarise
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.special import logit

from experiments import promises
from experiments.entry import Options, option, read_options
from experiments.records import read_rows, write_rows
from purely.prior import ceiling
from purely.prior.ratio import stack_ratios
from purely.prior.scores import ScoreTable

NAME = "prior_posterior"
SMOKE: dict[str, Any] = {"scores": Path("build/smoke/prior_posterior/scores")}
#: Losses are kept as whole multiples of this.
UNIT = 1e-6
#: The constants, which are all above zero.
CONSTANTS = ("TOP_FALL", "TOP_POWER", "TOP_SPREAD", "CEILING_LEEWAY")
FLOAT = np.float64


@dataclass(frozen=True)
class PriorPosterior(Options):
    """Options of this study."""

    scores: Path = option(Path("build/choices/scores"), "folder of the kept scores")
    summarise: bool = option(False, "only print what the rows that are there say")


def read(path: Path) -> dict[str, Any]:
    """What the interval of a draw is made of."""
    with np.load(path) as kept:
        positive, by_model = kept["labelled"], kept["scores"].astype(FLOAT)
        prior, table = float(kept["prior"]), str(kept["table"])
    found = stack_ratios(by_model, positive)
    profile = ceiling.ceiling_profile(ScoreTable.from_scores(found.score[positive], found.score[~positive]))
    return {
        "table": table,
        "draw": path.stem,
        "prior": prior,
        "n_positive": int(positive.sum()),
        "n_unlabelled": int((~positive).sum()),
        "logistic_loss": found.loss,
        "area": profile.area,
        "best_bin": profile.best_bin,
        "n_eff": profile.n_eff,
        "loss": " ".join(f"{round((v - profile.loss.min()) / UNIT)}" for v in profile.loss),
    }


def profile_of(row: dict[str, str]) -> ceiling.CeilingProfile:
    """The profile that a row keeps, without its curves."""
    none = np.zeros(ceiling.GRID.size)
    loss = UNIT * np.array(row["loss"].split(), dtype=FLOAT)
    n_eff, area, best_bin = (float(row[key]) for key in ("n_eff", "area", "best_bin"))
    return ceiling.CeilingProfile(loss, none, none, 0.0, 1.0, n_eff, area, best_bin)


@contextmanager
def constants(values: Sequence[float]) -> Any:
    """The package's constants replaced for a while."""
    before = [getattr(ceiling, name) for name in CONSTANTS]
    try:
        for name, value in zip(CONSTANTS, values, strict=True):
            setattr(ceiling, name, value)
        yield
    finally:
        for name, value in zip(CONSTANTS, before, strict=True):
            setattr(ceiling, name, value)


def log_density(profiles: list[ceiling.CeilingProfile], prior: Any, weight: Any, values: Sequence[float]) -> float:
    """Weighted mean of the log density of the share's log-odds at the truth."""
    step = np.gradient(ceiling.GRID)
    with constants(values):
        found = [
            np.interp(at, ceiling.GRID, profile.posterior().weight / step)
            for profile, at in zip(profiles, logit(prior), strict=True)
        ]
    return float(weight @ np.log(np.asarray(found) + 1e-4))


def fitted(profiles: list[ceiling.CeilingProfile], frame: pd.DataFrame) -> Any:
    """The constants of highest mean log density; tables weigh the same."""
    weight = (1.0 / frame.groupby("table").table.transform("size")).to_numpy()
    weight = weight / weight.sum()
    prior = frame.prior.to_numpy(dtype=FLOAT)

    def loss(logs: Any) -> float:
        return -log_density(profiles, prior, weight, np.exp(logs))

    start = np.log([getattr(ceiling, name) for name in CONSTANTS])
    return np.exp(minimize(loss, start, method="Nelder-Mead", options={"xatol": 0.02, "fatol": 2e-4}).x)


def judged(profiles: list[ceiling.CeilingProfile], frame: pd.DataFrame, values: Sequence[float]) -> pd.DataFrame:
    """Intervals and medians under some constants."""
    with constants(values):
        found = np.array([[p.posterior().quantile(q) for q in (0.05, 0.5, 0.95)] for p in profiles])
    low, middle, high = found.T
    prior = frame.prior.to_numpy(dtype=FLOAT)
    return frame.assign(
        covers=(low <= prior) & (prior <= high),
        above=prior < low,
        bound_holds=prior <= high,
        width=high - low,
        error_of_median=np.abs(middle - prior),
    )


def summarise(rows: list[dict[str, str]]) -> str:
    """The constants, and how intervals do on tables that they were not fitted on."""
    columns = ["table", "prior", "n_positive", "n_unlabelled", "logistic_loss"]
    frame = pd.DataFrame([{key: row[key] for key in columns} for row in rows])
    frame[columns[1:]] = frame[columns[1:]].astype(FLOAT)
    profiles = [profile_of(row) for row in rows]
    half = frame.table.map({name: i % 2 for i, name in enumerate(sorted(frame.table.unique()))}).to_numpy()
    lines = [f"{len(frame)} draws from {frame.table.nunique()} tables; constants {', '.join(CONSTANTS)}"]
    every = fitted(profiles, frame)
    lines.append(f"all tables: {np.round(every, 2)}")
    parts = []
    for k in range(min(2, frame.table.nunique())):
        train, test = (np.flatnonzero((half == k) == own) for own in (True, False))
        values = fitted([profiles[i] for i in train], frame.iloc[train])
        lines.append(f"half of the tables: {np.round(values, 2)}")
        parts.append(judged([profiles[i] for i in test], frame.iloc[test], values))
    table = pd.concat(parts)
    measured = ["covers", "above", "bound_holds", "width", "error_of_median"]
    groups = {
        "prior": pd.cut(table.prior, [0, 0.03, 0.15, 0.4, 1]),
        "logistic loss": pd.cut(table.logistic_loss, [0, 0.2, 0.4, 0.5, 0.6, 0.65, 0.7]),
        "positives": pd.cut(table.n_positive, [0, 100, 500, 10_000]),
        "unlabelled": pd.cut(table.n_unlabelled, [0, 1500, 5000, 15_000, 100_000]),
    }
    lines.append(table[measured].astype(FLOAT).mean().round(3).to_frame("other half").T.to_string())
    for name, group in groups.items():
        part = table[measured].astype(FLOAT).groupby(group, observed=True).mean().round(3)
        part.insert(0, "draws", table.groupby(group, observed=True).size())
        lines.append(f"by {name}\n{part.to_string()}")
    return "\n\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the kept scores, write the rows, print what they say."""
    options = read_options(PriorPosterior, __doc__, SMOKE, arguments)
    if not options.summarise:
        if options.smoke:
            made = ["--smoke", "--keep", "--draws", "1", "--only", "touch", "overlap", "--jobs", str(options.jobs)]
            promises.main([*made, "--out", str(options.scores.parent)])
        paths = sorted(options.scores.glob("*.npz"))
        write_rows(NAME, Parallel(options.jobs)(delayed(read)(path) for path in paths), options.out)
    print(summarise(read_rows(NAME, options.out)))


if __name__ == "__main__":
    main()
