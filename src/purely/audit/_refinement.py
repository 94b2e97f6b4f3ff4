r"""What audited labels add to a model's ranking: a small linear correction of its log-odds.

Recalibration leaves the ranking as it is. Where labelled positives were not a random draw, the ranking itself is off,
and a hundred labels can mend part of it. With :math:`z(x)` the recalibrated log-odds and :math:`\tilde x` the columns
in units of their spread, the weighted penalised loss

.. math:: \sum_i w_i\, \ell\bigl(y_i,\; b + a\, z(x_i) + \beta^\top \tilde x_i\bigr)
          + \frac{a^2}{2} + \frac{\|\beta\|^2}{2 \sigma^2},

with the logistic loss :math:`\ell`, is minimised over the audited rows, each weighing the inverse of its probability to
be drawn. The spread :math:`\sigma` is small: without evidence the model's own log-odds decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

__all__ = ["Refinement", "fit_refinement"]

Floats = NDArray[np.float64]

#: A-priori spread of a column's coefficient, and number of columns from which on all together get no more.
SPREAD, MANY_COLUMNS = 0.3, 40
#: Weights are at most this many times their mean: one row must not decide.
LARGEST_WEIGHT = 5.0


@dataclass(frozen=True)
class Refinement:
    """Log-odds with a linear correction.

    Attributes
    ----------
    slope, intercept : float
        Of the recalibrated log-odds.
    coef : ndarray of shape (d,)
        Of the columns as they are.
    """

    slope: float
    intercept: float
    coef: Floats

    def __call__(self, log_odds: Floats, X: Any) -> Floats:
        """Corrected log-odds of rows."""
        return np.asarray(self.slope * log_odds + X @ self.coef + self.intercept, dtype=np.float64)


def fit_refinement(log_odds: Floats, X: Any, positive: NDArray[np.bool_], inclusion: Floats) -> Refinement | None:
    """Fit the correction to audited rows; None where all have the same label.

    Parameters
    ----------
    log_odds : ndarray of shape (n,)
        Recalibrated.
    X : array or CSR matrix of shape (n, d)
    positive : ndarray of shape (n,)
    inclusion : ndarray of shape (n,)
        Probabilities with which the rows were drawn.
    """
    if positive.all() or not positive.any():
        return None
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = SPREAD * min(1.0, np.sqrt(MANY_COLUMNS / rows.shape[1])) / np.where(spread > 0.0, spread, np.inf)
    weight = 1.0 / inclusion
    weight = np.minimum(weight / weight.mean(), LARGEST_WEIGHT)
    features = np.column_stack([log_odds, (rows - mean) * scale])
    found = LogisticRegression(C=1.0, max_iter=1000).fit(features, positive, sample_weight=weight / weight.mean())
    slope, coef = max(float(found.coef_[0, 0]), 0.0), found.coef_[0, 1:] * scale
    return Refinement(slope, float(found.intercept_[0] - mean @ coef), coef)
