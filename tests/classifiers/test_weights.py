"""Weights of rows, and metadata that goes to the estimators inside."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from purely.calibration import calibrate_scores
from purely.classifiers import (
    BaggingPUClassifier,
    CalibratedPUClassifier,
    ElkanNotoClassifier,
    PULeastSquaresClassifier,
    PULogisticClassifier,
    ReweightedPUClassifier,
    SelfTrainingPUClassifier,
    TwoStepPUClassifier,
)
from tests.classifiers.conftest import gaussians

META = {
    "elkan-noto": ElkanNotoClassifier(GaussianNB(), cv=2, random_state=0),
    "elkan-noto, weighted": ElkanNotoClassifier(GaussianNB(), weighted=True, cv=2, random_state=0),
    "bagging": BaggingPUClassifier(GaussianNB(), class_prior=0.4, n_estimators=10, random_state=0),
    "reweighted": ReweightedPUClassifier(GaussianNB(), class_prior=0.4, cv=2, random_state=0),
    "two-step": TwoStepPUClassifier(GaussianNB(), class_prior=0.4, cv=2, random_state=0),
    "self-training": SelfTrainingPUClassifier(GaussianNB(), class_prior=0.4, cv=2, n_rounds=2, random_state=0),
    "calibrated": CalibratedPUClassifier(GaussianNB(), class_prior=0.4, cv=2, random_state=0),
}
meta = pytest.mark.parametrize("model", META.values(), ids=META.keys())
LEAST_SQUARES = PULeastSquaresClassifier(0.4, n_centers=40, random_state=0)
weighted = pytest.mark.parametrize("model", [*META.values(), LEAST_SQUARES], ids=[*META, "least squares"])


def two_clusters(seed: int):
    """Half of the rows of either kind tell the classes apart along one column, half along the other; which ones."""
    X, y = gaussians(seed, 200, 400)
    swapped = np.random.default_rng(seed).random(y.size) < 0.5
    X[swapped] = X[swapped][:, ::-1]
    return X, y, swapped


@weighted
def test_equal_weights_are_none(model):
    X, y = gaussians(0, 60, 120)
    plain = clone(model).fit(X, y)
    # one weight for the positives and another for the unlabelled rows: each kind is normalised by itself
    told = clone(model).fit(X, y, sample_weight=np.where(y == 1, 3.0, 0.5))
    np.testing.assert_allclose(told.predict_proba(X), plain.predict_proba(X), atol=1e-6)


@weighted
@pytest.mark.parametrize("seed", range(3))
def test_rows_without_weight_are_not_learnt_from(model, seed):
    X, y, swapped = two_clusters(seed)
    told = clone(model).fit(X, y, sample_weight=np.where(swapped, 0.0, 1.0))
    new, _ = gaussians(seed + 10, 1, 1000, 0.5)
    truth = np.repeat([1, 0], 500)
    assert np.mean(told.predict(new[1:]) == truth) > 0.78  # along the first column; the best possible is 0.933
    assert np.mean(told.predict(new[1:, ::-1]) == truth) < 0.7  # along the second, where only rows of no weight differ


@weighted
def test_the_order_of_weighted_rows_does_not_matter(model):
    X, y = gaussians(0, 60, 120)
    weight = np.random.default_rng(1).random(y.size) + 0.1
    shuffle = np.random.default_rng(0).permutation(y.size)
    a = clone(model).fit(X, y, sample_weight=weight)
    b = clone(model).fit(X[shuffle], y[shuffle], sample_weight=weight[shuffle])
    np.testing.assert_allclose(b.predict_proba(X), a.predict_proba(X), atol=2e-3)


def repeated(seed: int):
    """Rows with whole weights, and the same rows repeated; as many times each kind's size on the whole."""
    X, y = gaussians(seed, 40, 80)
    times = np.random.default_rng(seed).permutation(np.tile([1, 2, 3, 0], y.size // 4))
    for kind in (1, 0):  # two a row in the mean over either kind, so that the balance of the kinds is the same
        times[y == kind] = np.random.default_rng(seed).permutation(np.tile([1, 2, 3, 2], np.sum(y == kind) // 4))
    return X, y, times


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "model",
    [
        PULeastSquaresClassifier(0.4, basis="linear", alpha=0.1, standardize=False),
        ReweightedPUClassifier(GaussianNB(), class_prior=0.4, calibrate=False),
        ElkanNotoClassifier(GaussianNB(), class_prior=0.4),
        PULogisticClassifier(0.4, C=1e9),
    ],
    ids=["least squares", "reweighted", "elkan-noto", "logistic"],
)
def test_weights_are_repetitions_where_nothing_is_drawn(model, seed):
    X, y, times = repeated(seed)
    told = clone(model).fit(X, y, sample_weight=times)
    more = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    tolerance = 2e-5 if isinstance(model, PULogisticClassifier) else 1e-6  # found by iterations, or in closed form
    np.testing.assert_allclose(told.predict_proba(X), more.predict_proba(X), rtol=tolerance)


def test_weighted_calibration_is_that_of_repeated_scores():
    rng = np.random.default_rng(0)
    p, u = rng.normal(1, 1, 300), rng.normal(0, 1.5, 600)
    # a penalty depends on the number of rows; the isotonic map is an average over random weights
    for method, tolerance in (("sigmoid", 0.1), ("isotonic", 0.35)):
        times_p, times_u = rng.integers(0, 4, p.size), rng.integers(0, 4, u.size)
        told = calibrate_scores(p, u, 0.4, method=method, weight_positive=times_p, weight_unlabelled=times_u)
        more = calibrate_scores(np.repeat(p, times_p), np.repeat(u, times_u), 0.4, method=method)
        grid = np.linspace(-1.5, 1.5, 20)
        np.testing.assert_allclose(told(grid), more(grid), atol=tolerance)


@pytest.mark.parametrize("weight", [np.zeros(300), -np.ones(300), np.ones(299), np.full(300, np.nan)])
def test_bad_weights_of_scores_are_refused(weight):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="weight_positive must hold one finite number"):
        calibrate_scores(rng.normal(size=300), rng.normal(size=300), 0.4, weight_positive=weight)


@weighted
def test_weights_that_leave_one_kind_are_refused(model):
    X, y = gaussians(0, 20, 40)
    with pytest.raises(ValueError, match=r"zero for all but 0 of the 40 unlabelled rows"):
        clone(model).fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match=r"zero for all but 1 of the 20 positive rows"):
        clone(model).fit(X, y, sample_weight=np.where(y == 1, np.arange(60) == np.flatnonzero(y)[0], 1.0))


def test_a_score_can_be_weighted():
    X, y = gaussians(0, 100, 200)
    model = clone(LEAST_SQUARES).fit(X, y)
    assert model.score(X, y, sample_weight=np.where(y == 1, 2.0, 5.0)) == pytest.approx(model.score(X, y))
    right = (y == 1) & (model.predict(X) == 1)
    assert model.score(X, y, sample_weight=np.where((y == 0) | right, 1.0, 1e-9)) > model.score(X, y)


def test_an_estimator_of_the_prior_gets_weights_where_it_takes_them():
    class WeightedPrior(BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            self.class_prior_ = 0.3 if sample_weight is None else 0.6
            return self

    X, y = gaussians(0, 40, 80)
    model = PULeastSquaresClassifier(WeightedPrior(), n_centers=20, random_state=0)
    assert clone(model).fit(X, y).class_prior_ == pytest.approx(0.3)
    assert clone(model).fit(X, y, sample_weight=np.ones(y.size)).class_prior_ == pytest.approx(0.6)


def test_weights_need_an_estimator_that_takes_them_or_draws():
    X, y = gaussians(0, 40, 80)
    weight = np.ones(y.size)
    with pytest.raises(TypeError, match="estimator must take sample_weight"):
        CalibratedPUClassifier(KNeighborsClassifier(), class_prior=0.4).fit(X, y, sample_weight=weight)
    bagged = BaggingPUClassifier(KNeighborsClassifier(), class_prior=0.4, n_estimators=5, random_state=0)
    assert bagged.fit(X, y, sample_weight=weight).predict(X).shape == y.shape
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    told = CalibratedPUClassifier(pipeline, class_prior=0.4, cv=2, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(told.predict_proba(X), clone(told).fit(X, y).predict_proba(X), atol=1e-6)


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what its fit was given."""

    seen: list  # of every copy

    def fit(self, X, y, sample_weight=None, groups=None):
        type(self).seen.append((X, y, sample_weight, groups))
        self.inner_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


@meta
def test_metadata_reach_the_estimator_that_asked_for_them(model):
    X, y = gaussians(0, 30, 60)
    # a copy of the first column: whichever rows a fit gets, groups must be theirs
    groups, weight = X[:, 0].copy(), np.ones(y.size)
    with sklearn.config_context(enable_metadata_routing=True):
        Recorder.seen = []
        inside = Recorder().set_fit_request(sample_weight=True, groups=True)
        clone(model).set_params(estimator=inside).fit(X, y, sample_weight=weight, groups=groups)
        assert Recorder.seen
        for rows, target, own_weight, own_groups in Recorder.seen:
            np.testing.assert_array_equal(own_groups, rows[:, 0])
            assert own_weight is None if isinstance(model, BaggingPUClassifier) else len(own_weight) == len(target)

        Recorder.seen = []
        inside = Recorder().set_fit_request(sample_weight=False, groups=True)
        if not getattr(model, "weighted", False):  # Elkan and Noto's own weights need no asking
            clone(model).set_params(estimator=inside).fit(X, y, sample_weight=weight, groups=groups)
            assert all(own is None for _, _, own, _ in Recorder.seen)


@meta
def test_what_nobody_asked_for_is_refused(model):
    X, y = gaussians(0, 30, 60)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        clone(model).fit(X, y, groups=y)
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(TypeError, match="groups"):
            clone(model).set_params(estimator=GaussianNB()).fit(X, y, groups=y)
        if not isinstance(model, BaggingPUClassifier):
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
                clone(model).set_params(estimator=GaussianNB()).fit(X, y, sample_weight=np.ones(y.size))


def test_weights_are_routed_through_cross_validation():
    X, y = gaussians(0, 60, 120)
    with sklearn.config_context(enable_metadata_routing=True):
        inside = ExtraTreesClassifier(5, min_samples_leaf=5).set_fit_request(sample_weight=True)
        model = CalibratedPUClassifier(inside, class_prior=0.4, cv=2, random_state=0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(model, X, y, cv=2, params={"sample_weight": np.ones(y.size)}, error_score="raise")
        assert found["test_score"].shape == (2,)
        default = CalibratedPUClassifier(class_prior=0.4, cv=2, random_state=0)
        request = default.get_metadata_routing().consumes("fit", ["sample_weight"])
        assert request == {"sample_weight"}


@pytest.mark.parametrize("seed", range(3))
def test_logistic_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    X, y = gaussians(seed, 40, 80)
    weight = rng.integers(0, 4, y.size)
    weight[[0, 1, -1, -2]] = 1
    model = PULogisticClassifier(0.4)
    told = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(told.coef_, repeated.coef_, rtol=1e-4)
    np.testing.assert_allclose(told.intercept_, repeated.intercept_, rtol=1e-4)
    assert np.abs(told.coef_ - clone(model).fit(X, y).coef_).max() > 1e-2
