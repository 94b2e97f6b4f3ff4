r"""Gaussian-kernel mean embeddings of two samples, in tiles: no more than a budget of memory is held at once.

With rows :math:`x_1, \dots, x_n` and weights :math:`m_U, m_P` (each summing to one), the kernel
:math:`k(x, x') = \exp(-\lVert x - x' \rVert^2 / 2\sigma^2)` gives the embeddings :math:`e_U = K m_U` and
:math:`e_P = K m_P`, and the maximum mean discrepancy
:math:`\lVert \mu_U - \mu_P \rVert^2 = (m_U - m_P)^\top K (m_U - m_P)`.

Distances are differences of inner products, so rows are centred first: an offset would cost all digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from purely.folds import draw_rows, row_keys
from purely.smi.basis import squared_distances
from purely.typing import Floats, Indices, Mask, Matrix

#: Multiples of the median distance that are tried as widths (Ramaswamy et al., 2016).
WIDTH_FACTORS = np.logspace(-1.0, 1.0, 5)
#: The median distance is exact up to this many rows, and that of as many drawn rows beyond.
MEDIAN_ROWS = 4096
_TILE_ELEMENTS = 1 << 20
#: A Gram matrix up to this many bytes is kept; larger ones are recomputed row by row.
_KEEP_BYTES = 200_000_000


@dataclass(frozen=True)
class WeightedRows:
    """Distinct rows with the share of each sample that they stand for.

    Attributes
    ----------
    X : array or CSR matrix of shape (n, d)
        Distinct rows, centred (dense) and scaled to a unit largest value.
    weight_u, weight_p : ndarray of shape (n,)
        Shares of the unlabelled sample and of the positives; each sums to one.
    """

    X: Matrix
    weight_u: Floats
    weight_p: Floats


def in_own_order(X: Matrix, positive: Mask) -> tuple[Matrix, Mask]:
    """Rows and labels in an order of their content, so that permuted data take the same path to the last bit."""
    order = np.lexsort((positive, row_keys(X, 0)))
    return X[order], positive[order]


def centre_and_scale(X: Matrix) -> tuple[Matrix, float]:
    """Rows about their mean, divided by the largest magnitude left; and that magnitude.

    The scale keeps squares within float32. Sparse rows are scaled only: centring would fill them.
    """
    if sp.issparse(X):
        rows = sp.csr_matrix(X, dtype=np.float64, copy=True)
        scale = float(np.abs(rows.data).max()) if rows.nnz else 0.0
        rows.data /= scale or 1.0
        return rows, scale or 1.0
    first = float(np.abs(X).max()) or 1.0
    rows = np.asarray(X, dtype=np.float64) / first  # before the mean: a sum of huge values overflows
    rows = rows - rows.mean(axis=0)
    spread = float(np.abs(rows).max())
    if spread <= 1e-14:  # the rounding of the mean alone: the rows are constant
        return np.zeros_like(rows), 1.0
    return rows / spread, first * spread


def weigh_rows(rows: Matrix, positive: Mask) -> WeightedRows:
    """Merge equal rows."""
    _, first, group = np.unique(row_keys(rows, 0), return_index=True, return_inverse=True)
    weight_u = np.bincount(group, weights=(~positive).astype(float), minlength=first.size) / np.count_nonzero(~positive)
    weight_p = np.bincount(group, weights=positive.astype(float), minlength=first.size) / np.count_nonzero(positive)
    return WeightedRows(rows[first], weight_u, weight_p)


def grid_rows(values: Floats, positive: Mask, n_atoms: int) -> WeightedRows:
    """Merge values into at most `n_atoms` cells, half of them of equal width and half of equal counts.

    A cell is represented by its mean, so the error of a smooth function is of second order in the cell; equal counts
    resolve the bulk of a heavy-tailed score (a density ratio), equal widths its tail.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.gaussian import grid_rows
    >>> rows = grid_rows(np.array([0.0, 1.0, 1.0]), np.array([True, True, False]), 8)
    >>> rows.X.ravel(), rows.weight_u, rows.weight_p
    (array([0., 1.]), array([0., 1.]), array([0.5, 0.5]))
    """
    low, high = float(values.min()), float(values.max())
    if high > low:
        even = np.linspace(low, high, n_atoms // 2 + 1)[1:-1]
        counts = np.linspace(0.0, 1.0, n_atoms // 2 + 1)[1:-1]
        sample = values if values.size <= 200_000 else values[:: values.size // 100_000]
        edges = np.unique(np.concatenate([even, np.quantile(sample, counts)]))
        cell = np.searchsorted(edges, values, side="right")
    else:
        edges, cell = np.empty(0), np.zeros(values.size, dtype=np.intp)
    size = edges.size + 1
    total = np.bincount(cell, minlength=size).astype(float)
    counts_p = np.bincount(cell, weights=positive.astype(float), minlength=size)
    sums = np.bincount(cell, weights=values - low, minlength=size)
    used = total > 0
    counts_u, counts_p = (total - counts_p)[used], counts_p[used]
    atoms = low + sums[used] / total[used]
    return WeightedRows(atoms[:, None], counts_u / counts_u.sum(), counts_p / counts_p.sum())


def median_distance(X: Matrix) -> float:
    """Root of the median of all squared distances, the zeros of the diagonal included; `X` holds all rows."""
    if X.shape[0] > MEDIAN_ROWS:
        X = X[np.sort(draw_rows(X, MEDIAN_ROWS, 0))]
    X = X.astype(np.float32)
    n, parts = X.shape[0], []
    for start, stop, squares in _upper_tiles(X, row_norms(X, squared=True)):
        parts.append(squares[:, : stop - start][np.triu_indices(stop - start, 1)])
        parts.append(squares[:, stop - start :].ravel())
    pairs = np.concatenate(parts)
    # The sorted n * n squares are n zeros, then each pair twice; their middle is at this place among the pairs.
    middle = (n * n // 2 - n) // 2
    median = float(np.partition(pairs, middle)[middle]) if 0 <= middle < pairs.size else 0.0
    if median <= 0.0 and pairs.size:  # more than half of the pairs are equal rows
        apart = pairs[pairs > 0.0]
        median = float(np.median(apart)) if apart.size else 0.0
    return float(np.sqrt(median))


def choose_width(rows: WeightedRows, median: float) -> float:
    """The multiple of the median distance at which the two samples' means are furthest apart."""
    widths = WIDTH_FACTORS * median
    difference = (rows.weight_u - rows.weight_p).astype(np.float32)
    X = rows.X.astype(np.float32)
    totals = np.zeros(widths.size)
    for start, stop, squares in _upper_tiles(X, row_norms(X, squared=True)):
        kernel = np.empty_like(squares)
        right = 2.0 * difference[start:]
        right[: stop - start] = difference[start:stop]  # the tile on the diagonal holds both orders already
        for j, width in enumerate(widths):
            np.multiply(squares, np.float32(-0.5 / width**2), out=kernel)
            np.exp(kernel, out=kernel)
            totals[j] += float(difference[start:stop].astype(np.float64) @ (kernel @ right).astype(np.float64))
    return float(widths[int(np.argmax(totals))])


class GaussianProblem:
    """Two samples in the feature space of a Gaussian kernel: kernel rows on demand and the mean embeddings.

    Parameters
    ----------
    rows : WeightedRows
    width : float

    Attributes
    ----------
    n : int
        Number of atoms, the points whose convex hull the kernel mean method measures distances to.
    embed_u, embed_p : ndarray of shape (n,)
        The mean embeddings at the atoms, float64.
    uu, up, pp : float
        Inner products of the two means.
    """

    def __init__(self, rows: WeightedRows, width: float) -> None:
        self._X = rows.X
        self.weight_u, self.weight_p = rows.weight_u, rows.weight_p
        self._norms = row_norms(rows.X, squared=True)
        self._factor = -0.5 / width**2
        self.n = n = rows.X.shape[0]
        self.gram: Floats | None = np.empty((n, n)) if 8 * n * n <= _KEEP_BYTES else None
        both = np.column_stack([rows.weight_u, rows.weight_p])
        embedded = np.zeros((n, 2))
        for start, stop in _tiles(n, n):
            if self.gram is not None:  # whole rows: copying transposed tiles would cost more than it saves
                self.gram[start:stop] = self._tile(slice(start, stop), slice(0, n))
                embedded[start:stop] = self.gram[start:stop] @ both
                continue
            tile = self._tile(slice(start, stop), slice(start, n))
            embedded[start:stop] += tile @ both[start:]
            embedded[stop:] += tile[:, stop - start :].T @ both[start:stop]
        self.embed_u, self.embed_p = np.ascontiguousarray(embedded[:, 0]), np.ascontiguousarray(embedded[:, 1])
        self.uu = float(rows.weight_u @ self.embed_u)
        self.up = float(rows.weight_u @ self.embed_p)
        self.pp = float(rows.weight_p @ self.embed_p)

    def rows(self, indices: Indices) -> Floats:
        """Kernel rows of the atoms `indices`, shape (len(indices), n)."""
        return self._tile(indices, slice(0, self.n)) if self.gram is None else self.gram[indices]

    def _tile(self, left: Indices | slice, right: slice) -> Floats:
        tile = squared_distances(self._X[left], self._X[right], norms=(self._norms[left], self._norms[right]))
        tile *= self._factor
        return np.exp(tile, out=tile)

    def matvec(self) -> Callable[[Floats], Floats]:
        """A function `v -> K v` for differences of weights, which are small: float32 is enough, and half the time."""
        kept = np.empty((self.n, self.n), dtype=np.float32)
        if self.gram is not None:
            kept[:] = self.gram
        else:
            for start, stop, tile in _upper_tiles(self._X.astype(np.float32), self._norms.astype(np.float32)):
                tile *= np.float32(self._factor)
                kept[start:stop, start:] = np.exp(tile, out=tile)
                kept[stop:, start:stop] = kept[start:stop, stop:].T
        return lambda v: (kept @ v.astype(np.float32)).astype(np.float64)


class FeatureProblem:
    r"""The same problem in random Fourier features, its hull spanned by a subset of the rows.

    With :math:`z(x) = \sqrt{2/D} \, (\cos \omega_j^\top x, \sin \omega_j^\top x)_{j \le D/2}`,
    :math:`\omega_j \sim N(0, \sigma^{-2} I)`, inner products of features approximate the kernel [1]_ and the means are
    vectors of length :math:`D`, summed over all rows in one pass.

    References
    ----------
    .. [1] Rahimi, A. and Recht, B. Random features for large-scale kernel machines. NeurIPS 2007.
    """

    def __init__(self, X: Matrix, positive: Mask, landmarks: Indices, width: float, n_features: int, seed: int) -> None:
        half = n_features // 2
        frequencies = np.random.default_rng(seed).standard_normal((X.shape[1], half)) / width
        frequencies32 = frequencies.astype(np.float32)
        sums = np.zeros((2, 2 * half))
        for start, stop in _tiles(X.shape[0], 2 * half):
            angles = np.asarray(safe_sparse_dot(X[start:stop].astype(np.float32), frequencies32, dense_output=True))
            member = np.stack([~positive[start:stop], positive[start:stop]]).astype(np.float32)
            sums += np.concatenate([member @ np.cos(angles), member @ np.sin(angles)], axis=1)
        means = sums / np.array([[np.count_nonzero(~positive)], [np.count_nonzero(positive)]]) / np.sqrt(half)
        angles = np.asarray(safe_sparse_dot(X[landmarks], frequencies, dense_output=True))
        self._Z = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(half)
        self.n = landmarks.size
        self.embed_u, self.embed_p = self._Z @ means[0], self._Z @ means[1]
        self.uu, self.up, self.pp = float(means[0] @ means[0]), float(means[0] @ means[1]), float(means[1] @ means[1])

    def rows(self, indices: Indices) -> Floats:
        """Kernel rows of the landmarks `indices`."""
        return np.asarray(self._Z[indices] @ self._Z.T)


#: Two samples in a feature space: what the curve of distances needs to know of them.
Samples = GaussianProblem | FeatureProblem


def _upper_tiles(X: Matrix, norms: Floats) -> Iterator[tuple[int, int, Floats]]:
    """Squared distances in tiles that reach from the diagonal to the right, each with its first row and its last."""
    for start, stop in _tiles(X.shape[0], X.shape[0]):
        yield start, stop, squared_distances(X[start:stop], X[start:], norms=(norms[start:stop], norms[start:]))


def _tiles(n_rows: int, n_columns: int) -> list[tuple[int, int]]:
    step = max(1, _TILE_ELEMENTS // max(1, n_columns))
    return [(tile.start, tile.stop) for tile in gen_batches(n_rows, step)]
