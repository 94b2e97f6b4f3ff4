"""Bad input, one row a kind: each gives an error that names the problem, or a documented behaviour."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning, NotFittedError

from purely import PUSMI, PurelyWarning, independence_test, make_pu, rank_features, stack
from purely.exceptions import DegenerateDataWarning
from purely.smi import PNSMI, bootstrap_information, information_interval

rng = np.random.default_rng(0)
Y = (np.arange(60) < 20).astype(int)
X = rng.normal(size=(60, 3)) + np.where(Y == 1, 2.0, 0.0)[:, None] * [1, 0, 0]
WITH_NAN, WITH_INF = X.copy(), X.copy()
WITH_NAN[3, 1], WITH_INF[3, 1] = np.nan, -np.inf
RATIO, MASK = rng.random(20) + 0.5, np.arange(20) < 8


def fit(rows=X, labels=Y, estimator=PUSMI, **settings):
    return estimator(**{"n_centers": 10, "random_state": 0, **settings}).fit(rows, labels)


def pn(**settings):
    return fit(estimator=PNSMI, **settings)


def stream(**settings):
    return PUSMI(n_centers=5, random_state=0, **settings).partial_fit(X, Y)


# fmt: off
#: What is wrong -> (call, error, a part of its text).
ERRORS = {
    # the rows
    "NaN in X": (lambda: fit(WITH_NAN), ValueError, "X contains NaN"),
    "inf in X": (lambda: fit(WITH_INF), ValueError, "X contains infinity"),
    "NaN in sparse X": (lambda: fit(sp.csr_matrix(WITH_NAN)), ValueError, "X contains NaN"),
    "NaN in a data frame": (lambda: fit(pd.DataFrame(WITH_NAN)), ValueError, "X contains NaN"),
    "pd.NA in a data frame": (lambda: fit(pd.DataFrame(X).astype("Float64").mask(X > 2)), ValueError, "NaN"),
    "masked X": (lambda: fit(np.ma.masked_greater(X, 2.0)), ValueError, "X is a masked array with"),
    "masked y": (lambda: fit(X, np.ma.masked_equal(Y, 1)), ValueError, "y is a masked array with 20 masked value(s)"),
    "masked new rows": (lambda: fit().density_ratio(np.ma.masked_less(X, 0.0)), ValueError, "X is a masked array"),
    "masked rows in a stack": (lambda: stack(np.ma.masked_less(X, 0.0), X), ValueError, "P is a masked array"),
    "masked rows in a stream": (lambda: stream().partial_fit(np.ma.masked_less(X, 0), Y), ValueError, "masked array"),
    "masked rows in a test": (lambda: independence_test(np.ma.masked_less(X, 0), Y), ValueError, "masked array"),
    "masked rows in a ranking": (lambda: rank_features(np.ma.masked_less(X, 0), Y), ValueError, "masked array"),
    "no rows": (lambda: fit(np.empty((0, 3)), []), ValueError, "0 sample(s)"),
    "no columns": (lambda: fit(np.empty((60, 0))), ValueError, "0 feature(s)"),
    "one-dimensional X": (lambda: fit(X[:, 0]), ValueError, "Reshape your data"),
    "three-dimensional X": (lambda: fit(X[None]), ValueError, "dim 3"),
    "X is None": (lambda: fit(None), ValueError, "Expected 2D array"),
    "X is a number": (lambda: fit(3.0), ValueError, "Expected 2D array"),
    "words in X": (lambda: fit(np.full((60, 3), "a", dtype=object)), ValueError, "could not convert string to float"),
    "words in a data frame": (
        lambda: fit(pd.DataFrame(X, columns=list("abc")).assign(c="red", d=pd.Timestamp("2024-01-01"))),
        ValueError,
        "X has columns that are not numbers: 'c', 'd'. Make numbers of them first, for example with make_pipeline(",
    ),
    "categories in a data frame": (
        lambda: fit(pd.DataFrame(X).assign(land=pd.Categorical(["DE", None] * 30))), ValueError, "not numbers: 'land'."
    ),
    "words in a polars frame": (
        lambda: fit(pl.DataFrame({"a": Y, "b": ["x"] * 60})), ValueError, "a column that is not numbers: 'b'."
    ),
    "dicts in X": (lambda: fit(np.full((60, 3), {}, dtype=object)), TypeError, "float() argument must be"),
    "ragged X": (lambda: fit([[1, 2], [3]], [1, 0]), ValueError, "inhomogeneous"),
    "complex X": (lambda: fit(X + 1j), ValueError, "Complex data not supported"),
    "values of 1e200": (lambda: fit(X * 1e200), ValueError, "distances between rows overflow beyond 1e+150"),
    "sparse values of 1e200": (lambda: fit(sp.csr_matrix(X * 1e200)), ValueError, "overflow beyond 1e+150"),
    "integers beyond a float": (lambda: fit(np.full((60, 3), 10**400, dtype=object)), OverflowError, "too large"),
    # the labels
    "lengths": (lambda: fit(X, Y[:-1]), ValueError, "X and y must have the same length"),
    "one positive": (lambda: fit(X, np.arange(60) < 1), ValueError, "y has 1 labelled positive row(s)"),
    "one unlabelled": (lambda: fit(X, np.arange(60) > 0), ValueError, "y has 1 unlabelled row(s)"),
    "no positives": (lambda: fit(X, np.zeros(60)), ValueError, "there is no labelled positive"),
    "no unlabelled": (lambda: fit(X, np.ones(60)), ValueError, "there are no unlabelled rows"),
    "-1 and 0 only": (lambda: fit(X, Y - 1), ValueError, "neither of which marks a labelled positive"),
    "three label values": (lambda: fit(X, np.arange(60) % 3), ValueError, "y has 3 different values (0, 1, 2)"),
    "continuous y": (lambda: fit(X, X[:, 0]), ValueError, "Unknown label type: continuous"),
    "y is None": (lambda: fit(X, None), ValueError, "requires y to be passed"),
    "NaN in y": (lambda: fit(X, np.where(Y == 1, 1.0, np.nan)), ValueError, "y has 40 missing label(s)"),
    "None in y": (lambda: fit(X, [1] * 20 + [None] * 40), ValueError, "y has 40 missing label(s)"),
    "inf in y": (lambda: fit(X, np.where(Y == 1, np.inf, 0.0)), ValueError, "infinite values"),
    "numbers and strings in y": (lambda: fit(X, [2] * 20 + ["b"] * 40), TypeError, "y mixes values"),
    "two columns of y": (lambda: fit(X, np.c_[Y, Y]), ValueError, "y should be a 1d array"),
    "sparse y": (lambda: fit(X, sp.csr_matrix(Y)), TypeError, "y is a sparse matrix"),
    "y is a number": (lambda: fit(X, 1), ValueError, "y should be a 1d array"),
    # the settings
    "bandwidth -1": (lambda: fit(bandwidth=-1), ValueError, "bandwidth must be positive and finite; -1 was given"),
    "bandwidth 0": (lambda: fit(bandwidth=0), ValueError, "bandwidth must be positive and finite; 0 was given"),
    "bandwidth NaN": (lambda: fit(bandwidth=np.nan), ValueError, "bandwidth must be positive and finite; nan"),
    "bandwidth inf": (lambda: fit(bandwidth=[1, np.inf]), ValueError, "bandwidth must be positive and finite; inf"),
    "bandwidth 1e-200": (lambda: fit(bandwidth=1e-200), ValueError, "bandwidth must lie between 1e-150 and 1e+150"),
    "bandwidth 1e200": (lambda: fit(bandwidth=1e200), ValueError, "bandwidth must lie between 1e-150 and 1e+150"),
    "bandwidth a word": (lambda: fit(bandwidth="wide"), TypeError, "bandwidth must be a number or a list of numbers"),
    "bandwidth '1.0'": (lambda: fit(bandwidth="1.0"), TypeError, "bandwidth must be a number or a list of numbers"),
    "bandwidth True": (lambda: fit(bandwidth=True), TypeError, "bandwidth must be a number or a list of numbers"),
    "no bandwidths": (lambda: fit(bandwidth=[]), ValueError, "bandwidth must be a number or a non-empty list"),
    "a table of bandwidths": (lambda: fit(bandwidth=[[1, 2], [3, 4]]), ValueError, "bandwidth must be a number or a"),
    "a ragged list of bandwidths": (lambda: fit(bandwidth=[[1], [2, 3]]), ValueError, "bandwidth must be a number"),
    "alpha -1": (lambda: fit(alpha=-1), ValueError, "alpha must be non-negative and finite; -1 was given"),
    "alpha NaN": (lambda: fit(alpha=[0.1, np.nan]), ValueError, "alpha must be non-negative and finite; nan"),
    "alpha a word": (lambda: fit(alpha="small"), TypeError, "alpha must be a number or a list of numbers; 'small'"),
    "no alphas": (lambda: fit(alpha=[]), ValueError, "alpha must be a number or a non-empty list"),
    "alpha a dict": (lambda: fit(alpha={}), TypeError, "alpha must be a number or a list of numbers"),
    "n_centers 0": (lambda: fit(n_centers=0), ValueError, "n_centers must be an integer of at least 1; 0 was given"),
    "n_centers -1": (lambda: fit(n_centers=-1), ValueError, "n_centers must be an integer of at least 1; -1 was given"),
    "n_centers 1.5": (lambda: fit(n_centers=1.5), ValueError, "n_centers must be an integer of at least"),
    "n_centers None": (lambda: fit(n_centers=None), ValueError, "n_centers must be an integer of at least"),
    "cv 1": (lambda: fit(cv=1), ValueError, "cv must be an integer of at least 2; 1 was given"),
    "cv 0": (lambda: fit(cv=0), ValueError, "cv must be an integer of at least 2; 0 was given"),
    "cv a word": (lambda: fit(cv="x"), ValueError, "cv must be an integer of at least"),
    "cv 2.5": (lambda: fit(cv=2.5), ValueError, "cv must be an integer of at least"),
    "centers with other columns": (lambda: fit(centers=X[:4, :2]), ValueError, "centers has 2 columns, X has 3"),
    "centers with NaN": (lambda: fit(centers=WITH_NAN), ValueError, "centers contains NaN"),
    "centers of 1e300": (lambda: fit(centers=np.full((4, 3), 1e300)), ValueError, "centers has values as large as"),
    "one-dimensional centers": (lambda: fit(centers=np.zeros(3)), ValueError, "Expected 2D array"),
    "no centers": (lambda: fit(centers=np.zeros((0, 3))), ValueError, "0 sample(s)"),
    "basis a word": (lambda: fit(basis="poly"), ValueError, "basis must be 'gaussian' or a function of the rows"),
    "basis None": (lambda: fit(basis=None), ValueError, "basis must be 'gaussian' or a function of the rows"),
    "basis of one dimension": (lambda: fit(basis=lambda r: r[:, 0]), ValueError, "it returned shape (2,)"),
    "basis of other rows": (lambda: fit(basis=lambda r: r[:1]), ValueError, "basis must map 2 rows to an array"),
    "basis with NaN": (lambda: fit(basis=lambda r: r * np.nan), ValueError, "basis returned NaN or infinite"),
    "basis of changing width": (
        lambda: fit(basis=lambda r: np.ones((len(r), len(r)))), ValueError, "where it returned 2 before"
    ),
    "basis and bandwidth": (
        lambda: fit(basis=lambda r: r, bandwidth=1.0), ValueError, "bandwidth and centers belong to basis='gaussian'"
    ),
    "intercept a word": (lambda: fit(intercept="yes"), ValueError, "intercept must be one of True, False"),
    "scenario a word": (lambda: fit(scenario="both"), ValueError, "scenario must be 'case-control' or 'single-sample'"),
    "scenario None": (lambda: fit(scenario=None), ValueError, "scenario must be"),
    "random_state a word": (lambda: fit(random_state="x"), ValueError, "cannot be used to seed"),
    "n_jobs 0": (lambda: fit(n_jobs=0), ValueError, "n_jobs == 0"),
    # the class prior
    "class_prior 0": (lambda: fit().smi(0), ValueError, "class_prior must be a number strictly"),
    "class_prior 1": (lambda: fit().smi(1.0), ValueError, "class_prior must be a number strictly"),
    "class_prior 1.3": (lambda: fit().smi_interval(1.3), ValueError, "class_prior must be a number strictly"),
    "class_prior NaN": (lambda: fit().posterior(X, np.nan), ValueError, "class_prior must be a number strictly"),
    "class_prior None": (lambda: fit().posterior(X, None), ValueError, "class_prior must be a number"),
    "class_prior a word": (lambda: fit().smi("half"), ValueError, "class_prior must be a number"),
    "class_prior True": (lambda: fit().smi(True), ValueError, "class_prior must be a number"),
    "supervised class_prior 0": (lambda: pn(class_prior=0), ValueError, "class_prior must be a number strictly"),
    "supervised class_prior 1.3": (lambda: pn(class_prior=1.3), ValueError, "class_prior must be a number strictly"),
    "supervised class_prior a word": (lambda: pn(class_prior="half"), ValueError, "class_prior must be a number"),
    # after the fit
    "predict with other columns": (lambda: fit().density_ratio(X[:, :2]), ValueError, "expecting 3 features"),
    "predict NaN": (lambda: fit().density_ratio(WITH_NAN), ValueError, "X contains NaN"),
    "predict no rows": (lambda: fit().density_ratio(X[:0]), ValueError, "0 sample(s)"),
    "predict one row as a vector": (lambda: fit().density_ratio(X[0]), ValueError, "Reshape your data"),
    "predict 1e200": (lambda: fit().density_ratio(X * 1e200), ValueError, "overflow beyond 1e+150"),
    "score without y": (lambda: fit().score(X, None), ValueError, "requires y to be passed"),
    "interval without y": (lambda: fit().information_interval(X), ValueError, "requires y to be passed"),
    "score of positives only": (lambda: fit().score(X[:20], Y[:20]), ValueError, "y has only one class"),
    "unfitted ratio": (lambda: PUSMI().density_ratio(X), NotFittedError, "not fitted yet"),
    "unfitted smi": (lambda: PUSMI().smi(0.5), NotFittedError, "not fitted yet"),
    "unfitted score": (lambda: PUSMI().score(X, Y), NotFittedError, "not fitted yet"),
    "unfitted interval": (lambda: PUSMI().information_interval(), NotFittedError, "not fitted yet"),
    "unfitted posterior": (lambda: PNSMI().posterior(X, 0.5), NotFittedError, "not fitted yet"),
    "unfitted supervised smi": (lambda: PNSMI().smi(), NotFittedError, "not fitted yet"),
    "level 0": (lambda: fit().information_interval(level=0), ValueError, "level must be a number strictly between"),
    "level 1": (lambda: fit().information_interval(level=1), ValueError, "level must be a number strictly between"),
    "level 2": (lambda: fit().smi_interval(0.5, level=2), ValueError, "level must be a number strictly between"),
    "level 95": (lambda: information_interval(RATIO, MASK, level=95), ValueError, "such as 0.95; 95 was given"),
    "level a word": (lambda: fit().information_interval(level="high"), ValueError, "level must be a number"),
    # streams
    "another coding in a stream": (lambda: stream().partial_fit(X, 2 * Y), ValueError, "y has the value 2, but"),
    "other columns in a stream": (lambda: stream().partial_fit(X[:, :2], Y), ValueError, "expecting 3 features"),
    "lengths in a stream": (lambda: stream().partial_fit(X, Y[:9]), ValueError, "X and y must have the same length"),
    "NaN in a stream's y": (lambda: stream().partial_fit(X, Y * np.nan), ValueError, "missing label(s)"),
    "a stream without y": (lambda: stream().partial_fit(X, None), ValueError, "requires y to be passed"),
    "one class in the first batch": (lambda: PUSMI().partial_fit(X[:9], Y[:9]), ValueError, "y has only one class"),
    "no rows for centres": (
        lambda: PUSMI().partial_fit(X[:9], Y[:9], classes=[0, 1]), ValueError, "no unlabelled rows to draw centres from"
    ),
    "three classes declared": (lambda: PUSMI().partial_fit(X, Y, classes=[0, 1, 2]), ValueError, "3 different values"),
    "too little seen": (lambda: PUSMI().partial_fit(X[18:24], Y[18:24]).smi(0.5), NotFittedError, "not fitted yet"),
    "interval after a stream": (lambda: stream().information_interval(), ValueError, "rows that were set aside"),
    # functions
    "ratio and mask of other lengths": (lambda: information_interval(RATIO, MASK[:3]), ValueError, "equally long"),
    "NaN in the ratio": (lambda: information_interval(RATIO * np.nan, MASK), ValueError, "ratio has 20 NaN"),
    "interval with one positive": (
        lambda: information_interval(RATIO, np.arange(20) < 1), ValueError, "at least 2 positive rows; 1 were given"
    ),
    "negative extra_variance": (
        lambda: information_interval(RATIO, MASK, extra_variance=-1.0), ValueError, "extra_variance must be"
    ),
    "no bootstrap draws": (
        lambda: bootstrap_information(RATIO, MASK, n_resamples=0), ValueError, "an integer of at least 2; 0 was given"
    ),
    "half a bootstrap draw": (
        lambda: bootstrap_information(RATIO, MASK, n_resamples=10.5), ValueError, "at least 2; 10.5 was given"
    ),
    "bootstrap level": (lambda: bootstrap_information(RATIO, MASK, level=1.5), ValueError, "level must be a number"),
    "too few permutations": (lambda: independence_test(X, Y, n_permutations=5), ValueError, "at least 19; 5 was given"),
    "test of NaN": (lambda: independence_test(WITH_NAN, Y), ValueError, "contains NaN"),
    "test of other lengths": (lambda: independence_test(X, Y[:30]), ValueError, "X and y must have the same length"),
    "test with one positive": (lambda: independence_test(X, np.arange(60) < 1), ValueError, "at least 2 are needed"),
    "test of no centres": (lambda: independence_test(X, Y, n_centers=0), ValueError, "at least 1; 0 was given"),
    "ranking by another estimator": (lambda: rank_features(X, Y, estimator=PNSMI()), TypeError, "estimator must be"),
    "ranking of equal names": (
        lambda: rank_features(pd.DataFrame(X, columns=list("aab")), Y), ValueError, "X has 2 columns named 'a'"
    ),
    "ranking of other lengths": (lambda: rank_features(X, Y[:30]), ValueError, "X and y must have the same length"),
    "more positives than there are": (
        lambda: make_pu(X, Y, n_positive=500, n_unlabelled=10, class_prior=0.5), ValueError, "500"
    ),
}
# fmt: on


@pytest.mark.parametrize(("call", "error", "part"), ERRORS.values(), ids=ERRORS.keys())
def test_bad_input_is_refused(call, error, part):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        with pytest.raises(error, match=re.escape(part)):
            call()


def test_there_are_many_kinds():
    assert len(ERRORS) + len(BEHAVIOURS) >= 45


# -- odd input that is taken, and what comes of it ---------------------------------------------------------------------


def is_finite(model, rows=X):
    values = [model.information_, model.information_in_sample_, *model.coef_, *model.density_ratio(rows)]
    return bool(np.isfinite(values).all())


def same_as_plain(rows):
    return fit(rows).information_ == pytest.approx(fit().information_, rel=1e-8)


def numbers_as_strings():
    return same_as_plain(X.astype(str).astype(object))


def close_to_plain(rows):
    interval = fit().information_interval()
    return abs(fit(rows).information_ - interval.information) < 5 * interval.standard_error


def degenerate(rows):
    with pytest.warns(DegenerateDataWarning):
        model = fit(rows)
    return abs(model.information_) < 1e-3 and is_finite(model, rows)


def column_of_labels():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = fit(X, Y[:, None])
    return model.information_ == fit().information_


def permuted_copies():
    """Positives that are the unlabelled rows: nothing to tell them apart."""
    model = fit(np.vstack([X[20:], X[20:]]), np.repeat([1, 0], 40))
    return model.information_ < 5 * model.information_interval().standard_error


#: What is odd -> a call that is true where the documented behaviour holds.
BEHAVIOURS = {
    "constant X": lambda: degenerate(np.full((60, 3), 7.0)),
    "zeros, sparse": lambda: degenerate(sp.csr_matrix((60, 3))),
    "values of 1e-200": lambda: degenerate(X * 1e-200),
    "values of 1e-160": lambda: degenerate(X * 1e-160),
    "values of 1e140": lambda: is_finite(fit(X * 1e140), X * 1e140),
    "values of 1e-100": lambda: is_finite(fit(X * 1e-100), X * 1e-100),
    "integers beyond int64": lambda: is_finite(fit([[2**70 * i, i % 7, 1] for i in range(60)]), [[2**70, 1, 1]]),
    "a mask that hides nothing": lambda: same_as_plain(np.ma.masked_greater(X, 1e9)),
    "integers": lambda: is_finite(fit((10 * X).astype(np.int8)), 10 * X),
    "booleans": lambda: is_finite(fit(X > 0), X > 0),
    "half precision": lambda: close_to_plain(X.astype(np.float16)),
    "numbers as strings": numbers_as_strings,
    "CSC": lambda: same_as_plain(sp.csc_matrix(X)),
    "COO": lambda: same_as_plain(sp.coo_matrix(X)),
    "sparse arrays": lambda: same_as_plain(sp.csr_array(X)),
    "duplicate rows": lambda: is_finite(fit(np.tile(X[[0, 1, 2, 40, 41, 42]], (10, 1)))),
    "two distinct rows": lambda: is_finite(fit(np.repeat(X[:2], 30, axis=0))),
    "duplicate columns": lambda: is_finite(fit(np.hstack([X, X])), np.hstack([X, X])),
    "one column": lambda: is_finite(fit(X[:, :1]), X[:, :1]),
    "more columns than rows": lambda: is_finite(
        fit(np.tile(X, (1, 40)) + rng.normal(size=(60, 120))), rng.normal(size=(3, 120))
    ),
    "positives equal to the unlabelled rows": permuted_copies,
    "more centres than unlabelled rows": lambda: fit(n_centers=1000).centers_.shape == (40, 3),
    "one centre": lambda: is_finite(fit(n_centers=1)),
    "more folds than positives": lambda: fit(cv=1000).fold_coef_.shape[0] == 20,
    "two positives": lambda: fit(X, np.arange(60) < 2).fold_coef_.shape[0] == 2,
    "two unlabelled rows": lambda: is_finite(fit(X, np.arange(60) < 58)),
    "alpha 0": lambda: is_finite(fit(alpha=0)),
    "bandwidths out of order, twice": lambda: len(fit(bandwidth=[2, 1, 2], alpha=1).cv_results_["param_alpha"]) == 2,
    "a very narrow bandwidth": lambda: is_finite(fit(bandwidth=1e-140)),
    "a very wide bandwidth": lambda: is_finite(fit(bandwidth=1e140)),
    "rows far from all centres": lambda: is_finite(fit(), X + 1e100),
    "y as a column": column_of_labels,
    "test of constant rows": lambda: independence_test(np.ones((60, 2)), Y, n_permutations=19).p_value == 1.0,
}


@pytest.mark.filterwarnings("ignore::purely.exceptions.SearchBoundWarning", "error::RuntimeWarning")
@pytest.mark.parametrize("holds", BEHAVIOURS.values(), ids=BEHAVIOURS.keys())
def test_odd_input_is_taken(holds):
    assert holds()
