"""What is each meta-classifier's own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from purely import PUSMI, fit_together
from purely.classifiers import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    PUClassifier,
    ReweightedPUClassifier,
    SelfTrainingPUClassifier,
    TwoStepPUClassifier,
)
from purely.prior import BestBinPrior, ClassPrior
from tests.classifiers.conftest import gaussians, single_sample


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.full) for s in (1, 2))])
def test_elkan_noto_finds_the_frequency_of_labels(weighted, seed):
    X, y, truth = single_sample(seed, frequency=0.4, shift=2.0)
    forest = RandomForestClassifier(50, min_samples_leaf=20)  # a quarter of the default's trees
    model = ElkanNotoClassifier(forest, weighted=weighted, scenario="single-sample", random_state=0).fit(X, y)
    assert model.label_frequency_ == pytest.approx(0.4, abs=0.08)
    assert np.mean(model.predict(X) == truth) > 0.94
    assert np.mean(np.abs(model.predict_proba(X)[:, 1] - 1 / (1 + np.exp(-4 * X[:, 0])))) < 0.06


def test_weights_need_an_estimator_that_takes_them():
    with pytest.raises(TypeError, match="estimator must take sample_weight"):
        ElkanNotoClassifier(KNeighborsClassifier(), weighted=True).fit(*gaussians(0, 30, 60))


def test_the_ratio_may_come_from_any_estimator_of_it():
    X, y = gaussians(0, 300, 600)
    for scenario, prior in (("case-control", 0.4), ("single-sample", 0.6)):
        model = ReweightedPUClassifier(
            PUSMI(random_state=0), class_prior=prior, calibrate=False, scenario=scenario, random_state=0
        ).fit(X, y)
        rest = model.predict_proba(X[y == 0])[:, 1]
        if scenario == "case-control":
            assert rest.mean() == pytest.approx(0.4, abs=0.05)
        mean = model.density_ratio(X[y == 0] if scenario == "case-control" else X).mean()
        assert mean == pytest.approx(1.0, abs=0.12)  # a ratio to the population has the mean 1 over it


def test_spies_find_negatives():
    X, y = gaussians(0, 300, 600)
    model = TwoStepPUClassifier(LogisticRegression(), class_prior=0.4, random_state=0).fit(X, y)
    truth = np.repeat([1, 1, 0], [300, 240, 360])
    assert not model.reliable_negative_[y == 1].any()
    assert model.reliable_negative_.sum() > 100
    assert truth[model.reliable_negative_].mean() < 0.1


def test_a_small_draw_for_each_bag():
    X, y = gaussians(0, 100, 400)
    model = BaggingPUClassifier(class_prior=0.4, n_estimators=30, n_drawn=20, n_jobs=2, random_state=0).fit(X, y)
    assert len(model.estimators_) == 30
    assert model.oof_probability_[y == 0].mean() == pytest.approx(0.4, abs=0.02)


def test_alternating_with_the_prior():
    X, y = gaussians(0, 400, 800, shift=2.5)
    model = SelfTrainingPUClassifier(
        LogisticRegression(), class_prior=BestBinPrior(), alternate=True, n_rounds=2, random_state=0
    ).fit(X, y)
    assert len(model.class_prior_path_) == 3
    assert model.class_prior_ == pytest.approx(0.4, abs=0.08)
    with pytest.raises(ValueError, match="alternate=True needs an estimator"):
        SelfTrainingPUClassifier(class_prior=0.4, alternate=True).fit(X, y)


@pytest.mark.parametrize("make", [ReweightedPUClassifier, TwoStepPUClassifier, BaggingPUClassifier])
def test_an_estimator_that_is_none_is_refused(make):
    with pytest.raises(TypeError, match="estimator must be a classifier"):
        make("forest", class_prior=0.4).fit(*gaussians(0, 20, 40))


def test_the_recommended_classifier_reports_prior_and_interval():
    X, y = gaussians(0, 150, 300, shift=2.0)
    model = PUClassifier(members="light", random_state=0).fit(X, y)
    low, high = model.class_prior_interval_
    assert low <= model.class_prior_ <= high
    assert isinstance(model.prior_estimator_, ClassPrior)
    assert model.oof_member_log_odds_.shape == model.member_log_odds(X).shape == (4, 450)
    truth = np.repeat([1, 1, 0], [150, 120, 180])
    assert np.mean(model.predict(X) == truth) > 0.9


def test_recommended_classifiers_together_are_each_by_itself():
    data = [gaussians(s, 40, 80) for s in range(2)]
    from purely.classifiers import NNPUClassifier

    network = NNPUClassifier(hidden=(8,), max_epochs=3, n_ensemble=1)

    def make():
        return PUClassifier(0.4, members=[network, "linear"], cv=2, device="cpu", random_state=0)

    together = fit_together([make(), make()], data, n_jobs=2)
    for model, (X, y) in zip(together, data, strict=True):
        np.testing.assert_allclose(model.predict_proba(X), make().fit(X, y).predict_proba(X), atol=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": []}, "members must be 'auto', 'light' or a list"),
        ({"members": "all"}, "members must be 'auto', 'light' or a list"),
        ({"members": ["svm"]}, "members must be 'auto', 'light' or a list"),
        ({"members": ["networks", "networks"]}, "members may hold networks once only"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"calibration": "platt"}, "calibration must be one of"),
    ],
)
def test_bad_settings_of_the_recommended_classifier_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PUClassifier(0.4, **settings).fit(*gaussians(0, 20, 40))
