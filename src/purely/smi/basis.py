"""Basis functions of the analytic estimators, evaluated a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.folds import draw_rows

Floats = NDArray[np.float64]

#: A block's distances and one basis stay in a core's cache; measured on 100 centres, larger blocks are slower.
_BLOCK_ELEMENTS = 1 << 17


@dataclass(frozen=True)
class GaussianBases:
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

    @property
    def n_bases(self) -> int:
        """Number of bandwidths."""
        return len(self.bandwidths)

    @property
    def n_functions(self) -> int:
        """Number of functions in each basis."""
        return self.centers.shape[0] + self.intercept

    def __call__(self, X: Any, which: slice = slice(None)) -> Iterator[Floats]:
        """Values at the rows of `X`, one (rows, b) array a bandwidth. The array is reused: copy it to keep it."""
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
class UserBasis:
    """A basis that the user gives as a function of the rows, ``X -> array of shape (rows, b)``."""

    function: Callable[[Any], Any]
    n_functions: int
    n_bases: int = 1

    @classmethod
    def probe(cls, function: Callable[[Any], Any], X: Any) -> UserBasis:
        """Find the number of functions from two rows of `X`."""
        return cls(function, _check_basis(function, X[:2]).shape[1])

    def __call__(self, X: Any, which: slice = slice(None)) -> Iterator[Floats]:
        """Values at the rows of `X`."""
        phi = _check_basis(self.function, X)
        if phi.shape[1] != self.n_functions:
            raise ValueError(f"basis returned {phi.shape[1]} columns where it returned {self.n_functions} before.")
        yield phi


Bases = GaussianBases | UserBasis


def _check_basis(function: Callable[[Any], Any], X: Any) -> Floats:
    phi = np.asarray(function(X), dtype=np.float64)
    if phi.ndim != 2 or phi.shape[0] != X.shape[0] or phi.shape[1] == 0:
        raise ValueError(
            f"basis must map {X.shape[0]} rows to an array of shape ({X.shape[0]}, b); it returned shape {phi.shape}."
        )
    if not np.isfinite(phi).all():
        raise ValueError("basis returned NaN or infinite values; it must be finite on every row.")
    return phi


def squared_distances(X: Any, centers: Floats, origin: Floats | None) -> Floats:
    r"""Squared Euclidean distances :math:`\|x_i - c_\ell\|^2`, shape (n, b), never negative."""
    if sp.issparse(X):
        norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        products = np.asarray(X @ centers.T)
    else:
        rows = np.asarray(X, dtype=np.float64) - origin if origin is not None else X
        norms = np.einsum("ij,ij->i", rows, rows)
        products = rows @ centers.T
    distances = products
    distances *= -2.0
    distances += norms[:, None]
    distances += np.einsum("ij,ij->i", centers, centers)
    return np.maximum(distances, 0.0, out=distances)


def draw_centers(X: Any, n_centers: int, seed: int) -> Floats:
    """Centres drawn from the rows of `X` without replacement; all rows where there are fewer than `n_centers`."""
    centers = X[draw_rows(X, n_centers, seed)]
    return centers.toarray() if sp.issparse(centers) else np.array(centers, dtype=np.float64)


def median_distance(X: Any, centers: Floats, origin: Floats | None) -> float:
    """Median distance between rows of `X` and centres, those at distance zero left out; 0 if there are none."""
    squared = squared_distances(X, centers, origin)
    scale = float(squared.max(initial=0.0))
    apart = squared[squared > 1e-12 * scale]
    return float(np.sqrt(np.median(apart))) if apart.size else 0.0


def row_blocks(rows: NDArray[np.intp], n_functions: int, n_columns: int) -> Iterator[NDArray[np.intp]]:
    """Cut a list of row numbers into blocks whose basis values and own columns stay small."""
    step = max(64, _BLOCK_ELEMENTS // max(n_functions, n_columns, 1))
    for start in range(0, rows.size, step):
        yield rows[start : start + step]
