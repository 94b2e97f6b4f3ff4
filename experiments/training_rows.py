"""How many rows a model has to be trained on: the curve behind ``purely.crossfit.MOST_ROWS``.

``python -m experiments.training_rows [--sources overlap fried ...] [--sizes 5000 10000 20000 40000]``. From each source
3,000 positives and 30,000 unlabelled rows are drawn (a third of them positive). ``PUClassifier(members="light")``
trains every model on at most so many of them, and scores, calibrates and reads the class prior on all. Judged on 10,000
other rows with known classes: area under the curve, error at the threshold, error of the class prior, processor time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import purely.classifiers.auto
import purely.crossfit
import purely.prior.ratio
from experiments.entry import Options, option, read_options
from experiments.promises import load
from experiments.records import write_rows
from purely import PUClassifier, stack

N_POSITIVE, N_UNLABELLED, SHARE, N_NEW = 3000, 30_000, 1 / 3, 10_000
SOURCES = ("overlap", "sparse", "checker", "skew", "mv", "fried")
SMOKE = {"sources": ("overlap",), "sizes": (500,)}


@dataclass(frozen=True)
class TrainingRows(Options):
    """Options of this study."""

    sources: tuple[str, ...] = option(SOURCES, "tables and generators of experiments.promises")
    sizes: tuple[int, ...] = option((5000, 10_000, 20_000, 40_000), "rows that a model is trained on at most")


def train_on(most: int) -> None:
    """Set the number of rows everywhere."""
    for module in (purely.crossfit, purely.classifiers.auto, purely.prior.ratio):
        module.MOST_ROWS = most  # type: ignore[attr-defined]


def draw(source: str) -> tuple[Any, Any, Any, Any]:
    """Rows and labels, and other rows with their classes."""
    X, y = load(source, "choose")
    rng = np.random.default_rng(0)
    one, other = (rng.permutation(np.flatnonzero(y == c)) for c in (True, False))
    n_new = min(N_NEW // 2, one.size // 4, other.size // 4)
    n_hidden = min(round(SHARE * N_UNLABELLED), one.size - n_new - N_POSITIVE, round((other.size - n_new) / 2))
    take = np.cumsum([0, n_new, N_POSITIVE, n_hidden])
    new_p, P, hidden = (one[a:b] for a, b in pairwise(take))
    U = np.concatenate([hidden, other[n_new : n_new + 2 * n_hidden]])
    new = np.concatenate([new_p, other[:n_new]])
    return *stack(X[P], X[U]), X[new], y[new]


def judge(source: str, most: int) -> dict[str, Any]:
    X, y, new, truth = draw(source)
    train_on(most)
    start = time.process_time()
    model = PUClassifier(members="light").fit(X, y)
    seconds = time.process_time() - start
    probability = model.predict_proba(new)[:, 1]
    low, high = model.class_prior_interval_
    return {
        "source": source,
        "rows": len(y),
        "columns": X.shape[1],
        "most_rows": most,
        "area": roc_auc_score(truth, probability),
        "error": float(np.mean((probability > 0.5) != truth)),
        "prior_error": model.class_prior_ - 1 / 3,
        "covered": low <= 1 / 3 <= high,
        "cpu_seconds": seconds,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(TrainingRows, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore")
    rows = []
    for source in options.sources:
        for most in options.sizes:
            rows.append(judge(source, most))
            print(
                ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in rows[-1].items()),
                flush=True,
            )
            write_rows("training_rows", rows, options.out)


if __name__ == "__main__":
    main()
