"""Networks: stacks give what single fits give, and what is learnt is the classifier."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from purely import fit_together
from purely.classifiers import NNPUClassifier, PUClassifier
from purely.classifiers.nnpu import mean_output, read_recipe
from tests.classifiers.conftest import gaussians, single_sample

CHEAP = {"hidden": (16,), "max_epochs": 15, "n_ensemble": 2, "device": "cpu", "random_state": 0}


def error(model, prior=0.4, seed=99):
    X, _ = gaussians(seed, 1, 2000, prior)
    truth = np.repeat([1, 0], [round(prior * 2000), 2000 - round(prior * 2000)])
    return float(np.mean(model.predict(X[1:]) != truth))


@pytest.mark.parametrize("risk", ["nnpu", "upu"])
@pytest.mark.parametrize("loss", ["sigmoid", "logistic", "squared"])
def test_every_risk_and_loss_learns(risk, loss):
    model = NNPUClassifier(0.4, risk=risk, loss=loss, **CHEAP).fit(*gaussians(1, 300, 600))
    assert error(model) < 0.12  # the best possible error is about 0.067


@pytest.mark.parametrize("hidden", [(), (8, 8)])
def test_linear_and_deep(hidden):
    model = NNPUClassifier(0.4, **{**CHEAP, "hidden": hidden, "max_epochs": 30, "learning_rate": 0.02}).fit(
        *gaussians(1, 300, 600)
    )
    assert error(model) < 0.12


def test_a_stack_of_data_sets_is_each_by_itself():
    data = [gaussians(s, 60, 120) for s in range(3)]
    settings = {**CHEAP, "max_epochs": 4, "cv": 2}
    priors = (0.3, 0.5, 0.6)
    together = [NNPUClassifier(p, **settings) for p in priors]
    fit_together(together, data)
    for model, p, (X, y) in zip(together, priors, data, strict=True):
        alone = NNPUClassifier(p, **settings).fit(X, y)
        np.testing.assert_allclose(model.oof_score_, alone.oof_score_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-2, atol=1e-2)


def test_early_stopping_in_a_stack_is_that_of_each_by_itself():
    data = [gaussians(s, 60, 120) for s in range(2)]
    settings = {**CHEAP, "max_epochs": 12, "early_stopping": True, "patience": 2, "n_ensemble": 3}
    together = [NNPUClassifier(p, **settings) for p in (0.3, 0.6)]
    fit_together(together, data)
    for model, p, (X, y) in zip(together, (0.3, 0.6), data, strict=True):
        alone = NNPUClassifier(p, **settings).fit(X, y)
        np.testing.assert_array_equal(model.history_.best_epoch, alone.history_.best_epoch)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-3, atol=1e-4)


def test_cross_fitting_leaves_the_networks_as_they_are():
    X, y = gaussians(0, 60, 120)
    settings = {**CHEAP, "max_epochs": 3}
    plain = NNPUClassifier(0.4, **settings).fit(X, y)
    crossed = NNPUClassifier(0.4, cv=3, **settings).fit(X, y)
    np.testing.assert_allclose(mean_output(crossed.networks_, X), mean_output(plain.networks_, X), rtol=1e-4, atol=1e-5)
    assert crossed.oof_probability_[y == 0].mean() == pytest.approx(0.4, abs=0.01)
    folds_only = NNPUClassifier(0.4, cv=3, refit=False, **settings).fit(X, y)
    assert len(folds_only.networks_) == 3 * 2
    assert folds_only.oof_probability_[y == 0].mean() == pytest.approx(0.4, abs=0.01)


def test_the_last_state_is_kept_without_early_stopping():
    model = NNPUClassifier(0.4, **CHEAP).fit(*gaussians(0, 60, 120))
    assert (model.history_.best_epoch == CHEAP["max_epochs"] - 1).all()
    assert np.isnan(model.history_.held_j).all()


def test_presets_are_the_papers():
    X, _ = gaussians(0, 30, 60)
    recipe = read_recipe(NNPUClassifier(0.4, preset="paper", device="cpu").get_params(), X)
    networks = recipe.networks
    layers = networks.architecture.encoder + networks.architecture.head
    assert [(layer.n_in, layer.n_out) for layer in layers] == [(2, 300), (300, 300), (300, 300), (300, 1)]
    assert all(layer.norm and layer.relu for layer in layers[:-1])
    assert (networks.settings.optimizer, networks.settings.max_epochs, recipe.n_ensemble) == ("adam", 200, 1)
    loss = networks.loss
    assert (loss.risk, loss.loss, loss.beta, loss.gamma) == ("nnpu", "sigmoid", 0.0, 1.0)
    text = read_recipe(NNPUClassifier(0.4, preset="paper-text", device="cpu").get_params(), X)
    assert (text.networks.settings.optimizer, text.networks.settings.max_epochs) == ("adagrad", 300)


def test_any_module_can_be_the_network():
    X, y = gaussians(1, 200, 400)
    module = torch.nn.Sequential(torch.nn.Linear(2, 12), torch.nn.Tanh(), torch.nn.Linear(12, 4))
    before = [p.clone() for p in module.parameters()]
    model = NNPUClassifier(0.4, encoder=module, **{**CHEAP, "max_epochs": 30, "learning_rate": 0.02}).fit(X, y)
    assert error(model) < 0.15
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), before, strict=True))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(copy.predict_proba(X), model.predict_proba(X))


def test_sparse_rows():
    X, y = gaussians(0, 100, 200)
    X[np.abs(X) < 0.3] = 0.0
    sparse = NNPUClassifier(0.4, standardize=False, **CHEAP).fit(sp.csr_matrix(X), y)
    dense = NNPUClassifier(0.4, standardize=False, **CHEAP).fit(X, y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_matrix(X)), dense.predict_proba(X), atol=1e-3)


def test_single_sample_learns_the_populations_classifier():
    X, y, truth = single_sample(0, n=1500)
    model = NNPUClassifier(truth.mean(), scenario="single-sample", **CHEAP).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.88


def test_supervised_risk_is_a_supervised_classifier():
    X, _, truth = single_sample(0, n=800)
    model = NNPUClassifier(0.5, risk="pn", **CHEAP).fit(X, truth)
    assert np.mean(model.predict(X) == truth) > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"risk": "pu"}, "risk must be one of"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"beta": -1.0}, "beta must be a number of at least 0"),
        ({"gamma": 2.0}, "gamma must be a number"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"hidden": (0,)}, "hidden must be a sequence"),
        ({"preset": "mine"}, "preset must be one of"),
        ({"calibration": "platt"}, "calibration must be one of"),
        ({"class_prior": 1.0}, "class_prior must be a number strictly between 0 and 1"),
        ({"class_prior": "high"}, "class_prior must be a number strictly between 0 and 1, 'auto'"),
        ({"scenario": "censoring"}, "scenario must be"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        NNPUClassifier(**{"class_prior": 0.4, **CHEAP, **settings}).fit(*gaussians(0, 20, 40))


def test_each_estimator_needs_data():
    models = [NNPUClassifier(0.4, **CHEAP) for _ in range(2)]
    with pytest.raises(ValueError, match="2 estimators and 1 data sets"):
        fit_together(models, [gaussians(0, 20, 40)])


def test_rare_positives_get_the_logistic_loss():
    """And classifiers of both losses can be fitted together."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [40, 160])
    data = [(rng.normal(size=(200, 2)) + 2.0 * y[:, None], y) for _ in range(2)]
    models = [PUClassifier(p, members=["networks"], cv=2, random_state=0, device="cpu") for p in (0.05, 0.5)]
    planned = [model.prepare_fit(*rows).stack.recipe.loss.loss for model, rows in zip(models, data, strict=True)]
    assert planned == ["logistic", "sigmoid"]
    fit_together(models, data)
    alone = PUClassifier(0.05, members=["networks"], cv=2, random_state=0, device="cpu").fit(*data[0])
    np.testing.assert_allclose(models[0].predict_proba(data[0][0]), alone.predict_proba(data[0][0]), atol=1e-4)
