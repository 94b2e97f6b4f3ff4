"""Models that imitate a stack against the stack multiplied out, on tables of ``PURELY_DATA``.

``python -m benchmarks.students [--tables pol letter ...]``. A stack of :class:`purely.PUClassifier` is fitted to 500
positives and 4,000 unlabelled rows of a table. Students are trained on its log-odds of those rows and of 26,000 more,
made by putting values of other rows into some of their columns: boosted trees, and networks of two layers. They, and
:meth:`purely.PUClassifier.distil`, are judged on 4,000 rows that nobody has seen: mean difference of the probabilities,
area under the curve against the true classes beside the stack's, microseconds a row beside those of a boosting of 60
rounds with 15 leaves.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.entry import option, read_options
from experiments.records import write_rows
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import BenchmarkOptions, in_turn
from purely import PUClassifier

TABLES = ("pol", "letter", "puma32H", "house8L", "kin8nm", "bank32nh")
N_POSITIVE, N_UNLABELLED, N_NEW, N_MADE = 500, 4000, 4000, 26_000
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


def mixed(X: Any, n: int, rng: np.random.Generator) -> Any:
    """Rows with values of other rows in a tenth or three tenths of the columns."""
    rows = X[rng.integers(len(X), size=n)]
    others = np.stack([X[rng.integers(len(X), size=n), j] for j in range(X.shape[1])], axis=1)
    share = np.where(np.arange(n) < 0.6 * n, 0.1, 0.3)[:, None]
    return np.where(rng.random(rows.shape) < share, others, rows)


def students() -> dict[str, Any]:
    def network(width: int) -> Any:
        model = MLPRegressor(
            hidden_layer_sizes=(width, width), learning_rate_init=3e-3, max_iter=20, batch_size=256, random_state=0
        )
        return make_pipeline(StandardScaler(), model)

    boosting = HistGradientBoostingRegressor(max_iter=200, max_leaf_nodes=31, early_stopping=False)
    return {"boosting 200 x 31": boosting, "network 64-64": network(64), "network 128-128": network(128)}


def judge(name: str, repeats: int) -> list[dict[str, Any]]:
    X, y = load(name)
    P = np.flatnonzero(y[: len(y) // 2])[:N_POSITIVE]
    rest = np.setdiff1d(np.arange(len(y)), P)
    U, new = rest[:N_UNLABELLED], rest[N_UNLABELLED : N_UNLABELLED + N_NEW]
    rows, labels = np.concatenate([X[P], X[U]]), np.repeat([1, 0], [P.size, U.size])
    stack = PUClassifier(members="light").fit(rows, labels)
    taught = np.concatenate([rows, mixed(rows, N_MADE, np.random.default_rng(1))])
    target = stack.log_odds(taught)
    answers: dict[str, Callable[[], Any]] = {"stack": lambda: stack.log_odds(X[new])}
    fast = stack.distil(X[new])
    answers["distilled"] = lambda: fast.log_odds(X[new])
    for label, model in students().items():
        answers[label] = partial(model.fit(taught, target).predict, X[new])
    plain = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15).fit(rows, labels)
    times = in_turn({"boosting": lambda: plain.predict_proba(X[new]), **answers}, repeats)
    exact = stack.log_odds(X[new])
    area = roc_auc_score(y[new], exact)
    return [
        {
            "table": name,
            "model": label,
            "mean_difference": float(np.abs(expit(answer()) - expit(exact)).mean()),
            "area_difference": float(roc_auc_score(y[new], answer()) - area),
            "times_boosting": min(times[label]) / min(times["boosting"]),
            "microseconds": 1e6 * min(times[label]) / new.size,
        }
        for label, answer in answers.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Students, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore")  # networks stop before they have converged
    found = []
    for name in options.tables:
        found += judge(name, options.repeats)
        for row in found[-5:]:
            print(", ".join(f"{k} {v:.3g}" if isinstance(v, float) else str(v) for k, v in row.items()), flush=True)
    write_rows("students", found, options.out)


if __name__ == "__main__":
    main()
