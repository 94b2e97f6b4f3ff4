r"""Probabilities from scores of positives and of unlabelled rows.

A score :math:`s` that ranks rows by :math:`p(y{=}1 \mid x)` becomes a probability through the monotone density ratio of
the scores of positives and of unlabelled rows,

.. math:: p(y{=}1 \mid s) = \pi_U\, \frac{f_P(s)}{f_U(s)},

which needs the share :math:`\pi_U` of positives among the unlabelled rows and no negatives. Scores must be of rows that
the model has not been trained on: in sample, positives score like nothing in the population. Calibration against the
labels (Platt's or isotonic) would give :math:`p(\text{labelled} \mid x)` instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from purely.checks import check_choice, check_share
from purely.typing import Floats, Indices

__all__ = ["ScoreCalibration", "calibrate_scores"]


#: Ways to calibrate, by name.
CALIBRATIONS = ("averaged", "isotonic", "sigmoid")
#: Scores are put into at most this many groups of equal size before the isotonic regression.
LARGEST_GROUPS = 1000
#: Total rise of the log-odds that keeps an isotonic map strictly increasing.
RAMP = 0.01
#: Largest slope of the log-odds for one standard deviation of the scores.
LARGEST_SLOPE = 30.0


@dataclass(frozen=True)
class ScoreCalibration:
    """A strictly increasing map of scores to log-odds: linear between knots and beyond the last.

    Attributes
    ----------
    knots, log_odds : ndarray of shape (k,)
        Scores, increasing, and the log-odds there.
    end_slope : float
        Slope below the first and above the last knot.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.calibration import ScoreCalibration
    >>> log_odds = ScoreCalibration(np.array([0.0, 1.0]), np.array([-2.0, 2.0]), end_slope=1.0)
    >>> log_odds([-1.0, 0.5, 3.0])
    array([-3.,  0.,  4.])
    """

    knots: Floats = field(repr=False)
    log_odds: Floats = field(repr=False)
    end_slope: float

    def __call__(self, score: Any) -> Floats:
        """Log-odds of the positive class among the unlabelled rows, at each score."""
        s = np.asarray(score, dtype=np.float64)
        beyond = np.minimum(s - self.knots[0], 0.0) + np.maximum(s - self.knots[-1], 0.0)
        return np.interp(s, self.knots, self.log_odds) + self.end_slope * beyond


def calibrate_scores(
    score_positive: ArrayLike,
    score_unlabelled: ArrayLike,
    unlabelled_prior: float,
    *,
    method: str = "averaged",
    n_resamples: int = 30,
    random_state: int = 0,
    weight_positive: ArrayLike | None = None,
    weight_unlabelled: ArrayLike | None = None,
) -> ScoreCalibration:
    r"""Map scores to log-odds of the positive class among the unlabelled rows.

    "isotonic" takes the ratio from isotonic regression of positives against unlabelled rows, both of total weight one
    (the maximum-likelihood monotone ratio [1]_), multiplies it by the prior and clips it to [0, 1]; the average over
    reweighted samples (Bayesian bootstrap) makes the steps a slope. "sigmoid" is linear in the log-odds,
    :math:`z = a s + b`, and minimises the logistic risk

    .. math:: \operatorname{mean}_U \log(1 + e^z) - \pi_U \operatorname{mean}_P z,

    which is convex. The first follows any shape and is noisy, the second is steady and has one shape; "averaged" is the
    mean of their log-odds. All give probabilities whose mean over the unlabelled rows is the prior, isotonic ones, once
    clipped, through a shift of the log-odds.

    Parameters
    ----------
    score_positive, score_unlabelled : array-like of shape (n_P,) and (n_U,)
        Scores by models that have not seen these rows; the higher the more positive.
    unlabelled_prior : float
        Share of positives among the unlabelled rows, strictly between 0 and 1.
    method : {"averaged", "isotonic", "sigmoid"}, default="averaged"
    n_resamples : int, default=30
        Reweighted samples that an isotonic map is averaged over.
    random_state : int, default=0
        Seed of the weights.
    weight_positive, weight_unlabelled : array-like of shape (n_P,) and (n_U,), optional
        Weights of the scores, not negative; only the ratios within either count.

    Returns
    -------
    ScoreCalibration

    References
    ----------
    .. [1] T. Robertson, F. T. Wright, R. L. Dykstra. Order restricted statistical inference. Wiley, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from purely.calibration import calibrate_scores
    >>> rng = np.random.default_rng(0)
    >>> P, U = rng.normal(1, 1, 2000), np.concatenate([rng.normal(1, 1, 1000), rng.normal(-1, 1, 1000)])
    >>> log_odds = calibrate_scores(P, U, unlabelled_prior=0.5)
    >>> bool(abs(expit(log_odds(0.5)) - expit(1.0)) < 0.1)  # the truth has log-odds 2 s
    True
    >>> round(float(expit(log_odds(U)).mean()), 2)
    0.5
    """
    p, u = (np.asarray(s, dtype=np.float64).ravel() for s in (score_positive, score_unlabelled))
    share = check_share("unlabelled_prior", unlabelled_prior)
    if not (p.size and u.size and np.isfinite(p).all() and np.isfinite(u).all()):
        raise ValueError(
            "score_positive and score_unlabelled must each hold at least one number, and only finite ones."
        )
    check_choice("method", method, CALIBRATIONS)
    w_p, w_u = _shares(weight_positive, p, "weight_positive"), _shares(weight_unlabelled, u, "weight_unlabelled")
    # A score without weight says nothing, not even where the knots are.
    p, w_p, u, w_u = p[w_p > 0.0], w_p[w_p > 0.0], u[w_u > 0.0], w_u[w_u > 0.0]
    if method == "isotonic":
        return _isotonic(p, u, w_p, w_u, share, n_resamples, random_state)
    second = _sigmoid(p, u, w_p, w_u, share)
    if method == "sigmoid":
        return second
    first = _isotonic(p, u, w_p, w_u, share, n_resamples, random_state)
    # The mean of both maps: its knots are those of the first and the ends of both.
    knots = np.union1d(first.knots, second.knots)
    mean = ScoreCalibration(knots, 0.5 * (first(knots) + second(knots)), 0.5 * (first.end_slope + second.end_slope))
    return ScoreCalibration(knots, mean.log_odds + shift_to_share(mean(u), w_u, share), mean.end_slope)


def _shares(weight: ArrayLike | None, score: Floats, name: str) -> Floats:
    """Weights that add up to one."""
    if weight is None:
        return np.full(score.size, 1.0 / score.size)
    w = np.asarray(weight, dtype=np.float64).ravel()
    if w.size != score.size or not np.isfinite(w).all() or (w < 0.0).any() or not w.any():
        raise ValueError(f"{name} must hold one finite number a score, none negative and not all zero.")
    return w / w.sum()


def _isotonic(
    p: Floats, u: Floats, share_p: Floats, share_u: Floats, share: float, n_resamples: int, seed: int
) -> ScoreCalibration:
    given = np.concatenate([share_p * p.size, share_u * u.size])
    score = np.concatenate([p, u])
    positive = np.arange(score.size) < p.size
    order = np.lexsort((positive, score))
    score, positive, given = score[order], positive[order], given[order]
    group = _groups(score)
    n_groups = int(group[-1]) + 1
    knots = np.bincount(group, score) / np.bincount(group)
    rng = np.random.default_rng(seed)
    total = np.zeros(n_groups)
    for repeat in range(max(1, n_resamples)):
        weight = given * rng.exponential(size=score.size) if repeat else given
        w_p, w_u = (np.bincount(group, weight * mask, n_groups) for mask in (positive, ~positive))
        w_p, w_u = w_p / w_p.sum(), w_u / w_u.sum()
        among = isotonic_regression(w_p / (w_p + w_u), sample_weight=w_p + w_u)
        pure = share * among >= 1.0 - among  # more of the positives here than the prior allows: clipped
        total += np.where(pure, 1.0, share * among / np.where(pure, 1.0, 1.0 - among))
    # A probability nearer to 0 or 1 than half a row of the smaller sample is not known.
    least = 0.5 / min(p.size, u.size)
    z = logit(np.clip(total / max(1, n_resamples), least, 1.0 - least)) + RAMP * np.linspace(-0.5, 0.5, n_groups)
    u_weight = np.bincount(group, given * ~positive, n_groups) / u.size
    spread = float(np.std(score)) or 1.0
    return ScoreCalibration(knots, z + shift_to_share(z, u_weight, share), RAMP / spread)


def _groups(score: Floats) -> Indices:
    """Group of each of the sorted scores: equal scores together, and at most LARGEST_GROUPS of about equal size.

    Scores that differ by rounding only are equal: the step between two groups is not to hang on the last digit.
    """
    distinct = np.concatenate([[0], np.cumsum(np.diff(score) > 1e-6 * (np.ptp(score) + np.abs(score).max()))])
    if distinct[-1] < LARGEST_GROUPS:
        return distinct.astype(np.intp)
    first = np.searchsorted(distinct, distinct)  # the place of the first of equal scores decides for all of them
    return np.unique(first * LARGEST_GROUPS // score.size, return_inverse=True)[1].astype(np.intp)


def shift_to_share(z: Floats, weight: Floats, share: float) -> float:
    """What to add to all log-odds so that the weighted mean of the probabilities is the share."""
    # With every log-odds at that of the share or below, the mean is at most the share; likewise above.
    low, high = logit(share) - z.max() - 1e-9, logit(share) - z.min() + 1e-9
    return float(brentq(lambda shift: float(weight @ expit(z + shift)) - share, low, high, xtol=1e-10))


def _sigmoid(p: Floats, u: Floats, share_p: Floats, share_u: Floats, share: float) -> ScoreCalibration:
    centre, spread = float(share_u @ u), float(np.std(np.concatenate([p, u]))) or 1.0
    s_p, s_u = (p - centre) / spread, (u - centre) / spread
    mean_p = float(share_p @ s_p)
    ridge = 1.0 / min(p.size, u.size)  # keeps the slope finite where the scores are separated
    a, b = 0.0, float(logit(share))
    for _ in range(100):
        probability = expit(a * s_u + b)
        curvature = share_u * probability * (1.0 - probability)
        of_u = share_u * probability
        gradient = np.array([s_u @ of_u - share * mean_p + ridge * a, of_u.sum() - share])
        H = np.array([[s_u**2 @ curvature, s_u @ curvature], [s_u @ curvature, curvature.sum()]])
        step = np.linalg.solve(H + np.diag([ridge, 1e-12]), gradient)
        step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
        a, b = a - step[0], b - step[1]
        if np.abs(step).max() < 1e-10:
            break
    # A score that falls with the probability is worth no more than none; scores and a prior that no slope reconciles
    # would give an infinite one.
    a = float(np.clip(a, RAMP, LARGEST_SLOPE)) if np.isfinite(a) else LARGEST_SLOPE
    b = shift_to_share(a * s_u, share_u, share)
    return ScoreCalibration(np.array([centre - spread, centre + spread]), np.array([b - a, b + a]), a / spread)
