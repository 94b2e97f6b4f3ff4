"""scikit-learn's checks, and our own promises, on every public estimator."""

from __future__ import annotations

import pickle
import warnings
from functools import cache
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _get_feature_names

import purely

#: Sparse columns are scaled otherwise than dense ones, which some of the promises compare.
_NETWORK = {"n_components": 2, "hidden": (4,), "max_epochs": 3, "device": "cpu", "standardize": False}
#: Priors read a score; a linear model of it is fitted in milliseconds.
_SCORED = {"ratio": "linear"}

#: Settings that make an estimator cheap enough for a hundred fits; an estimator without an entry runs as it is.
CHEAP = {
    "PUSMI": {"n_centers": 20},
    "PNSMI": {"n_centers": 20},
    "PURL": {**_NETWORK, "n_ensemble": 1},
    "PNRL": _NETWORK,
    "LSDR": {"n_starts": 2, "max_iter": 3, "n_centers": 10},
    **dict.fromkeys(
        [
            "AlphaMaxPrior",
            "BestBinPrior",
            "DEDPULPrior",
            "ElkanNotoPrior",
            "LogisticCeilingPrior",
            "MonotoneRatioPrior",
            "RankPruningPrior",
        ],
        _SCORED,
    ),
    **dict.fromkeys(["ClassPrior", "KernelMeanPrior", "PenL1Prior", "TIcEPrior"], _SCORED),
    "RegroupingPrior": {"ratio": "linear"},
}

#: Estimators that train networks.
NEED_TORCH = ("PURL", "PNRL")

#: Estimator -> scikit-learn's check -> why a positive-unlabelled label makes that check meaningless.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}

#: What a fitted estimator can be asked for, called with rows; whatever exists of these is compared.
OUTPUTS = ("density_ratio", "transform", "predict", "predict_proba", "decision_function", "score_samples")

#: Numbers an estimator reports after `fit`; whatever exists of these is compared.
REPORTS = ("information_", "information_in_sample_", "smi_", "class_prior_", "unlabelled_prior_", "coef_")


def everything_public():
    """Public names of the rooms and what they are."""
    rooms = (purely.smi, purely.representation, purely.prior, purely.classifiers)
    return {name: getattr(room, name) for room in rooms for name in room.__all__ if name != "PriorEstimator"}


def public_estimators():
    """One instance of every estimator among purely's public names, fixed in its randomness."""
    instances = []
    for name, value in everything_public().items():
        if name in NEED_TORCH and find_spec("torch") is None:  # an installation without the networks is a whole one
            continue
        if not (isinstance(value, type) and issubclass(value, BaseEstimator)) or issubclass(value, ClassifierMixin):
            continue  # classifiers need a class prior of their own in every check: tests/classifiers
        settings = dict(CHEAP.get(name, {}))
        if "random_state" in value().get_params():
            settings.setdefault("random_state", 0)
        instances.append(value(**settings))
    return instances


ESTIMATORS = public_estimators()
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def test_the_walk_finds_estimators():
    assert {"PUSMI", "PNSMI"} <= {type(e).__name__ for e in ESTIMATORS}
    assert set(CHEAP) <= set(everything_public())
    assert set(EXPECTED_FAILURES) <= set(everything_public())
    for reasons in EXPECTED_FAILURES.values():
        assert all(len(reason.split()) >= 5 for reason in reasons.values()), "a reason is a sentence"


@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {})
)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", purely.PurelyWarning)  # tiny and constant data are among the checks
        check(estimator)


# -- our own -----------------------------------------------------------------------------------------------------------


def draw(seed, n_positive=40, n_unlabelled=80, n_features=3):
    """Rows in random order, of which the positives lean to one side in the first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_positive + n_unlabelled, n_features))
    y = (np.arange(len(X)) < n_positive).astype(int)
    X[:, 0] += 1.5 * np.where(y == 1, 1.0, rng.integers(0, 2, size=len(X)))
    shuffle = rng.permutation(len(X))
    return X[shuffle], y[shuffle], rng


def fitted(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", purely.PurelyWarning)
        return clone(estimator).fit(X, y)


@cache
def fitted_to_draw(place, seed):
    """An estimator, by its place in the list, fitted to a draw as it comes; several tests compare with it."""
    X, y, _ = draw(seed)
    return fitted(ESTIMATORS[place], X, y)


def plain(estimator, seed):
    """What :func:`fitted_to_draw` gives of an estimator of the list."""
    return fitted_to_draw(ESTIMATORS.index(estimator), seed)


def outputs(estimator, X):
    """Everything that the estimator reports and says about rows, by name; labels as whether they are positive."""
    found = {name: np.asarray(getattr(estimator, name)) for name in REPORTS if hasattr(estimator, name)}
    for name in OUTPUTS:
        if hasattr(estimator, name):
            value = np.asarray(getattr(estimator, name)(X))
            found[name] = value == estimator.classes_[1] if name == "predict" else value
    assert found, "nothing to compare: add the estimator's results to OUTPUTS or REPORTS"
    return found


def assert_same(found, expected, rtol=1e-6, atol=1e-8):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=rtol, atol=atol, err_msg=name)


@every_estimator
@pytest.mark.parametrize("seed", range(3))
def test_permuting_rows_changes_nothing(estimator, seed):
    X, y, rng = draw(seed)
    shuffle = rng.permutation(len(X))
    assert_same(outputs(fitted(estimator, X[shuffle], y[shuffle]), X), outputs(plain(estimator, seed), X))


@every_estimator
def test_permuting_rows_with_duplicates_changes_nothing(estimator):
    X, y, rng = draw(0)
    X = np.round(X)
    shuffle = rng.permutation(len(X))
    assert_same(outputs(fitted(estimator, X[shuffle], y[shuffle]), X), outputs(fitted(estimator, X, y), X))


RELABELLINGS = {
    "1/-1": lambda y: np.where(y == 1, 1, -1),
    "True/False": lambda y: y == 1,
    "2/1": lambda y: y + 1,
    "floats": lambda y: y.astype(float),
    "strings": lambda y: np.where(y == 1, "yes", "no"),
    "objects": lambda y: np.where(y == 1, "yes", "no").astype(object),
    "pandas": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "categorical": lambda y: pd.Series(pd.Categorical(np.where(y == 1, "yes", "no"))),
    "polars": lambda y: pl.Series(y),
    "list": lambda y: y.tolist(),
}


#: `tests/test_labels.py` reads every coding; with each estimator the others are read at full size.
FEW = ("1/-1", "True/False", "strings", "categorical", "polars")
CODINGS = [
    pytest.param(relabel, id=name, marks=() if name in FEW else pytest.mark.full)
    for name, relabel in RELABELLINGS.items()
]


@every_estimator
@pytest.mark.parametrize("relabel", CODINGS)
def test_relabelling_gives_the_same_fit(estimator, relabel):
    """The coding of the labels changes nothing, and is that of what comes back."""
    X, y, _ = draw(1)
    model = fitted(estimator, X, relabel(y))
    assert_same(outputs(model, X), outputs(plain(estimator, 1), X), rtol=1e-12)
    values = set(relabel(y))
    assert set(model.classes_.tolist()) == values
    if hasattr(model, "predict"):
        assert set(model.predict(X).tolist()) <= values


@every_estimator
def test_a_constant_column_changes_little(estimator):
    X, y, _ = draw(2, 100, 200)
    wider = [fitted(estimator, np.column_stack([X, np.full(len(X), constant)]), y) for constant in (0.0, 7.0)]
    seeded = "random_state" in estimator.get_params()
    others = [fitted(clone(estimator).set_params(random_state=s), X, y) for s in range(6) if seeded]
    expected = others[0] if others else fitted(estimator, X, y)
    for name in ("information_", "smi_", "class_prior_"):
        if hasattr(expected, name):
            # other keys of the rows are other folds and centres: as far apart as two seeds are
            spread = np.std([getattr(other, name) for other in others], ddof=1) if others else 0.0
            for found in wider:
                assert abs(getattr(found, name) - getattr(expected, name)) < 6 * spread + 0.02, name


@every_estimator
def test_a_refit_with_the_same_random_state_is_equal(estimator):
    if "random_state" not in estimator.get_params():
        pytest.skip("takes no random_state")
    X, y, _ = draw(3)
    seeded = clone(estimator).set_params(random_state=3)
    first = fitted(seeded, X, y)
    expected = outputs(first, X)
    assert_same(outputs(fitted(seeded, X, y), X), expected, rtol=0, atol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", purely.PurelyWarning)
        first.fit(X[::2], y[::2])
        assert_same(outputs(first.fit(X, y), X), expected, rtol=0, atol=0)


@every_estimator
def test_fit_leaves_everything_alone(estimator):
    """The global random state, its parameters, and its input."""
    X, y, _ = draw(4)
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    rows, labels, sparse = X.copy(), y.copy(), sp.csr_matrix(X)
    rows.flags.writeable = labels.flags.writeable = False
    model = clone(estimator)
    before = repr(model.get_params())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", purely.PurelyWarning)
        model.fit(rows, labels)
    assert np.random.random() == expected  # noqa: NPY002
    assert repr(model.get_params()) == before
    outputs(model, rows)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    if estimator.__sklearn_tags__().input_tags.sparse:
        outputs(fitted(estimator, sparse, y), sparse)
        np.testing.assert_array_equal(sparse.toarray(), X)


TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "pandas, odd index": lambda X: pd.DataFrame(X, index=np.arange(len(X))[::-1]).rename(columns=str),
    "pandas nullable": lambda X: pd.DataFrame(X).rename(columns=str).astype("Float64"),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
}


@every_estimator
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_tables_of_any_kind_give_the_same_fit(estimator, table):
    X, y, _ = draw(5)
    rows = table(X)
    model = fitted(estimator, rows, y)
    assert model.n_features_in_ == X.shape[1]
    if _get_feature_names(rows) is not None:  # older versions of scikit-learn do not see those of newer polars
        assert model.feature_names_in_.tolist() == list(rows.columns)
    assert_same(outputs(model, rows), outputs(plain(estimator, 5), X))


@every_estimator
def test_float32_rows_give_nearly_the_same_fit(estimator):
    X, y, _ = draw(6)
    single = X.astype(np.float32)
    # against the same numbers in double precision: what is left is the precision of the arithmetic
    assert_same(
        outputs(fitted(estimator, single, y), single),
        outputs(fitted(estimator, single.astype(float), y), single),
        rtol=1e-3,
        atol=1e-3,
    )


@every_estimator
def test_sparse_rows_give_the_same_fit(estimator):
    if not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes dense rows only, and says so in its tags")
    if type(estimator).__name__ == "PenL1Prior":
        pytest.skip("its folds and centres follow the order of the scaled rows, and sparse rows are not centred")
    X, y, rng = draw(7)
    X[rng.random(X.shape) < 0.3] = 0.0
    expected = outputs(fitted(estimator, X, y), X)
    for make in (sp.csr_matrix, sp.csc_array, sp.coo_matrix):
        assert_same(outputs(fitted(estimator, make(X), y), make(X)), expected)


@every_estimator
@pytest.mark.parametrize("seed", range(3))
def test_everything_said_is_finite(estimator, seed):
    X, _, rng = draw(seed)
    far = np.vstack([X, X * 1e6, np.zeros_like(X[:1]), rng.normal(size=X.shape) - 50.0])
    model = plain(estimator, seed)
    for name, value in outputs(model, far).items():
        assert np.isfinite(np.asarray(value, dtype=float)).all(), name
    for name in ("class_prior_", "unlabelled_prior_"):
        if hasattr(model, name):
            assert 0.0 <= getattr(model, name) <= 1.0
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(far)
        assert (probability >= 0.0).all()
        np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-6)


@every_estimator
def test_pickling_keeps_the_fit(estimator):
    X, _, _ = draw(0)
    model = plain(estimator, 0)
    assert_same(outputs(pickle.loads(pickle.dumps(model)), X), outputs(model, X), rtol=0, atol=0)


@every_estimator
def test_the_fit_takes_two_rows_of_each_kind(estimator):
    X, y, _ = draw(9, 2, 2)
    for name, value in outputs(fitted(estimator, X, y), X).items():
        assert np.isfinite(np.asarray(value, dtype=float)).all(), name
