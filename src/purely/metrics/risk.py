r"""Risk of a classifier from positive and unlabelled rows.

The population's risk of a loss :math:`\ell(z, \pm 1)`, with the negatives' part written as the population's minus the
positives' (du Plessis et al. [1]_), and held at zero where its estimate is negative (Kiryo et al. [2]_):

.. math::

    R_{\mathrm{uPU}} = \pi E_P[\ell(z, +1)] + E_X[\ell(z, -1)] - \pi E_P[\ell(z, -1)], \qquad
    R_{\mathrm{nnPU}} = \pi E_P[\ell(z, +1)] + \max\big(0,\; E_X[\ell(z, -1)] - \pi E_P[\ell(z, -1)]\big) .

The first is unbiased; the second keeps the negatives' part of an overfitted model from falling below zero. On new rows
they differ by chance only, unless the prior is too large or labelling is not at random.

References
----------
.. [1] M. C. du Plessis, G. Niu and M. Sugiyama. Convex formulation for learning from positive and unlabeled data.
   ICML 2015.
.. [2] R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama. Positive-unlabeled learning with non-negative risk estimator.
   NeurIPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from purely.checks import check_choice
from purely.class_prior import KnownPrior
from purely.metrics.estimate import HALF_A_ROW, Evaluation, Functional, Labels, PUEstimate, Resampling
from purely.typing import Floats, Indices

Loss = Literal["zero-one", "sigmoid", "logistic", "squared", "brier"]

#: name -> (loss at a positive, loss at a negative) of the margin z; of the probability for "brier".
LOSSES: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "zero-one": (lambda z: (z <= 0.0).astype(float), lambda z: (z > 0.0).astype(float)),
    "sigmoid": (lambda z: expit(-z), expit),
    "logistic": (lambda z: np.logaddexp(0.0, -z), lambda z: np.logaddexp(0.0, z)),
    "squared": (lambda z: 0.25 * (z - 1.0) ** 2, lambda z: 0.25 * (z + 1.0) ** 2),
    "brier": (lambda p: (1.0 - p) ** 2, lambda p: p**2),
}


def risk_functional(at_positive: Floats, at_negative: Floats, non_negative: bool) -> Functional:
    """The risk as a function of shares, for losses that are given in each group of rows."""

    def functional(p: Floats, x: Floats, prior: Floats) -> Floats:
        of_negatives = np.asarray(x @ at_negative - prior * (p @ at_negative))
        return np.asarray(prior * (p @ at_positive) + (np.maximum(of_negatives, 0.0) if non_negative else of_negatives))

    return functional


def pu_risk(
    y: Labels,
    score: ArrayLike,
    class_prior: KnownPrior,
    *,
    loss: Loss = "zero-one",
    estimator: Literal["upu", "nnpu"] = "upu",
    threshold: float | None = None,
    **options: Unpack[Resampling],
) -> PUEstimate:
    r"""Risk of a scoring function, unbiased (uPU) or non-negative (nnPU).

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    score : array-like of shape (n,)
        Values of a decision function, or probabilities. The margin is :math:`z = \text{score} - \text{threshold}`.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
        The population's p(y=1), its interval carried through.
    loss : {"zero-one", "sigmoid", "logistic", "squared", "brier"}, default="zero-one"
        "squared" is :math:`\frac14 (z \mp 1)^2`. "brier" needs probabilities as scores and is a proper score of them.
    estimator : {"upu", "nnpu"}, default="upu"
    threshold : float, default=None
        A row is predicted positive above it. None is 0, the threshold of a decision function. "brier" has none.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    n_resamples : int, default=500
    random_state : int, RandomState or None, default=0

    Returns
    -------
    PUEstimate

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_risk
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> print(pu_risk(data.y, data.X[:, 0], 0.5, threshold=1.0, random_state=0))  # the truth is 0.159
    zero-one risk 0.151 [0.124, 0.177] (90% interval)
    """
    check_choice("loss", loss, get_args(Loss))
    check_choice("estimator", estimator, ("upu", "nnpu"))
    if loss == "brier" and threshold is not None:
        raise ValueError("the Brier score has no threshold; leave threshold=None.")
    evaluation = Evaluation.read(y, class_prior, **options)
    evaluation.known_prior("risk")
    scores = evaluation.column(score, "score")
    if loss == "brier" and not ((scores >= 0.0) & (scores <= 1.0)).all():
        raise ValueError("the Brier score needs probabilities between 0 and 1 as scores.")
    margin = scores if threshold is None else scores - float(threshold)

    if loss == "zero-one":  # two groups, and half a row in each keeps the interval of a perfect score open
        counts = evaluation.labels.counts((margin > 0.0).astype(np.intp), 2)
        functional = risk_functional(np.array([1.0, 0.0]), np.array([0.0, 1.0]), estimator == "nnpu")
        return evaluation.estimate("zero-one risk", functional, counts, smoothing=HALF_A_ROW)

    def formula(group: Indices, n_groups: int) -> Functional:
        size = np.bincount(group, minlength=n_groups)
        at_positive, at_negative = (np.bincount(group, f(margin), n_groups) / size for f in LOSSES[loss])
        return risk_functional(at_positive, at_negative, estimator == "nnpu")

    legal = (0.0, 1.0 if loss in ("sigmoid", "brier") else np.inf)
    return evaluation.of_scores(f"{loss} risk", margin, formula, legal=legal)
