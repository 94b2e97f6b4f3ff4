"""Curves over all thresholds, each with a pointwise interval; the formulas are those of the ranking metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from purely.class_prior import KnownPrior
from purely.metrics.estimate import MAX_GROUPS, Evaluation, Functional, Resampling, group_scores
from purely.metrics.ranking import false_positive_mass, precision_at
from purely.typing import Floats


@dataclass(frozen=True, eq=False)
class PUROCCurve:
    """ROC curve of positives against negatives, from :func:`pu_roc_curve`.

    Attributes
    ----------
    false_positive_rate, true_positive_rate, thresholds : ndarray of shape (m,)
        A row is predicted positive at score >= threshold; the first threshold is infinite.
    false_positive_rate_low, false_positive_rate_high : ndarray of shape (m,)
        Pointwise interval at each threshold.
    level : float
    assumption : str

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.metrics import pu_roc_curve
    >>> curve = pu_roc_curve(data.y, data.posterior, class_prior=0.5)
    >>> float(curve.thresholds[0]), round(float(curve.true_positive_rate[-1]), 6)
    (inf, 1.0)
    """

    false_positive_rate: Floats = field(repr=False)
    true_positive_rate: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)
    false_positive_rate_low: Floats = field(repr=False)
    false_positive_rate_high: Floats = field(repr=False)
    level: float
    assumption: str


@dataclass(frozen=True, eq=False)
class PUPrecisionRecallCurve:
    """Precision against recall, from :func:`pu_precision_recall_curve`.

    Attributes
    ----------
    precision, recall, thresholds : ndarray of shape (m,)
        From the highest threshold down: recall rises. A row is predicted positive at score >= threshold.
    precision_low, precision_high : ndarray of shape (m,)
        Pointwise interval at each threshold.
    level : float
    assumption : str

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.metrics import pu_precision_recall_curve
    >>> curve = pu_precision_recall_curve(data.y, data.posterior, class_prior=0.5)
    >>> bool((curve.precision_low <= curve.precision_high).all()), round(float(curve.recall[-1]), 6)
    (True, 1.0)
    """

    precision: Floats = field(repr=False)
    recall: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)
    precision_low: Floats = field(repr=False)
    precision_high: Floats = field(repr=False)
    level: float
    assumption: str


def pu_roc_curve(y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]) -> PUROCCurve:
    """ROC curve of positives against negatives, with a pointwise interval of the false positive rate.

    Arguments as for :func:`pu_roc_auc`.

    Returns
    -------
    PUROCCurve

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_roc_curve
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> curve = pu_roc_curve(data.y, data.X[:, 0], class_prior=0.5, random_state=0)
    >>> k = int((curve.thresholds >= 1.0).sum()) - 1
    >>> curve.true_positive_rate[k].round(2), curve.false_positive_rate[k].round(2)  # the truth is 0.84, 0.16
    (np.float64(0.85), np.float64(0.15))
    """

    def functional(p: Floats, x: Floats, prior: Floats) -> Floats:
        mass = false_positive_mass(p, x, prior)[1]
        return np.asarray(np.minimum(mass / (1.0 - np.asarray(prior)[..., None]), 1.0))

    evaluation = Evaluation.read(y, class_prior, **options)
    curve = _curve(evaluation, functional, score, "the ROC curve")
    thresholds = np.append(np.inf, curve.thresholds)
    value, recall, low, high = (np.append(0.0, v) for v in (curve.value, curve.recall, curve.low, curve.high))
    return PUROCCurve(value, recall, thresholds, low, high, evaluation.level, evaluation.assumption())


def pu_precision_recall_curve(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]
) -> PUPrecisionRecallCurve:
    """Precision and recall at every threshold, with a pointwise interval of the precision.

    Arguments as for :func:`pu_roc_auc`.

    Returns
    -------
    PUPrecisionRecallCurve

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_precision_recall_curve
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> curve = pu_precision_recall_curve(data.y, data.X[:, 0], class_prior=0.5, random_state=0)
    >>> bool((curve.precision_low <= curve.precision).all())
    True
    """

    def functional(p: Floats, x: Floats, prior: Floats) -> Floats:
        return precision_at(*false_positive_mass(p, x, prior), prior)

    evaluation = Evaluation.read(y, class_prior, **options)
    curve = _curve(evaluation, functional, score, "the precision-recall curve")
    level, assumption = evaluation.level, evaluation.assumption()
    return PUPrecisionRecallCurve(curve.value, curve.recall, curve.thresholds, curve.low, curve.high, level, assumption)


@dataclass(frozen=True)
class _Curve:
    """A curve over the distinct scores, highest first, and its band."""

    value: Floats
    low: Floats
    high: Floats
    recall: Floats
    thresholds: Floats


def _curve(evaluation: Evaluation, functional: Functional, score: ArrayLike, name: str) -> _Curve:
    """A functional of shares at every threshold; the band is the draws' spread around their own mean."""
    evaluation.known_prior(name)
    scores = evaluation.column(score, "score")
    group, n_groups = group_scores(scores)
    p, x = evaluation.shares(*evaluation.counts(group, n_groups))
    value = functional(p, x, evaluation.prior_value)
    low = high = np.full_like(value, np.nan)
    if evaluation.n_resamples > 1:
        coarse, n_coarse = group_scores(scores, MAX_GROUPS // 4)
        draws = functional(*evaluation.draws(*evaluation.counts(coarse, n_coarse), 0.0))
        tail = (1.0 - evaluation.level) / 2.0
        arms = np.quantile(draws, [tail, 1.0 - tail], axis=0) - draws.mean(axis=0)
        place = np.empty(n_groups, dtype=np.intp)  # in the curve of the coarse groups, of each fine one
        place[n_groups - 1 - group] = n_coarse - 1 - coarse
        low = np.clip(value + np.minimum(arms[0], 0.0)[place], 0.0, 1.0)
        high = np.clip(value + np.maximum(arms[1], 0.0)[place], 0.0, 1.0)
    return _Curve(value, low, high, np.cumsum(p[::-1]), np.unique(scores)[::-1])
