"""scikit-learn's checks and our own promises, on every classifier."""

from __future__ import annotations

import pickle
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from purely.classifiers import (
    BaggingPUClassifier,
    CalibratedPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PULeastSquaresClassifier,
    PULogisticClassifier,
    ReweightedPUClassifier,
    SelectionAwareClassifier,
    SelfTrainingPUClassifier,
    TwoStepPUClassifier,
)
from purely.exceptions import SearchBoundWarning
from purely.prior import ClassPrior
from tests.classifiers.conftest import gaussians, single_sample

TREES = ExtraTreesClassifier(10, min_samples_leaf=5)
FOREST = RandomForestClassifier(20, min_samples_leaf=5)
NETWORK = {"hidden": (20,), "max_epochs": 20, "n_ensemble": 1, "device": "cpu"}
CLASSIFIERS = {
    "nnpu": NNPUClassifier(0.5, random_state=0, **NETWORK),
    "nnpu, calibrated": NNPUClassifier(0.5, random_state=0, cv=2, **NETWORK),
    "least squares": PULeastSquaresClassifier(0.5, n_centers=60, random_state=0),
    "logistic": PULogisticClassifier(0.5, random_state=0),
    "kernel logistic": PULogisticClassifier(0.5, basis="gaussian", n_components=40, random_state=0),
    "elkan-noto": ElkanNotoClassifier(FOREST, random_state=0, cv=2),
    "elkan-noto, weighted": ElkanNotoClassifier(FOREST, weighted=True, random_state=0, cv=2),
    "bagging": BaggingPUClassifier(class_prior=0.5, n_estimators=10, random_state=0),
    "reweighted": ReweightedPUClassifier(TREES, class_prior=0.5, cv=2, random_state=0),
    "reweighted, plain": ReweightedPUClassifier(TREES, class_prior=0.5, calibrate=False, random_state=0),
    "two-step": TwoStepPUClassifier(TREES, class_prior=0.5, cv=2, random_state=0),
    "self-training": SelfTrainingPUClassifier(TREES, class_prior=0.5, cv=2, n_rounds=1, random_state=0),
    "calibrated": CalibratedPUClassifier(TREES, class_prior=0.5, cv=2, random_state=0),
    "selection-aware": SelectionAwareClassifier(
        0.5, selection_features=[0], members=["linear", "logistic"], cv=2, random_state=0
    ),
    "auto": PUClassifier(
        0.5, members=[NNPUClassifier(refit=False, **NETWORK), "linear", "logistic"], cv=2, device="cpu", random_state=0
    ),
}
every = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())


#: The prior is estimated, as it is by default, by a small model; Elkan and Noto's classifier finds it by itself.
SMALL_PRIOR = ClassPrior("linear", cv=2, random_state=0)
CHECKED = {
    name: clone(m) if isinstance(m, ElkanNotoClassifier) else clone(m).set_params(class_prior=SMALL_PRIOR)
    for name, m in CLASSIFIERS.items()
}
#: Second settings of a class that is checked anyway.
VARIANTS = ("nnpu, calibrated", "elkan-noto, weighted", "reweighted, plain", "kernel logistic")

_SPLITS = "the check gives cv a list of splits, which keeps no copies of a row together; cv is a number here"
_ROWS = "the check leaves a single unlabelled row with a weight above zero, and two of each kind are needed"
_HIDDEN = (
    "every row without a positive label is negative there, and the estimated prior takes some of them for positive"
)


def _weights(reason):
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


#: Estimator -> scikit-learn's check -> why it cannot hold for that one; weights equal repetitions in `test_weights.py`.
EXPECTED_FAILURES = {
    "NNPUClassifier": {"check_classifiers_train": _HIDDEN},
    "PULogisticClassifier": {**_weights(_ROWS), "check_classifiers_train": _HIDDEN},
    "PULogisticClassifier, gaussian": _weights(_ROWS),
    "BaggingPUClassifier": {**_weights(_ROWS), "check_classifiers_train": _HIDDEN},
    "PULeastSquaresClassifier": _weights(_SPLITS),
    "ElkanNotoClassifier": _weights(_SPLITS),
    "ReweightedPUClassifier": _weights(_SPLITS),
    "ReweightedPUClassifier, not calibrated": {**_weights(_SPLITS), "check_classifiers_train": _HIDDEN},
    "TwoStepPUClassifier": _weights(_SPLITS),
    "SelfTrainingPUClassifier": _weights(_SPLITS),
    "CalibratedPUClassifier": _weights(_SPLITS),
}


def expected_failures(estimator):
    kind = ", gaussian" if getattr(estimator, "basis", "") == "gaussian" else ""
    kind = kind if getattr(estimator, "calibrate", True) else ", not calibrated"
    name = type(estimator).__name__
    return EXPECTED_FAILURES.get(name + kind, EXPECTED_FAILURES.get(name, {}))


@parametrize_with_checks(
    [model for name, model in CHECKED.items() if name not in VARIANTS], expected_failed_checks=expected_failures
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([CHECKED[name] for name in VARIANTS], expected_failed_checks=expected_failures)
def test_scikit_learn_of_other_settings(estimator, check):
    check(estimator)


def few():
    """Rows on which every classifier is fitted once for several tests, see :func:`fitted_to_few`."""
    return gaussians(0, 60, 120)


@cache
def _fitted(name):
    return clone(CLASSIFIERS[name]).fit(*few())


def fitted_to_few(model):
    """A classifier of the list, fitted; the test's own."""
    return deepcopy(_fitted(next(name for name, other in CLASSIFIERS.items() if other is model)))


@every
def test_two_gaussians_are_told_apart(model):
    X, y = gaussians(0, 300, 600, 0.5)
    new, _ = gaussians(1, 1, 1000, 0.5)
    truth = np.repeat([1, 0], 500)
    fitted = clone(model).fit(X, y)
    assert np.mean(fitted.predict(new[1:]) == truth) > 0.83  # the best possible is 0.933
    assert 0.75 < fitted.score(X, y) <= 1.0


@every
@pytest.mark.parametrize(
    "relabel",
    [lambda y: np.where(y == 1, 1, -1), lambda y: y == 1, lambda y: np.where(y == 1, "yes", "no")],
    ids=["1/-1", "bool", "strings"],
)
def test_the_coding_of_labels_does_not_matter(model, relabel):
    X, y = few()
    labels = relabel(y)
    a, b = fitted_to_few(model), clone(model).fit(X, labels)
    np.testing.assert_allclose(b.predict_proba(X), a.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(b.predict(X), np.unique(labels)[a.predict(X)])


@every
def test_the_order_of_rows_does_not_matter(model):
    X, y = few()
    shuffle = np.random.default_rng(0).permutation(len(y))
    a, b = fitted_to_few(model), clone(model).fit(X[shuffle], y[shuffle])
    np.testing.assert_allclose(b.predict_proba(X), a.predict_proba(X), atol=2e-3)


@every
def test_single_sample_data(model):
    X, y, truth = single_sample(0, n=1200)
    fitted = clone(model).set_params(scenario="single-sample")
    if fitted.class_prior is not None:
        fitted.set_params(class_prior=0.5)
    fitted.fit(X, y)
    share = truth[y == 0].mean()
    assert fitted.unlabelled_prior_ < fitted.class_prior_ <= 1.0
    # Elkan and Noto's estimate is too large where classes overlap, as these do
    assert fitted.unlabelled_prior_ == pytest.approx(share, abs=0.16 if fitted.class_prior is None else 0.1)
    assert np.mean(fitted.predict(X) == truth) > 0.83


class FixedPrior(BaseEstimator):
    """A prior estimator of the least kind: it says what it is told to say."""

    def __init__(self, value: float = 0.5) -> None:
        self.value = value

    def fit(self, X, y):
        assert set(np.unique(y)) == {0, 1}
        self.class_prior_ = self.value
        return self


@every
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_a_prior_at_a_bound_warns_and_gives_a_usable_classifier(model, value, scenario):
    X, y = gaussians(0, 60, 120)
    fitted = clone(model).set_params(class_prior=FixedPrior(value), scenario=scenario)
    with pytest.warns(SearchBoundWarning, match="a bound"):
        fitted.fit(X, y)
    p = fitted.predict_proba(X)
    assert np.isfinite(p).all()
    assert 0.0 < fitted.class_prior_ < 1.0
    if scenario == "case-control":
        called = fitted.predict(X[y == 0]).mean()
        assert called < 0.6 if value == 0.0 else called > 0.25


class PlainPrior:
    """An object with `fit` and `class_prior_`, and nothing of scikit-learn."""

    def fit(self, X, y):
        self.class_prior_ = 0.4
        return self


@every
def test_a_prior_estimator_need_not_derive_from_anything(model):
    X, y = gaussians(0, 60, 120)
    given = PlainPrior()
    assert clone(model).set_params(class_prior=given).fit(X, y).class_prior_ == pytest.approx(0.4)
    assert not hasattr(given, "class_prior_")  # a copy was fitted


@every
def test_a_prior_estimator_is_fitted_and_kept(model):
    X, y = gaussians(0, 60, 120)
    given = FixedPrior(0.4)
    fitted = clone(model).set_params(class_prior=given).fit(X, y)
    assert fitted.class_prior_ == pytest.approx(0.4)
    assert fitted.class_prior_interval_ == (0.4, 0.4)
    assert fitted.prior_estimator_.class_prior_ == 0.4
    assert not hasattr(given, "class_prior_")


@every
def test_two_rows_of_each_kind(model):
    X, y = gaussians(0, 2, 2)
    assert np.isfinite(clone(model).fit(X, y).predict_proba(X)).all()


@every
def test_sparse_rows(model):
    X, y = gaussians(0, 60, 120)
    X[np.abs(X) < 0.2] = 0.0
    sparse = clone(model).fit(sp.csr_matrix(X), y)
    p = sparse.predict_proba(sp.csr_matrix(X))
    assert p.shape == (180, 2)
    np.testing.assert_allclose(p, sparse.predict_proba(sp.csc_matrix(X)), atol=1e-10)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@every
def test_pickles_and_far_rows(model):
    X, _ = few()
    fitted = fitted_to_few(model)
    far = np.vstack([X, X * 1e6, np.zeros((1, 2))])
    p = fitted.predict_proba(far)
    assert np.isfinite(p).all()
    assert np.isfinite(fitted.decision_function(far)).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(far), p)


@every
def test_a_threshold_moves_predictions_only(model):
    X, _ = few()
    fitted = fitted_to_few(model)
    before = fitted.predict_proba(X)
    counts = [fitted.set_params(threshold=t).predict(X).sum() for t in (0.1, 0.5, (4.0, 1.0))]
    assert counts == sorted(counts, reverse=True)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_a_plain_pipeline_search_and_importance():
    X, y = gaussians(0, 100, 200)
    shuffle = np.random.default_rng(0).permutation(len(y))
    X, y = X[shuffle], y[shuffle]
    pipeline = make_pipeline(StandardScaler(), PULeastSquaresClassifier(0.4, random_state=0))
    search = GridSearchCV(pipeline, {"puleastsquaresclassifier__n_centers": [40, 80]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    importance = permutation_importance(search.best_estimator_, X, y, n_repeats=3, random_state=0)
    assert importance.importances_mean[0] > importance.importances_mean[1]


def test_a_population_prior_below_the_labelled_share_is_refused():
    X, y = gaussians(0, 60, 60)
    with pytest.raises(ValueError, match="below the labelled share"):
        ReweightedPUClassifier(TREES, class_prior=0.4, scenario="single-sample").fit(X, y)
