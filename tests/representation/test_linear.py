from __future__ import annotations

import numpy as np
import pytest

from purely.datasets import make_paper_data
from purely.representation import LSDR, PURL, information_retained
from purely.representation.linear import Choice, objective_and_gradient, pn_terms, pu_terms


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["pu", "pu single-sample", "pn"])
def test_gradient_against_differences(seed, kind):
    rng = np.random.default_rng(seed)
    X, positive = rng.normal(size=(60, 4)), rng.random(60) < 0.4
    terms = (
        pn_terms(positive) if kind == "pn" else pu_terms(positive, "single-sample" if " " in kind else "case-control")
    )
    B = np.linalg.qr(rng.normal(size=(4, 2)))[0]
    choice = Choice(bandwidth=1.3, alpha=0.05, objective=0.0)
    _, gradient = objective_and_gradient(B, X, X[:12], terms, choice)
    for i in range(4):
        for j in range(2):
            shift = np.zeros_like(B)
            shift[i, j] = 1e-5
            values = [objective_and_gradient(B + s * shift, X, X[:12], terms, choice)[0] for s in (1, -1)]
            assert gradient[i, j] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("objective", ["pu", "pn"])
def test_finds_the_axis(seed, objective):
    sample = make_paper_data(400, 1000, random_state=seed)
    y = sample.y if objective == "pu" else sample.y_true
    model = LSDR(objective=objective, n_starts=4, n_centers=60, random_state=seed).fit(sample.X, y)
    assert np.degrees(np.arccos(min(1.0, abs(model.components_[0, 0])))) < 15.0
    assert model.information_ > 0.05
    assert model.n_iter_ >= 1


def test_components_are_orthonormal_whatever_the_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * [1.0, 100.0, 0.01, 1.0, 5.0]
    y = (X[:, 1] / 100 + rng.normal(size=120) > 0).astype(int)
    model = LSDR(n_components=2, n_starts=2, max_iter=5, n_centers=30, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 9}, "n_components must be at most the number of columns, 2; 9 was given."),
        ({"objective": "un"}, "objective must be one of 'pu', 'pn'; 'un' was given."),
        ({"cv": 1}, "cv must be an integer of at least 2; 1 was given."),
        ({"bandwidth": -1.0}, "bandwidth must be a number above 0; -1.0 was given."),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(parameters, sentence):
    sample = make_paper_data(20, 40, random_state=0)
    with pytest.raises(ValueError, match=sentence):
        LSDR(**parameters).fit(sample.X, sample.y)


@pytest.mark.parametrize("seed", range(3))
def test_information_retained_tells_the_axes_apart(seed):
    sample = make_paper_data(300, 600, random_state=seed)
    kept = information_retained(sample.X[:, :1], sample.X, sample.y)
    lost = information_retained(lambda X: X[:, 1:], sample.X, sample.y)
    assert kept.retained > 0.8
    assert lost.high < kept.low
    assert lost.low < 0.1
    everything = information_retained(sample.X, sample.X, sample.y)
    assert everything.retained == pytest.approx(1.0)
    assert everything.standard_error == pytest.approx(0.0, abs=1e-9)
    assert "retained" in str(kept)


def test_information_retained_by_a_fitted_representation():
    train, test = (make_paper_data(200, 400, random_state=s) for s in (0, 1))
    model = PURL(n_components=1, hidden=(), n_starts=4, learning_rate=0.01, max_epochs=30, device="cpu", random_state=0)
    model.fit(train.X, train.y)
    found = information_retained(model, test.X, test.y)
    assert found.low < 1.1
    assert found.retained > 0.5


def test_information_retained_refuses_what_makes_no_sense():
    sample = make_paper_data(50, 100, random_state=0)
    with pytest.raises(ValueError, match="an array with one row for each of the 150 rows of X"):
        information_retained(sample.X[:10], sample.X, sample.y)
    with pytest.raises(ValueError, match="nothing to retain a share of"):
        information_retained(sample.X, np.zeros_like(sample.X), sample.y)
