"""One module a method.

Representations have ``represent``; estimators of the class prior have ``estimate``; classifiers have ``classify``. What
trains networks takes all draws of a data set at once, what does not takes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Rows", "dense", "error_of"]


@dataclass(frozen=True)
class Rows:
    """Training and test rows of one draw in some representation."""

    train: Any
    test: Any


def dense(X: Any) -> Any:
    """A dense array of floats."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def error_of(probability: Any, y_test: Any, prior: float, n_bins: int = 10) -> dict[str, float]:
    """Misclassification rate and expected calibration error, the test rows weighted to the class prior."""
    positive = y_test == 1
    weight = np.where(positive, prior / positive.sum(), (1.0 - prior) / (~positive).sum())
    place = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    hits, said = (np.bincount(place, w, n_bins) for w in (weight * positive, weight * probability))
    return {
        "error": float(weight @ ((probability > 0.5) != positive)),
        "calibration_error": float(np.abs(hits - said).sum()),
    }
