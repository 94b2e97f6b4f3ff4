r"""Thresholds on calibrated probabilities: by cost, or by an expected precision, recall or share.

With probabilities :math:`p_i = p(y{=}1 \mid x_i)` of a pool of rows and the rows :math:`p_i \ge t` called positive, the
expected numbers are

.. math:: \text{precision}(t) = \frac{\sum_{p_i \ge t} p_i}{\#\{p_i \ge t\}}, \qquad
    \text{recall}(t) = \frac{\sum_{p_i \ge t} p_i}{\sum_i p_i}, \qquad \text{share}(t) = \frac{\#\{p_i \ge t\}}{n}.

No label is needed, and nothing is promised: what they are worth is what the calibration is worth. A fitted
classifier's own ``threshold_for_precision`` takes the class prior's uncertainty and the number of rows into account.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from purely.checks import check_number, check_threshold
from purely.crossfit import last_step
from purely.typing import Floats


def threshold_for_cost(false_positive: float, false_negative: float) -> float:
    r"""The threshold of least expected cost: :math:`c_{FP} / (c_{FP} + c_{FN})`.

    Calling a row positive costs :math:`(1 - p) c_{FP}` in the mean, calling it negative :math:`p\, c_{FN}`.

    Examples
    --------
    >>> from purely.classifiers import threshold_for_cost
    >>> threshold_for_cost(1.0, 4.0)
    0.2
    """
    return check_threshold((false_positive, false_negative))


def threshold_for_share(probability: ArrayLike, share: float) -> float:
    """The threshold above which about the given share of the rows lies.

    Examples
    --------
    >>> from purely.classifiers import threshold_for_share
    >>> round(threshold_for_share([0.1, 0.4, 0.6, 0.9], 0.5), 6)
    0.6
    """
    descending = _descending(probability)
    return _threshold_at(descending, round(_target("share", share) * descending.size))


def threshold_for_recall(probability: ArrayLike, recall: float) -> float:
    """The greatest threshold that keeps at least the given expected share of the positives.

    Examples
    --------
    >>> from purely.classifiers import threshold_for_recall
    >>> round(threshold_for_recall([0.0, 0.2, 0.8, 1.0], 0.9), 6)
    0.8
    """
    descending = _descending(probability)
    found = np.cumsum(descending)
    target = _target("recall", recall) * found[-1] * (1.0 - 1e-12)
    return _threshold_at(descending, int(np.searchsorted(found, target)) + 1)


def threshold_for_precision(probability: ArrayLike, precision: float) -> float:
    """The least threshold above which at least the given share of the rows is expected to be positive.

    Where no threshold reaches the precision, it is the largest probability: the purest choice there is.

    Examples
    --------
    >>> from purely.classifiers import threshold_for_precision
    >>> round(threshold_for_precision([0.0, 0.2, 0.8, 1.0], 0.9), 6)
    0.8
    """
    descending = _descending(probability)
    purity = np.cumsum(descending) / np.arange(1, descending.size + 1)
    reached = np.flatnonzero(purity >= _target("precision", precision) * (1.0 - 1e-12))
    return _threshold_at(descending, int(reached[-1]) + 1 if reached.size else 1)


def threshold_of(model: object) -> float:
    """The threshold of a fitted classifier or of what a pipeline ends with; 0.5 where it has none."""
    return check_threshold(getattr(last_step(model), "threshold", 0.5))


def _target(name: str, value: object) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True)


def _descending(probability: ArrayLike) -> Floats:
    values = np.sort(np.asarray(probability, dtype=np.float64).ravel())[::-1]
    if values.size == 0 or not (np.isfinite(values).all() and values[0] <= 1.0 and values[-1] >= 0.0):
        raise ValueError("probability must hold at least one number, and only numbers between 0 and 1.")
    return values


def _threshold_at(descending: Floats, count: int) -> float:
    """A threshold at or just below the probability of rank `count`, strictly between 0 and 1."""
    value = descending[min(max(count, 1), descending.size) - 1]
    # Predictions are those strictly above the threshold, so it lies a rounding error below the last row's.
    return float(np.clip(value * (1.0 - 1e-9), 1e-12, 1.0 - 1e-12))
