"""What to label next: labels that `next_to_label` picks, against labels at random and the most doubtful rows.

Models fitted to the tables of ``PURELY_DATA/tabular`` (`experiments/biased.py`), labels chosen at random, hard ones
first or by a column. Of the unlabelled rows some are labelled, picked in one of four ways: by the goal, at random, the
most doubtful first, or as an audit draws them, which is the same as by the goal for "share" and "model". Then: the
error of the share of positives and of the precision above .5, both as `read_audit` reads the labels, and the error on
new rows of the model that the labels have set right.

Every other table is for choosing constants (column `half`).

    PURELY_DATA=... python -m experiments.next_study --jobs 1
    python -m experiments.next_study --summarise

Fits are kept in the folder `--fits`, which `experiments/audit_study.py` uses too.
"""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.audit_study import Remembered
from experiments.biased import biased_draw, dealt_half, fitted_scores, table_names
from experiments.entry import Options, in_parallel, option, read_options
from experiments.records import provenance
from purely.audit import draw_audit, next_to_label, read_audit

MECHANISMS = ("random", "hard", "column")
GOALS = ("share", "precision", "model")
WAYS = ("next", "random", "doubtful", "audit")
NAME = "next"


@dataclass(frozen=True)
class NextStudy(Options):
    """Options of the study."""

    tables: tuple[str, ...] = option((), "names of tables; all where none is named")
    sizes: tuple[int, ...] = option((20, 50), "labels")
    repeats: int = option(2, "picks of each draw")
    fits: Path = option(Path("build/fits"), "folder of fits that are kept")
    summarise: bool = option(False, "print the tables of the rows that are there")


SMOKE: dict[str, Any] = {"tables": ("vehicle",), "sizes": (20,), "repeats": 1, "fits": Path("build/smoke/fits")}


def rows_of(name: str, mechanism: Any, sizes: tuple[int, ...], repeats: int, folder: Path) -> list[dict[str, Any]]:
    """Errors of every goal and way to pick on one draw."""
    warnings.filterwarnings("ignore")
    scores, draw = fitted_scores(name, mechanism, 0, folder), biased_draw(name, mechanism, 0)
    X, q = draw.X[draw.y == 0], np.asarray(scores.pool)
    given = Remembered([(X, q), (draw.X_test, scores.test)])
    said = {"table": name, "half": dealt_half(name), "mechanism": mechanism, "fit_commit": str(scores.commit)}
    found = []
    for n in sizes:
        for repeat in range(repeats):
            seed = zlib.crc32(f"{name} {mechanism} {n} {repeat}".encode())
            for goal in GOALS:
                for way in WAYS[goal == "model" :]:  # for a model, by the goal is as an audit draws
                    index = pick(way, goal, given, X, q, n, seed)
                    error = judge(goal, index, q, scores, given, X, draw)
                    found.append({**said, "goal": goal, "way": way, "n": n, "repeat": repeat, "error": error})
    return found


def pick(way: str, goal: Any, model: Any, X: Any, q: Any, n: int, seed: int) -> Any:
    """Rows to label."""
    rng = np.random.default_rng(seed)
    if way == "next":
        return next_to_label(model, X, n, goal, random_state=seed).index
    if way == "audit":
        return draw_audit(q, n, random_state=seed).index
    return rng.permutation(q.size)[:n] if way == "random" else np.argsort(np.abs(q - 0.5), kind="stable")[:n]


def judge(goal: str, index: Any, q: Any, scores: Any, model: Any, X: Any, draw: Any) -> float:
    """How far off the goal is once these rows are labelled."""
    sample = replace(draw_audit(q, index.size, random_state=0), index=index, inclusion=np.ones(index.size))
    result = read_audit(sample, scores.hidden[index], q)
    if goal == "share":
        return abs(result.share.value - float(scores.hidden.mean()))
    if goal == "precision":
        above = q > 0.5
        return abs(result.precision(0.5).value - float(scores.hidden[above].mean())) if above.any() else np.nan
    refined = result.recalibrated(model, X[index])
    return float(np.mean((refined.log_odds(draw.X_test) > 0.0) != (scores.truth == 1)))


def summarise(rows: pd.DataFrame) -> str:
    """Mean errors by goal and way to pick, on each half of the tables."""
    parts = []
    for half, own in rows.groupby("half"):
        table = own.pivot_table(index=["goal", "n"], columns="way", values="error").reindex(columns=WAYS)
        parts.append(f"tables to {half}, {own.table.nunique()} tables\n{table.round(4).to_string()}")
    return "\n\n".join(parts)


def main() -> None:
    options = read_options(NextStudy, __doc__, SMOKE)
    path = options.out / f"{NAME}.csv.gz"
    if options.summarise:
        print(summarise(pd.read_csv(path)))
        return
    provenance()  # the commit at the start is that of the run
    named = options.tables or tuple(table_names())
    cells = [
        (name, mechanism, options.sizes, options.repeats, options.fits) for name in named for mechanism in MECHANISMS
    ]
    table = pd.DataFrame([row for part in in_parallel(rows_of, cells, options.jobs) for row in part]).round(5)
    options.out.mkdir(parents=True, exist_ok=True)
    table.assign(**provenance()).to_csv(path, index=False)
    print(summarise(table))


if __name__ == "__main__":
    from experiments.next_study import main as run  # by its name, so that workers find what the module caches

    run()
