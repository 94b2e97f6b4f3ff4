"""Draws and measures of the studies that chose PUClassifier's settings (`experiments/classifier_choice.py`).

Rows for choosing and rows for reporting come from different halves of each data set (those of `prior_study.py`); a
half's rows that are not drawn for training are the test rows, at most 1,000 a class, weighted to the class prior. The
results that are reported come from `experiments/paper`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from experiments.paper.methods import error_of
from purely.datasets import make_pu

N_POSITIVE, N_UNLABELLED = 1000, 2000
TEST_ROWS = 1000  # of each class, at most
RESERVED = 40  # of each class, at least: where a half has fewer rows, fewer are drawn for training


@dataclass
class Draw:
    """One trial of one cell."""

    dataset: str
    prior: float
    trial: int
    seed: int
    X: Any
    y: Any
    y_true: Any
    X_test: Any
    y_test: Any

    @property
    def share(self) -> float:
        """True share of positives among the unlabelled rows."""
        return float(self.y_true[self.y == 0].mean())


def draw(dataset: str, X: Any, truth: Any, prior: float, trial: int, half: str) -> Draw:
    """Training and test rows of one trial, from one half of a data set."""
    seed = 1_000_000 * (half == "reporting") + 10_000 * round(100 * prior) + trial
    n_pos, n_neg = int(truth.sum()), int(truth.size - truth.sum())
    need_p, need_n = N_POSITIVE + prior * N_UNLABELLED, (1.0 - prior) * N_UNLABELLED
    fit = min(1.0, (n_pos - RESERVED) / need_p, (n_neg - RESERVED) / need_n)
    made = make_pu(
        X,
        truth,
        n_positive=int(N_POSITIVE * fit),
        n_unlabelled=int(N_UNLABELLED * fit),
        class_prior=prior,
        random_state=seed,
    )
    left = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(truth.size), made.indices))
    test = np.concatenate([left[truth[left] == c][:TEST_ROWS] for c in (1, 0)])
    return Draw(dataset, prior, trial, seed, made.X, made.y, made.y_true, X[test], truth[test].astype(int))


def measures(d: Draw, probability: Any, prior: float) -> dict[str, float]:
    """Error, its two parts, calibration error and area under the ROC curve of the test rows, at the class prior."""
    positive = d.y_test == 1
    wrong = (probability > 0.5) != positive
    return {
        **error_of(probability, d.y_test, prior),
        "false_negative_rate": float(wrong[positive].mean()),
        "false_positive_rate": float(wrong[~positive].mean()),
        "auc": float(roc_auc_score(d.y_test, probability)),
    }
