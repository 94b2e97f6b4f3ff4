r"""A score of positives and unlabelled rows as a table of counts, and what every method that reads one shares.

A score orders rows by how positive they look. What a one-dimensional method needs of it are the shares of both samples
above each threshold, :math:`q_P(c)` and :math:`q_U(c)`; with :math:`U = \pi P + (1 - \pi) N` and :math:`q_N` the
negatives' share,

.. math:: q_U(c) / q_P(c) = \pi + (1 - \pi) \, q_N(c) / q_P(c) \ge \pi .

A table has at most a few thousand cells, so that reading one costs the same for a thousand rows and for a million.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Cells of a table; with fewer distinct scores every score has its own.
MAX_CELLS = 4096


@dataclass(frozen=True)
class ScoreTable:
    """Counts of both samples in cells of the score, the highest cell first.

    Attributes
    ----------
    score : ndarray of shape (m,)
        Lower end of each cell, decreasing.
    count_p, count_u : ndarray of shape (m,)
        Numbers of labelled positives and of unlabelled rows in each cell.
    """

    score: Floats
    count_p: Floats
    count_u: Floats

    @classmethod
    def from_scores(cls, score_p: Floats, score_u: Floats, max_cells: int = MAX_CELLS) -> ScoreTable:
        """Sort both samples and count; cells hold equal numbers of positives or of unlabelled rows where merged.

        Examples
        --------
        >>> import numpy as np
        >>> from purely.prior.scores import ScoreTable
        >>> ScoreTable.from_scores(np.array([2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
        ScoreTable(score=array([3., 2., 1.]), count_p=array([1., 1., 0.]), count_u=array([0., 2., 1.]))
        """
        sorted_p, sorted_u = np.sort(score_p), np.sort(score_u)
        half = max_cells // 2
        edges = np.unique(np.concatenate([_spaced(sorted_p, half), _spaced(sorted_u, half)]))
        at_p = np.append(np.searchsorted(sorted_p, edges, side="left"), sorted_p.size)
        at_u = np.append(np.searchsorted(sorted_u, edges, side="left"), sorted_u.size)
        return cls(edges[::-1].copy(), np.diff(at_p)[::-1].astype(float), np.diff(at_u)[::-1].astype(float))

    @property
    def n_p(self) -> float:
        """Number of labelled positives."""
        return float(self.count_p.sum())

    @property
    def n_u(self) -> float:
        """Number of unlabelled rows."""
        return float(self.count_u.sum())

    def tails(self) -> tuple[Floats, Floats]:
        """Shares of the positives and of the unlabelled rows at or above each cell."""
        return np.cumsum(self.count_p) / self.n_p, np.cumsum(self.count_u) / self.n_u

    def coarsen(self, n_cells: int) -> ScoreTable:
        """Merge neighbouring cells into at most about `n_cells` of equal weight, both samples weighing the same."""
        if self.score.size <= n_cells:
            return self
        weight = 0.5 * (np.cumsum(self.count_p) / self.n_p + np.cumsum(self.count_u) / self.n_u)
        cell = np.minimum((weight * n_cells).astype(np.intp), n_cells - 1)
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        mass = 0.5 * (self.count_p / self.n_p + self.count_u / self.n_u)
        total = np.add.reduceat(mass, first)
        return ScoreTable(
            np.add.reduceat(self.score * mass, first) / np.maximum(total, 1e-300),
            np.add.reduceat(self.count_p, first),
            np.add.reduceat(self.count_u, first),
        )


def _spaced(values: Floats, n: int) -> Floats:
    if values.size <= n:
        return values
    return values[np.linspace(0, values.size - 1, n).astype(np.intp)]


@dataclass(frozen=True)
class ScoreReading:
    """What a one-dimensional method read off a table.

    Attributes
    ----------
    share : float
        Share of positives among the unlabelled rows.
    x, curve, x_label, curve_label, chosen
        As in :class:`purely.prior.PriorDiagnostics`.
    details : dict
    """

    share: float
    x: Floats
    curve: Floats
    x_label: str
    curve_label: str
    chosen: float | None = None
    details: dict[str, float] = field(default_factory=dict)


#: A one-dimensional method: a table in, a share out.
Reader = Callable[[ScoreTable], ScoreReading]
