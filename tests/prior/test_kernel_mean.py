from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from purely import stack
from purely.exceptions import ClassPriorWarning
from purely.prior import KernelMeanPrior as DefaultKernelMeanPrior
from purely.prior.kernel_mean import kernel_mean
from tests.prior.conftest import make_separable


def KernelMeanPrior(variant="km1", **settings):  # noqa: N802 - it stands for the class
    """The estimator with a cheap model of the ratio, from which the width of its interval comes, not its value."""
    return DefaultKernelMeanPrior(variant, **{"ratio": "linear", **settings})


def mixture(n_p, n_u, d, prior, seed, gap=3.0):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_u)
    X = np.concatenate([rng.normal(size=(n_p + hidden, d)), rng.normal(size=(n_u - hidden, d)) + gap / np.sqrt(d)])
    return X, np.arange(n_p + n_u) < n_p


class Reference:
    """The curve d by a dense interior-point solver on the whole Gram matrix."""

    def __init__(self, X, positive, width):
        cvxopt = pytest.importorskip("cvxopt")
        self.options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-12, "feastol": 1e-12}
        self.solve = cvxopt.solvers.qp
        self.matrix = matrix = cvxopt.matrix
        X = X - X.mean(axis=0)
        norms = (X**2).sum(axis=1)
        self.K = np.exp(-0.5 * np.maximum(norms[:, None] + norms - 2.0 * X @ X.T, 0.0) / width**2)
        self.u = (~positive) / np.count_nonzero(~positive)
        self.p = positive / np.count_nonzero(positive)
        n = len(X)
        self.parts = (cvxopt.spmatrix(-1.0, range(n), range(n)), matrix(0.0, (n, 1)), matrix(1.0, (1, n)), matrix(1.0))
        self.quadratic = matrix(2.0 * self.K)

    def distance(self, t):
        target = t * self.u + (1.0 - t) * self.p
        linear = self.matrix(-2.0 * self.K @ target)
        found = self.solve(self.quadratic, linear, *self.parts, kktsolver="chol2", options=self.options)
        v = np.array(found["x"]).ravel()
        return float(np.sqrt(max((v - target) @ self.K @ (v - target), 0.0)))


# Fifteen problems: columns, rows, prior, distance of the classes. Five run every time.
PROBLEMS = [
    (1, 500, 0.3, 3.0),
    (3, 500, 0.7, 3.0),
    (10, 500, 0.5, 4.0),
    (25, 500, 0.6, 4.0),
    (50, 500, 0.4, 5.0),
    pytest.param(1, 1500, 0.7, 4.0, marks=pytest.mark.full),
    pytest.param(2, 600, 0.5, 2.5, marks=pytest.mark.full),
    pytest.param(2, 1000, 0.2, 3.0, marks=pytest.mark.full),
    pytest.param(5, 700, 0.6, 3.0, marks=pytest.mark.full),
    pytest.param(8, 800, 0.3, 3.0, marks=pytest.mark.full),
    pytest.param(15, 1200, 0.5, 3.0, marks=pytest.mark.full),
    pytest.param(20, 600, 0.7, 4.0, marks=pytest.mark.full),
    pytest.param(30, 900, 0.4, 4.0, marks=pytest.mark.full),
    pytest.param(40, 700, 0.3, 5.0, marks=pytest.mark.full),
    pytest.param(50, 1500, 0.5, 4.0, marks=pytest.mark.full),
]


@pytest.mark.parametrize(("d", "n", "prior", "gap"), PROBLEMS)
def test_kappa_agrees_with_a_dense_reference(d, n, prior, gap):
    X, positive = mixture(n // 3, n - n // 3, d, prior, seed=d + n, gap=gap)
    found = kernel_mean(X, positive, variants=("km1",))
    kappa, threshold = found.kappa["km1"], found.threshold["km1"]
    assert found.bound["km1"] is None
    assert found.gaps[np.argmin(np.abs(found.slopes - threshold))] <= 2e-8
    # d is convex, so a chord is at least as steep as d at its left end and at most as steep as d at its right end:
    # if the first half of the interval rises by less than the threshold and the second by more, the reference's slope
    # passes the threshold inside. Three programmes prove what a bisection would find.
    reference = Reference(X, positive, found.bandwidth)
    left, right = 1.0 / (1.0 - kappa + 0.005), 1.0 / (1.0 - kappa - 0.005)
    middle = 0.5 * (left + right)
    d_left, d_middle, d_right = (reference.distance(t) for t in (left, middle, right))
    assert (d_middle - d_left) / (middle - left) <= threshold
    assert (d_right - d_middle) / (right - middle) >= threshold


def test_curve_is_convex_and_its_slopes_are_derivatives():
    X, positive = mixture(150, 300, 3, 0.4, seed=0)
    found = kernel_mean(X, positive)
    order = np.argsort(found.extrapolations)
    t, d, slope = found.extrapolations[order], found.distances[order], found.slopes[order]
    assert np.all(np.diff(slope) > -1e-3)
    chords = np.diff(d) / np.maximum(np.diff(t), 1e-12)
    wide = np.diff(t) > 1e-2
    assert np.all((chords >= slope[:-1] - 2e-3)[wide])
    assert np.all((chords <= slope[1:] + 2e-3)[wide])


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.full) for s in (1, 2))])
@pytest.mark.parametrize("prior", [0.3, 0.5, 0.7])
def test_finds_the_prior_of_separable_classes(prior, seed):
    X, y = make_separable(prior, seed)
    # The share among 1,200 rows has a standard error of .014; the method's threshold adds a bias of that order.
    assert KernelMeanPrior().fit(X, y).class_prior_ == pytest.approx(prior, abs=0.06)
    assert KernelMeanPrior("km2").fit(X, y).class_prior_ == pytest.approx(prior, abs=0.06)


def test_the_model_of_the_ratio_leaves_the_value_alone():
    X, y = make_separable(0.4, 0, n_p=150, n_u=300)
    assert DefaultKernelMeanPrior().fit(X, y).class_prior_ == KernelMeanPrior().fit(X, y).class_prior_


def test_one_dimension_goes_through_a_grid_and_agrees_with_the_exact_kernel():
    X, positive = mixture(400, 800, 1, 0.5, seed=3, gap=4.0)
    grid = kernel_mean(X, positive)
    # A second, constant column takes the exact path.
    exact = kernel_mean(np.column_stack([X, np.zeros(len(X))]), positive)
    for variant in ("km1", "km2"):
        assert grid.kappa[variant] == pytest.approx(exact.kappa[variant], abs=0.01)


def test_the_upper_bound_grows():
    X, y = make_separable(0.95, 0, n_u=2000)
    fitted = KernelMeanPrior().fit(X, y)
    assert fitted.class_prior_ > 0.9
    with pytest.warns(ClassPriorWarning, match="upper bound"):
        mimic = KernelMeanPrior(search="authors").fit(X, y)
    assert mimic.class_prior_ <= 0.8748


def test_authors_search_returns_a_cell_of_their_grid():
    X, y = make_separable(0.5, 1)
    fitted = KernelMeanPrior(search="authors").fit(X, y)
    cell = (1.0 / (1.0 - fitted.class_prior_) - 1.0) / (7.0 / 256) - 0.5
    assert cell == pytest.approx(round(cell), abs=1e-6)
    assert fitted.class_prior_ == pytest.approx(KernelMeanPrior().fit(X, y).class_prior_, abs=0.03)


def test_constant_data_says_that_nothing_can_be_told():
    with pytest.warns(ClassPriorWarning, match="same distribution"):
        fitted = KernelMeanPrior().fit(np.ones((40, 3)), np.repeat([1, 0], 20))
    assert fitted.class_prior_ == 1.0
    assert fitted.diagnostics_.bound == "upper"


def test_duplicates_offsets_and_scales_change_nothing():
    X, y = make_separable(0.4, 2, n_p=150, n_u=300)
    plain = KernelMeanPrior().fit(X, y).class_prior_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=ClassPriorWarning)
        assert KernelMeanPrior().fit(X + 1e7, y).class_prior_ == pytest.approx(plain, abs=1e-3)
        assert KernelMeanPrior().fit(X * 1e6, y).class_prior_ == pytest.approx(plain, abs=1e-3)
        rounded = np.round(X, 0)
        assert 0.0 <= KernelMeanPrior().fit(rounded, y).class_prior_ <= 1.0


@pytest.mark.filterwarnings("ignore::purely.exceptions.ClassPriorWarning")
def test_five_positives_give_an_answer():
    for seed in range(3):
        X, y = make_separable(0.95, seed, n_p=5, n_u=400)
        assert 0.0 <= KernelMeanPrior().fit(X, y).class_prior_ <= 1.0


def test_too_alike_for_km1_falls_back_and_says_so():
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(size=(6, 2)), rng.normal(size=(40, 2)))
    with pytest.warns(ClassPriorWarning, match="too small or too alike"):
        KernelMeanPrior().fit(X, y)


def test_random_features_agree_with_the_exact_kernel():
    X, y = make_separable(0.4, 3, n_p=700, n_u=1500)
    exact = KernelMeanPrior(approximation="exact").fit(X, y).class_prior_
    features = KernelMeanPrior(approximation="features").fit(X, y).class_prior_
    assert features == pytest.approx(exact, abs=0.03)


def test_sparse_rows_give_the_dense_answer():
    X, y = make_separable(0.4, 4, n_p=100, n_u=200)
    X = np.round(X, 2)
    dense, sparse = KernelMeanPrior().fit(X, y), KernelMeanPrior().fit(sp.csr_matrix(X), y)
    assert sparse.class_prior_ == pytest.approx(dense.class_prior_, abs=2e-3)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"variant": "km3"}, "variant must be one of 'km1', 'km2'; 'km3' was given."),
        ({"approximation": "fast"}, "approximation must be one of 'auto', 'exact', 'features'; 'fast' was given."),
        ({"search": "grid"}, "search must be one of 'exact', 'authors'; 'grid' was given."),
        ({"bandwidth": 0.0}, r"bandwidth must be a number above 0; 0.0 was given."),
        ({"n_features": 1}, "n_features must be an integer of at least 2; 1 was given."),
        ({"level": 1.0}, "level must be a number strictly between 0 and 1"),
        ({"scenario": "both"}, "scenario must be 'case-control' or 'single-sample'; 'both' was given."),
    ],
)
def test_bad_parameters_are_named(parameters, sentence, separable):
    with pytest.raises(ValueError, match=sentence):
        KernelMeanPrior(**parameters).fit(*separable)
