"""Constants of the recommended classifier: how often the forest counts, and what a promise of a precision needs.

``python -m experiments.promises --keep`` keeps the scores of every draw. They are read here, without another fit: areas
under the curve with other starts of the members' weights, and promises of a precision under other rules.

    PURELY_DATA=folder python -m experiments.promises --tables choose --draws 8 --keep --out build/choices
    PURELY_DATA=folder python -m experiments.promises --tables strangers-choose --draws 7 --keep --out build/choices
    python -m experiments.choices --scores build/choices/scores --jobs 2

Half a second a draw on one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from experiments import promises
from experiments.entry import Options, option, read_options
from experiments.records import write_rows
from purely import weighing
from purely.class_prior import Prior
from purely.classifiers import promises as rules
from purely.prior.base import LARGEST_ODDS_RATIO
from purely.prior.ceiling import ceiling_profile, logistic_ceiling
from purely.prior.ratio import stack_ratios
from purely.prior.scores import ScoreTable

NAME = "choices"
SMOKE: dict[str, Any] = {"scores": Path("build/smoke/choices/scores")}
#: Pulls, and counts of the forest.
PULLS, COUNTS = (3.0, 5.0, 8.0), (1.0, 2.0, 4.0, 6.0)
#: Rules of promises: beyond how many positives draws may use up more of the doubt than asked, and how much at most.
MANY, MOST = (60, 100, 150), (1.0, 2.0, 3.0, 4.0)
#: The area above which classes count as separate.
SEPARATE = 0.97
#: Positives count as rare below this share.
RARE = 0.03
ASKED = 0.8
FLOAT = np.float64
#: The ends of a 90 % interval.
ENDS = (0.05, 0.95)


@dataclass(frozen=True)
class Choices(Options):
    """Options of this study."""

    scores: Path = option(Path("build/choices/scores"), "folder of the kept scores")
    summarise: bool = option(False, "only print what the rows that are there say")


@contextmanager
def replaced(module: ModuleType, **values: Any) -> Iterator[None]:
    """Constants of a module replaced for a while."""
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def prior_of(by_model: Any, positive: Any) -> Prior:
    """The class prior that today's constants read off the scores of the ratio's models."""
    score = stack_ratios(by_model, positive).score
    table = ScoreTable.from_scores(score[positive], score[~positive])
    share, posterior = logistic_ceiling(table).share, ceiling_profile(table).posterior()
    low, high = (posterior.quantile(q) for q in ENDS)
    determined = high / (1.0 - high) <= LARGEST_ODDS_RATIO * low / (1.0 - low)
    return Prior(share, min(low, share), max(high, share), determined=determined, same_rows=True)


def read(path: Path) -> dict[str, Any]:
    """What a draw says under every setting."""
    with np.load(path) as kept:
        positive, truth, table = kept["labelled"], kept["truth"], str(kept["table"])
        by_model, log_odds, new, plain = (kept[k].astype(FLOAT) for k in ("scores", "members", "new_members", "plain"))
        names, row = list(kept["names"]), {"table": table, "prior": float(kept["prior"]), "draw": path.stem}
    prior = prior_of(by_model, positive)
    forest = names.index("forest")
    row |= {"n_positive": int(positive.sum()), "n_unlabelled": int((~positive).sum()), "plain": area(truth, plain)}
    row |= {
        "true_positive": int(truth.sum()),
        "true_negative": int((~truth).sum()),
        "determined": int(prior.determined),
    }
    share = min(max(prior.value, 1e-4), 1.0 - 1e-4)
    for pull in PULLS:
        for counts in COUNTS:
            start = np.ones(len(log_odds))
            start[forest] = counts
            with replaced(weighing, PULL=pull):
                weights = weighing.stacked_weights(log_odds, positive, share, start / start.sum())
            row[f"area, pull {pull:g}, forest {counts:g}"] = area(truth, weights @ new)
            if (pull, counts) == (3.0, 4.0):
                total, total_new = weights @ log_odds, weights @ new
    scores = ScoreTable.from_scores(total[positive], total[~positive])
    row["area"] = area(truth, total_new)
    for many in MANY:
        for most in MOST:
            with replaced(rules, MANY=many, MOST_DOUBT=most):
                threshold = rules.threshold_for_precision(scores, prior, "case-control", ASKED, 0.9)
            called = total_new > threshold
            got = float(truth[called].mean()) if called.any() else np.nan
            rule = f"many {many}, most {most:g}"
            row |= {f"called, {rule}": int(called.sum()), f"got, {rule}": got}
    return row


def area(truth: Any, score: Any) -> float:
    return float(roc_auc_score(truth, score))


def summarise(rows: pd.DataFrame) -> str:
    """Areas and kept promises by setting, on our own sources and on the strangers' tables."""
    rows = rows.assign(kind=np.where(rows.table.str.contains("/"), "strangers", "own"))
    parts = [f"{len(rows)} draws"]
    areas = [column for column in rows if column.startswith("area,")]
    for kind, group in [*rows.groupby("kind"), ("both", rows)]:
        found = {c: {"area": group[c].mean(), "worse": (group[c] < group.plain - 0.01).mean()} for c in areas}
        parts.append(f"{kind}, plain {group.plain.mean():.4f}\n{pd.DataFrame(found).T.round(4).to_string()}")
    for column in (c for c in rows if c.startswith("called")):
        promised = rows[rows[column] >= 5]
        kept = promised[column.replace("called", "got")] >= ASKED
        by = {kind: kept[promised.kind == kind] for kind in ("own", "strangers")}
        apart = promised.area > SEPARATE
        by |= {"separate": kept[apart], "others": kept[~apart], "below 3 %": kept[promised.prior < RARE]}
        shown = ", ".join(f"{name} {100 * k.mean():.0f} % of {len(k)}" for name, k in by.items())
        parts.append(f"{column}: kept {100 * kept.mean():.1f} % of {len(kept)}; {shown}")
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the kept scores, write the rows, print what they say."""
    options = read_options(Choices, __doc__, SMOKE, arguments)
    if not options.summarise:
        if options.smoke:
            promises.main(["--smoke", "--keep", "--jobs", str(options.jobs), "--out", str(options.scores.parent)])
        found = Parallel(options.jobs)(delayed(read)(path) for path in sorted(options.scores.glob("*.npz")))
        write_rows(NAME, found, options.out)
    path = options.out / f"{NAME}.csv"
    print(summarise(pd.read_csv(path if path.exists() else f"{path}.gz")))


if __name__ == "__main__":
    main()
