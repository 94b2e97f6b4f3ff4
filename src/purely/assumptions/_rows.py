r"""What the rows say: whether they were drawn as was said, and whether a single column gives the label away.

The area under the ROC curve of a column *x* for labelled against unlabelled rows,

.. math:: A = P(x_P > x_U) + \tfrac12 P(x_P = x_U), \qquad \text{taken as } \max(A, 1 - A),

is 1/2 for a column that says nothing. A column that finds rare positives can reach :data:`STRONG`; beyond :data:`LEAK`
hardly an unlabelled row looks like a labelled one: more often such a column was filled in because of the label.
"""

from __future__ import annotations

from typing import get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.utils import check_array

from purely.assumptions._common import STRICTER, AssumptionCheck, Status, excess, grade, read_rows
from purely.checks import level_to_z, refuse_length
from purely.class_prior import KnownPrior, read_prior
from purely.folds import row_keys
from purely.labels import PULabels, Scenario, check_scenario, read_labels
from purely.typing import Floats, Mask, Matrix

OK: Status = "ok"
STRONG, LEAK = 0.99, 0.9999


def check_sampling(
    y: ArrayLike,
    score: ArrayLike | None = None,
    class_prior: KnownPrior | None = None,
    *,
    X: Matrix | None = None,
    scenario: Scenario = "case-control",
    alpha: float = 0.05,
) -> AssumptionCheck:
    r"""Look whether the rows were drawn as was said: two samples, or one of which a part was labelled.

    There are two signs that they were not. If scores and a class prior are given and the scenario is "case-control":
    the highest scores have fewer unlabelled rows than :math:`\pi P(A)`, but not fewer than the smaller :math:`\pi_U` of
    a single sample would explain. If `X` is given: labelled rows are also among the unlabelled ones, more often than
    rows repeat anyway.

    Parameters
    ----------
    y : array-like of shape (n,)
    score : array-like of shape (n,), default=None
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator, default=None
        Known from elsewhere; an estimate from the same rows follows whatever was said.
    X : array, data frame or sparse matrix of shape (n, d), default=None
        The rows, to look for copies.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What was said.
    alpha : float, default=0.05

    Returns
    -------
    AssumptionCheck
        The statistic is the share of labelled rows with a copy among the unlabelled ones (NaN without `X`).

    Examples
    --------
    >>> from purely.assumptions import check_sampling
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(400, 600, class_prior=0.5, scenario="single-sample", random_state=0)
    >>> check_sampling(data.y, data.X[:, 0], 0.5, scenario="case-control").status
    'doubtful'
    >>> check_sampling(data.y, data.X[:, 0], 0.5, scenario="single-sample").status
    'ok'
    """
    scenario = check_scenario(scenario)
    labels = read_labels(y)
    copies, status, message = (np.nan, OK, "") if X is None else _copies(X, labels, scenario, alpha)
    p_value = np.nan
    if score is not None and class_prior is not None and scenario == "case-control":
        labels, scores = read_rows(y, score, alpha)
        prior = read_prior(class_prior, n_unlabelled=labels.n_unlabelled)
        p_value, single = (excess(labels, scores, prior.low, s, alpha).p_value for s in get_args(Scenario))
        if grade(p_value, alpha) != OK and single >= alpha:
            status = "violated" if status == "violated" else "doubtful"  # three causes share this sign
            message = (
                f"The unlabelled rows hold too few positives for a class prior of {prior.low:g} in two samples. One "
                'sample of which a part was labelled would explain it (then use scenario="single-sample"), as would a '
                "prior that is too large or labelling that is not at random. " + message
            )
    elif X is None and scenario == "case-control":
        raise ValueError("check_sampling needs score and class_prior, or X, to look at.")
    fine = f"Nothing speaks against the scenario {scenario!r}."
    return AssumptionCheck("sampling", status, float(copies), float(p_value), (message or fine).strip())


def _copies(X: Matrix, labels: PULabels, scenario: Scenario, alpha: float) -> tuple[float, Status, str]:
    """Share of labelled rows with a copy among the unlabelled ones, against what repeats anyway.

    Rows of few values repeat by themselves. Unlabelled rows that repeat each other show how often; so do labelled rows
    that do, with their rate carried to U's size as if every row there were positive (which errs on the side of 'ok').
    """
    rows = sp.csr_matrix(X) if sp.issparse(X) else check_array(X, dtype=np.float64, ensure_all_finite=False)
    refuse_length("X", rows.shape[0], labels.positive.size)
    keys = row_keys(rows, seed=0)
    (of_u, size_u), (_, size_p) = (np.unique(keys[k], return_counts=True) for k in (~labels.positive, labels.positive))
    share_p = float(np.isin(keys[labels.positive], of_u).mean())
    share_u, share_pp = (float(size[size > 1].sum() / size.sum()) for size in (size_u, size_p))
    anyway = max(share_u, 1.0 - (1.0 - share_pp) ** max(labels.n_unlabelled / labels.n_positive, 1.0))
    pooled = (share_p * labels.n_positive + anyway * labels.n_unlabelled) / labels.positive.size
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / labels.n_positive + 1.0 / labels.n_unlabelled))
    excess = share_p - anyway
    if excess <= 0.05 or excess <= level_to_z(1.0 - alpha / STRICTER) * error:
        return share_p, "ok", ""
    found = f"{share_p:.0%} of the labelled rows are also among the unlabelled ones. "
    if scenario == "single-sample":
        found += 'Drop these copies, or use scenario="case-control": U is then the population.'
        return share_p, "violated" if excess > 0.5 else "doubtful", found
    found += (
        "Estimators may use them so, but a row and its copy must not fall to different folds: drop the copies "
        'from U and use scenario="single-sample".'
    )
    return share_p, "doubtful", found


def column_areas(X: Matrix, positive: Mask) -> Floats:
    """Area under the ROC curve of each column alone, labelled against unlabelled rows, whichever way it points.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        In a sparse matrix it only counts whether an entry is there: in a column that is mostly zero, that is what can
        give the label away.
    positive : ndarray of bool, shape (n,)

    Returns
    -------
    ndarray of shape (d,)
        Between 1/2 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.assumptions import column_areas
    >>> column_areas(np.array([[3.0, 1.0], [4.0, 0.0], [1.0, 1.0], [2.0, 0.0]]), np.array([True, True, False, False]))
    array([1. , 0.5])
    """
    if sp.issparse(X):
        share_p, share_u = (np.asarray((X[mask] != 0).mean(axis=0)).ravel() for mask in (positive, ~positive))
        return np.asarray(0.5 + 0.5 * np.abs(share_p - share_u))
    n_p, n_u = int(positive.sum()), int((~positive).sum())
    above = rankdata(X, axis=0)[positive].sum(axis=0) - n_p * (n_p + 1) / 2.0
    area = above / (n_p * n_u)
    return np.asarray(np.maximum(area, 1.0 - area))
