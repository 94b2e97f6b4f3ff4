"""What the scores of labelled and unlabelled rows can contradict, and whether the class prior can be read off them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import hypergeom, mannwhitneyu

from purely.assumptions._common import AssumptionCheck, Status, bin_counts, excess, grade, read_rows
from purely.checks import level_to_z
from purely.class_prior import ClassPriors, KnownPrior, read_prior
from purely.labels import Scenario, check_scenario

#: A ratio that still rises by this factor at its top leaves the prior open.
_LARGE_RISE = 1.2
_LARGE_ERROR = 0.35


def check_selection(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, scenario: Scenario = "case-control", alpha: float = 0.05
) -> AssumptionCheck:
    r"""Test whether the labelled positives can be a random sample of the positives, at this class prior.

    Tests :math:`U(A) \ge \pi_U P(A)` in every bin and upper set of the score, at the low end of the prior's interval
    where it has one. The statistic is the largest :math:`\pi_U P(A) / U(A)`, estimated where the test is most
    significant. A contradiction means that some labelled positives lie where the pool has too few rows: selection is
    not at random, or the prior is too large.

    If nothing is found, that is no proof: a bias that a smaller prior would explain leaves no trace if the prior was
    estimated from the same rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    score : array-like of shape (n,)
        Out-of-fold scores, the greater the more positive.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
    scenario : {"case-control", "single-sample"}, default="case-control"
    alpha : float, default=0.05
        "doubtful" below this p-value, "violated" below a fifth of it.

    Returns
    -------
    AssumptionCheck
        ``details["largest_prior"]`` is an upper confidence bound of the population's prior that holds without any other
        assumption.

    Examples
    --------
    >>> from purely.assumptions import check_selection
    >>> from purely.datasets import make_gaussians, make_label_biased
    >>> fair, biased = make_gaussians(random_state=0), make_label_biased(random_state=0)
    >>> check_selection(fair.y, fair.X[:, 0], class_prior=0.5).status
    'ok'
    >>> check_selection(biased.y, biased.X[:, 0], class_prior=0.5).status
    'violated'
    """
    labels, scores = read_rows(y, score, alpha)
    scenario = check_scenario(scenario)
    prior = read_prior(class_prior, n_unlabelled=labels.n_unlabelled)
    found, n_p, n_u = excess(labels, scores, prior.low, scenario, alpha), labels.n_positive, labels.n_unlabelled
    largest = ClassPriors.from_unlabelled(found.bound, n_positive=n_p, n_unlabelled=n_u, scenario=scenario).population
    status = grade(found.p_value, alpha)
    if status == "ok":
        message = (
            f"No region of the score holds more labelled positives than a class prior of {prior.low:g} allows; "
            f"priors above {largest:.3f} would be contradicted."
        )
    else:
        message = (
            f"Some labelled positives lie where the pool has too few rows for them (by a factor of {found.ratio:.2f}): "
            f"either the class prior {prior.low:g} is too large (the rows allow up to {largest:.3f}), or some "
            "positives are labelled more readily than others; then model the labelling, or label a random sample."
        )
    return AssumptionCheck("selection", status, found.ratio, found.p_value, message, {"largest_prior": largest})


def check_top(y: ArrayLike, score: ArrayLike, *, alpha: float = 0.05) -> AssumptionCheck:
    """Test whether labelled positives are missing where the unlabelled rows score highest.

    A score that ranks positives first has a ratio P/U that does not fall as it rises. For each cut in the upper half
    the share of labelled rows above it is compared with that in bands just below it (hypergeometric, Bonferroni over
    all pairs). A fall means that positives of the highest scores are labelled less often than others, or that the score
    does not rank. The check says most about a score that was not trained on P against U, since a score that was puts
    few unlabelled rows above the labelled ones by construction.

    Parameters
    ----------
    y : array-like of shape (n,)
    score : array-like of shape (n,)
    alpha : float, default=0.05

    Returns
    -------
    AssumptionCheck
        The statistic is the labelled share above the worst cut over that in the band below it.

    Examples
    --------
    >>> from purely.assumptions import check_top
    >>> from purely.datasets import make_gaussians, make_label_biased
    >>> fair, biased = make_gaussians(random_state=0), make_label_biased(bias=-1.5, random_state=0)
    >>> check_top(fair.y, fair.X[:, 0]).status, check_top(biased.y, biased.X[:, 0]).status
    ('ok', 'violated')
    """
    labels, scores = read_rows(y, score, alpha)
    n_p, n_u = bin_counts(labels, scores)
    n_bins = n_p.size
    p_values, falls = [1.0], [1.0]
    for cut in range(max(n_bins // 2, 1), n_bins):
        above_p, above_u = n_p[cut:].sum(), n_u[cut:].sum()
        for width in (w for w in (1, 2, 4) if w <= cut):
            below_p, below_u = n_p[cut - width : cut].sum(), n_u[cut - width : cut].sum()
            above, below = above_p + above_u, below_p + below_u
            p_values.append(float(hypergeom.cdf(above_p, above + below, above_p + below_p, above)))
            falls.append(float((above_p / above) / max(below_p / below, 0.5 / below)))
    worst = int(np.argmin(p_values))
    p_value = min(1.0, p_values[worst] * max(len(p_values) - 1, 1))
    status = grade(p_value, alpha)
    message = (
        "The labelled share does not fall towards the top of the score."
        if status == "ok"
        else f"Above a high score the labelled share falls to {falls[worst]:.2f} of that just below: positives of the "
        "highest scores are labelled less often than others, or the score does not rank positives first. Look at the "
        "unlabelled rows of the highest scores before you estimate anything."
    )
    return AssumptionCheck("top", status, falls[worst], p_value, message)


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
    p, u = scores[positive], scores[~positive]
    apart = mannwhitneyu(p, u, use_continuity=False, alternative="greater", method="asymptotic").pvalue
    if not apart <= alpha / 2.0:  # undefined where all scores are equal
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
            f"{rise * np.exp(z * error):.2f}): the share of positives can be read there, if all rows at the top are "
            "positive."
        )
    return AssumptionCheck("identifiability", status, rise, p_value, message, details)
