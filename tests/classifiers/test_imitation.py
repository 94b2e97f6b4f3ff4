"""A network in the place of a stack: it says the same within what is allowed, or it is not used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import purely
from purely import PUClassifier, stack
from purely.classifiers.distilled import LARGEST_AREA, LARGEST_MEAN
from purely.classifiers.imitation import WIDTH, Imitation, _gradient, imitate, mixed_rows, train


def says(X):
    """Smooth log-odds."""
    return X[:, 0] + np.tanh(2.0 * X[:, 1]) - 1.0


def error_on(rows, function=says):
    exact = expit(function(rows))
    return lambda network: float(np.abs(expit(network(rows)) - exact).mean()) / LARGEST_MEAN


@pytest.fixture(scope="module", params=[0, *(pytest.param(s, marks=pytest.mark.full) for s in (1, 2))])
def taught(request):
    """Rows, and a network that has learnt a smooth function of them."""
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(20_000, 4))
    return X, train(X, says(X), rng)


def test_a_smooth_function_is_learnt(taught):
    _, network = taught
    assert error_on(np.random.default_rng(9).normal(size=(5_000, 4)))(network) < 1.0


def test_nothing_beyond_what_was_taught(taught):
    X, network = taught
    beyond = network(np.array([[1e6, 0.0, 0.0, 0.0], [-1e6, 0.0, 0.0, 0.0]]))
    assert says(X).min() <= beyond.min()
    assert beyond.max() <= says(X).max()


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    x, target = rng.normal(size=(50, 3)), rng.normal(size=50)
    weights = [np.sqrt(2 / shape[0]) * rng.normal(size=shape) for shape in ((3, WIDTH), (WIDTH, WIDTH), (WIDTH, 1))]
    weights += [rng.normal(size=w.shape[1]) for w in weights]

    def loss():
        w1, w2, w3, b1, b2, b3 = weights
        g = (np.maximum(np.maximum(x @ w1 + b1, 0) @ w2 + b2, 0) @ w3)[:, 0] + b3
        return float(np.mean(np.logaddexp(0, g) - expit(target) * g + 0.02 * np.abs(g - target)))

    found = _gradient(weights, x, target, expit(target))
    for w, slope in zip(weights, found, strict=True):
        place = (0,) * w.ndim
        before, step = w[place], 1e-6
        w[place] = before + step
        above = loss()
        w[place] = before - step
        below = loss()
        w[place] = before
        assert (above - below) / (2 * step) == pytest.approx(slope[place], rel=1e-3, abs=1e-7)


def test_columns_far_from_zero_and_constants():
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(size=(20_000, 2)), np.full(20_000, 7.0)]
    far = X + [1e9, 0.0, 0.0]

    def of_far(rows):
        return says(rows - [1e9, 0.0, 0.0])

    network = train(far, of_far(far), rng)
    assert network.offset.tolist() == [pytest.approx(1e9, rel=1e-6), 0.0, 0.0]
    assert error_on(far[:5_000], of_far)(network) < 1.0


def test_what_nobody_can_learn_is_not_imitated():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3_000, 5))

    def noise(rows):
        return 4.0 * np.sign(np.sin(1e4 * rows.sum(axis=1)))

    assert imitate(noise, X, error_on(X, noise)) is None


def test_mixed_rows_have_values_of_their_columns():
    X = np.arange(40.0).reshape(10, 4)
    rows = mixed_rows(X, 500, np.random.default_rng(0))
    assert rows.shape == (500, 4)
    for j in range(4):
        assert set(rows[:, j]) <= set(X[:, j])
    assert 0 < sum(not (row == X).all(axis=1).any() for row in rows) < 500


@pytest.fixture(scope="module")
def pair():
    """A stack of smooth members, which a network can learn, and its distilled form."""
    rng = np.random.default_rng(4)
    P, U = rng.normal(1.2, 1.0, (200, 3)), rng.normal(0.0, 1.0, (3_000, 3))
    U[:300] += 1.2
    fitted = PUClassifier(0.1, members=["logistic", "kernel-logistic"], cv=2).fit(*stack(P, U))
    return fitted, fitted.distil(U), U


def test_a_stack_is_imitated_and_judged_on_other_rows(pair):
    fitted, fast, _ = pair
    assert isinstance(fast.imitation_, Imitation)
    assert fast.difference_.n_rows == 600
    assert fast.difference_.mean <= LARGEST_MEAN
    assert fast.difference_.area <= LARGEST_AREA
    rows = np.random.default_rng(5).normal(0.1, 1.1, (4_000, 3))
    away = np.abs(fast.predict_proba(rows) - fitted.predict_proba(rows))[:, 1]
    # the mean over other rows of much the same kind; half as much again for where the samples differ
    assert away.mean() <= 1.5 * LARGEST_MEAN


def test_multiplied_out_it_says_what_the_stack_says(pair):
    fitted, fast, U = pair
    same = fast.multiplied_out()
    assert same.imitation_ is None
    assert fast.imitation_ is not None
    assert np.allclose(same.predict_proba(U), fitted.predict_proba(U), atol=1e-4)
    assert same.difference_.mean < 1e-4


def test_without_rows_of_a_pool_there_is_no_network(pair):
    fitted, _, U = pair
    assert fitted.distil().imitation_ is None
    assert fitted.distil(U[:500]).imitation_ is None


def test_a_model_file_holds_the_network(pair, tmp_path):
    _, fast, U = pair
    purely.save(fast, tmp_path / "model.purely")
    again = purely.load(tmp_path / "model.purely")
    assert np.array_equal(again.predict_proba(U), fast.predict_proba(U))


def test_blocks_give_the_same(pair, monkeypatch):
    _, fast, U = pair
    whole = fast.imitation_(U)
    monkeypatch.setattr("purely.classifiers.imitation.SCORED_ROWS", 7)
    assert np.allclose(fast.imitation_(U), whole, atol=1e-4)
