r"""Metrics of scores: how well they rank positives above negatives, and curves over all thresholds.

Ranking a positive against a row of the population meets another positive with probability :math:`\pi`, and wins half of
those. So with :math:`A = \Pr(s_P > s_X) + \frac12 \Pr(s_P = s_X)`

.. math:: A = \frac{\pi}{2} + (1 - \pi)\, \mathrm{AUC} .

Along a threshold *t*, with :math:`r_t = E_P[s \ge t]` and :math:`q_t = E_X[s \ge t]`, the mass of false positives is
:math:`g_t = q_t - \pi r_t`. It cannot be negative nor shrink as *t* falls, but its estimate can. The curves use the
largest mass below the estimate that keeps both promises, :math:`\max(0, \min_{t' \le t} g_{t'})`:

.. math::

    \text{false positive rate}_t = \frac{g_t}{1 - \pi}, \qquad
    \text{precision}_t = \frac{\pi r_t}{\pi r_t + g_t}, \qquad
    \text{average precision} = E_P[\text{precision}_{s}] .

Of five ways to keep the promises (precision clipped at 1, isotonic regression, running maximum, this minimum, the mean
of these two) it has the least error for normal classes two or three standard deviations apart, at priors .1, .3 and .7
and 100 or 1000 positives; clipping then loses .005 to .08 of the average precision. One standard deviation apart it is
too high by .01 to .03, and clipping does about as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from purely.class_prior import KnownPrior
from purely.metrics.estimate import MAX_GROUPS, Evaluation, Functional, Labels, PUEstimate, Resampling, group_scores
from purely.typing import Floats


def _auc(p: Floats, x: Floats, prior: Floats) -> Floats:
    against_population = np.sum(p * (np.cumsum(x, axis=-1) - 0.5 * x), axis=-1)
    return np.asarray((against_population - 0.5 * prior) / (1.0 - prior))


def false_positive_mass(p: Floats, x: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Recall and mass of false positives at each threshold, from the highest score down."""
    recall = np.cumsum(p[..., ::-1], axis=-1)
    raw = np.cumsum(x[..., ::-1], axis=-1) - np.asarray(prior)[..., None] * recall
    lowest_below = np.minimum.accumulate(raw[..., ::-1], axis=-1)[..., ::-1]
    return recall, np.maximum(lowest_below, 0.0)


def precision_at(recall: Floats, mass: Floats, prior: Floats) -> Floats:
    """Precision at each threshold; 1 where nothing is called positive."""
    true_mass = np.asarray(prior)[..., None] * recall
    total = true_mass + mass
    return np.asarray(np.where(total > 0.0, true_mass / np.where(total > 0.0, total, 1.0), 1.0))


def _average_precision(p: Floats, x: Floats, prior: Floats) -> Floats:
    precision = precision_at(*false_positive_mass(p, x, prior), prior)
    return np.asarray(np.sum(p[..., ::-1] * precision, axis=-1))


FUNCTIONALS: dict[str, Functional] = {"roc_auc": _auc, "average_precision": _average_precision}


def ranking_metric(
    name: str, y: Labels, score: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]
) -> PUEstimate:
    """One of `FUNCTIONALS` from labels and scores."""
    evaluation = Evaluation.read(y, class_prior, **options)
    evaluation.known_prior(name)
    scores = evaluation.column(score, "score")
    note = "" if np.ptp(scores) else "All scores are equal: they rank nothing."
    return evaluation.of_scores(name, scores, lambda *_: FUNCTIONALS[name], centred=name != "roc_auc", note=note)


def pu_roc_auc(y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]) -> PUEstimate:
    r"""Area under the ROC curve of positives against negatives: :math:`(A - \pi/2) / (1 - \pi)`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels: 1 for a labelled positive, 0 for an unlabelled row.
    score : array-like of shape (n,)
        The greater, the more positive. The rows must not have trained the model: take held-out rows, or out-of-fold
        scores, for which the interval is somewhat too short (see :mod:`purely.metrics`).
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
        The population's p(y=1). An interval, or an estimator's ``class_prior_interval_``, is carried through.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    n_resamples : int, default=500
        Draws of rows and prior; 0 for the value alone.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    PUEstimate

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_roc_auc
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> print(pu_roc_auc(data.y, data.X[:, 0], class_prior=0.5, random_state=0))  # the truth is 0.921
    roc_auc 0.928 [0.897, 0.957] (90% interval)
    >>> print(pu_roc_auc(data.y, data.X[:, 0], class_prior=(0.4, 0.6), random_state=0))
    roc_auc 0.928 [0.851, 1.000] (90% interval)
    """
    return ranking_metric("roc_auc", y, score, class_prior, **options)


def pu_average_precision(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]
) -> PUEstimate:
    """Mean precision over the positives' scores, the area under the precision-recall curve.

    Arguments as for :func:`pu_roc_auc`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_average_precision
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> print(pu_average_precision(data.y, data.X[:, 0], class_prior=0.5, random_state=0))  # the truth is 0.922
    average_precision 0.929 [0.899, 0.960] (90% interval)
    """
    return ranking_metric("average_precision", y, score, class_prior, **options)


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
    p, x = evaluation.shares(*evaluation.labels.counts(group, n_groups))
    value = functional(p, x, evaluation.prior_value)
    low = high = np.full_like(value, np.nan)
    if evaluation.n_resamples > 1:
        coarse, n_coarse = group_scores(scores, MAX_GROUPS // 4)
        draws = functional(*evaluation.draws(*evaluation.labels.counts(coarse, n_coarse), 0.0))
        tail = (1.0 - evaluation.level) / 2.0
        arms = np.quantile(draws, [tail, 1.0 - tail], axis=0) - draws.mean(axis=0)
        place = np.empty(n_groups, dtype=np.intp)  # in the curve of the coarse groups, of each fine one
        place[n_groups - 1 - group] = n_coarse - 1 - coarse
        low = np.clip(value + np.minimum(arms[0], 0.0)[place], 0.0, 1.0)
        high = np.clip(value + np.maximum(arms[1], 0.0)[place], 0.0, 1.0)
    return _Curve(value, low, high, np.cumsum(p[::-1]), np.unique(scores)[::-1])
