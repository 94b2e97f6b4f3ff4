from __future__ import annotations

import numpy as np
import pytest

from purely.prior.simplex_qp import SimplexQP


def gaussian(X, width):
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=-1) if len(X) < 400 else None
    if squares is None:
        norms = (X**2).sum(axis=1)
        squares = np.maximum(norms[:, None] + norms - 2.0 * X @ X.T, 0.0)
    return np.exp(-0.5 * squares / width**2)


def project_simplex(v):
    ordered = np.sort(v)[::-1]
    excess = np.cumsum(ordered) - 1.0
    k = np.flatnonzero(ordered > excess / np.arange(1, v.size + 1))[-1]
    return np.maximum(v - excess[k] / (k + 1), 0.0)


def slow_reference(K, b, steps=20000):
    """Accelerated projected gradient, run long: another route to the same minimum."""
    v = np.full(len(b), 1.0 / len(b))
    w, t = v, 1.0
    step = 1.0 / np.linalg.eigvalsh(K)[-1]
    for _ in range(steps):
        fresh = project_simplex(w - step * (K @ w - b))
        t_fresh = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        w = fresh + (t - 1.0) / t_fresh * (fresh - v)
        v, t = fresh, t_fresh
    return v


def objective(K, b, v):
    return float(v @ K @ v - 2.0 * b @ v)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 5, 30])
def test_gap_bounds_the_distance_from_a_slow_reference(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, d))
    K = gaussian(X, np.sqrt(d))
    u = np.full(150, 1.0 / 150) + 0.02 * rng.normal(size=150)
    b = K @ u
    solution = SimplexQP(lambda i: K[i], 150).solve(b)
    v = np.zeros(150)
    v[solution.support] = solution.weights
    assert solution.gap <= 2e-8
    assert solution.weights.min() > 0.0
    assert abs(v.sum() - 1.0) < 1e-9
    assert objective(K, b, v) <= objective(K, b, slow_reference(K, b, 3000)) + 2e-8
    np.testing.assert_allclose(solution.residual, K @ v - b, atol=1e-10)


def test_matches_a_dense_interior_point_solver():
    cvxopt = pytest.importorskip("cvxopt")
    cvxopt.solvers.options.update(show_progress=False, abstol=1e-12, reltol=1e-12, feastol=1e-12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    K = gaussian(X, 1.5)
    target = 2.0 * (np.arange(200) < 120) / 120 - (np.arange(200) >= 120) / 80
    b = K @ target
    dense = cvxopt.solvers.qp(
        cvxopt.matrix(2.0 * K),
        cvxopt.matrix(-2.0 * b),
        cvxopt.matrix(-np.eye(200)),
        cvxopt.matrix(np.zeros(200)),
        cvxopt.matrix(np.ones((1, 200))),
        cvxopt.matrix(1.0),
    )
    solution = SimplexQP(lambda i: K[i], 200).solve(b)
    mine = float(solution.weights @ (solution.residual - b)[solution.support])
    assert mine == pytest.approx(dense["primal objective"], abs=2e-8)


def test_warm_starts_do_not_change_the_answer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    K = gaussian(X, 2.0)
    u, p = np.arange(200) < 130, np.arange(200) >= 130
    warm = SimplexQP(lambda i: K[i], 200)
    for t in (8.0, 3.0, 1.5, 1.2, 2.0):
        b = K @ (t * u / 130 + (1.0 - t) * p / 70)
        warmed, cold = warm.solve(b), SimplexQP(lambda i: K[i], 200).solve(b)
        values = [float(s.weights @ (s.residual - b)[s.support]) for s in (warmed, cold)]
        assert values[0] == pytest.approx(values[1], abs=2e-8)


def test_duplicate_rows_and_a_constant_kernel():
    X = np.repeat(np.random.default_rng(2).normal(size=(20, 2)), 5, axis=0)
    K = gaussian(X, 1.0)
    b = K @ np.full(100, 0.01)
    assert SimplexQP(lambda i: K[i], 100).solve(b).gap <= 2e-8
    ones = np.ones((10, 10))
    assert SimplexQP(lambda i: ones[i], 10).solve(np.ones(10)).weights.sum() == pytest.approx(1.0)
