"""Whether the class prior can be read off the rows at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import rankdata

from purely.assumptions._common import AssumptionCheck, Status, read_rows
from purely.checks import level_to_z
from purely.typing import Floats, Mask

#: A ratio that still rises by this factor at its top leaves the prior open.
_LARGE_RISE = 1.2
_LARGE_ERROR = 0.35


def check_identifiability(y: ArrayLike, score: ArrayLike, *, alpha: float = 0.05) -> AssumptionCheck:
    r"""Look whether the ratio P/U has levelled off at the top of the score, where the class prior is read from it.

    Without a region that is purely positive the prior is not identified: the rows only say :math:`\pi_U \le \min_A U(A)
    / P(A)`. Where such a region exists and the score finds it, the ratio is flat at its top. The check compares the
    band above the positives' 90 % quantile with the band from 70 to 90 %. The statistic is how many times higher the
    ratio is in the first band. Even a flat top can hold negatives: then every method overestimates the prior, and
    nothing in the rows shows it.

    Parameters
    ----------
    y : array-like of shape (n,)
    score : array-like of shape (n,)
        Out-of-fold scores, the greater the more positive.
    alpha : float, default=0.05

    Returns
    -------
    AssumptionCheck
        ``details["largest_unlabelled_prior"]`` is U/P above the 90 % quantile.

    Examples
    --------
    >>> from purely.assumptions import check_identifiability
    >>> from purely.datasets import make_independent, make_paper_data
    >>> clear, none = make_paper_data(random_state=0), make_independent(random_state=0)
    >>> check_identifiability(clear.y, clear.posterior).status
    'ok'
    >>> check_identifiability(none.y, none.X[:, 0]).status
    'violated'
    """
    labels, scores = read_rows(y, score, alpha)
    positive = labels.positive
    n_p, n_u = labels.n_positive, labels.n_unlabelled
    cut_high, cut_low = np.quantile(scores[positive], [0.9, 0.7])
    high = scores >= cut_high
    band = (scores >= cut_low) & ~high
    counts = np.array([[np.sum(region & positive), np.sum(region & ~positive)] for region in (high, band)]) + 0.5
    log_ratio = np.log(counts[:, 0] / counts[:, 1])
    rise = float(np.exp(log_ratio[0] - log_ratio[1]))
    error = float(np.sqrt((1.0 / counts).sum()))
    p_value = float(ndtr(-np.log(rise) / error))
    largest = float(min(counts[0, 1] / n_u / (counts[0, 0] / n_p), 1.0))
    z = level_to_z(1.0 - 2.0 * alpha)
    details = {"standard_error_of_log": error, "largest_unlabelled_prior": largest}
    status: Status = "violated"
    if _separation(scores, positive) < level_to_z(1.0 - alpha):
        message = (
            "The scores of labelled and unlabelled rows do not differ, so every class prior up to 1 fits: find "
            "features or a model that tell them apart, or give the prior."
        )
    elif rise * np.exp(-z * error) > _LARGE_RISE:
        message = (
            f"The ratio of labelled to unlabelled rows still rises at its top (by a factor {rise:.2f} over the last "
            "tenth of the positives): an estimated prior is an upper bound only. Give a class prior known from "
            "elsewhere, or a better score."
        )
    elif error > _LARGE_ERROR or p_value < alpha:
        status = "doubtful"
        message = (
            "It cannot be told whether the rows of highest score are all positive (the ratio of labelled to unlabelled "
            f"rows rises by a factor {rise:.2f} there, and perhaps by {rise * np.exp(z * error):.2f}): more labelled "
            "rows, or a prior from elsewhere, would settle it."
        )
    else:
        status = "ok"
        message = (
            f"The ratio has levelled off at its top (it rises there by a factor {rise:.2f}, at most "
            f"{rise * np.exp(z * error):.2f}); the share of positives among the unlabelled rows is at most about "
            f"{largest:.2f}, and about as large as that if all rows at the top are positive."
        )
    return AssumptionCheck("identifiability", status, rise, p_value, message, details)


def _separation(scores: Floats, positive: Mask) -> float:
    """Standardised rank sum of the labelled rows against the unlabelled ones, ties taken into account."""
    ranks = rankdata(scores)
    n, n_p = scores.size, int(positive.sum())
    spread = np.sqrt(ranks.var(ddof=1) * n_p * (n - n_p) / n)
    return float((ranks[positive].sum() - n_p * ranks.mean()) / spread) if spread > 0.0 else 0.0
