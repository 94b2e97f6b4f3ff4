r"""Metrics of predicted classes.

With recall :math:`r = E_P[\hat y]`, the share of rows predicted positive :math:`q = E_X[\hat y]` and the prior
:math:`\pi` (see :mod:`purely.metrics.estimate` for :math:`E_X`):

.. math::

    \text{precision} = \frac{\pi r}{q}, \quad
    \text{false positive rate} = \frac{q - \pi r}{1 - \pi}, \quad
    F_1 = \frac{2 \pi r}{\pi + q}, \quad
    \text{accuracy} = 1 - \pi - q + 2 \pi r, \quad
    \text{lift} = \frac{r}{q} .
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from purely.class_prior import KnownPrior
from purely.metrics.estimate import HALF_A_ROW, Evaluation, Functional, Labels, PUEstimate, Resampling
from purely.typing import Floats


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Numerator over denominator; 0 / 0 is 0, and anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(numerator == 0.0, 0.0, numerator / denominator))


def _specificity(p: Floats, x: Floats, prior: Floats) -> Floats:
    # 1 - (q - pi r) / (1 - pi), from the rows predicted negative: no cancellation near 1
    return np.asarray((x[..., 0] - prior * p[..., 0]) / (1.0 - prior))


_SHARE, _RATIO = (0.0, 1.0), (0.0, np.inf)
#: name -> functional, legal range, whether the formula holds the prior.
FUNCTIONALS: dict[str, tuple[Functional, tuple[float, float], bool]] = {
    "accuracy": (lambda p, x, prior: x[..., 0] - prior * p[..., 0] + prior * p[..., 1], _SHARE, True),
    "balanced_accuracy": (lambda p, x, prior: (p[..., 1] + _specificity(p, x, prior)) / 2.0, _SHARE, True),
    "f1": (lambda p, x, prior: 2.0 * prior * p[..., 1] / (prior + x[..., 1]), _SHARE, True),
    "lee_liu": (lambda p, x, prior: _ratio(p[..., 1] ** 2, x[..., 1]), _RATIO, False),
    "lift": (lambda p, x, prior: _ratio(p[..., 1], x[..., 1]), _RATIO, False),
    "precision": (lambda p, x, prior: _ratio(prior * p[..., 1], x[..., 1]), _SHARE, True),
    "recall": (lambda p, x, prior: p[..., 1], _SHARE, False),
    "specificity": (_specificity, _SHARE, True),
}


def threshold_metric(
    name: str, y: Labels, y_pred: ArrayLike, class_prior: KnownPrior | None, **options: Unpack[Resampling]
) -> PUEstimate:
    """One of `FUNCTIONALS` from labels and predicted classes."""
    functional, legal, with_prior = FUNCTIONALS[name]
    evaluation = Evaluation.read(y, class_prior if with_prior else None, **options)
    if with_prior:
        evaluation.known_prior(name)
    predicted = evaluation.predictions(y_pred)
    note = ""
    if not predicted.any() and name in ("precision", "lift", "lee_liu"):
        note = f"No row is predicted positive: {name} is not defined and set to 0."
    counts = evaluation.labels.counts(predicted.astype(np.intp), 2)
    return evaluation.estimate(name, functional, counts, legal=legal, smoothing=HALF_A_ROW, note=note)


def pu_precision(y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]) -> PUEstimate:
    r"""Share of true positives among the rows predicted positive: :math:`\pi r / q`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels: 1 for a labelled positive, 0 for an unlabelled row.
    y_pred : array-like of shape (n,)
        Predicted classes, in the coding of `y` or 1 against 0 or -1. The rows must not have trained the model.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
        The population's p(y=1). An interval, or an estimator's ``class_prior_interval_``, is carried through.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
        Level of the interval.
    n_resamples : int, default=500
        Draws of rows and prior; 0 for the value alone.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    PUEstimate

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_precision
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> estimate = pu_precision(data.y, data.X[:, 0] > 1.0, class_prior=0.5, random_state=0)
    >>> print(estimate)
    precision 0.851 [0.818, 0.891] (90% interval)
    >>> unlabelled = data.y == 0  # what the estimate did not see
    >>> round(float(data.y_true[unlabelled][data.X[unlabelled, 0] > 1.0].mean()), 3)
    0.861
    """
    return threshold_metric("precision", y, y_pred, class_prior, **options)


def pu_recall(
    y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior | None = None, **options: Unpack[Resampling]
) -> PUEstimate:
    r"""Share of the positives that are predicted positive: :math:`r = E_P[\hat y]`; it needs no class prior.

    Arguments as for :func:`pu_precision`; `class_prior` is accepted and not used.

    Examples
    --------
    >>> from purely.metrics import pu_recall
    >>> pu_recall([1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 1, 0], random_state=0).value
    0.75
    """
    return threshold_metric("recall", y, y_pred, None, **options)


def pu_specificity(
    y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]
) -> PUEstimate:
    r"""Share of the negatives that are predicted negative: :math:`1 - (q - \pi r) / (1 - \pi)`.

    Arguments as for :func:`pu_precision`.

    Examples
    --------
    >>> from purely.metrics import pu_specificity
    >>> pu_specificity([1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], class_prior=0.25, n_resamples=0).value
    1.0
    """
    return threshold_metric("specificity", y, y_pred, class_prior, **options)


def pu_accuracy(y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]) -> PUEstimate:
    r"""Share of rows of the population predicted right: :math:`1 - \pi - q + 2 \pi r`.

    Arguments as for :func:`pu_precision`.

    Examples
    --------
    >>> from purely.metrics import pu_accuracy
    >>> pu_accuracy([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], class_prior=0.25, n_resamples=0).value
    0.75
    """
    return threshold_metric("accuracy", y, y_pred, class_prior, **options)


def pu_balanced_accuracy(
    y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]
) -> PUEstimate:
    """Mean of recall and specificity. Arguments as for :func:`pu_precision`.

    Examples
    --------
    >>> from purely.metrics import pu_balanced_accuracy
    >>> pu_balanced_accuracy([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], class_prior=0.5, n_resamples=0).value
    0.75
    """
    return threshold_metric("balanced_accuracy", y, y_pred, class_prior, **options)


def pu_f1(y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]) -> PUEstimate:
    r"""Harmonic mean of precision and recall: :math:`2 \pi r / (\pi + q)`.

    Arguments as for :func:`pu_precision`.

    Examples
    --------
    >>> from purely.metrics import pu_f1
    >>> pu_f1([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], class_prior=0.25, n_resamples=0).value
    0.5
    """
    return threshold_metric("f1", y, y_pred, class_prior, **options)


def pu_lift(
    y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior | None = None, **options: Unpack[Resampling]
) -> PUEstimate:
    r"""How many times more frequent positives are among the rows predicted positive: :math:`r / q`, prior-free.

    Precision is the class prior times the lift. Arguments as for :func:`pu_precision`; `class_prior` is accepted and
    not used.

    Examples
    --------
    >>> from purely.metrics import pu_lift
    >>> pu_lift([1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], n_resamples=0).value
    4.0
    """
    return threshold_metric("lift", y, y_pred, None, **options)


def pu_lee_liu(
    y: ArrayLike, y_pred: ArrayLike, class_prior: KnownPrior | None = None, **options: Unpack[Resampling]
) -> PUEstimate:
    r"""Lee and Liu's criterion :math:`r^2 / q`, which is precision times recall over the prior, and prior-free.

    High only where precision and recall are both high, like :math:`F_1`. Arguments as for :func:`pu_precision`;
    `class_prior` is accepted and not used.

    References
    ----------
    .. [1] W. S. Lee and B. Liu. Learning with positive and unlabeled examples using weighted logistic regression.
       ICML 2003.

    Examples
    --------
    >>> from purely.metrics import pu_lee_liu
    >>> pu_lee_liu([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], n_resamples=0).value
    1.0
    """
    return threshold_metric("lee_liu", y, y_pred, None, **options)
