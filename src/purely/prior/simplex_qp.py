r"""A quadratic programme on the simplex, for kernels whose Gram matrix is never formed.

.. math::

    \min_{v \in \mathbb{R}^n} \; v^\top K v - 2\, b^\top v
    \quad \text{such that} \quad v \ge 0, \; \mathbf{1}^\top v = 1,

where :math:`K` is a positive semi-definite kernel matrix given by its rows and :math:`b` a linear term. With
:math:`r = K v - b` (half the gradient), :math:`v` is optimal when :math:`r_i = c` on the support and
:math:`r_i \ge c` elsewhere; the Frank-Wolfe gap

.. math:: g(v) = 2 \left( r^\top v - \min_i r_i \right)

bounds the distance of the objective from its minimum, and is the stopping rule.

The method is a block active set: solve on the support by Cholesky, drop the negative weights all at once, add the
worst third of the violators at once. A block step that does not lower the objective is undone and replaced by the
single exchanges of the classical method [1]_, which cannot cycle.

References
----------
.. [1] Lawson, C. L. and Hanson, R. J. *Solving Least Squares Problems*. SIAM, 1995, chapter 23.
.. [2] Portugal, L. F., Júdice, J. J. and Vicente, L. N. A comparison of block pivoting and interior-point
   algorithms for linear least squares problems with nonnegative variables. *Mathematics of Computation*, 1994.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from purely.typing import Floats, Indices, Mask

#: Added to the diagonal before factorising: far below the gap, far above the rounding of a kernel value.
_JITTER = 1e-9
#: Candidates whose kernel values exceed this fraction of their diagonal describe one place; one is enough.
_NEAR_DUPLICATE = 0.9999
#: Share of the violators that enters the support at once; quartered after a block that did not help.
_BLOCK = 0.5
#: Factorisations a programme at most.
_MOST_FACTORS = 2000


@dataclass(frozen=True)
class SimplexSolution:
    """Minimiser of the programme.

    Attributes
    ----------
    support : ndarray of int, shape (m,)
        Indices of the positive weights.
    weights : ndarray, shape (m,)
        The positive weights; they sum to one.
    residual : ndarray, shape (n,)
        :math:`r = K v - b`.
    gap : float
        Frank-Wolfe gap at the solution.
    """

    support: Indices
    weights: Floats
    residual: Floats
    gap: float


class SimplexQP:
    """Solver of a family of programmes with one kernel and several linear terms; rows and factors are reused.

    Parameters
    ----------
    rows : callable
        ``rows(indices)`` returns the kernel's rows as an array of shape ``(len(indices), n)``, float64.
    n : int
        Number of variables.

    Examples
    --------
    The point of a segment nearest to 0.25:

    >>> import numpy as np
    >>> from purely.prior.simplex_qp import SimplexQP
    >>> ends = np.array([[-1.0], [1.0]])
    >>> solution = SimplexQP(lambda i: ends[i] @ ends.T, 2).solve(ends[:, 0] * 0.25)
    >>> np.round(solution.weights @ ends[solution.support], 6)
    array([0.25])
    """

    def __init__(self, rows: Callable[[Indices], Floats], n: int) -> None:
        self._rows = rows
        self.n = n
        self._buffer = np.empty((0, n))
        self._among = np.empty((0, 0))  # the buffered rows' columns of one another: gathering there stays in cache
        self._place = np.full(n, -1, dtype=np.intp)  # where a row stands in the buffer
        self._order: list[int] = []  # which row stands at each place
        self._support: Indices = np.empty(0, dtype=np.intp)
        self._factor: Floats = np.empty((0, 0))

    # -- kernel rows on demand ------------------------------------------------------------------------------------

    def _need(self, indices: Indices) -> None:
        new = indices[self._place[indices] < 0]
        if new.size == 0:
            return
        used = len(self._order)
        if used + new.size > self._buffer.shape[0]:
            size = min(self.n, max(64, 2 * (used + new.size)))
            larger, among = np.empty((size, self.n)), np.empty((size, size))
            larger[:used] = self._buffer[:used]
            among[:used, :used] = self._among[:used, :used]
            self._buffer, self._among = larger, among
        total = used + new.size
        self._buffer[used:total] = self._rows(new)
        self._place[new] = np.arange(used, total)
        self._order.extend(int(i) for i in new)
        crossing = self._buffer[used:total].take(self._order, axis=1)
        self._among[used:total, :total] = crossing
        self._among[:used, used:total] = crossing[:, :used].T

    def _block(self, left: Indices, right: Indices) -> Floats:
        """Kernel values of pairs of buffered rows."""
        used = len(self._order)
        return self._among[self._place[left], :used].take(self._place[right], axis=1)

    def product(self, support: Indices, weights: Floats) -> Floats:
        """`K v` for a `v` given by its support and weights."""
        self._need(support)
        used = len(self._order)
        if 2 * support.size < used:
            return weights @ self._buffer[self._place[support]]
        dense = np.zeros(used)
        dense[self._place[support]] = weights
        return dense @ self._buffer[:used]

    # -- the factor of the support, kept between steps ------------------------------------------------------------

    def _set_support(self, support: Indices) -> None:
        """Factor `K_SS + jitter`; the leading part that the last support shares with this one is kept."""
        self._need(support)
        old = self._support
        shared = min(old.size, support.size)
        differs = np.flatnonzero(old[:shared] != support[:shared])
        k = int(differs[0]) if differs.size else shared
        m = support.size
        if k == m:
            factor = np.asfortranarray(self._factor[:m, :m])
        else:
            tail = support[k:]
            corner = self._block(tail, tail)
            corner[np.diag_indices(m - k)] += _JITTER
            factor = np.zeros((m, m), order="F")
            if k:
                kept = np.asfortranarray(self._factor[:k, :k])
                side, _ = dtrtrs(kept, self._block(tail, support[:k]).T, lower=1)
                corner -= side.T @ side
                factor[:k, :k] = kept
                factor[k:, :k] = side.T
            block, failed = dpotrf(corner, lower=1, clean=1)
            if failed:
                raise _Singular(int(support[k + failed - 1]))
            factor[k:, k:] = block
        self._support, self._factor = support, factor

    def stationary(self, b: Floats, total: float = 1.0) -> Floats:
        """Weights on the last support that sum to `total` and make the residual constant there, whatever their sign."""
        support = self._support
        forward, _ = dtrtrs(self._factor, np.column_stack([b[support], np.ones(support.size)]), lower=1)
        own, even = dtrtrs(self._factor, forward, lower=1, trans=1)[0].T
        return own - (own.sum() - total) / even.sum() * even

    # -- the method -----------------------------------------------------------------------------------------------

    def solve(self, b: Floats, tol: float = 2e-8) -> SimplexSolution:
        """Minimise for the linear term `b`, from the support of the last solution.

        Parameters
        ----------
        b : ndarray of shape (n,)
        tol : float, default=2e-8
            Largest Frank-Wolfe gap of the solution.

        Returns
        -------
        SimplexSolution
        """
        support = self._support
        if support.size == 0:
            support = np.array([int(np.argmax(b))], dtype=np.intp)
        best = self._feasible_block(b, support, None)
        share = _BLOCK
        for left in range(_MOST_FACTORS, 0, -1):
            support, weights, residual, value = best
            level = float(weights @ residual[support])
            gap = 2.0 * (level - float(residual.min()))
            if gap <= tol or left == 1:
                break
            entering = self._violators(residual, level - 0.25 * tol, support, share)
            if entering.size > 1:
                trial = self._feasible_block(b, np.concatenate([support, entering]), None)
                if trial[3] < value:
                    best, share = trial, min(_BLOCK, 2.0 * share)
                else:
                    share /= 4.0
                continue
            if entering.size == 0:
                break  # what is left of the gap is the jitter's
            trial = self._feasible_block(b, np.concatenate([support, entering]), weights)
            if trial[3] >= value:
                break  # at the rounding of the objective
            best, share = trial, min(_BLOCK, 2.0 * share)
        support, weights, residual, _ = best
        if not np.array_equal(self._support, support):
            self._set_support(support)
        return SimplexSolution(support, weights, residual, max(gap, 0.0))

    def _violators(self, residual: Floats, level: float, support: Indices, share: float) -> Indices:
        """The worst of the rows whose residual is below the level, no two of them near-duplicates."""
        low = np.flatnonzero(residual < level)
        low = low[~np.isin(low, support)]
        low = low[np.argsort(residual[low], kind="stable")]
        low = low[: max(1, min(int(np.ceil(low.size * share)), 48 + support.size // 2))]
        self._need(low)
        among = self._block(low, low)
        scale = np.sqrt(np.diag(among))
        close = np.triu(among > _NEAR_DUPLICATE * np.outer(scale, scale), 1)
        keep = np.ones(low.size, dtype=bool)
        for j in np.flatnonzero(close.any(axis=0)):
            keep[j] = not np.any(close[:j, j] & keep[:j])
        return low[keep]

    def _feasible_block(
        self, b: Floats, support: Indices, previous: Floats | None
    ) -> tuple[Indices, Floats, Floats, float]:
        """Minimise on a support, shrinking it until all weights are positive.

        With `previous` (weights on all but the last index) each step stops at the first weight that reaches zero, so
        the objective can only fall; without, all negative weights are dropped at once.
        """
        current = None if previous is None else np.concatenate([previous, [0.0]])
        while True:
            try:
                self._set_support(support)
            except _Singular as twin:
                stay = support != twin.index
                current = None if current is None else current[stay] / current[stay].sum()
                support = support[stay]
                continue
            target = self.stationary(b)
            negative = target <= 0.0
            if not negative.any():
                break
            if current is None:
                support = _drop(support, target, negative)
                continue
            step = np.full(target.size, np.inf)
            step[negative] = current[negative] / np.maximum(current[negative] - target[negative], 1e-300)
            length = min(1.0, float(step.min()))
            current = current + length * (target - current)
            stay = ~(negative & (step <= length))
            current = np.maximum(current[stay], 0.0)
            support = support[stay]
        residual = self.product(support, target) - b
        value = float(target @ residual[support] - b[support] @ target)
        return support, target, residual, value


def _drop(support: Indices, weights: Floats, negative: Mask) -> Indices:
    """The support without its negative weights.

    From the first that is dropped the factor has to be computed again anyway, so what is left there is put in order of
    its weights: those that are likely to be dropped next come last, where dropping is cheap.
    """
    first = int(np.argmax(negative))
    tail, weight = support[first:][~negative[first:]], weights[first:][~negative[first:]]
    return np.concatenate([support[:first], tail[np.argsort(-weight, kind="stable")]])


class _Singular(Exception):  # noqa: N818 - never leaves this module
    """The factorisation met a row that the support already spans."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index
