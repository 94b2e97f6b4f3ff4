"""The closed form against a numerical minimiser of the risk, and against the posterior."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.optimize import minimize
from scipy.special import expit

from purely.classifiers import PULeastSquaresClassifier
from purely.nn.risks import PURisk
from tests.classifiers.conftest import gaussians, single_sample


@pytest.mark.parametrize("basis", ["gaussian", "linear"])
@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_closed_form_is_the_minimiser(basis, scenario):
    X, y = gaussians(0, 60, 120)
    prior = 0.4 if scenario == "case-control" else 0.6
    model = PULeastSquaresClassifier(
        prior, basis=basis, n_centers=8, bandwidth=1.0 if basis == "gaussian" else None, alpha=0.01, scenario=scenario
    ).fit(X, y)
    (phi,) = model._bases(model._scaled(X)[:], slice(0, 1))
    phi = phi.copy()
    risk = PURisk(model.class_prior_, model.unlabelled_prior_, risk="upu", loss="squared")

    def penalised(beta):
        z = torch.from_numpy(phi @ beta + 2 * model.class_prior_ - 1)
        return risk(z[y == 1], z[y == 0]).value.item() + 0.25 * 0.01 * beta @ beta

    found = minimize(penalised, np.zeros(phi.shape[1]), method="BFGS", options={"gtol": 1e-9})
    assert penalised(model.coef_) <= found.fun + 1e-9
    np.testing.assert_allclose(phi @ model.coef_, phi @ found.x, atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_posterior_comes_out(seed):
    X, y = gaussians(seed, 1000, 2000, 0.4, shift=1.0)
    model = PULeastSquaresClassifier(0.4, random_state=0).fit(X, y)
    truth = expit(2.0 * X[:, 0] + np.log(0.4 / 0.6))
    assert np.abs(model.predict_proba(X)[:, 1] - truth)[y == 0].mean() < 0.08


def test_single_sample_refers_to_the_population():
    X, y, truth = single_sample(0)
    model = PULeastSquaresClassifier(truth.mean(), scenario="single-sample", random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.9


def test_the_cell_is_the_best_of_the_grid():
    X, y = gaussians()
    model = PULeastSquaresClassifier(0.4, n_centers=20, random_state=0).fit(X, y)
    results = model.cv_results_
    best = int(np.argmin(results["rank_test_score"]))
    assert model.bandwidth_ == results["param_bandwidth"][best]
    assert model.alpha_ == results["param_alpha"][best]


def test_sparse_linear_rows_are_the_dense_ones_without_centring():
    X, y = gaussians()
    dense = PULeastSquaresClassifier(0.4, basis="linear", standardize=False, random_state=0).fit(X, y)
    sparse = PULeastSquaresClassifier(0.4, basis="linear", standardize=False, random_state=0).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"basis": "rbf"}, "basis must be 'gaussian' or 'linear'; 'rbf' was given"),
        ({"alpha": -1.0}, "alpha must be non-negative"),
        ({"bandwidth": 0.0}, "bandwidth must be positive"),
        ({"cv": 1}, "cv"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PULeastSquaresClassifier(0.4, **settings).fit(*gaussians())
