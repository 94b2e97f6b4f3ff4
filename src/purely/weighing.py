"""How models are weighed by what they say of rows that they have not seen, and how much each row counts in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["equal_kinds", "weigh_models"]

Floats = NDArray[np.float64]


def equal_kinds(positive: NDArray[np.bool_], weight: Floats | None = None) -> Floats:
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
    scores: Floats,
    positive: NDArray[np.bool_],
    loss: Callable[[Floats], tuple[float, Floats]],
    *,
    towards: Floats | None = None,
    pull: float = 1.0,
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
