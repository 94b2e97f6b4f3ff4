"""Splits that keep the proportion of labelled positives to unlabelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, check_random_state, check_scalar

from purely.labels import read_labels

__all__ = ["PUStratifiedKFold", "pu_train_test_split"]

Indices = NDArray[np.intp]


class PUStratifiedKFold(BaseCrossValidator):
    """Folds with the same number of labelled positives and of unlabelled rows, to one row.

    In the single-sample scenario the share of positives among the unlabelled rows follows from the labelled share, so
    every fold keeps the class prior of the whole. The fold sizes differ by at most one row too.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=True
        False deals the rows out in their order.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from purely.model_selection import PUStratifiedKFold
    >>> y = np.repeat([1, 0], [6, 12])
    >>> [int(y[test].sum()) for _, test in PUStratifiedKFold(3, random_state=0).split(y.reshape(-1, 1), y)]
    [2, 2, 2]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None) -> None:
        self.n_splits = int(check_scalar(n_splits, "n_splits", (int, np.integer), min_val=2))
        if not isinstance(shuffle, (bool, np.bool_)):
            raise TypeError(f"shuffle must be True or False; {shuffle!r} was given.")
        self.shuffle = bool(shuffle)
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def split(self, X: Any, y: ArrayLike | None = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Rows to train on and rows to test on, fold by fold.

        Parameters
        ----------
        X : of length n, or None
            Not looked at.
        y : array-like of shape (n,)
            Positive-unlabelled labels.
        groups : None
            Not used.

        Yields
        ------
        train, test : ndarray of int
        """
        fold = self.fold_of_rows(y)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def fold_of_rows(self, y: ArrayLike | None) -> Indices:
        """The number of the fold that tests each row."""
        if y is None:
            raise ValueError("PUStratifiedKFold needs y, the positive-unlabelled labels, to keep their proportion.")
        positive = read_labels(y).positive
        rng = check_random_state(self.random_state)
        fold = np.empty(positive.size, dtype=np.intp)
        dealt = 0
        for mask, kind in ((positive, "labelled positives"), (~positive, "unlabelled rows")):
            rows = np.flatnonzero(mask)
            if rows.size < self.n_splits:
                raise ValueError(
                    f"n_splits={self.n_splits} folds need at least as many {kind}; y has {rows.size}. "
                    "Lower n_splits or label more rows."
                )
            if self.shuffle:
                rows = rng.permutation(rows)
            fold[rows] = (np.arange(rows.size) + dealt) % self.n_splits
            dealt += rows.size  # the unlabelled rows go on where the positives stopped: fold sizes stay even
        return fold


def pu_train_test_split(
    X: Any, y: ArrayLike, *arrays: Any, test_size: float | int = 0.25, random_state: Any = None
) -> list[Any]:
    """Split rows into a training and a test part that hold the same proportion of labelled positives.

    Parameters
    ----------
    X : array, sparse matrix, or pandas or polars data frame of n rows
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    *arrays : further arrays or frames of n rows, or None
        Split alike; None stays None.
    test_size : float or int, default=0.25
        The share of rows to test on, or their number.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    list
        ``X_train, X_test, y_train, y_test``, then two entries for each further array; each of the kind that came in.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.model_selection import pu_train_test_split
    >>> X, y = np.arange(40).reshape(20, 2), np.repeat([1, 0], [4, 16])
    >>> X_train, X_test, y_train, y_test = pu_train_test_split(X, y, test_size=0.25, random_state=0)
    >>> X_train.shape, y_test.sum(), y_test.size
    ((15, 2), np.int64(1), 5)
    """
    positive = read_labels(y, min_positive=2, min_unlabelled=2).positive
    n = positive.size
    share = _test_share(test_size, n)
    rng = check_random_state(random_state)
    test = np.zeros(n, dtype=bool)
    for mask in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(mask))
        test[rows[: min(max(round(share * rows.size), 1), rows.size - 1)]] = True
    parts = np.flatnonzero(~test), np.flatnonzero(test)
    result: list[Any] = []
    for position, array in enumerate((X, y, *arrays)):
        if array is None:
            result += [None, None]
            continue
        length = array.shape[0] if hasattr(array, "shape") else len(array)
        if length != n:
            name = "X" if position == 0 else f"array number {position + 1}"
            raise ValueError(f"all arrays must have as many rows as y ({n}); {name} has {length}.")
        indexed = array.tocsr() if hasattr(array, "tocsr") else array
        result += [_safe_indexing(indexed, rows) for rows in parts]
    return result


def _test_share(test_size: float | int, n: int) -> float:
    if isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool):
        if not 2 <= test_size <= n - 2:
            raise ValueError(f"test_size as a number of rows must lie between 2 and n - 2 = {n - 2}; got {test_size}.")
        return float(test_size) / n
    if not isinstance(test_size, (float, np.floating)) or not 0.0 < float(test_size) < 1.0:
        raise ValueError(f"test_size must be a share in (0, 1) or a number of rows; {test_size!r} was given.")
    return float(test_size)
