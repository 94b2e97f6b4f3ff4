r"""Can the assumptions be believed? Checks that need no negative.

Positive and unlabelled rows can contradict only some assumptions. A check that finds nothing is no proof:

- :func:`check_selection`: labelled positives are a random sample of the positives, and the prior is not too large.
  Then :math:`p_U = \pi_U p_P + (1 - \pi_U) p_0`, so in every region *A*

  .. math:: U(A) \ge \pi_U P(A) .

- :func:`check_top`: a score that ranks positives first has a ratio :math:`P/U` that never falls as the score rises.
- :func:`check_identifiability`: the prior is read off the top of the ratio, which must have levelled off there.
- :func:`check_sampling`: two samples (case-control) or one (single-sample), as was said.

Scores must come from models that did not train on the rows they score: out of fold.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from purely.assumptions._common import AssumptionCheck, AssumptionReport
from purely.assumptions._rows import LEAK, STRONG, check_sampling, column_areas
from purely.assumptions._scores import check_identifiability, check_selection, check_top
from purely.class_prior import KnownPrior
from purely.labels import Scenario
from purely.typing import Matrix

__all__ = [
    "LEAK",
    "STRONG",
    "AssumptionCheck",
    "AssumptionReport",
    "check_assumptions",
    "check_identifiability",
    "check_sampling",
    "check_selection",
    "check_top",
    "column_areas",
]


def check_assumptions(
    y: ArrayLike,
    score: ArrayLike,
    class_prior: KnownPrior,
    *,
    X: Matrix | None = None,
    scenario: Scenario = "case-control",
    alpha: float = 0.05,
) -> AssumptionReport:
    """Check all assumptions at once.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    score : array-like of shape (n,)
        Scores of rows that did not train the model, the greater the more positive: `oof_probability_` of a classifier,
        or out-of-fold scores of ``cross_val_predict``.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
        The population's p(y=1), for example the classifier's `prior_`.
    X : array, data frame or sparse matrix of shape (n, d), default=None
        The rows, to look for copies.
    scenario : {"case-control", "single-sample"}, default="case-control"
    alpha : float, default=0.05
        Level of each test.

    Returns
    -------
    AssumptionReport

    Examples
    --------
    >>> from purely.assumptions import check_assumptions
    >>> from purely.datasets import make_paper_data
    >>> data = make_paper_data(random_state=0)
    >>> report = check_assumptions(data.y, data.posterior, class_prior=0.7, X=data.X)
    >>> report.status, report["selection"].status
    ('ok', 'ok')
    """
    selection = check_selection(y, score, class_prior, scenario=scenario, alpha=alpha)
    top, identifiability = check_top(y, score, alpha=alpha), check_identifiability(y, score, alpha=alpha)
    sampling = check_sampling(y, score, class_prior, X=X, scenario=scenario, alpha=alpha)
    return AssumptionReport((selection, top, identifiability, sampling))
