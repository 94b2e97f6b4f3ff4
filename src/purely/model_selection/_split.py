"""Splits that keep the proportion of labelled positives to unlabelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, indexable

from purely.checks import RandomState, check_number, check_share, draw_seed
from purely.folds import content_keys, deal_folds, share_out
from purely.labels import read_labels
from purely.typing import Indices, Matrix


class PUStratifiedKFold(BaseCrossValidator):
    """Folds with the same number of labelled positives and of unlabelled rows, copies of a row in one fold.

    Which fold a row is in depends on its values (:func:`purely.folds.deal_folds`), so the order of the rows does not
    matter. Without copies the numbers differ by at most one row. In the single-sample scenario the share of positives
    among the unlabelled rows follows from the labelled share, so every fold keeps the class prior of the whole.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, RandomState or None, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from purely.model_selection import PUStratifiedKFold
    >>> y = np.repeat([1, 0], [6, 12])
    >>> [int(y[test].sum()) for _, test in PUStratifiedKFold(3, random_state=0).split(y.reshape(-1, 1), y)]
    [2, 2, 2]
    """

    def __init__(self, n_splits: int = 5, *, random_state: RandomState = 0) -> None:
        self.n_splits = check_number("n_splits", n_splits, 2, integer=True)
        self.random_state = random_state

    def get_n_splits(self, X: Matrix | None = None, y: ArrayLike | None = None, groups: None = None) -> int:
        """Number of folds."""
        return self.n_splits

    def split(self, X: Matrix, y: ArrayLike | None = None, groups: None = None) -> Iterator[tuple[Indices, Indices]]:
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
        if y is None:
            raise ValueError("PUStratifiedKFold needs y, the positive-unlabelled labels, to keep their proportion.")
        labels = read_labels(y)
        for count, kind in ((labels.n_positive, "labelled positives"), (labels.n_unlabelled, "unlabelled rows")):
            if count < self.n_splits:
                raise ValueError(
                    f"n_splits={self.n_splits} folds need at least as many {kind}; y has {count}. "
                    "Lower n_splits or label more rows."
                )
        seed = draw_seed(self.random_state)
        folds = deal_folds(X, labels.positive, self.n_splits, seed, content_keys(X, seed))
        if folds.n_folds < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} folds need at least as many different rows of each kind; copies of a row "
                f"share a fold, so only {folds.n_folds} can be dealt. Lower n_splits."
            )
        for train, test in folds:
            yield np.sort(train), np.sort(test)


def pu_train_test_split(
    X: Matrix, y: ArrayLike, *arrays: Any, test_size: float | int = 0.25, random_state: RandomState = 0
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
    random_state : int, RandomState or None, default=0

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
    if isinstance(test_size, Integral) and not isinstance(test_size, bool):
        share = check_number("test_size, as a number of rows,", test_size, 2, n - 2, integer=True) / n
    else:
        share = check_share("test_size", test_size, ", or a number of rows")
    for position, array in enumerate((X, y, *arrays)):
        length = n if array is None else array.shape[0] if hasattr(array, "shape") else len(array)
        if length != n:
            name = "X" if position == 0 else f"array number {position + 1}"
            raise ValueError(f"all arrays must have as many rows as y ({n}); {name} has {length}.")
    keys = content_keys(np.arange(n) if X is None else X, draw_seed(random_state))
    test = share_out(keys, positive, share)
    parts = np.flatnonzero(~test), np.flatnonzero(test)
    every = indexable(X, y, *arrays)
    return [None if array is None else _safe_indexing(array, rows) for array in every for rows in parts]
