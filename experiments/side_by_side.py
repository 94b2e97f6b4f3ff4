"""Plain classifiers, pulearn and purely on the same draws of public tables, nothing known but positives and pool.

A plain classifier is trained to tell positives from unlabelled rows and cut at .5. pulearn's are around a random forest
(the weighted one, which does badly with a forest, around a support vector machine; bagging with its own trees). Tables
are those that no default was chosen on (`experiments.promises`, `--tables report`), at priors .1, .3 and .6, with 200
positives and 800 unlabelled rows, or fewer where a table is small.

    pip install pulearn
    PURELY_DATA=folder python -m experiments.side_by_side --jobs 2
    python -m experiments.side_by_side --summarise

15 minutes on two busy cores.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments import sets
from experiments.entry import Options, option, read_options
from experiments.promises import GENERATORS, dealt, load
from experiments.records import provenance
from purely import PUClassifier, PULogisticClassifier
from purely.comparison import compare_methods

NAME = "side_by_side"
OURS = "purely PUClassifier"
PRIORS = (0.1, 0.3, 0.6)
#: Positives, unlabelled rows and test rows of a draw, the first that a table has enough rows for.
SIZES = ((200, 800, 500), (100, 400, 200), (60, 200, 80))
SMOKE: dict[str, Any] = {"draws": 1, "only": ("touch",)}


@dataclass(frozen=True)
class SideBySide(Options):
    """Options of this study."""

    draws: int = option(1, "draws a table and prior")
    only: tuple[str, ...] = option((), "names of tables")
    summarise: bool = option(False, "only print what the rows that are there say")


def methods() -> dict[str, Any]:
    """Classifiers by name; those of pulearn where it is installed."""
    forest = RandomForestClassifier(200, random_state=0)
    found: dict[str, Any] = {
        "plain logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "plain random forest": forest,
        "plain boosting": HistGradientBoostingClassifier(random_state=0),
    }
    if find_spec("pulearn"):
        from pulearn import BaggingPuClassifier, ElkanotoPuClassifier, WeightedElkanotoPuClassifier

        found |= {
            "pulearn ElkanotoPuClassifier": ElkanotoPuClassifier(forest, hold_out_ratio=0.2),
            "pulearn WeightedElkanotoPuClassifier": WeightedElkanotoPuClassifier(
                SVC(probability=True, random_state=0), *SIZES[0][:2]
            ),
            "pulearn BaggingPuClassifier": BaggingPuClassifier(n_estimators=50, random_state=0),
        }
    return found | {
        "purely PULogisticClassifier": PULogisticClassifier("auto"),
        OURS: PUClassifier(),
    }


def judge(table: str, prior: float, draw: int) -> list[dict[str, Any]]:
    """Every method on one draw, in the largest size that the table has rows for; nothing where it has none."""
    X, y = load(table, "report")
    for n_positive, n_unlabelled, n_test in SIZES:
        size = {"n_positive": n_positive, "n_unlabelled": n_unlabelled, "n_test": n_test}
        rows = []
        for name, method in methods().items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = compare_methods(
                        {name: method}, X, y, class_prior=prior, n_draws=1, random_state=draw, **size
                    )
            except ValueError as error:
                if "are needed" in str(error):  # the table has too few rows of a kind
                    break
                rows.append({"method": name, "failure": str(error)[:120]})
            else:
                rows.append({**found.rows[0], "failure": ""})
        else:
            return [{"table": table, "prior": prior, **size, **row, "draw": draw} for row in rows]
    return []


def summarise(rows: pd.DataFrame) -> str:
    """Means over draws, and how each method does beside ours on the same draws."""
    cell = ["table", "prior", "draw"]
    error, area = (rows.pivot_table(index=cell, columns="method", values=v) for v in ("error", "area"))
    lines = []
    for name in error.mean().sort_values().index:
        e, a = error[OURS] - error[name], area[OURS] - area[name]
        lines.append(
            {
                "method": name,
                "draws": int(error[name].notna().sum()),
                "error": 100 * error[name].mean(),
                "area": area[name].mean(),
                "ours errs less": (e < -0.01).mean(),
                "level": (e.abs() <= 0.01).mean(),
                "ours errs more": (e > 0.01).mean(),
                "ours ranks better": (a > 0.01).mean(),
                "ranks level": (a.abs() <= 0.01).mean(),
                "ranks worse": (a < -0.01).mean(),
                "seconds": rows.loc[rows["method"] == name, "seconds"].median(),
            }
        )
    by_prior = rows.pivot_table(index="method", columns="prior", values="error").mul(100).round(1)
    return f"{pd.DataFrame(lines).round(3).to_string(index=False)}\n\n{by_prior.to_string()}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the draws, or print what is there."""
    options = read_options(SideBySide, __doc__, SMOKE, arguments)
    path = options.out / f"{NAME}.csv"
    if not options.summarise:
        tables = options.only or tuple(name for name in dealt("report") if name not in (*sets.SETS, *GENERATORS))
        jobs = [(table, prior, draw) for draw in range(options.draws) for table in tables for prior in PRIORS]
        found = Parallel(n_jobs=options.jobs)(delayed(judge)(*job) for job in jobs)
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame([{**row, **provenance()} for part in found for row in part]).to_csv(path, index=False)
    print(summarise(pd.read_csv(path)))


if __name__ == "__main__":
    main()
