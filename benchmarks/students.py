"""Models that imitate a stack against the stack multiplied out, on tables of ``PURELY_DATA``.

``python -m benchmarks.students [--tables pol letter ...]``. :class:`purely.PUClassifier` is fitted to 400 positives and
2,600 unlabelled rows of a table. Students are trained on what the stack says of the unlabelled rows and of 26,000 more,
made by putting values of other rows into some of their columns: boosted trees in the place of the stack, and in the
place of its two forests alone. A third student has half of the trees of either forest. They, and
:meth:`purely.PUClassifier.distil`, are judged on rows that nobody has seen: mean difference of the probabilities,
difference of the area under the curve against the true classes, time a row beside a boosting of 60 rounds with 15
leaves. "member" rows are the parts of the stack multiplied out. ``--clock cpu`` where the machine is shared.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.entry import option, read_options
from experiments.records import write_rows
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

from benchmarks.timing import BenchmarkOptions, in_turn
from purely import PUClassifier
from purely.classifiers.imitation import mixed_rows
from purely.collapsed import TreeScore

TABLES = (
    *("pol", "letter", "puma32H", "house8L", "kin8nm", "bank32nh", "cpu.act", "fried", "mv"),
    "delta.elevators",
)
N_POSITIVE, N_UNLABELLED, N_MADE = 400, 2600, 26_000
FORESTS = ("trees", "forest")
SMOKE = {"tables": ("generated",), "repeats": 1}


@dataclass(frozen=True)
class Students(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 3
    tables: tuple[str, ...] = option(TABLES, "tables of PURELY_DATA/tabular, or 'generated'")


def load(name: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    if name == "generated":
        X, y = rng.normal(size=(10_000, 5)), np.arange(10_000) % 3 == 0
        X[y, :2] += 1.0
    else:
        table = np.load(Path(os.environ["PURELY_DATA"]) / "tabular" / f"{name}.npz")
        X, y = table["X"].astype(np.float64), table["y"].astype(bool)
    order = rng.permutation(len(X))
    return X[order], y[order]


def boosted(rounds: int, leaves: int, taught: Any, target: Any) -> Any:
    model = HistGradientBoostingRegressor(max_iter=rounds, max_leaf_nodes=leaves, early_stopping=False)
    return model.fit(taught, target).predict


def half(score: TreeScore) -> TreeScore:
    """The first half of the trees of a forest."""
    n_trees = (score.starts.size - 1) // 2
    end = score.starts[n_trees]
    nodes = {name: getattr(score, name)[:end] for name in ("left", "right", "feature", "threshold")}
    value = score.value[:end] * (score.starts.size - 1) / n_trees
    return replace(score, starts=score.starts[: n_trees + 1], value=value, **nodes)


def students(fast: Any, U: Any) -> dict[str, Callable[[Any], Any]]:
    """Log-odds of rows by each student of a stack that is multiplied out."""
    forests = [member for member in fast.members_ if member.name in FORESTS]
    others = [member for member in fast.members_ if member.name not in FORESTS]

    def total(members: Sequence[Any], X: Any) -> Any:
        return sum((m.weight * m.calibration(m.score(X)) for m in members), np.zeros(len(X)))

    # What comes after the sum is one monotone curve, the same for all: read off rows of the pool and interpolated.
    sums, exact = total(fast.members_, U), logit(fast.predict_proba(U)[:, 1])
    order = np.argsort(sums)

    def finish(sums_of_rows: Any) -> Any:
        return np.interp(sums_of_rows, sums[order], exact[order])

    taught = np.concatenate([U, mixed_rows(U, N_MADE, np.random.default_rng(1))])
    whole = boosted(200, 31, taught, finish(total(fast.members_, taught)))
    part = boosted(60, 31, taught, total(forests, taught))
    fewer = [*others, *(replace(member, score=half(member.score)) for member in forests)]
    return {
        "boosting 200 x 31": whole,
        "forests by boosting 60 x 31": lambda X: finish(total(others, X) + part(X)),
        "half of the forests": lambda X: finish(total(fewer, X)),
    }


def judge(name: str, options: Students) -> list[dict[str, Any]]:
    X, y = load(name)
    P = np.flatnonzero(y[: len(y) // 2])[:N_POSITIVE]
    rest = np.setdiff1d(np.arange(len(y)), P)
    U, new = X[rest[:N_UNLABELLED]], X[rest[N_UNLABELLED:]]
    truth, rows = y[rest[N_UNLABELLED:]], np.concatenate([X[P], U])
    labels = np.repeat([1, 0], [P.size, len(U)])
    stack = PUClassifier().fit(rows, labels)
    fast = stack.distil(U)
    says = {"stack": stack.log_odds, "distilled": fast.log_odds, **students(fast.multiplied_out(), U)}
    plain = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, early_stopping=False).fit(rows, labels)
    members = {f"member {m.name}": m.score for m in fast.members_}
    tasks = {"boosting": plain.predict_proba, **says, **members}
    times, single = (
        in_turn({label: partial(task, X) for label, task in tasks.items()}, n, options.clock)
        for X, n in ((new, options.repeats), (new[:1], 20))
    )
    exact = stack.log_odds(new)
    answers = {label: task(new) for label, task in says.items()}
    area = roc_auc_score(truth, exact)
    found: list[dict[str, Any]] = []
    for label in tasks:
        row = {"table": name, "model": label, "rows": len(new), "network": fast.imitation_ is not None}
        row["mean_difference"], row["area_difference"] = np.nan, np.nan
        if label in answers:
            row["mean_difference"] = float(np.abs(expit(answers[label]) - expit(exact)).mean())
            row["area_difference"] = float(roc_auc_score(truth, answers[label]) - area)
        row["times_boosting"] = min(times[label]) / min(times["boosting"])
        row["microseconds"], row["single_ms"] = 1e6 * min(times[label]) / len(new), 1e3 * min(single[label])
        found.append(row)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Students, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore")
    found = []
    for name in options.tables:
        rows = judge(name, options)
        found += rows
        for row in rows:
            print(", ".join(f"{k} {v:.3g}" if isinstance(v, float) else str(v) for k, v in row.items()), flush=True)
    write_rows("students", found, options.out)


if __name__ == "__main__":
    main()
