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
    would). Zero hashes to zero, so a sparse row and its dense twin get the same key; the row of zeros, whose sum is 0
    whatever the seed, gets a number of the seed's own.
    """
    numbers = np.random.default_rng(seed).integers(0, 2**64, size=X.shape[1] + 1, dtype=np.uint64, endpoint=False)
    factors, of_zeros = numbers[:-1] | np.uint64(1), numbers[-1]
    if sp.issparse(X):
        rows = sp.csr_matrix(X, copy=True)
        rows.sum_duplicates()
        terms = _bits(rows.data) * factors[rows.indices]
        sums = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(sums, np.repeat(np.arange(X.shape[0]), np.diff(rows.indptr)), terms)
        return _scramble(np.where(sums == 0, of_zeros, sums))
    step = max(1, _BLOCK_ELEMENTS // max(1, X.shape[1]))
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], step):
        block = _bits(np.ascontiguousarray(X[start : start + step], dtype=np.float64))
        keys[start : start + step] = (block * factors).sum(axis=1, dtype=np.uint64)
    return _scramble(np.where(keys == 0, of_zeros, keys))


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
    """Fold number of each row, dealt out in turn along a random order, positives and unlabelled rows apart.

    The order depends on the rows' content. Equal rows are neighbours in the order of their keys, and dealing along
    that would spread them over the folds more evenly than chance: a row would always meet its copies in training.
    So each copy is hashed once more with its number. `offsets` says how many positives and unlabelled rows earlier
    batches of a stream have dealt out already.
    """
    keys = row_keys(X, seed)
    folds = np.empty(X.shape[0], dtype=np.intp)
    for mask, offset in ((positive, offsets[0]), (~positive, offsets[1])):
        members = np.flatnonzero(mask)
        members = members[np.argsort(_copy_keys(keys[members]), kind="stable")]
        folds[members] = (np.arange(members.size) + offset) % n_folds
    return folds


def _copy_keys(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A key of its own for each copy of a row; which of the copies gets which is arbitrary, since they are equal."""
    order = np.argsort(keys, kind="stable")
    first = np.concatenate([[True], np.diff(keys[order]) != 0]) if keys.size else np.zeros(0, dtype=bool)
    starts = np.flatnonzero(first)
    number = np.arange(keys.size) - np.repeat(starts, np.diff(np.append(starts, keys.size)))
    copies = np.empty_like(keys)
    copies[order] = _scramble(keys[order] + number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return copies


def draw_rows(X: Any, n_rows: int, seed: int) -> NDArray[np.intp]:
    """Indices of `n_rows` rows drawn without replacement, distinct rows first; all rows where there are fewer."""
    keys = row_keys(X, seed)
    order = np.argsort(keys, kind="stable")
    first_copy = np.concatenate([[True], np.diff(keys[order]) != 0])
    return np.concatenate([order[first_copy], order[~first_copy]])[: min(n_rows, X.shape[0])]
