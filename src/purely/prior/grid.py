"""A one-dimensional sample on a grid: atoms that stand for nearby values, so that n no longer matters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def grid_atoms(values: Floats, positive: NDArray[np.bool_], n_atoms: int) -> tuple[Floats, Floats, Floats]:
    """Merge values into at most `n_atoms` cells, half of them of equal width and half of equal counts.

    A cell is represented by its mean, so the error of a smooth function is of second order in the cell; equal counts
    resolve the bulk of a heavy-tailed score (a density ratio), equal widths its tail.

    Returns
    -------
    atoms, counts_u, counts_p : ndarray
        Cell means in increasing order, and the numbers of unlabelled rows and of positives in each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.grid import grid_atoms
    >>> grid_atoms(np.array([0.0, 1.0, 1.0]), np.array([True, True, False]), 8)
    (array([0., 1.]), array([0., 1.]), array([1., 1.]))
    """
    low, high = float(values.min()), float(values.max())
    if values.size > 1 and high > low:
        even = np.linspace(low, high, n_atoms // 2 + 1)[1:-1]
        counts = np.linspace(0.0, 1.0, n_atoms // 2 + 1)[1:-1]
        sample = values if values.size <= 200_000 else values[:: values.size // 100_000]
        edges = np.unique(np.concatenate([even, np.quantile(sample, counts)]))
        cell = np.searchsorted(edges, values, side="right")
    else:
        edges, cell = np.empty(0), np.zeros(values.size, dtype=np.intp)
    size = edges.size + 1
    total = np.bincount(cell, minlength=size).astype(float)
    counts_p = np.bincount(cell, weights=positive.astype(float), minlength=size).astype(float)
    sums = np.bincount(cell, weights=values - low, minlength=size)
    used = total > 0
    atoms = np.asarray(low + sums[used] / total[used], dtype=np.float64)
    return atoms, np.asarray(total - counts_p, dtype=np.float64)[used], np.asarray(counts_p, dtype=np.float64)[used]
