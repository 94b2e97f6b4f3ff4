"""How models are weighed by what they say of rows that they have not seen, and how much each row counts in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from purely.typing import Floats, Mask

#: A loss of log-odds, with its derivative by each of them.
Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]

#: Log-odds beyond this say no more than that a row is certain.
_LIMIT = 8.0
#: Rows that it takes to leave the weights of the start: of 3, 5 and 8 the one that ranks best on the tables for
#: choosing, and not more often worse than a plain forest (`experiments/choices.py`).
PULL = 3.0


def equal_kinds(positive: Mask, weight: Floats | None = None) -> Floats:
    """Weights of the rows that add up to one half over *P* and over *U*, in proportion to `weight` within either.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.weighing import equal_kinds
    >>> equal_kinds(np.array([True, False, False]))
    array([0.5 , 0.25, 0.25])
    """
    found = np.ones(positive.size) if weight is None else np.array(weight, dtype=np.float64)
    for kind in (positive, ~positive):
        found[kind] *= 0.5 / found[kind].sum()
    return found


def weigh_models(
    scores: Floats, positive: Mask, loss: Loss, *, towards: Floats | None = None, pull: float = 1.0
) -> tuple[Floats, float]:
    r"""Weights of models and a constant under which what they say together has the least loss.

    .. math:: \min_{b \ge 0, c} \; \text{loss}(b^\top s + c) + \tfrac{r}{n} \| b - a \|^2 ,

    with *n* the size of the smaller sample: where rows are few the weights stay near *a*.

    Parameters
    ----------
    scores : ndarray of shape (k, n)
        Of rows that the models have not seen.
    positive : ndarray of bool, shape (n,)
    loss : function
        From scores of shape (n,) to their loss and its derivative by each of them.
    towards : ndarray of shape (k,), optional
        The weights *a*, equal ones by default.
    pull : float, default=1.0
        The *r* above: how many rows it takes to leave them.

    Returns
    -------
    weights : ndarray of shape (k,)
        None is negative.
    constant : float
    """
    k = len(scores)
    start = np.full(k, 1.0 / k) if towards is None else towards
    strength = pull / min(np.count_nonzero(positive), np.count_nonzero(~positive))

    def risk(parameters: Floats) -> tuple[float, Floats]:
        b, c = parameters[:-1], parameters[-1]
        value, slope = loss(b @ scores + c)
        away = b - start
        by_weights = scores @ slope + 2.0 * strength * away
        return value + float(strength * away @ away), np.append(by_weights, slope.sum())

    bounds = [(0.0, None)] * k + [(None, None)]
    found = minimize(risk, np.append(start, 0.0), jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:-1], float(found[-1])


def labelled_loss(z: Floats, positive: Mask, weight: Floats, share: float) -> tuple[float, Floats]:
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
        Weights of the rows, see :func:`equal_kinds`.
    share : float
        Share of positives among the unlabelled rows.
    """
    ratio = np.maximum(expit(z), 1e-12) / share
    loss = np.where(positive, np.log1p(1.0 / ratio), np.log1p(ratio))
    slope = weight * expit(-z) * np.where(positive, -1.0, ratio) / (1.0 + ratio)
    return float(weight @ loss), slope


def stacked_weights(log_odds: Floats, positive: Mask, share: float, towards: Floats | None = None) -> Floats:
    r"""Weights, at least 0 and summing to 1, under which the combined log-odds predict best which rows are labelled.

    With log-odds :math:`z = \sum_i b_i z_i + c` of being positive, the density ratio of *P* to *U* is
    :math:`\sigma(z) / \pi_U`, and a row of an equal mixture of both is labelled with probability
    :math:`\sigma(z) / (\sigma(z) + \pi_U)`. The weights maximise that likelihood, *P* and *U* weighing the same; a
    quadratic term of the size of a few rows holds them where they start if rows are few. Log-odds have to be those of
    models that have not seen the rows.

    Parameters
    ----------
    log_odds : ndarray of shape (n_members, n)
    positive : ndarray of bool, shape (n,)
    share : float
        Share of positives among the unlabelled rows.
    towards : ndarray of shape (n_members,), optional
        Weights to start from, which sum to 1; equal ones by default.
    """
    k = log_odds.shape[0]
    start = np.full(k, 1.0 / k) if towards is None else towards
    if k == 1:
        return start
    weight = equal_kinds(positive)
    z = np.clip(log_odds, -_LIMIT, _LIMIT)
    found, _ = weigh_models(z, positive, lambda s: labelled_loss(s, positive, weight, share), towards=start, pull=PULL)
    total = float(found.sum())
    return found / total if np.isfinite(total) and total > 1e-6 else start
