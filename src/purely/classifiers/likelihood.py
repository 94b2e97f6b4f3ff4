"""Likelihood of which rows are labelled, given the log-odds of being positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["labelled_loss"]

Floats = NDArray[np.float64]


def labelled_loss(z: Floats, positive: NDArray[np.bool_], weight: Floats, share: float) -> tuple[float, Floats]:
    r"""Minus the weighted mean log-likelihood of the labels, and its derivative by each log-odds *z*.

    The density ratio of *P* to *U* is :math:`\sigma(z) / \pi_U`, so a row of an equal mixture of both is labelled with
    probability :math:`\sigma(z) / (\sigma(z) + \pi_U)`.

    Parameters
    ----------
    z : ndarray of shape (n,)
        Log-odds of being positive among the unlabelled rows.
    positive : ndarray of bool, shape (n,)
        Which rows are labelled.
    weight : ndarray of shape (n,)
        Weights of the rows, see :func:`purely.weighing.equal_kinds`.
    share : float
        Share of positives among the unlabelled rows.
    """
    ratio = np.maximum(expit(z), 1e-12) / share
    loss = np.where(positive, np.log1p(1.0 / ratio), np.log1p(ratio))
    slope = weight * expit(-z) * np.where(positive, -1.0, ratio) / (1.0 + ratio)
    return float(weight @ loss), slope
