"""Logistic regression of the class by the likelihood of labels: against the truth, and against other minimisers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime, minimize, minimize_scalar
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from purely import PULogisticClassifier
from purely.weighing import equal_kinds, labelled_loss
from tests.classifiers.conftest import gaussians, single_sample


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_slope_is_the_derivative(share):
    rng = np.random.default_rng(0)
    z, positive = rng.normal(scale=3.0, size=12), np.arange(12) < 5
    weight = equal_kinds(positive, rng.random(12))
    assert weight[positive].sum() == pytest.approx(0.5)
    assert weight[~positive].sum() == pytest.approx(0.5)
    _, slope = labelled_loss(z, positive, weight, share)
    numeric = approx_fprime(z, lambda v: labelled_loss(v, positive, weight, share)[0], 1e-7)
    np.testing.assert_allclose(slope, numeric, atol=1e-7)


def test_loss_is_minus_the_log_likelihood_and_finite_far_out():
    positive = np.array([True, False])
    q = expit(0.7)
    value, _ = labelled_loss(np.array([0.7, 0.7]), positive, np.array([0.5, 0.5]), 0.3)
    labelled = q / (q + 0.3)
    assert value == pytest.approx(-0.5 * np.log(labelled) - 0.5 * np.log(1.0 - labelled))
    far, slope = labelled_loss(np.array([-1e4, 1e4]), positive, np.array([0.5, 0.5]), 0.3)
    assert np.isfinite(far)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize(("prior", "tolerance"), [(0.2, 0.1), (0.5, 0.15), (0.8, 0.3)])
def test_coefficients_are_those_of_the_class(prior, tolerance):
    """Over draws the slope has the standard deviation .03, .04 and .09, the constant .03 or less."""
    X, y = gaussians(1, 6000, 12000, prior, shift=0.8)
    model = PULogisticClassifier(prior, C=1e4).fit(X, y)
    assert model.coef_ == pytest.approx(np.array([[1.6, 0.0]]), abs=tolerance)
    assert model.intercept_[0] == pytest.approx(np.log(prior / (1.0 - prior)), abs=0.1)
    truth = expit(1.6 * X[:, 0] + np.log(prior / (1.0 - prior)))
    assert np.abs(model.predict_proba(X)[:, 1] - truth)[y == 0].mean() < 0.03
    # Labels against no labels are not linear in the log-odds: the plain regression has another slope.
    plain = LogisticRegression(class_weight="balanced").fit(X, y)
    assert abs(plain.coef_[0, 0] - 1.6) > 0.4


def test_nothing_smaller_is_found_and_columns_may_lie_anywhere():
    X, y = gaussians(2, 60, 120)
    X = X * [1.0, 1e-3] + [500.0, -7.0]
    model = PULogisticClassifier(0.4, C=2.0).fit(X, y)
    positive, weight = y == 1, equal_kinds(y == 1)
    center = X.mean(axis=0)
    reach = np.abs(X - center).max(axis=0)
    rows = (X - center) / reach

    def loss(parameters):
        own = parameters[:2]
        value, _ = labelled_loss(rows @ own + parameters[2], positive, weight, 0.4)
        return value + 0.5 / (2.0 * y.size) * own @ own

    own = model.coef_[0] * reach
    # The constant is moved to the class prior in the end; the coefficients are those of the least loss.
    at_own = minimize_scalar(lambda constant: loss(np.append(own, constant)), tol=1e-12).fun
    assert (
        at_own <= min(minimize(loss, s, method="Nelder-Mead", tol=1e-10).fun for s in (np.zeros(3), np.ones(3))) + 1e-8
    )
    assert model.predict_proba(X)[~positive, 1].mean() == pytest.approx(0.4)


@pytest.mark.parametrize("basis", ["linear", "gaussian"])
def test_single_sample_refers_to_the_population(basis):
    X, y, truth = single_sample(0)
    model = PULogisticClassifier(truth.mean(), basis=basis, scenario="single-sample", random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.9
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(truth.mean(), abs=0.03)


def test_kernel_follows_what_a_line_cannot():
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(scale=0.5, size=(900, 2)), rng.normal(size=(600, 2))
    outside = 2.5 * outside / np.linalg.norm(outside, axis=1, keepdims=True)
    X, y = np.concatenate([inside, outside]), np.repeat([1, 0, 0], [500, 400, 600])
    truth = np.repeat([1, 0], [900, 600])
    model = PULogisticClassifier(0.4, basis="gaussian", random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.97
    assert np.mean(PULogisticClassifier(0.4).fit(X, y).predict(X) == truth) < 0.8


@pytest.mark.parametrize("basis", ["linear", "gaussian"])
def test_ratio_is_bounded_and_has_the_mean_one_over_unlabelled_rows(basis):
    X, y = gaussians(0, 1000, 2000, 0.4)
    model = PULogisticClassifier(0.4, basis=basis, random_state=0).fit(X, y)
    ratio = model.density_ratio(X)
    assert ratio.min() >= 0.0
    assert ratio.max() <= 1.0 / 0.4
    assert ratio[y == 0].mean() == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(0.4 * ratio, model.predict_proba(X)[:, 1])


def test_sparse_rows_are_the_dense_ones():
    X, y = gaussians()
    dense, sparse = PULogisticClassifier(0.4).fit(X, y), PULogisticClassifier(0.4).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), atol=1e-6)


def test_constant_and_almost_constant_columns_say_nothing():
    X, y = gaussians()
    wide = np.column_stack([X, np.full(len(X), 1e9), 1e9 * (1.0 + 1e-17 * np.arange(len(X)))])
    model = PULogisticClassifier(0.4).fit(wide, y)
    np.testing.assert_allclose(model.predict(wide), PULogisticClassifier(0.4).fit(X, y).predict(X))
    assert model.coef_[0, 2:] == pytest.approx([0.0, 0.0])


def test_too_few_iterations_are_told():
    with pytest.warns(ConvergenceWarning, match=r"still rising after 2 iterations\. Raise max_iter"):
        PULogisticClassifier(0.4, max_iter=2).fit(*gaussians())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"basis": "rbf"}, "basis must be one of 'linear', 'gaussian'; 'rbf' was given"),
        ({"basis": ["linear"]}, "basis must be one of 'linear', 'gaussian'"),
        ({"C": 0.0}, "C must be a number above 0; 0.0 was given"),
        ({"C": float("nan")}, "C must be a number above 0; nan was given"),
        ({"C": "strong"}, "C must be a number above 0; 'strong' was given"),
        ({"bandwidth": -1.0, "basis": "gaussian"}, "bandwidth must be a number above 0; -1.0 was given"),
        ({"n_components": 0, "basis": "gaussian"}, "n_components must be an integer of at least 1; 0 was given"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1; 0 was given"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PULogisticClassifier(0.4, **settings).fit(*gaussians())
