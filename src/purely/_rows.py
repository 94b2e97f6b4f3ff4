"""An order of the rows that depends on what is in them, not on where they stand.

Folds and centres are drawn along this order, so permuting the rows of a data set changes nothing beyond
rounding, and two machines that hold the same rows draw the same folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_BLOCK_ELEMENTS = 1 << 22


def row_keys(X: Any, seed: int) -> NDArray[np.uint64]:
    """One 64-bit key a row: a multiply-add hash of the row's float64 bits, keyed by `seed`.

    Integer arithmetic wraps, so the sum does not depend on the order of summation (a floating-point projection
    would). Zero hashes to zero, so a sparse row and its dense twin get the same key.
    """
    factors = np.random.default_rng(seed).integers(
        0, 2**64, size=X.shape[1], dtype=np.uint64, endpoint=False
    ) | np.uint64(1)
    if sp.issparse(X):
        rows = sp.csr_matrix(X, copy=True)
        rows.sum_duplicates()
        terms = _bits(rows.data) * factors[rows.indices]
        sums = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(sums, np.repeat(np.arange(X.shape[0]), np.diff(rows.indptr)), terms)
        return _scramble(sums)
    step = max(1, _BLOCK_ELEMENTS // max(1, X.shape[1]))
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], step):
        block = _bits(np.ascontiguousarray(X[start : start + step], dtype=np.float64))
        keys[start : start + step] = (block * factors).sum(axis=1, dtype=np.uint64)
    return _scramble(keys)


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    as_float = np.asarray(values, dtype=np.float64) + 0.0  # turns -0.0 into 0.0
    bits = as_float.view(np.uint64)
    return bits ^ (
        bits >> np.uint64(29)
    )  # floats of short mantissa have zero low bits; multiplication only moves bits up


def _scramble(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalising mix of a 64-bit hash: every input bit reaches every output bit."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def row_order(X: Any, seed: int) -> NDArray[np.intp]:
    """Indices that put the rows of `X` into their content's order; a random order that any permutation shares."""
    return np.argsort(row_keys(X, seed), kind="stable")


def fold_of_rows(
    X: Any, positive: NDArray[np.bool_], n_folds: int, seed: int, offsets: tuple[int, int] = (0, 0)
) -> NDArray[np.intp]:
    """Fold number of each row, dealt out at random but evenly, positives and unlabelled rows apart.

    `offsets` says how many positives and unlabelled rows earlier batches of a stream have dealt out already.

    The content's order makes the deal independent of where the rows stand; it is not dealt along in turn, since equal
    rows are neighbours in it: every fold would get its share of each, the held-out rows would be a copy of the training
    rows, and out-of-fold values of discrete data as optimistic as those in sample.
    """
    order = row_order(X, seed)
    folds = np.empty(X.shape[0], dtype=np.intp)
    for kind, (mask, offset) in enumerate(((positive, offsets[0]), (~positive, offsets[1]))):
        members = order[mask[order]]
        deal = np.random.default_rng([seed, kind, offset]).permutation(members.size)
        folds[members] = (deal + offset) % n_folds
    return folds


def draw_rows(X: Any, n_rows: int, seed: int) -> NDArray[np.intp]:
    """Indices of `n_rows` rows drawn without replacement, distinct rows first; all rows where there are fewer."""
    keys = row_keys(X, seed)
    order = np.argsort(keys, kind="stable")
    first_copy = np.concatenate([[True], np.diff(keys[order]) != 0])
    return np.concatenate([order[first_copy], order[~first_copy]])[: min(n_rows, X.shape[0])]
