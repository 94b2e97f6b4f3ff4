"""Weights of the rows, and what is passed on to the estimators inside a classifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from purely.typing import Floats, Mask, Matrix


def check_weights(sample_weight: ArrayLike | None, X: Matrix, positive: Mask) -> Floats | None:
    """Weights of the rows as floats, none negative and at least two above zero in each class; None for None."""
    if sample_weight is None:
        return None
    weight = np.array(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))
    for mask, name in ((positive, "positive"), (~positive, "unlabelled")):
        if np.count_nonzero(weight[mask]) < 2:
            raise ValueError(
                f"sample_weight must be above zero for at least two rows of each class; it is zero for all but "
                f"{np.count_nonzero(weight[mask])} of the {np.count_nonzero(mask)} {name} rows."
            )
    return weight


def normalised_weights(sample_weight: ArrayLike | None, X: Matrix, positive: Mask) -> Floats | None:
    r"""Weights with the mean 1 over the positives and over the unlabelled rows; None where none are given.

    A PU risk holds a mean over P and one over U, :math:`\sum_i w_i f(x_i) / \sum_i w_i` each. How the kinds weigh
    against each other is the class prior's matter, so only the ratios of weights within a kind count.
    """
    weight = check_weights(sample_weight, X, positive)
    if weight is not None:
        for mask in (positive, ~positive):
            weight[mask] /= weight[mask].mean()
    return weight


def weighted_quantile(values: Floats, q: float, weight: Floats | None) -> float:
    """A quantile by linear interpolation; with equal weights that of :func:`numpy.quantile`."""
    if weight is None:
        return float(np.quantile(values, q))
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0.0]
    # The way from a value to the next is as long as half of both their weights.
    place = np.concatenate([[0.0], np.cumsum(0.5 * (weight[order][:-1] + weight[order][1:]))])
    return float(np.interp(q * place[-1], place, np.asarray(values)[order]))
