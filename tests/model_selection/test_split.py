"""Splits keep the proportion of labelled positives, whatever holds the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from purely.model_selection import PUStratifiedKFold, pu_train_test_split


@pytest.mark.parametrize(("n_p", "n_u", "n_splits"), [(7, 50, 3), (10, 10, 10), (101, 1003, 5)])
def test_folds_partition_the_rows_and_differ_by_one_at_most(n_p, n_u, n_splits) -> None:
    y = np.random.default_rng(0).permutation(np.repeat([1, -1], [n_p, n_u]))
    cv = PUStratifiedKFold(n_splits)
    splits = list(cv.split(np.arange(y.size)[:, None], y))
    assert len(splits) == cv.get_n_splits() == n_splits
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(y.size))
    for train, test in splits:
        assert np.intersect1d(train, test).size == 0
        assert train.size + test.size == y.size
    for count in (lambda t: (y[t] == 1).sum(), lambda t: (y[t] == -1).sum(), len):
        sizes = [count(test) for _, test in splits]
        assert max(sizes) - min(sizes) <= 1


def test_folds_follow_the_seed_and_serve_scikit_learn() -> None:
    y = np.repeat([1, 0], [20, 60])
    X = np.random.default_rng(0).normal(y[:, None], 1.0)
    first, again, other = (list(PUStratifiedKFold(4, random_state=s).split(X, y)) for s in (0, 0, 1))
    assert all((a[1] == b[1]).all() for a, b in zip(first, again, strict=True))
    assert any((a[1] != b[1]).any() for a, b in zip(first, other, strict=True))
    scores = cross_val_predict(LogisticRegression(), X, y, cv=PUStratifiedKFold(4), method="decision_function")
    assert scores.shape == (80,)
    assert "n_splits=4" in repr(PUStratifiedKFold(4))


@pytest.mark.parametrize("kind", ["array", "list", "csr", "coo", "pandas", "polars"])
def test_split_of_any_kind_of_rows(kind) -> None:
    n_p, n_u = 20, 60
    y = np.random.default_rng(0).permutation(np.repeat([1, 0], [n_p, n_u]))
    dense = np.column_stack([np.arange(y.size), y]).astype(float)
    X = {
        "array": lambda: dense,
        "list": dense.tolist,
        "csr": lambda: sp.csr_array(dense),
        "coo": lambda: sp.coo_array(dense),
        "pandas": lambda: pd.DataFrame(dense, columns=["row", "y"]),
        "polars": lambda: pl.DataFrame(dense, schema=["row", "y"]),
    }[kind]()
    parts = pu_train_test_split(X, y, np.arange(y.size), None, test_size=0.25, random_state=0)
    X_train, X_test, y_train, y_test, train, test = parts[:6]
    assert parts[6:] == [None, None]
    assert (y_test.sum(), y_test.size) == (5, 20)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(y.size))
    for rows, labels, numbers in ((X_train, y_train, train), (X_test, y_test, test)):
        values = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        np.testing.assert_array_equal(values, dense[numbers])
        np.testing.assert_array_equal(values[:, 1], labels)
    if kind in ("pandas", "polars"):
        assert type(X_train) is type(X)


def test_copies_of_a_row_stay_on_one_side() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 2)), 2, axis=0)
    y = np.repeat(rng.random(100) < 0.3, 2).astype(int)
    for train, test in PUStratifiedKFold(5).split(X, y):
        assert not set(map(tuple, X[train])) & set(map(tuple, X[test]))
    X_train, X_test, *_ = pu_train_test_split(X, y)
    assert not set(map(tuple, X_train)) & set(map(tuple, X_test))


def test_a_number_of_rows_and_few_positives() -> None:
    y = np.repeat([1, 0], [2, 98])
    _, _, y_train, y_test = pu_train_test_split(np.zeros((100, 1)), y, test_size=10, random_state=0)
    assert (y_train.sum(), y_test.sum()) == (1, 1)
    assert 10 <= y_test.size <= 11


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: PUStratifiedKFold(1), ValueError, "n_splits"),
        (lambda: next(PUStratifiedKFold(3).split([[0]])), ValueError, "needs y"),
        (
            lambda: next(PUStratifiedKFold(3).split(None, [1, 1, 0, 0, 0])),
            ValueError,
            "n_splits=3 folds need at least as many labelled positives; y has 2",
        ),
        (
            lambda: next(PUStratifiedKFold(4).split(np.repeat(np.arange(18), 2)[:, None], np.repeat([1, 0], [6, 30]))),
            ValueError,
            "copies of a row share a fold, so only 3 can be dealt",
        ),
        (lambda: pu_train_test_split(np.zeros((3, 1)), [1, 1, 0, 0]), ValueError, r"as many rows as y \(4\); X has 3"),
        (lambda: pu_train_test_split(np.zeros((4, 1)), [1, 1, 0, 0], test_size=1.5), ValueError, "test_size must be"),
        (
            lambda: pu_train_test_split(np.zeros((4, 1)), [1, 1, 0, 0], test_size=3),
            ValueError,
            "at least 2 and at most",
        ),
        (lambda: pu_train_test_split(np.zeros((3, 1)), [1, 0, 0]), ValueError, "at least 2 are needed"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        call()
