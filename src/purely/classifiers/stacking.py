"""Weights of several classifiers' log-odds, from positive and unlabelled rows alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from purely.classifiers.likelihood import labelled_loss
from purely.weighing import equal_kinds, weigh_models

__all__ = ["stacked_weights"]

Floats = NDArray[np.float64]

#: Log-odds beyond this say no more than that a row is certain.
_LIMIT = 8.0


def stacked_weights(log_odds: Floats, positive: NDArray[np.bool_], share: float) -> Floats:
    r"""Weights, at least 0 and summing to 1, under which the combined log-odds predict best which rows are labelled.

    With log-odds :math:`z = \sum_i b_i z_i + c` of being positive, the density ratio of *P* to *U* is
    :math:`\sigma(z) / \pi_U`, and a row of an equal mixture of both is labelled with probability
    :math:`\sigma(z) / (\sigma(z) + \pi_U)`. The weights maximise that likelihood, *P* and *U* weighing the same; a
    quadratic term of the size of one row holds them at equal weights where rows are few. Log-odds have to be those of
    models that have not seen the rows.

    Parameters
    ----------
    log_odds : ndarray of shape (n_members, n)
    positive : ndarray of bool, shape (n,)
    share : float
        Share of positives among the unlabelled rows.
    """
    k = log_odds.shape[0]
    equal = np.full(k, 1.0 / k)
    if k == 1:
        return equal
    weight = equal_kinds(positive)
    within = np.clip(log_odds, -_LIMIT, _LIMIT)
    found, _ = weigh_models(within, positive, lambda z: labelled_loss(z, positive, weight, share))
    total = float(found.sum())
    return found / total if np.isfinite(total) and total > 1e-6 else equal
