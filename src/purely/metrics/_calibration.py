r"""Are probabilities honest? Calibration of p(y=1|x) without a negative.

Within a bin *b* of predicted probabilities the positives' share is :math:`\pi P_b / X_b`, with :math:`P_b` and
:math:`X_b` the shares of the labelled positives and of the population that fall into it. The expected calibration error
weights a bin's gap by :math:`X_b`, which cancels the denominator:

.. math:: \mathrm{ECE} = \sum_b \big| E_X[\hat p\, 1_b] - \pi P_b \big| .

A gap is never exactly zero in a sample, and absolute values do not average out. With :math:`d_b` the gap and
:math:`v_b` its sampling variance, :math:`d_b^2 - v_b` is an unbiased estimate of the squared gap, and the error that is
reported is :math:`\sum_b \sqrt{\max(0, d_b^2 - v_b)}`; ``debias=False`` takes the gaps as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

from purely.checks import check_choice, check_number, level_to_z
from purely.class_prior import KnownPrior
from purely.labels import Scenario
from purely.metrics.estimate import HALF_A_ROW, Evaluation, Functional, Labels, PUEstimate, Resampling, group_scores
from purely.typing import Floats

Strategy = Literal["uniform", "quantile"]


@dataclass(frozen=True, eq=False)
class PUCalibrationCurve:
    """Predicted and observed share of positives in each bin, from :func:`pu_calibration_curve`.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability of the population's rows in the bin.
    observed : ndarray of shape (n_bins,)
        Estimated share of positives in the bin; may exceed 1, by chance or because the prior is too large.
    standard_error : ndarray of shape (n_bins,)
        Of `observed`, the prior taken as known.
    share : ndarray of shape (n_bins,)
        Share of the population in the bin; empty bins are left out.
    assumption : str

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.metrics import pu_calibration_curve
    >>> curve = pu_calibration_curve(data.y, data.posterior, class_prior=0.5)
    >>> bool((abs(curve.predicted - curve.observed) < 5 * curve.standard_error).all())
    True
    """

    predicted: Floats = field(repr=False)
    observed: Floats = field(repr=False)
    standard_error: Floats = field(repr=False)
    share: Floats = field(repr=False)
    assumption: str


@dataclass(frozen=True)
class _Bins:
    counts: tuple[Floats, Floats]
    predicted: list[Floats]  # mean probability of the P rows and of the U rows in each bin


def _bin_rows(evaluation: Evaluation, probability: ArrayLike, n_bins: int, strategy: Strategy) -> _Bins:
    values = evaluation.column(probability, "probability")
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError(
            "probability must lie between 0 and 1; decision values are not probabilities, calibrate them first."
        )
    n_bins = check_number("n_bins", n_bins, 1, integer=True)
    if check_choice("strategy", strategy, ("uniform", "quantile")) == "uniform":
        group = np.minimum((values * n_bins).astype(np.intp), n_bins - 1)
    else:
        population = values if evaluation.one_sample else values[~evaluation.labels.positive]
        edges = np.quantile(population, np.linspace(0.0, 1.0, n_bins + 1)[1:-1])
        group = np.searchsorted(edges, values, side="left").astype(np.intp)
    group, n_groups = group_scores(group)
    counts, positive = evaluation.labels.counts(group, n_groups), evaluation.labels.positive
    sums = [np.bincount(group[rows], values[rows], n_groups) for rows in (positive, ~positive)]
    return _Bins(counts, [total / np.maximum(count, 1.0) for total, count in zip(sums, counts, strict=True)])


def _covariance(evaluation: Evaluation, bins: _Bins, prior: float) -> Floats:
    """Sampling covariance of the gaps: the sum of squares of what each row contributes to them, shape (bins, bins)."""
    (n_p, n_u), (mean_p, mean_u) = bins.counts, bins.predicted
    n_p, n_u = n_p + HALF_A_ROW, n_u + HALF_A_ROW  # a bin without positives has a share of them that is not exactly 0
    total_p, total_u = n_p.sum(), n_u.sum()
    each = np.eye(n_p.size)
    counts_p = float(evaluation.one_sample)  # whether the P rows are a part of the population's rows
    n = counts_p * total_p + total_u
    mean = (counts_p * n_p * mean_p + n_u * mean_u) / n
    # of a positive in the bin of the row, to the gap of the column
    of_p = -prior * (each - n_p / total_p) / total_p + counts_p * (each * mean_p - mean) / n
    of_u = (each * mean_u - mean) / n
    return np.asarray((of_p.T * n_p) @ of_p + (of_u.T * n_u) @ of_u)


def pu_calibration_error(
    y: Labels,
    probability: ArrayLike,
    class_prior: KnownPrior,
    *,
    n_bins: int = 10,
    strategy: Strategy = "quantile",
    debias: bool = True,
    **options: Unpack[Resampling],
) -> PUEstimate:
    r"""Expected calibration error of probabilities of the *true* class, from positive and unlabelled rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    probability : array-like of shape (n,)
        Predicted p(y=1|x), between 0 and 1, of rows that trained neither the model nor its calibration.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
    n_bins : int, default=10
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equal shares of the population, or of equal width.
    debias : bool, default=True
        Subtract what chance alone adds to the gaps.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    n_resamples : int, default=500
    random_state : int, RandomState or None, default=0

    Returns
    -------
    PUEstimate
        Its note says what a perfectly calibrated model would show on as many rows without `debias`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_calibration_error
    >>> data = make_gaussians(2000, 4000, random_state=0)
    >>> honest = pu_calibration_error(data.y, data.posterior, class_prior=0.5, random_state=0)
    >>> shrunk = pu_calibration_error(data.y, 0.25 + data.posterior / 2, class_prior=0.5, random_state=0)
    >>> honest.value < 0.02 < 0.1 < shrunk.value  # the truth is 0 and 0.18
    True
    """
    evaluation = Evaluation.read(y, class_prior, **options)
    prior = evaluation.known_prior("the calibration error")
    bins = _bin_rows(evaluation, probability, n_bins, strategy)
    covariance = _covariance(evaluation, bins, prior.value)
    variances = np.diag(covariance)
    mean_p, mean_u = bins.predicted
    share_of_p = evaluation.one_sample * bins.counts[0].sum() / evaluation.labels.positive.size

    def gaps(p: Floats, x: Floats, prior: Floats) -> Floats:
        predicted = share_of_p * p * (mean_p - mean_u) + x * mean_u  # P rows may be a part of the population's rows
        return np.asarray(predicted - np.asarray(prior)[..., None] * p)

    def error(noise: float) -> Functional:
        return lambda p, x, prior: np.sqrt(np.maximum(gaps(p, x, prior) ** 2 - noise * variances, 0.0)).sum(axis=-1)

    once, twice = map(error, (1.0, 2.0) if debias else (0.0, 1.0))  # a draw is noisier than the sample by as much again
    estimate = evaluation.estimate("calibration error", once, bins.counts, resampled=(twice, bins.counts), centred=True)
    # gaps that are jointly no larger than chance makes them leave a calibrated model possible
    p, x = evaluation.shares(*bins.counts)
    of_prior = (prior.high - prior.low) / (2.0 * level_to_z(prior.level))
    spread = covariance + of_prior**2 * np.outer(p, p)
    gap = gaps(p, x, evaluation.prior_value)
    joint, rank = float(gap @ np.linalg.pinv(spread, hermitian=True) @ gap), int(np.linalg.matrix_rank(spread))
    if np.isfinite(estimate.low) and joint <= chdtri(max(rank, 1), 1.0 - evaluation.level):
        estimate = replace(estimate, low=0.0)
    floor = float(np.sqrt(2.0 / np.pi * variances).sum())
    return replace(estimate, note=estimate.note or f"Chance alone gives gaps that add up to {floor:.3f} on these rows.")


def pu_calibration_curve(
    y: ArrayLike,
    probability: ArrayLike,
    class_prior: KnownPrior,
    *,
    n_bins: int = 10,
    strategy: Strategy = "quantile",
    scenario: Scenario = "case-control",
) -> PUCalibrationCurve:
    """Predicted against observed share of positives, bin by bin: the data of a reliability diagram.

    Arguments as for :func:`pu_calibration_error`.

    Returns
    -------
    PUCalibrationCurve

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_calibration_curve
    >>> data = make_gaussians(2000, 4000, random_state=0)
    >>> curve = pu_calibration_curve(data.y, data.posterior, class_prior=0.5, n_bins=4)
    >>> bool((abs(curve.observed - curve.predicted) < 4 * curve.standard_error).all())
    True
    """
    evaluation = Evaluation.read(y, class_prior, scenario=scenario, n_resamples=0)
    prior = evaluation.known_prior("the calibration curve").value
    bins = _bin_rows(evaluation, probability, n_bins, strategy)
    (n_p, n_u), (mean_p, mean_u) = bins.counts, bins.predicted
    p, x = evaluation.shares(n_p, n_u)
    kept = x > 0.0  # a bin that holds labelled positives only has no share of the population to compare with
    of_p = n_p if evaluation.one_sample else np.zeros_like(n_p)
    rows = of_p + n_u
    predicted = (of_p * mean_p + n_u * mean_u) / np.maximum(rows, 1.0)
    observed = prior * p[kept] / x[kept]
    relative = (1.0 - p[kept]) / np.maximum(n_p[kept], 1.0) + (1.0 - x[kept]) / rows[kept]
    # with no labelled positive in the bin the relative error has no base: take that of one row
    base = np.maximum(observed, prior / n_p.sum() / x[kept])
    return PUCalibrationCurve(predicted[kept], observed, base * np.sqrt(relative), x[kept], evaluation.assumption())
