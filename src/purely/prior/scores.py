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

from purely.typing import Floats, Indices

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

    @property
    def label_probability(self) -> Floats:
        """Probability of a label among the pooled rows in each cell, where scores are log density ratios."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(self.score, -500.0, 500.0)) * self.n_u / self.n_p))

    def cells_above(self, score: Floats) -> Indices:
        """How many cells lie at or above each score."""
        return self.score.size - np.searchsorted(self.score[::-1], score, side="left")

    def tails(self) -> tuple[Floats, Floats]:
        """Shares of the positives and of the unlabelled rows at or above each cell."""
        return np.cumsum(self.count_p) / self.n_p, np.cumsum(self.count_u) / self.n_u

    def bounds(self, confidence: float = 1.0, delta: float = 0.1, gamma: float = 0.01) -> tuple[Floats, Floats, Floats]:
        """Upper bounds of the share of positives: ratios of both tails, with what they may be too small by.

        Parameters
        ----------
        confidence : float, default=1.0
            Factor on the confidence term.
        delta, gamma : float
            Constants of the confidence term, see :func:`purely.prior.one_dimensional.best_bin`.

        Returns
        -------
        q_p, ratio, bound : ndarray of shape (m,)
            The positives' tail, :math:`q_U / q_P`, and its upper confidence bound; the bound is infinite where there is
            no positive at or above the cell.
        """
        q_p, q_u = self.tails()
        term = np.log(4.0 / delta) / 2.0
        width = confidence * (1.0 + gamma) * (np.sqrt(term / self.n_u) + np.sqrt(term / self.n_p))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(q_p > 0.0, q_u / q_p, np.inf)
            return q_p, ratio, np.where(q_p > 0.0, ratio + width / q_p, np.inf)

    @property
    def area(self) -> float:
        """Area under the curve of the positives against the unlabelled rows."""
        below = self.n_u - np.cumsum(self.count_u) + 0.5 * self.count_u
        return float(self.count_p @ below / (self.n_p * self.n_u))

    def coarsen(self, n_cells: int) -> ScoreTable:
        """Merge neighbouring cells into at most about `n_cells` of equal weight, both samples weighing the same."""
        if self.score.size <= n_cells:
            return self
        weight = 0.5 * (np.cumsum(self.count_p) / self.n_p + np.cumsum(self.count_u) / self.n_u)
        cell = np.minimum((weight * n_cells).astype(np.intp), n_cells - 1)
        at = np.flatnonzero(np.diff(cell, prepend=-1))
        mass = 0.5 * (self.count_p / self.n_p + self.count_u / self.n_u)
        score, sums, *counts = (np.add.reduceat(of, at) for of in (self.score * mass, mass, self.count_p, self.count_u))
        return ScoreTable(score / np.maximum(sums, 1e-300), *counts)


def _spaced(values: Floats, n: int) -> Floats:
    return values if values.size <= n else values[np.linspace(0, values.size - 1, n).astype(np.intp)]


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
