"""Weights of PUClassifier's members, from rows without negatives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import expit

import purely
from purely import PUClassifier, PULogisticClassifier
from purely.datasets import make_gaussians
from purely.weighing import stacked_weights
from tests.classifiers.conftest import single_sample


def two_views(n=4000, share=0.4, seed=0):
    """Log-odds of positives against negatives by two independent columns, and by noise; the first tells more."""
    rng = np.random.default_rng(seed)
    hidden = np.concatenate([np.ones(n), rng.random(n) < share])
    positive = np.arange(2 * n) < n
    sign = 2.0 * hidden - 1.0
    x, weak = sign + rng.standard_normal(2 * n), 0.5 * sign + rng.standard_normal(2 * n)
    offset = np.log(share / (1.0 - share))
    return np.stack([2.0 * x + offset, weak + offset, 2.0 * rng.standard_normal(2 * n)]), positive


def test_noise_gets_no_weight_and_evidence_is_added_up():
    log_odds, positive = two_views()
    weights = stacked_weights(log_odds, positive, 0.4)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    # Independent views add: the log-odds of both is the sum, so both weigh the same, and noise weighs nothing.
    assert weights == pytest.approx([0.5, 0.5, 0.0], abs=0.06)


def test_weights_do_not_improve_by_moving_them():
    log_odds, positive = two_views(1500, seed=3)
    weights = stacked_weights(log_odds, positive, 0.4)

    def likelihood(w):  # with scale and constant as good as a grid finds them
        z = np.clip(log_odds, -8, 8).T @ w
        best = -np.inf
        for scale in np.linspace(0.5, 4.0, 36):
            for constant in np.linspace(-2.0, 2.0, 41):
                q = expit(scale * z + constant)
                labelled = q / (q + 0.4)
                mean = np.log(labelled[positive]).mean() + np.log1p(-labelled[~positive]).mean()
                best = max(best, mean)
        return best

    own = likelihood(weights)
    for other in ([1, 0, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0.7, 0.3, 0.0], [0.3, 0.7, 0.0], [0.4, 0.4, 0.2]):
        assert own > likelihood(np.array(other, dtype=float)) - 1e-3  # the grid's step, and the pull to equal weights


@pytest.mark.parametrize("bad", [0.0, 1e9])
def test_members_that_say_nothing_or_too_much(bad):
    positive = np.arange(60) < 20
    weights = stacked_weights(np.full((3, 60), bad), positive, 0.5)
    assert weights == pytest.approx([1 / 3] * 3)


def test_one_positive_and_one_member():
    positive = np.arange(10) < 1
    rng = np.random.default_rng(0)
    assert stacked_weights(rng.normal(size=(1, 10)), positive, 0.2).tolist() == [1.0]
    assert stacked_weights(rng.normal(size=(3, 10)), positive, 0.2).sum() == pytest.approx(1.0)


@pytest.fixture(scope="module")
def sample():
    return make_gaussians(n_positive=200, n_unlabelled=400, class_prior=0.4, shift=3.0, n_features=5, random_state=0)


def test_classifier_combines_its_members_by_their_weights(sample, tmp_path):
    model = PUClassifier(members=["trees", "linear"], weights="stacked", random_state=0).fit(sample.X, sample.y)
    assert model.member_weights_.shape == (2,)
    assert model.member_weights_.sum() == pytest.approx(1.0)
    total = model.member_weights_ @ model.member_log_odds(sample.X)
    order = np.argsort(total)
    assert np.all(np.diff(model.predict_proba(sample.X)[order, 1]) >= -1e-12)  # the last map is monotone in it
    purely.save(model, tmp_path / "model.safetensors")
    loaded = purely.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.predict_proba(sample.X), model.predict_proba(sample.X))


def test_models_of_the_prior_are_not_fitted_twice(sample):
    model = PUClassifier(members=["trees", "linear", "kernel"], random_state=0).fit(sample.X, sample.y)
    own = model.prior_estimator_.model_scores_
    assert len(own) == 4  # boosting is no member here
    for score, odds in zip(own[:3], model.oof_member_log_odds_, strict=True):
        order = np.argsort(score)
        assert np.all(np.diff(odds[order]) >= -1e-9)  # each is a monotone map of the prior's own score


@pytest.mark.parametrize("bad", ["best", None, np.array([0.5, 0.5])])
def test_unknown_weights_are_refused_in_a_sentence(sample, bad):
    with pytest.raises(ValueError, match=r"weights must be one of 'stacked', 'equal'; .* was given"):
        PUClassifier(weights=bad).fit(sample.X, sample.y)


@pytest.mark.parametrize("prior", [1e-6, 1.0 - 1e-6])
def test_a_prior_at_the_edge_gives_a_usable_classifier(sample, prior):
    model = PUClassifier(prior, members="light", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probability = model.fit(sample.X, sample.y).predict_proba(sample.X)
    assert np.isfinite(probability).all()
    assert model.member_weights_.sum() == pytest.approx(1.0)


def test_the_default_is_weighed_and_its_light_form_has_no_networks(sample, tmp_path):
    model = PUClassifier(members="light", random_state=0).fit(sample.X, sample.y)
    assert model.weights == "stacked"
    assert [member.name for member in model.members_] == ["trees", "boosting", "kernel", "logistic"]
    assert model.oof_member_log_odds_.shape == model.member_log_odds(sample.X).shape == (4, 600)
    named = PUClassifier(members=["trees", "boosting", "kernel", "logistic"], random_state=0).fit(sample.X, sample.y)
    assert np.array_equal(named.predict_proba(sample.X), model.predict_proba(sample.X))
    purely.save(model, tmp_path / "light.purely")
    assert np.array_equal(purely.load(tmp_path / "light.purely").predict_proba(sample.X), model.predict_proba(sample.X))


def test_a_logistic_member_may_have_settings_of_its_own(sample):
    given = PULogisticClassifier(C=5.0)
    model = PUClassifier(0.4, members=[given], random_state=0).fit(sample.X, sample.y)
    alone = PULogisticClassifier(0.4, C=5.0).fit(sample.X, sample.y)
    order = np.argsort(alone.decision_function(sample.X))
    assert np.all(np.diff(model.predict_proba(sample.X)[order, 1]) >= -1e-9)  # calibrated, the same order of rows
    assert given.class_prior == "auto"  # what was given is left as it was


def test_members_know_the_share_among_unlabelled_rows_of_a_single_sample():
    X, y, truth = single_sample(0)
    model = PUClassifier(truth.mean(), members=["logistic"], scenario="single-sample", random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.9
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(truth.mean(), abs=0.04)


@pytest.mark.parametrize("verbose", [False, True])
def test_models_that_are_fitted_are_shown_to_whom_asks(sample, verbose, capsys):
    PUClassifier(members=["linear", "logistic"], verbose=verbose, random_state=0).fit(sample.X, sample.y)
    assert ("models" in capsys.readouterr().err) == verbose
