"""Scaling of the columns, so that one learning rate fits all data; loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from purely.typing import Floats, Indices, Mask, Matrix

#: Relative to the largest value of a column, what counts as rounding; and what does for any column: divided by less,
#: numbers leave a double's range.
ROUNDING, SMALLEST = 1e-14, 1e-150


@dataclass(frozen=True)
class Scaling:
    """Centre and scale of the columns; a `mean` of None does not centre."""

    mean: Floats | None
    scale: Floats

    def __call__(self, rows: Matrix) -> Any:
        """Scaled rows, of a dense array or a sparse matrix."""
        if sp.issparse(rows):
            rows = sp.csr_matrix(rows, dtype=np.float64, copy=True)
            rows.data /= self.scale[rows.indices]
            return rows
        return (rows - (0.0 if self.mean is None else self.mean)) / self.scale


@dataclass(frozen=True)
class ScaledRows:
    """Rows that are scaled when they are asked for, a block at a time, so that no scaled copy of all is held."""

    rows: Matrix
    scaling: Scaling

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the rows."""
        return self.rows.shape

    def __getitem__(self, which: Indices | Mask | slice) -> Floats:
        return self.scaling(self.rows[which])


def column_scaling(X: Matrix, block: int = 65536) -> Scaling:
    """Centre and scale that make one learning rate fit all data.

    A dense column is centred and divided by its standard deviation, or by a quarter of its range where that is more:
    a column that is zero but for a few rows would otherwise be blown up. A sparse matrix is not centred, and all of it
    is divided by one number, its root mean square over the entries of a row: the weights of a tf-idf mean something
    relative to each other. A column that varies by rounding only is constant: divided by that, any other value that
    a new row has there would be astronomical.
    """
    if sp.issparse(X):
        mean_square = float(sp.csr_matrix(X).power(2).sum()) / max(1, X.shape[0] * X.shape[1])
        spread = np.sqrt(mean_square)
        return Scaling(None, np.full(X.shape[1], spread if spread > SMALLEST else 1.0))
    n = X.shape[0]
    starts = range(0, n, block)
    mean = np.sum([X[s : s + block].sum(axis=0, dtype=np.float64) for s in starts], axis=0) / n
    square = np.sum([((X[s : s + block] - mean) ** 2).sum(axis=0, dtype=np.float64) for s in starts], axis=0) / n
    high = np.max([X[s : s + block].max(axis=0) for s in starts], axis=0).astype(np.float64)
    low = np.min([X[s : s + block].min(axis=0) for s in starts], axis=0).astype(np.float64)
    varies = high - low > np.maximum(ROUNDING * np.maximum(np.abs(high), np.abs(low)), SMALLEST)
    scale = np.maximum(np.sqrt(square), (high - low) / 4.0)
    return Scaling(mean, np.where(varies, scale, 1.0))
