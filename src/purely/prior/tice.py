r"""TIcE: the labelling frequency from tree-shaped subsets of the data.

The labelled share of any subset of the rows is at most the labelling frequency :math:`c` in expectation, and equals it
where the subset holds positives only. A decision tree looks for subsets with a high labelled share; on rows the tree
has not seen, a subset of :math:`T` rows of which :math:`L` are labelled gives the lower bound [1]_

.. math:: c \ge \frac{L}{T} - \sqrt{\frac{c (1 - c) (1 - \delta)}{\delta T}}, \qquad
    \delta = \max\left(0.025, \frac{1}{1 + 0.004\, n}\right) ,

with :math:`n` the number of rows that give bounds; the estimate is the largest bound, averaged over which fold grew
the tree and which gave the bound.

References
----------
.. [1] Bekker, J. and Davis, J. Estimating the class prior in positive and unlabeled data through decision tree
   induction. AAAI 2018.
"""

from __future__ import annotations

import heapq

import numpy as np

from purely.base import number, with_parameters
from purely.checks import draw_seed
from purely.folds import Folds, deal_folds
from purely.prior.base import PriorDiagnostics, PriorEstimate, PriorEstimator
from purely.typing import Floats, Mask, Matrix

_QUANTILES = np.array([0.25, 0.5, 0.75])
#: Rows without a label that are added to a node before its labelled share is looked at.
_DRAW = 5.0


@with_parameters
class TIcEPrior(PriorEstimator):
    """Class prior by tree induction for the labelling frequency.

    Parameters
    ----------
    cv : int, default=5
        Each fold grows a tree on its own rows; the bounds come from the other folds.
    max_splits : int, default=100
        Largest number of splits of a tree, the most promising first.
    min_leaf : int, default=10
        Smallest number of rows of a subset.
    ratio : "auto", str, estimator or list of these, default="auto"
        Models behind the interval, see :class:`purely.ClassPrior`; the estimate does not use them.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval, from the spread over folds.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        The bound of the labelling frequency, fold by fold.

    Notes
    -----
    The estimate is the end of a confidence interval, not its centre. With 1,000 positives and 2,000 unlabelled rows the
    term that is subtracted is 0.08 for a subset of 400 rows and 0.035 for one of 2,000, and at a share of one half 0.08
    of the labelling frequency is 0.19 of the share. So the share comes out too large by that much where no large subset
    is pure, above all in many columns, and the error goes down with the root of the number of rows. It can also come
    out too small: it is the best of hundreds of bounds, each of which fails with the probability delta, 0.09 here.

    References
    ----------
    .. [1] Bekker, J. and Davis, J. Estimating the class prior in positive and unlabeled data through decision tree
       induction. AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import TIcEPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (600, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (400, 2)), rng.normal(5, 1, (600, 2))])
    >>> 0.3 < TIcEPrior().fit(*stack(P, U)).class_prior_ < 0.6
    True
    """

    _accepts_sparse = False

    cv: int = number(default=5, low=2, integer=True, kw_only=False)
    max_splits: int = number(default=100, low=0, integer=True)
    min_leaf: int = number(default=10, low=1, integer=True)

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
        n_p, n_u = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
        folds = deal_folds(X, positive, self.cv, draw_seed(self.random_state))
        bounds = []
        for j in range(folds.n_folds):
            grow = folds.number == j
            frequency = 0.5
            for _ in range(2):  # the bound depends on the frequency: once with a guess, once with what came out
                frequency = self._bound(X[grow], positive[grow], X[~grow], positive[~grow], frequency)
            bounds.append(frequency)
        frequency = float(np.mean(bounds))
        shares = n_p * (1.0 / np.array(bounds) - 1.0) / n_u
        share = float(np.clip(n_p * (1.0 / frequency - 1.0) / n_u, 0.0, 1.0))
        error = float(np.std(np.clip(shares, 0.0, 1.0), ddof=1) / np.sqrt(folds.n_folds))
        bound, details = "upper" if share >= 1.0 else None, {"label_frequency": frequency, "standard_error": error}
        x, axes = np.arange(folds.n_folds, dtype=float), ("fold", "bound of the labelling frequency")
        diagnostics = PriorDiagnostics(x, np.array(bounds), *axes, bound=bound, details=details)
        sentence = (
            "The class prior is the upper bound 1: no subset of the rows has a higher labelled share than all of them. "
            "Use features that tell the classes apart, or ClassPrior."
        )
        return PriorEstimate(share, diagnostics, warnings=() if bound is None else (sentence,))

    def _bound(self, X_grow: Floats, y_grow: Mask, X: Floats, y: Mask, frequency: float) -> float:
        """The largest lower bound over the nodes of a tree grown best first."""
        delta = max(0.025, 1.0 / (1.0 + 0.004 * y.size))
        best = _lower_bound(y, frequency, delta)
        everywhere = np.ones(y_grow.size, dtype=bool), np.ones(y.size, dtype=bool)
        queue: list[tuple[float, int, Mask, Mask]] = [(0.0, 0, *everywhere)]
        made, splits = 1, 0
        while queue and splits < self.max_splits:
            _, _, in_grow, in_bound = heapq.heappop(queue)
            split = _best_split(X_grow[in_grow], y_grow[in_grow], self.min_leaf)
            if split is None:
                continue
            splits += 1
            column, threshold = split
            for side in (True, False):
                child_grow = in_grow & ((X_grow[:, column] > threshold) == side)
                child = in_bound & ((X[:, column] > threshold) == side)
                if np.count_nonzero(child) < self.min_leaf:
                    continue
                best = max(best, _lower_bound(y[child], frequency, delta))
                labelled, size = np.count_nonzero(y_grow[child_grow]), np.count_nonzero(child_grow)
                if 0 < labelled < size:  # the most promising first: labelled share, drawn towards zero in small nodes
                    heapq.heappush(queue, (-labelled / (size + _DRAW), made, child_grow, child))
                    made += 1
        return best


def _lower_bound(labelled: Mask, frequency: float, delta: float) -> float:
    slack = np.sqrt(frequency * (1.0 - frequency) * (1.0 - delta) / (delta * labelled.size))
    return max(float(labelled.mean() - slack), 1e-3)


def _best_split(X: Floats, labelled: Mask, min_leaf: int) -> tuple[int, float] | None:
    """The split at a quartile of a column whose better side promises the highest labelled share."""
    n = labelled.size
    if n < 2 * min_leaf:
        return None
    cuts = np.quantile(X, _QUANTILES, axis=0)
    best, found = -np.inf, None
    for row in cuts:
        above = row < X
        size = above.sum(axis=0)
        hits = labelled @ above
        allowed = (size >= min_leaf) & (n - size >= min_leaf)
        promise = np.maximum(hits / (size + _DRAW), (labelled.sum() - hits) / (n - size + _DRAW))
        promise[~allowed] = -np.inf
        column = int(np.argmax(promise))
        if promise[column] > best:
            best, found = float(promise[column]), (column, float(row[column]))
    return found
