r"""A score of positives and unlabelled rows as a table of counts, and what every method that reads one shares.

A score orders rows by how positive they look. What a one-dimensional method needs of it are the shares of both samples
above each threshold, :math:`q_P(c)` and :math:`q_U(c)`; with :math:`U = \pi P + (1 - \pi) N` and :math:`q_N` the
negatives' share,

.. math:: q_U(c) / q_P(c) = \pi + (1 - \pi) \, q_N(c) / q_P(c) \ge \pi .

A table has at most a few thousand cells, so that resampling costs the same for a thousand rows and for a million.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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

    def resample(self, generator: np.random.Generator) -> ScoreTable:
        """Draw both samples again, with replacement."""
        drawn_p = generator.multinomial(int(self.n_p), self.count_p / self.n_p).astype(float)
        drawn_u = generator.multinomial(int(self.n_u), self.count_u / self.n_u).astype(float)
        return replace(self, count_p=drawn_p, count_u=drawn_u)


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
    x, curve : ndarray
        The curve the share was read from.
    x_label, curve_label : str
        What the two are.
    chosen : float or None
        Where on the curve the share was read.
    error : float
        Standard error where the method has its own, NaN where it is left to resampling.
    spread : float
        Error that resampling does not see, such as the disagreement of two readings.
    details : dict
        Further numbers of the method, by name.
    """

    share: float
    x: Floats
    curve: Floats
    x_label: str
    curve_label: str
    chosen: float | None = None
    error: float = float("nan")
    spread: float = 0.0
    details: dict[str, float] | None = None


#: A one-dimensional method: a table in, a share out.
Reader = Callable[[ScoreTable], ScoreReading]


def bootstrap_error(table: ScoreTable, reader: Reader, n_resamples: int, seed: int) -> float:
    """Standard deviation of a reading over resampled tables."""
    generator = np.random.default_rng(seed)
    shares = [reader(table.resample(generator)).share for _ in range(n_resamples)]
    return float(np.std(shares, ddof=1)) if len(shares) > 1 else float("nan")


def normal_interval(share: float, error: float, z: float) -> tuple[float, float]:
    """The share plus and minus `z` standard errors, clipped to [0, 1]; everything where the error is unknown."""
    if not np.isfinite(error):
        return 0.0, 1.0
    return float(np.clip(share - z * error, 0.0, 1.0)), float(np.clip(share + z * error, 0.0, 1.0))
