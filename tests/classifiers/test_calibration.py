"""Calibration against posteriors that generators know."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from purely.calibration import calibrate_scores
from purely.classifiers import CalibratedPUClassifier
from purely.datasets import gaussians_problem
from tests.classifiers.conftest import gaussians, single_sample


def scores(seed, n_positive=4000, n_unlabelled=8000, prior=0.4):
    X, y = gaussians(seed, n_positive, n_unlabelled, prior, shift=1.0)
    return X[y == 1, 0], X[y == 0, 0]


@pytest.mark.parametrize("method", ["averaged", "isotonic", "sigmoid"])
@pytest.mark.parametrize("seed", range(3))
def test_the_posterior_comes_out(method, seed):
    p, u = scores(seed)
    truth = expit(2.0 * u + np.log(0.4 / 0.6))
    found = expit(calibrate_scores(p, u, 0.4, method=method)(u))
    assert np.abs(found - truth).mean() < 0.04
    assert found.mean() == pytest.approx(0.4, abs=2e-3)


@pytest.mark.parametrize("method", ["averaged", "isotonic", "sigmoid"])
@pytest.mark.parametrize("prior", [0.001, 0.3, 0.999])
def test_the_map_is_strictly_increasing_and_has_the_priors_mean(method, prior):
    p, u = scores(0, 300, 500)
    found = calibrate_scores(p, u, prior, method=method)
    grid = np.linspace(-50.0, 50.0, 2001)
    assert (np.diff(found(grid)) > 0).all()
    assert expit(found(u)).mean() == pytest.approx(prior, abs=5e-3)


def test_any_increasing_function_of_the_score_gives_the_same_isotonic_map():
    p, u = scores(1, 300, 600)
    plain = calibrate_scores(p, u, 0.4, method="isotonic")(u)
    bent = calibrate_scores(np.arctan(p), np.arctan(u), 0.4, method="isotonic")(np.arctan(u))
    np.testing.assert_allclose(expit(bent), expit(plain), atol=0.01)


def test_order_and_ties_do_not_matter():
    rng = np.random.default_rng(0)
    p, u = np.round(rng.normal(1, 1, 200), 1), np.round(rng.normal(0, 1, 300), 1)
    first = calibrate_scores(p, u, 0.4)
    second = calibrate_scores(rng.permutation(p), rng.permutation(u), 0.4)
    np.testing.assert_allclose(first(u), second(u), rtol=1e-10)


def test_constant_scores_give_the_prior():
    for method in ("averaged", "isotonic", "sigmoid"):
        found = calibrate_scores(np.zeros(5), np.zeros(9), 0.3, method=method)
        assert expit(found(np.zeros(1)))[0] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "platt"}, "method must be one of"),
        ({"unlabelled_prior": 1.0}, "unlabelled_prior must be a number strictly between 0 and 1"),
        ({"score_positive": [np.nan]}, "score_positive and score_unlabelled must each hold"),
        ({"score_unlabelled": []}, "score_positive and score_unlabelled must each hold"),
    ],
)
def test_bad_input_is_refused(change, message):
    given = {"score_positive": [1.0], "score_unlabelled": [0.0], "unlabelled_prior": 0.5, **change}
    with pytest.raises(ValueError, match=message):
        calibrate_scores(**given)


@pytest.mark.parametrize("seed", range(2))
def test_a_calibrated_classifier_knows_the_posterior(seed):
    problem = gaussians_problem(shift=2.0, class_prior=0.4, n_features=2)
    sample = problem.sample(n_positive=1500, n_unlabelled=3000, random_state=seed)
    model = CalibratedPUClassifier(LogisticRegression(), class_prior=0.4, random_state=0).fit(sample.X, sample.y)
    found = model.predict_proba(sample.X)[:, 1]
    assert np.abs(found - sample.posterior)[sample.y == 0].mean() < 0.05
    assert np.abs(model.oof_probability_ - sample.posterior)[sample.y == 0].mean() < 0.05


def test_single_sample_probabilities_are_those_of_the_population():
    X, y, truth = single_sample(0, n=6000)
    model = CalibratedPUClassifier(
        LogisticRegression(), class_prior=truth.mean(), scenario="single-sample", random_state=0
    ).fit(X, y)
    posterior = expit(2 * 1.5 * X[:, 0])
    assert np.abs(model.predict_proba(X)[:, 1] - posterior).mean() < 0.05
    assert model.unlabelled_prior_ == pytest.approx(truth[y == 0].mean(), abs=1e-6)
