"""Do the promises hold on many tables? Class priors, intervals, thresholds, areas and times over draws of all kinds.

Draws come from labelled tables (``PURELY_DATA/tabular``), from one half of each of the paper's seven data sets, and
from generators whose classes separate, touch or overlap; priors from .005 to .9, 40 to 5,000 positives, 1,000 to 50,000
unlabelled rows. Defaults are chosen on `--tables choose` (every other table, the choosing halves) and reported on
`--tables report` (the other tables and halves), whole tables at a time; `--tables fresh` draws from these again.
`--tables strangers` draws from tables of :mod:`experiments.strangers`, half of which are for choosing
(`--tables strangers-choose`).

    PURELY_DATA=folder python -m experiments.promises --tables report --draws 12 --jobs 16
    python -m experiments.promises --tables report --summarise

Some 8 seconds a draw on one core.
"""

from __future__ import annotations

import os
import time
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from experiments import sets, strangers
from experiments.entry import Options, option, read_options
from experiments.records import provenance
from purely import PUClassifier

NAME = "promises"
PRIORS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
POSITIVES = (40, 60, 150, 300, 1000, 3000, 5000)
UNLABELLED = (1000, 2000, 4000, 10_000, 20_000, 50_000)
#: How often each size is drawn.
OFTEN_P = (0.1, 0.2, 0.2, 0.25, 0.18, 0.04, 0.03)
OFTEN_U = (0.27, 0.27, 0.27, 0.1, 0.06, 0.03)
GENERATORS = {"separate": 5, "touch": 8, "overlap": 8, "sparse": 50, "checker": 4, "ring": 6, "skew": 10, "mixed": 6}
ASKED = (0.5, 0.8, 0.9)
#: Sets of many columns have pools of at most 4,000 rows here.
WIDE = ("mnist", "fashion-mnist", "20news")
SMOKE: dict[str, Any] = {"draws": 2, "only": ("touch",), "members": "linear,forest"}
#: Added to the seeds of fresh draws.
FRESH = 1000
#: Test rows at most.
MOST_TESTED = 20_000


@dataclass(frozen=True)
class Promises(Options):
    """Options of this study."""

    tables: str = option("choose", choices=("choose", "report", "fresh", "strangers-choose", "strangers"))
    draws: int = option(12, "draws a source")
    only: tuple[str, ...] = option((), "names of sources")
    members: str = option("auto", "members of the classifier, separated by commas")
    keep: bool = option(False, "keep the scores of every draw")
    seconds: float = option(1e9, "begin no draw after that long")
    summarise: bool = option(False, "only print what the rows that are there say")


@dataclass(frozen=True)
class Cell:
    """Which draw."""

    table: str
    prior: float
    n_positive: int
    n_unlabelled: int
    seed: int
    half: Literal["choose", "report"]


@dataclass(frozen=True)
class Draw:
    """Rows and labels, new rows and their classes, and the share of positives that was possible."""

    X: Any
    y: Any
    hidden: Any
    X_new: Any
    truth: Any
    prior: float


def tables() -> list[str]:
    return sorted(path.stem for path in (Path(os.environ["PURELY_DATA"]) / "tabular").glob("*.npz"))


def dealt(which: str) -> list[str]:
    """Names of the sources of one half: every other table, all data sets, all generators; or tables of strangers."""
    if which.startswith("strangers"):
        return strangers.names(half_for(which))
    own = tables()[0 if which == "choose" else 1 :: 2]
    return [*own, *sets.SETS, *GENERATORS]


def cells(which: str, draws: int) -> list[Cell]:
    """The draws of a study, the same for the same numbers."""
    made = []
    for name in dealt(which):
        rng = np.random.default_rng([zlib.crc32(name.encode()), len(which)])
        for seed in range(draws):
            prior = float(rng.choice(PRIORS))
            n_p, n_u = int(rng.choice(POSITIVES, p=OFTEN_P)), int(rng.choice(UNLABELLED, p=OFTEN_U))
            if name in WIDE:
                n_u = min(n_u, 4000)
            made.append(Cell(name, prior, n_p, n_u, seed + FRESH * (which == "fresh"), half_for(which)))
    return sorted(made, key=lambda cell: cell.seed)


def half_for(which: str) -> Literal["choose", "report"]:
    """The half of a data set that a study draws from; fresh draws are of the tables that are reported."""
    return "choose" if which.endswith("choose") else "report"


@cache
def load(name: str, half: Literal["choose", "report"]) -> tuple[Any, Any]:
    """Rows and classes of a source."""
    if name in GENERATORS:
        return generated(name, half)
    if name in sets.SETS:
        X, y = sets.load(name)
        rows = sets.half_of(y.size, half)
        return X[rows], np.asarray(y)[rows].astype(bool)
    if "/" in name:
        return strangers.load(name)
    table = np.load(Path(os.environ["PURELY_DATA"]) / "tabular" / f"{name}.npz")
    X = table["X"].astype(np.float64)
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32), table["y"]


def generated(name: str, half: str, n: int = 60_000) -> tuple[Any, Any]:
    """As many rows of each class from a generator."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), len(half)])
    P, N = (rng.normal(size=(n, GENERATORS[name])) for _ in range(2))
    if name == "separate":
        P[:, 0] += 5.0
    elif name == "touch":
        P[:, :2] += 1.8
    elif name == "overlap":
        P[:, :4] += 0.9
        P[:, 4] *= 2.0
    elif name == "sparse":
        P[:, 0] += 1.5
        P[:, 1] *= 0.3
        P[:, 2] = np.abs(P[:, 2])
    elif name == "checker":
        P, N = (4.0 * rng.random((n, 4)) for _ in range(2))
        for rows, parity in ((P, 0), (N, 1)):
            wrong = (rows[:, :2].astype(int).sum(axis=1) % 2) != parity
            rows[wrong, 0] = (rows[wrong, 0] + 1.0) % 4.0
    elif name == "ring":
        P *= 0.35
    elif name == "skew":
        P, N = np.exp(0.8 * P), np.exp(0.8 * N)
        P[:, :3] *= 2.5
    else:  # a tenth of the negatives are like positives: no method can find the prior, only a bound
        P[:, 0] += 3.0
        N[rng.random(n) < 0.1, 0] += 3.0
    return np.concatenate([P, N]).astype(np.float32), np.arange(2 * n) < n


def draw(cell: Cell) -> Draw | None:
    """The draw of a cell; None where the table is too small for it."""
    X, y = load(cell.table, cell.half)
    rng = np.random.default_rng([cell.seed, round(1000 * cell.prior), cell.n_positive, cell.n_unlabelled])
    p, q = (rng.permutation(np.flatnonzero(y == value)) for value in (True, False))
    n_u = int(min(cell.n_unlabelled, 0.5 * len(p) / cell.prior, 0.7 * len(q) / (1.0 - cell.prior)))
    k = round(cell.prior * n_u)
    n_p = int(min(cell.n_positive, 0.7 * (len(p) - k)))
    if n_p < 30 or n_u < 150 or k < 5:
        return None
    share = k / n_u
    new_p, new_q = p[n_p + k :], q[n_u - k :]
    m = int(min(len(new_p) / share, len(new_q) / (1.0 - share), MOST_TESTED))
    t = round(share * m)
    rows, new = np.concatenate([p[: n_p + k], q[: n_u - k]]), np.concatenate([new_p[:t], new_q[: m - t]])
    order = rng.permutation(rows.size)
    labelled, positive = np.arange(rows.size) < n_p, np.arange(rows.size) < n_p + k
    return Draw(X[rows[order]], labelled[order].astype(int), positive[order], X[new], np.arange(m) < t, share)


def judge(cell: Cell, members: Any, keep: Path | None) -> dict[str, Any] | None:
    """What PUClassifier promises on a draw, and what it keeps."""
    warnings.filterwarnings("ignore")
    drawn = draw(cell)
    if drawn is None or drawn.truth.sum() < 3:
        return None
    start = time.perf_counter()
    model = PUClassifier(random_state=cell.seed, members=members, device="cpu").fit(drawn.X, drawn.y)
    seconds = time.perf_counter() - start
    plain = RandomForestClassifier(200, min_samples_leaf=3, random_state=cell.seed).fit(drawn.X, drawn.y)
    score, score_plain = model.predict_proba(drawn.X_new)[:, 1], plain.predict_proba(drawn.X_new)[:, 1]
    prior, truth = model.prior_, drawn.truth
    row: dict[str, Any] = {
        "table": cell.table,
        "half": cell.half,
        "seed": cell.seed,
        "asked_prior": cell.prior,
        "prior": drawn.prior,
        "n_positive": int(drawn.y.sum()),
        "n_unlabelled": int((1 - drawn.y).sum()),
        "n_columns": drawn.X.shape[1],
        "estimate": prior.value,
        "low": prior.low,
        "high": prior.high,
        "upper_bound": prior.upper_bound,
        "determined": int(prior.determined),
        "loss": getattr(model.prior_estimator_, "loss_", np.nan),
        "area": roc_auc_score(truth, score),
        "area_plain": roc_auc_score(truth, score_plain),
        "error": float(np.mean((score > 0.5) != truth)),
        "calibration": calibration_error(score, truth),
        "seconds": seconds,
    }
    for asked in ASKED:
        called = score > model.threshold_for_precision(asked)
        row[f"n_{asked}"] = int(called.sum())
        row[f"got_{asked}"] = float(truth[called].mean()) if called.any() else np.nan
        row[f"recall_{asked}"] = float(called[truth].mean())
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            keep / f"{cell.table.replace('/', '_')}_{cell.prior}_{cell.n_positive}_{cell.n_unlabelled}_{cell.seed}.npz",
            labelled=drawn.y.astype(bool),
            hidden=drawn.hidden,
            scores=model.prior_estimator_.model_scores_.astype(np.float16),
            names=[member.name for member in model.members_],
            members=model.oof_member_log_odds_.astype(np.float16),
            new_members=model.member_log_odds(drawn.X_new).astype(np.float16),
            plain=score_plain.astype(np.float32),
            truth=truth,
            prior=drawn.prior,
            table=cell.table,
        )
    return row


def calibration_error(probability: Any, truth: Any, n_bins: int = 10) -> float:
    """Mean distance of predicted and true shares over bins of equal size."""
    order = np.argsort(probability, kind="stable")
    bins = np.array_split(order, n_bins)
    return float(sum(abs(probability[b].mean() - truth[b].mean()) * b.size for b in bins) / order.size)


def summarise(rows: pd.DataFrame) -> str:
    """Coverage, errors and kept promises, in groups."""
    rows = rows.copy()
    rows["covers"] = (rows.low <= rows.prior) & (rows.prior <= rows.high)
    rows["above"], rows["below"] = rows.prior < rows.low, rows.prior > rows.high
    rows["bound_holds"] = rows.prior <= rows.upper_bound
    rows["prior_error"] = (rows.estimate - rows.prior).abs()
    rows["width"] = rows.high - rows.low
    rows["worse"] = rows.area < rows.area_plain - 0.01
    rows["promised"] = rows["n_0.8"] >= 5
    rows["kept"] = np.where(rows.promised, rows["got_0.8"] >= 0.8, np.nan)
    rows["determined_but_missed"] = np.where(rows.determined == 1, ~rows.covers, np.nan)
    columns = ["covers", "above", "below", "bound_holds", "prior_error", "width", "determined", "determined_but_missed"]
    columns += ["promised", "kept", "area", "area_plain", "worse", "error", "calibration", "seconds"]
    kind = np.where(rows.table.isin(sets.SETS), "sets", np.where(rows.table.isin(GENERATORS), "generators", "tables"))
    groups = {
        "kind": kind,
        "prior": pd.cut(rows.prior, [0, 0.03, 0.15, 0.4, 1]),
        "positives": pd.cut(rows.n_positive, [0, 100, 500, 10_000]),
        "unlabelled": pd.cut(rows.n_unlabelled, [0, 1500, 5000, 15_000, 100_000]),
        "separate": np.where(rows.area > 0.97, "area above .97", "area up to .97"),
    }
    parts = [f"{len(rows)} draws", rows[columns].astype(float).mean().to_frame("all").T.round(3).to_string()]
    for name, group in groups.items():
        table = rows[columns].astype(float).groupby(group, observed=True).mean()
        table.insert(0, "draws", rows.groupby(group, observed=True).size())
        parts.append(f"by {name}\n{table.round(3).to_string()}")
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Promises, __doc__, SMOKE, arguments)
    path = options.out / f"{NAME}_{options.tables}.csv"
    if options.summarise:
        print(summarise(pd.read_csv(path if path.exists() else f"{path}.gz")))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    members = options.members.split(",") if "," in options.members else options.members
    wanted = [c for c in cells(options.tables, options.draws) if not options.only or c.table in options.only]
    start, keep = time.perf_counter(), options.out / "scores" if options.keep else None
    jobs = (delayed(judge)(cell, members, keep) for cell in wanted if time.perf_counter() - start < options.seconds)
    rows: list[dict[str, Any]] = []
    for row in Parallel(options.jobs, return_as="generator_unordered")(jobs):
        rows += [{**row, **provenance()}] if row else []
        if len(rows) % 20 == 1:
            pd.DataFrame(rows).to_csv(path, index=False)
    table = pd.DataFrame(rows)
    table.to_csv(path, index=False)
    print(summarise(table))


if __name__ == "__main__":
    from experiments.promises import main as run  # by its name, so that workers find what the module caches

    run()
