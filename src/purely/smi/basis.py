"""Basis functions of the analytic estimators, evaluated a block of rows at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from purely.checks import LARGEST_VALUE, dense
from purely.exceptions import DegenerateDataWarning
from purely.folds import draw_rows
from purely.smi.objective import BasisSums
from purely.typing import Floats, Indices, Mask, Matrix

#: A block's distances and one basis stay in a core's cache; measured on 100 centres, larger blocks are slower.
_BLOCK_ELEMENTS = 1 << 17
_N_BANDWIDTHS = 9
_BANDWIDTH_DECADES = 1.0

#: Arguments of one call after another, and what calls a function with each of them.
Calls: TypeAlias = Sequence[tuple[bool | int, ...]]
Runner: TypeAlias = Callable[[Callable[..., None], Calls], None]
#: A basis of the user's own.
Function: TypeAlias = Callable[[Matrix], ArrayLike]


def in_turn(task: Callable[..., None], arguments: Calls) -> None:
    """Call a function with each of a list of arguments, one after another."""
    for each in arguments:
        task(*each)


class Bases:
    """One set of functions or several, one for each bandwidth, evaluated a block of rows at a time."""

    n_bases: int
    n_functions: int
    bandwidths: Floats | None

    def __call__(self, X: Matrix, which: slice = slice(None)) -> Iterator[Floats]:
        """Values at the rows of `X`, one (rows, b) array a basis. The array is reused: copy it to keep it."""
        raise NotImplementedError

    def blocks(self, X: Matrix, rows: Indices, s: int) -> Iterator[tuple[Indices, Floats]]:
        """Values of basis `s` at some rows of `X`, block by block, each with its rows."""
        for block in row_blocks(rows, self.n_functions, X.shape[1]):
            (phi,) = self(X[block], slice(s, s + 1))
            yield block, phi

    def product(self, X: Matrix, s: int, coef: Floats) -> Floats:
        """Linear combinations of basis `s`, with coefficients of shape (b,) or (b, a), at all rows."""
        found = np.empty((X.shape[0], *coef.shape[1:]))
        for block, phi in self.blocks(X, np.arange(X.shape[0]), s):
            found[block] = phi @ coef
        return found

    def sums(self, n_folds: int, *, second_of_positives: bool) -> BasisSums:
        """Sums over no rows."""
        return BasisSums.zeros(self.n_bases, n_folds, self.n_functions, second_of_positives=second_of_positives)

    def add_rows(
        self, sums: BasisSums, X: Matrix, positive: Mask, folds: Indices, run: Runner, weight: Floats | None = None
    ) -> None:
        """Add rows to the sums of their classes and folds; each task of `run` writes to places of its own."""

        def add(kind: bool, k: int) -> None:
            rows = np.flatnonzero((positive == kind) & (folds == k))
            for block in row_blocks(rows, self.n_functions, X.shape[1]):
                sums.add_rows(self(X[block]), kind, k, None if weight is None else weight[block])

        run(add, [(kind, k) for kind in (True, False) for k in range(sums.count.shape[1])])


@dataclass(frozen=True)
class GaussianBases(Bases):
    r"""Gaussian functions :math:`\exp(-\|x - c_\ell\|^2 / (2 \sigma^2))` for several bandwidths at once.

    The squared distances of a block are computed once and serve all bandwidths. Rows are taken relative to `origin`,
    since :math:`\|x\|^2 - 2 x^\top c + \|c\|^2` loses all digits on data far from zero.

    Attributes
    ----------
    centers : ndarray of shape (b, d)
        Relative to `origin`.
    origin : ndarray of shape (d,) or None
        None for sparse rows, which are never shifted.
    bandwidths : ndarray of shape (S,)
    intercept : bool
        Whether the constant function 1 is one more basis function, the last.
    """

    centers: Floats
    origin: Floats | None
    bandwidths: Floats
    intercept: bool

    @classmethod
    def about(
        cls, centers: Floats, bandwidths: Floats | None, intercept: bool, *, sparse: bool, rows: Matrix | None = None
    ) -> GaussianBases:
        """Functions about centres; without bandwidths, nine from a tenth to ten times the centres' median distance.

        Where all centres are one they have no distance; `rows` may still have one to it.
        """
        origin = None if sparse else centers.mean(axis=0)
        shifted = centers if origin is None else centers - origin
        if bandwidths is None:
            median = median_distance(centers, shifted, origin)
            if not median and rows is not None:
                median = median_distance(rows, shifted[:1], origin)
            bandwidths = default_bandwidths(median)
        return cls(shifted, origin, bandwidths, intercept)

    @property
    def n_bases(self) -> int:  # type: ignore[override]
        """Number of bandwidths."""
        return len(self.bandwidths)

    @property
    def n_functions(self) -> int:  # type: ignore[override]
        """Number of functions in each basis."""
        return self.centers.shape[0] + self.intercept

    def __call__(self, X: Matrix, which: slice = slice(None)) -> Iterator[Floats]:
        """Values at the rows of `X`, one array a bandwidth."""
        distances = squared_distances(X, self.centers, self.origin)
        phi = np.empty((distances.shape[0], self.n_functions))
        gaussians = phi[:, : self.centers.shape[0]]
        if self.intercept:
            phi[:, -1] = 1.0
        for bandwidth in self.bandwidths[which]:
            with np.errstate(over="ignore"):  # a row that is too far for a double has the value exp(-inf) = 0
                np.multiply(distances, -0.5 / bandwidth**2, out=gaussians)
            np.exp(gaussians, out=gaussians)
            yield phi


@dataclass(frozen=True)
class UserBasis(Bases):
    """A basis that the user gives as a function of the rows, ``X -> array of shape (rows, b)``."""

    bandwidths = None

    function: Function
    n_functions: int
    n_bases: int = 1

    @classmethod
    def probe(cls, function: Function, X: Matrix) -> UserBasis:
        """Find the number of functions from two rows of `X`."""
        return cls(function, _check_basis(function, X[:2]).shape[1])

    def __call__(self, X: Matrix, which: slice = slice(None)) -> Iterator[Floats]:
        """Values at the rows of `X`."""
        phi = _check_basis(self.function, X)
        if phi.shape[1] != self.n_functions:
            raise ValueError(f"basis returned {phi.shape[1]} columns where it returned {self.n_functions} before.")
        yield phi


def _check_basis(function: Function, X: Matrix) -> Floats:
    phi = np.asarray(function(X), dtype=np.float64)
    if phi.ndim != 2 or phi.shape[0] != X.shape[0] or phi.shape[1] == 0:
        raise ValueError(
            f"basis must map {X.shape[0]} rows to an array of shape ({X.shape[0]}, b); it returned shape {phi.shape}."
        )
    if not np.isfinite(phi).all():
        raise ValueError("basis returned NaN or infinite values; it must be finite on every row.")
    return phi


def squared_distances(
    X: Matrix, centers: Matrix, origin: Floats | None = None, norms: tuple[Floats, Floats] | None = None
) -> Floats:
    r"""Squared distances :math:`\|x_i - c_\ell\|^2`, shape (n, b), never negative; `norms` are squared, if known."""
    rows = X if origin is None else np.asarray(X, dtype=np.float64) - origin
    distances = np.asarray(safe_sparse_dot(rows, centers.T, dense_output=True))
    distances *= -2.0
    of_rows, of_centers = norms or (row_norms(rows, squared=True), row_norms(centers, squared=True))
    distances += of_rows[:, None]
    distances += of_centers
    return np.maximum(distances, 0.0, out=distances)


def draw_centers(X: Matrix, n_centers: int, seed: int) -> Floats:
    """Centres drawn from the rows of `X` without replacement; all rows where there are fewer than `n_centers`."""
    return dense(X[draw_rows(X, n_centers, seed)])


def median_distance(X: Matrix, centers: Floats, origin: Floats | None) -> float:
    """Median distance between rows of `X` and centres, those at distance zero left out; 0 if there are none."""
    squared = squared_distances(X, centers, origin)
    scale = float(squared.max(initial=0.0))
    apart = squared[squared > 1e-12 * scale]
    return float(np.sqrt(np.median(apart))) if apart.size else 0.0


def row_blocks(rows: Indices, n_functions: int, n_columns: int) -> Iterator[Indices]:
    """Cut a list of row numbers into blocks whose basis values and own columns stay small."""
    step = max(64, _BLOCK_ELEMENTS // max(n_functions, n_columns, 1))
    for start in range(0, rows.size, step):
        yield rows[start : start + step]


def check_grid(name: str, values: ArrayLike, *, positive: bool) -> Floats:
    """A number or a list of numbers as a sorted array; `positive` says whether zero is refused."""
    try:
        given = np.atleast_1d(np.asarray(values))
    except ValueError:  # lists of unequal lengths
        given = np.empty((0, 0))
    if given.size and given.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or a list of numbers; {values!r} was given.")
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"{name} must be a number or a non-empty list of numbers; {values!r} was given.")
    grid = np.unique(given.astype(np.float64))
    bad = ~np.isfinite(grid) | (grid <= 0.0 if positive else grid < 0.0)
    if bad.any():
        allowed = "positive and finite" if positive else "non-negative and finite"
        raise ValueError(f"{name} must be {allowed}; {grid[bad][0]:g} was given.")
    if positive and (grid[0] < 1.0 / LARGEST_VALUE or grid[-1] > LARGEST_VALUE):
        raise ValueError(
            f"{name} must lie between {1.0 / LARGEST_VALUE:g} and {LARGEST_VALUE:g}, since its square enters; "
            f"{grid[0] if grid[0] < 1.0 / LARGEST_VALUE else grid[-1]:g} was given. Rescale the columns of X."
        )
    return grid


def default_bandwidths(median: float) -> Floats:
    """Widths around the median distance of rows."""
    if median * 10.0**-_BANDWIDTH_DECADES < 1.0 / LARGEST_VALUE:
        warnings.warn(
            "the rows of X are all the same, or differ by less than can be squared: the estimate is that x tells "
            "nothing about y. Rescale the columns if they are not constant.",
            DegenerateDataWarning,
            stacklevel=6,
        )
        return np.array([1.0])
    return median * np.logspace(-_BANDWIDTH_DECADES, _BANDWIDTH_DECADES, _N_BANDWIDTHS)
