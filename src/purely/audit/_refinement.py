r"""What audited labels add to a model's ranking: a smooth correction of its log-odds.

Recalibration leaves the ranking as it is. Where labelled positives were not a random draw, the ranking itself is off,
and a hundred labels can mend part of it. With :math:`z(x)` the recalibrated log-odds and :math:`\tilde x` the columns
in units of their spread, the log-odds of a positive are :math:`b + g(x)`, where :math:`g` is a Gaussian process,

.. math:: \operatorname{cov}\bigl(g(x), g(x')\bigr) = z z' + \sigma^2\, \tilde x^\top \tilde x'
          + \tau^2 \exp\Bigl(-\sum_j \rho_j\, (\tilde x_j - \tilde x'_j)^2\Bigr),

and :math:`b, g` are the mode given the audited labels: a logistic regression on a root of the covariance. The draw
depends on :math:`z` alone, which is in the model, so that rows need no weights.

The relevance :math:`\rho_j`, which sums to one, is the model's own: the mean square of what column *j* adds to its
log-odds (:mod:`purely.explain`). Columns that tell positives from the pool are those by which a correction can vary;
the linear part has all columns, in case the model has missed one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_chunked
from sklearn.metrics.pairwise import rbf_kernel

from purely.checks import dense
from purely.explain import explain_rows
from purely.typing import Estimator, Floats, Mask, Matrix

#: A-priori spread of a column's coefficient, and number of columns from which on all together get no more.
SPREAD, MANY_COLUMNS = 0.2, 40
#: A-priori spread of the bent part.
BENT = 2.0
#: With more columns than these the model is not asked for their relevance, and the correction is linear.
MOST_COLUMNS = 200
#: Rows that each audited row is compared with.
N_OTHERS = 8
#: Added to the covariance's diagonal: rows that are alike leave it singular.
RIDGE = 1e-6


@dataclass(frozen=True)
class Refinement:
    """Log-odds with a correction: linear in the columns, and bent around the audited rows.

    Attributes
    ----------
    slope, intercept : float
        Of the recalibrated log-odds.
    coef : ndarray of shape (d,)
        Of the columns as they are.
    scale : ndarray of shape (d,)
        Columns times these are compared with the centres.
    centres : ndarray of shape (m, d)
        The audited rows, scaled; none where the correction is linear.
    weight : ndarray of shape (m,)
    """

    slope: float
    intercept: float
    coef: Floats
    scale: Floats
    centres: Floats
    weight: Floats

    def __call__(self, log_odds: Floats, X: Matrix) -> Floats:
        """Corrected log-odds of rows."""
        linear = np.asarray(self.slope * log_odds + X @ self.coef + self.intercept, dtype=np.float64)
        if not self.weight.size:
            return linear
        how = {"metric": "sqeuclidean", "reduce_func": lambda squares, _: np.exp(-squares) @ self.weight}
        return linear + np.concatenate(list(pairwise_distances_chunked(dense(X) * self.scale, self.centres, **how)))


def relevance_of(model: Estimator, X: Matrix) -> Floats:
    """How much each column matters to a model, shape (d,); sums to 1, or to 0 where it cannot be told."""
    n_columns = X.shape[1]
    if sp.issparse(X) or n_columns > MOST_COLUMNS:
        return np.zeros(n_columns)
    size = np.mean(explain_rows(model, X, n_samples=N_OTHERS).contributions ** 2, axis=0)
    # columns of a table that an encoder makes into several features have no place of their own here
    return size / size.sum() if size.any() and size.size == n_columns else np.zeros(n_columns)


def fit_refinement(log_odds: Floats, X: Matrix, positive: Mask, relevance: Floats) -> Refinement | None:
    """Fit the correction to audited rows; None where all have the same label.

    Parameters
    ----------
    log_odds : ndarray of shape (n,)
        Recalibrated.
    X : array or CSR matrix of shape (n, d)
    positive : ndarray of shape (n,)
    relevance : ndarray of shape (d,)
        See :func:`relevance_of`.
    """
    if positive.all() or not positive.any():
        return None
    rows = dense(X)
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 0.0, spread, np.inf)
    linear_scale = SPREAD * min(1.0, np.sqrt(MANY_COLUMNS / rows.shape[1])) / spread
    scale = np.sqrt(relevance) / spread
    linear = np.column_stack([log_odds, (rows - mean) * linear_scale])
    centres = rows * scale if relevance.any() else np.empty((0, rows.shape[1]))
    covariance = linear @ linear.T + RIDGE * np.eye(len(rows))
    if relevance.any():
        covariance += BENT**2 * rbf_kernel(centres, gamma=1.0)
    root = np.linalg.cholesky(covariance)
    found = LogisticRegression(C=1.0, max_iter=1000).fit(root, positive)
    dual = sl.solve_triangular(root.T, found.coef_[0])
    of_log_odds, *of_columns = linear.T @ dual
    coef, weight = np.asarray(of_columns) * linear_scale, BENT**2 * dual[: len(centres)]
    slope, intercept = max(float(of_log_odds), 0.0), float(found.intercept_[0] - mean @ coef)
    return Refinement(slope, intercept, coef, scale, centres, weight)
