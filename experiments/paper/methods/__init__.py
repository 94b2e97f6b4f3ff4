"""One module a method.

Representations have ``represent``; estimators of the class prior have ``estimate``; classifiers have ``classify``. What
trains networks takes all draws of a data set at once, what does not takes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Rows", "dense", "error_of", "reliability_bins"]


@dataclass(frozen=True)
class Rows:
    """Training and test rows of one draw in some representation."""

    train: Any
    test: Any


def dense(X: Any) -> Any:
    """A dense array of floats."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def error_of(probability: Any, y_test: Any, prior: float) -> dict[str, float]:
    """Misclassification rate and expected calibration error, the test rows weighted to the class prior."""
    _, hits, said = reliability_bins(probability, y_test, prior)
    return {
        "error": float(_weights(y_test, prior) @ ((probability > 0.5) != (y_test == 1))),
        "calibration_error": float(np.abs(hits - said).sum()),
    }


def reliability_bins(probability: Any, y_test: Any, prior: float, n_bins: int = 10) -> Any:
    """Weight, share of positives and mean probability (both times the weight) in bins of equal width; (3, n_bins)."""
    weight = _weights(y_test, prior)
    place = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    return np.stack([np.bincount(place, w, n_bins) for w in (weight, weight * (y_test == 1), weight * probability)])


def _weights(y_test: Any, prior: float) -> Any:
    positive = y_test == 1
    return np.where(positive, prior / positive.sum(), (1.0 - prior) / (~positive).sum())
