r"""Whether a single column gives the label away.

The area under the ROC curve of a column *x* for labelled against unlabelled rows,

.. math:: A = P(x_P > x_U) + \tfrac12 P(x_P = x_U), \qquad \text{taken as } \max(A, 1 - A),

is 1/2 for a column that says nothing. A column that finds rare positives can reach :data:`STRONG`; beyond :data:`LEAK`
hardly an unlabelled row looks like a labelled one: more often such a column was filled in because of the label.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from purely.typing import Floats, Mask, Matrix

STRONG, LEAK = 0.99, 0.9999


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
