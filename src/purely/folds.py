"""Which fold a row is in, and where it stands in an order that depends on what is in the rows alone.

Folds, centres and training orders are drawn by content: permuting the rows of a data set changes nothing beyond
rounding, and two machines that hold the same rows draw the same folds. Copies of a row share a fold, so that no model
is judged on a row it was trained on under another number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.typing import Floats, Indices, Keys, Mask, Matrix

_BLOCK_ELEMENTS = 1 << 22
#: An odd number whose multiples are spread evenly over 64 bits.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_keys(X: Matrix, seed: int) -> Keys:
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
        return scramble(np.where(sums == 0, of_zeros, sums))
    step = max(1, _BLOCK_ELEMENTS // max(1, X.shape[1]))
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], step):
        block = _bits(np.ascontiguousarray(X[start : start + step], dtype=np.float64))
        keys[start : start + step] = (block * factors).sum(axis=1, dtype=np.uint64)
    return scramble(np.where(keys == 0, of_zeros, keys))


def _bits(values: NDArray[Any]) -> Keys:
    as_float = np.asarray(values, dtype=np.float64) + 0.0  # turns -0.0 into 0.0
    bits = as_float.view(np.uint64)
    # floats of short mantissa have zero low bits; multiplication only moves bits up
    return bits ^ (bits >> np.uint64(29))


def scramble(keys: Keys) -> Keys:
    """The finalising mix of a 64-bit hash: every input bit reaches every output bit."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def content_keys(X: Matrix, seed: int) -> Keys:
    """Keys of rows of any kind; columns that are not numbers count by the rank of their values' texts."""
    if not sp.issparse(X) and not hasattr(X, "columns"):
        X = np.asarray(X).reshape(len(X), -1)
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf"):
        return row_keys(X, seed)
    columns = [X[name] for name in X.columns] if hasattr(X, "columns") else X.T
    return row_keys(np.column_stack([_as_numbers(np.asarray(column)) for column in columns]), seed)


def _as_numbers(column: NDArray[Any]) -> Floats:
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64)


def row_order(X: Matrix, seed: int) -> Indices:
    """Indices that put the rows of `X` into their content's order; a random order that any permutation shares."""
    return np.argsort(row_keys(X, seed), kind="stable")


@dataclass(frozen=True)
class Folds:
    """Folds of rows.

    Attributes
    ----------
    number : ndarray of int, shape (n,)
        The fold of each row.
    n_folds : int
    order : ndarray of int, shape (n,)
        The rows by content, of equal rows the unlabelled first. Models are trained on rows in this order, since some
        (forests, say) depend on it.
    """

    number: Indices
    n_folds: int
    order: Indices

    def train(self, k: int) -> Indices:
        """Rows outside fold `k`, by content."""
        return self.order[self.number[self.order] != k]

    def sample(self, k: int, positive: Mask, most: int) -> Indices:
        """At most `most` rows outside fold `k`, drawn at random, at most half of them positives; by content."""
        return sample_rows(self.train(k), positive, most)

    def test(self, k: int) -> Indices:
        """Rows of fold `k`, by content."""
        return self.order[self.number[self.order] == k]

    def __iter__(self) -> Iterator[tuple[Indices, Indices]]:
        return ((self.train(k), self.test(k)) for k in range(self.n_folds))


def deal_folds(X: Matrix, positive: Mask, n_folds: int, seed: int, keys: Keys | None = None) -> Folds:
    """Deal rows into folds: by content, copies of a row together, positives and unlabelled rows in proportion.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    positive : ndarray of bool, shape (n,)
    n_folds : int
        The number asked for; fewer are dealt where there are fewer different rows of a kind, and never less than two.
    seed : int
    keys : ndarray of shape (n,), optional
        The rows' keys, where they are known.

    Returns
    -------
    Folds

    Notes
    -----
    A value that more than half a fold's rows of a kind have in common is taken for a category rather than for a row
    that was recorded twice: such rows are dealt out one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.folds import deal_folds
    >>> X = np.repeat(np.arange(20.0), 2)[:, None]
    >>> fold = deal_folds(X, np.arange(40) < 10, n_folds=5, seed=0).number
    >>> bool((fold[::2] == fold[1::2]).all()), np.bincount(fold).tolist()
    (True, [8, 8, 8, 8, 8])
    """
    keys = row_keys(X, seed) if keys is None else keys
    order = np.lexsort((positive, keys))
    wanted = max(2, min(n_folds, int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))))
    number, found = _deal(_apart(keys, positive, wanted), positive, wanted)
    if not all(_both_kinds(number == k, positive) for k in range(found)):
        number, found = _deal(_copy_keys(keys, positive), positive, wanted)
    return Folds(number, found, order)


def sample_rows(rows: Indices, positive: Mask, most: int) -> Indices:
    """The first `most` of rows that stand in the order of their content, a random sample; at most half are positives.

    More unlabelled rows than that change what a model learns by little, and what it costs by much.
    """
    if rows.size <= most:
        return rows
    labelled = positive[rows]
    n_p = min(int(np.count_nonzero(labelled)), most // 2)
    kept = np.where(labelled, np.cumsum(labelled) <= n_p, np.cumsum(~labelled) <= most - n_p)
    return rows[kept]


def share_out(keys: Keys, positive: Mask, share: float, draw: int = 0) -> Mask:
    """A random part of the rows of each kind, by content and with copies together; at least one row stays on each side.

    Parameters
    ----------
    keys : ndarray of shape (n,)
    positive : ndarray of bool, shape (n,)
    share : float
        The part's share of the rows.
    draw : int, default=0
        Another number is another part.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for rows of the part.
    """
    keys = scramble(keys + np.uint64(draw * int(_GOLDEN) % 2**64))  # a product of scalars would warn that it wraps
    own = _apart(keys, positive, max(2, round(1.0 / min(share, 1.0 - share))))
    part = np.zeros(keys.size, dtype=bool)
    for mask in (positive, ~positive):
        rows = np.flatnonzero(mask)
        ordered = rows[np.argsort(own[rows], kind="stable")]
        wanted = min(max(round(share * rows.size), 1), rows.size - 1)
        part[ordered[:wanted]] = True
    # A row with copies on both sides goes where most of them are.
    _, group = np.unique(own, return_inverse=True)
    together = (np.bincount(group, weights=part) / np.bincount(group))[group] >= 0.5
    return together if _both_kinds(together, positive) and _both_kinds(~together, positive) else part


def stream_folds(X: Matrix, n_folds: int, seed: int) -> Indices:
    """Folds of rows that come in batches: by each row's content alone, so that copies in other batches share them.

    Nothing is known of the rows still to come, so folds are of equal size in expectation only.
    """
    return (row_keys(X, seed) % np.uint64(n_folds)).astype(np.intp)


def _apart(keys: Keys, positive: Mask, n_folds: int) -> Keys:
    """Keys by which copies share a fold, except for rows that are too many to be copies: each of those has its own."""
    _, group = np.unique(keys, return_inverse=True)
    common = np.zeros(group.max() + 1, dtype=bool)
    for mask in (positive, ~positive):
        count = np.bincount(group[mask], minlength=common.size)
        common |= count > max(2, int(count.sum()) // (2 * n_folds))
        if np.count_nonzero(count) < 2:
            common |= count > 0
    rows = common[group]
    return np.where(rows, _copy_keys(keys, positive), keys) if rows.any() else keys


def _deal(keys: Keys, positive: Mask, n_folds: int) -> tuple[Indices, int]:
    """Deal groups of equal keys in turn, the larger ones first, those with positives before the others."""
    distinct, group = np.unique(keys, return_inverse=True)
    n_p, n_u = (np.bincount(group[mask], minlength=distinct.size) for mask in (positive, ~positive))
    n_folds = max(2, min(n_folds, int(np.count_nonzero(n_p)), int(np.count_nonzero(n_u))))
    fold_of_group = np.empty(distinct.size, dtype=np.intp)
    dealt = 0
    for members, size in ((np.flatnonzero(n_p), n_p), (np.flatnonzero(n_p == 0), n_u)):
        members = members[np.lexsort((distinct[members], -size[members]))]
        fold_of_group[members] = (np.arange(members.size) + dealt) % n_folds
        dealt += members.size  # the unlabelled rows go on where the positives stopped: folds stay of even size
    return fold_of_group[group], n_folds


def _both_kinds(rows: Mask, positive: Mask) -> bool:
    return bool(np.any(rows & positive) and np.any(rows & ~positive))


def _copy_keys(keys: Keys, positive: Mask) -> Keys:
    """A key of its own for each copy of a row, unlabelled copies first; which of those gets which is arbitrary.

    Equal rows are neighbours in the order of their keys, and dealing along that would spread them over the folds more
    evenly than chance: a row would always meet its copies in training. So each copy is hashed again with its number.
    """
    order = np.lexsort((positive, keys))
    first = np.concatenate([[True], np.diff(keys[order]) != 0]) if keys.size else np.zeros(0, dtype=bool)
    starts = np.flatnonzero(first)
    number = np.arange(keys.size) - np.repeat(starts, np.diff(np.append(starts, keys.size)))
    copies = np.empty_like(keys)
    copies[order] = scramble(keys[order] + number.astype(np.uint64) * _GOLDEN)
    return copies


def draw_rows(X: Matrix, n_rows: int, seed: int, keys: Keys | None = None) -> Indices:
    """Indices of `n_rows` rows drawn without replacement, distinct rows first; all rows where there are fewer.

    Fewer rows are the first of more; `keys` are the rows' keys with this seed, where they are known.
    """
    keys = row_keys(X, seed) if keys is None else keys
    order = np.argsort(keys, kind="stable")
    first_copy = np.concatenate([[True], np.diff(keys[order]) != 0])
    return np.concatenate([order[first_copy], order[~first_copy]])[: min(n_rows, X.shape[0])]
