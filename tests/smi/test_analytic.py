"""PUSMI and PNSMI: against a loop that solves every cell, against the truth, and what a user may rely on."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.exact_moments import captured_information
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from purely import PUSMI, stack
from purely.checks import draw_seed
from purely.datasets import gaussians_problem, independent_problem, overlapping_problem, paper_problem
from purely.exceptions import DegenerateDataWarning, SearchBoundWarning
from purely.folds import deal_folds, stream_folds
from purely.smi import PNSMI, InformationInterval, SMIInterval
from purely.smi.objective import pu_objective

PROBLEMS = {
    "gaussians": gaussians_problem(shift=1.5, class_prior=0.4, n_features=2),
    "paper": paper_problem(),
    "overlapping": overlapping_problem(),
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
scenarios = pytest.mark.parametrize("scenario", ["case-control", "single-sample"])

pytestmark = pytest.mark.filterwarnings("ignore::purely.exceptions.SearchBoundWarning")


def small(seed, n_positive=40, n_unlabelled=70, scenario="case-control"):
    sample = PROBLEMS["gaussians"].sample(n_positive, n_unlabelled, seed, scenario=scenario)
    return sample.X, sample.y


def gaussians(X, centers, bandwidth, intercept=True):
    distances = ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=-1)
    phi = np.exp(-distances / (2.0 * bandwidth**2))
    return np.column_stack([phi, np.ones(len(X))]) if intercept else phi


# -- a second route to every cell -------------------------------------------------------------------------------------


def naive_cells(model, X, positive, bandwidths, alphas):
    """Out-of-fold objective of every cell, each solved by itself: shapes (S, A) and (S, A, K), and the ratios."""
    folds = deal_folds(X, positive, model.cv, model._seed).number
    everywhere = np.ones(len(X), dtype=bool) if model.scenario == "single-sample" else ~positive
    total, by_fold, ratios = {}, {}, {}
    for sigma in bandwidths:
        phi = gaussians(X, model.centers_, sigma, model.intercept)
        for alpha in alphas:
            w = np.empty(len(X))
            for k in range(model.cv):
                train = folds != k
                H = phi[train & everywhere].T @ phi[train & everywhere] / np.sum(train & everywhere)
                h = phi[train & positive].mean(axis=0)
                w[~train] = phi[~train] @ np.linalg.solve(H + alpha * np.eye(len(h)), h)
                held = ~train
                by_fold[sigma, alpha, k] = pu_objective(w[held & positive], w[held & everywhere])
            total[sigma, alpha] = pu_objective(w[positive], w[everywhere])
            ratios[sigma, alpha] = w
    return total, by_fold, ratios, folds


@scenarios
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_cell_is_what_a_loop_over_cells_finds(seed, intercept, scenario):
    X, y = small(seed, scenario=scenario)
    bandwidths, alphas = [0.3, 0.8, 2.0], [0.01, 0.1, 1.0]
    model = PUSMI(
        bandwidth=bandwidths,
        alpha=alphas,
        n_centers=15,
        cv=4,
        intercept=intercept,
        scenario=scenario,
        random_state=seed,
    ).fit(X, y)
    positive = y == 1
    total, by_fold, ratios, folds = naive_cells(model, X, positive, bandwidths, alphas)
    table = model.cv_results_
    cells = list(zip(table["param_bandwidth"].tolist(), table["param_alpha"].tolist(), strict=True))
    assert len(cells) == 9
    np.testing.assert_allclose(table["mean_test_score"], [-total[c] for c in cells], rtol=1e-8)
    for k in range(4):
        np.testing.assert_allclose(table[f"split{k}_test_score"], [-by_fold[*c, k] for c in cells], rtol=1e-8)
    best = min(total, key=total.get)
    assert (model.bandwidth_, model.alpha_) == best
    assert table["rank_test_score"][cells.index(best)] == 1
    assert sorted(table["rank_test_score"]) == list(range(1, 10))
    # the final solution, on all rows
    phi = gaussians(X, model.centers_, model.bandwidth_, intercept)
    everywhere = np.ones(len(X), dtype=bool) if scenario == "single-sample" else ~positive
    H, h = phi[everywhere].T @ phi[everywhere] / everywhere.sum(), phi[positive].mean(axis=0)
    np.testing.assert_allclose(model.coef_, np.linalg.solve(H + model.alpha_ * np.eye(len(h)), h), rtol=1e-7)
    ratio = phi @ model.coef_
    np.testing.assert_allclose(model.density_ratio(X, clip=False), ratio, rtol=1e-8, atol=1e-10)
    in_sample = -pu_objective(ratio[positive], ratio[everywhere]) - 0.5
    assert model.information_in_sample_ == pytest.approx(in_sample, rel=1e-8)
    # the honest value: each fold's cell is the best of the other folds' parts
    n_p, n_pop = positive.sum(), everywhere.sum()
    honest = np.empty(len(X))
    for k in range(4):

        def without(cell, k=k):
            w, others = ratios[cell], folds != k
            return 0.5 * np.sum(w[others & everywhere] ** 2) / n_pop - np.sum(w[others & positive]) / n_p

        cell = min(total, key=without)
        assert model.fold_bandwidth_[k] == cell[0]
        honest[folds == k] = ratios[cell][folds == k]
    np.testing.assert_allclose(model.oof_density_ratio_, honest, rtol=1e-7, atol=1e-9)
    expected = -pu_objective(honest[positive], honest[everywhere]) - 0.5
    assert model.information_ == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("class_prior", [None, 0.2])
@pytest.mark.parametrize("seed", range(2))
def test_the_supervised_cells_are_what_a_loop_finds(seed, class_prior):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(90) < 40).astype(int)
    X = rng.normal(size=(90, 2)) + y[:, None]
    bandwidths, alphas = [0.5, 1.5], [0.01, 0.3]
    model = PNSMI(
        bandwidth=bandwidths, alpha=alphas, n_centers=12, cv=3, class_prior=class_prior, random_state=seed
    ).fit(X, y)
    theta = model.class_prior_
    assert theta == pytest.approx(40 / 90 if class_prior is None else class_prior)
    folds = deal_folds(X, y == 1, 3, model._seed).number

    def appendix_l(w, rows):
        """L with the expectations over p(x) and p(x, y) weighted to the class prior."""
        value = 0.0
        for c, prior in ((0, 1 - theta), (1, theta)):
            value += prior * w[rows & (y == c), c].mean()
            for other, weight in ((0, 1 - theta), (1, theta)):
                value -= 0.5 * prior * weight * np.mean(w[rows & (y == other), c] ** 2)
        return value

    scores = {}
    for sigma in bandwidths:
        phi = gaussians(X, model.centers_, sigma)
        for alpha in alphas:
            w = np.empty((len(X), 2))
            for k in range(3):
                train = folds != k
                second = [phi[train & (y == c)].T @ phi[train & (y == c)] / np.sum(train & (y == c)) for c in (0, 1)]
                H = (1 - theta) * second[0] + theta * second[1] + alpha * np.eye(phi.shape[1])
                for c in (0, 1):
                    w[~train, c] = phi[~train] @ np.linalg.solve(H, phi[train & (y == c)].mean(axis=0))
            scores[sigma, alpha] = appendix_l(w, np.ones(len(X), dtype=bool))
    table = model.cv_results_
    cells = list(zip(table["param_bandwidth"].tolist(), table["param_alpha"].tolist(), strict=True))
    np.testing.assert_allclose(table["mean_test_score"], [scores[c] for c in cells], rtol=1e-8)
    assert (model.bandwidth_, model.alpha_) == max(scores, key=scores.get)
    # score() on the training rows is L in sample
    assert model.score(X, y) == pytest.approx(model.smi_in_sample_ + 0.5, rel=1e-9)


# -- the truth --------------------------------------------------------------------------------------------------------


@every_problem
@scenarios
@pytest.mark.parametrize("seed", range(2))
def test_the_information_is_what_the_ratio_captures_and_below_the_truth(problem, scenario, seed):
    if scenario == "single-sample" and problem.class_prior < 0.4:
        pytest.skip("too few positives to label")
    sample = problem.sample(400, 1200, seed, scenario=scenario)
    model = PUSMI(random_state=seed, scenario=scenario).fit(sample.X, sample.y)
    truth = problem.information().value
    captured = captured_information(problem, model)
    interval = model.information_interval()
    assert interval.information == pytest.approx(model.information_, abs=1e-10)
    # five standard errors: less than one in a million
    assert abs(model.information_ - captured) < 5 * interval.standard_error
    assert captured <= truth + 1e-9
    # the ratio is good enough for the bound to mean something: half of the truth at these sizes
    assert captured > 0.5 * truth
    assert model.smi(problem.class_prior) == pytest.approx(
        model.information_ * problem.class_prior / (1 - problem.class_prior)
    )


@every_problem
def test_the_ratio_and_the_posterior_come_near_the_truth(problem):
    sample = problem.sample(1000, 3000, 0)
    model = PUSMI(random_state=0).fit(sample.X, sample.y)
    fresh = problem.sample(2, 5000, 1)
    X, truth = fresh.X[2:], fresh.density_ratio[2:]
    ratio = model.density_ratio(X)
    # relative to predicting 1 everywhere
    assert np.mean((ratio - truth) ** 2) < 0.25 * np.mean((1.0 - truth) ** 2)
    posterior = model.posterior(X, problem.class_prior)
    assert ((posterior >= 0) & (posterior <= 1)).all()
    np.testing.assert_array_equal(posterior, np.clip(problem.class_prior * ratio, 0, 1))


def test_no_information_is_found_where_there_is_none():
    values, errors = [], []
    for seed in range(6):
        sample = independent_problem().sample(200, 400, seed)
        model = PUSMI(random_state=seed).fit(sample.X, sample.y)
        values.append(model.information_)
        errors.append(model.information_interval().standard_error)
        # captured information is never positive where the truth is 0
        assert model.information_ < 5 * errors[-1] + 1e-6
    assert np.mean(values) < 5 * np.sqrt(np.sum(np.square(errors))) / 6 + 1e-6


@pytest.mark.parametrize("n_values", [4, 20])
def test_no_information_is_found_in_discrete_rows_without_any(n_values):
    """Copies of a row must not be shared out evenly over the folds: held-out rows would repeat the training rows."""
    values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, n_values, size=(300, 1)).astype(float)
        model = PUSMI(alpha=[0.001, 0.01, 0.1], n_centers=20, random_state=seed).fit(X, np.arange(300) < 100)
        values.append(model.information_)
    assert np.mean(values) < 5 * np.std(values, ddof=1) / np.sqrt(len(values))


@scenarios
def test_in_sample_values_are_optimistic(scenario):
    gaps = []
    for seed in range(10):
        X, y = small(seed, 60, 120, scenario)
        model = PUSMI(n_centers=30, scenario=scenario, random_state=seed).fit(X, y)
        gaps.append(model.information_in_sample_ - model.information_)
    assert np.mean(gaps) > 0
    supervised = []
    for seed in range(10):
        sample = PROBLEMS["gaussians"].sample(60, 120, seed)
        model = PNSMI(n_centers=30, random_state=seed).fit(sample.X, sample.y_true)
        supervised.append(model.smi_in_sample_ - model.smi_)
    assert np.mean(supervised) > 0


def test_single_sample_rows_need_the_single_sample_scenario():
    # what is left after labelling is not p(x): the case-control reading overstates the ratio's spread
    problem = gaussians_problem(shift=2.0, class_prior=0.5)
    truth = problem.information().value
    right, wrong = [], []
    for seed in range(4):
        sample = problem.sample(500, 1000, seed, scenario="single-sample")
        right.append(PUSMI(scenario="single-sample", random_state=seed).fit(sample.X, sample.y).information_)
        wrong.append(PUSMI(random_state=seed).fit(sample.X, sample.y).information_)
    assert abs(np.mean(right) - truth) < 0.25 * truth
    assert np.mean(wrong) > 1.5 * truth


def test_supervised_and_unlabelled_estimates_agree():
    problem = PROBLEMS["paper"]
    truth = problem.smi().value
    pn, pu = [], []
    for seed in range(4):
        sample = problem.sample(600, 1500, seed)
        unlabelled = sample.y == 0
        supervised = PNSMI(random_state=seed).fit(sample.X[unlabelled], sample.y_true[unlabelled])
        pn.append(supervised.smi())
        model = PUSMI(random_state=seed).fit(sample.X, sample.y)
        pu.append(model.smi_interval(problem.class_prior))
        assert supervised.information_ == pytest.approx(
            supervised.smi_ * (1 - supervised.class_prior_) / supervised.class_prior_
        )
    error = np.sqrt(np.sum([i.standard_error**2 for i in pu])) / len(pu)
    assert abs(np.mean([i.value for i in pu]) - np.mean(pn)) < 5 * error + 0.1 * truth
    assert np.mean(pn) == pytest.approx(truth, rel=0.15)


def test_a_given_class_prior_reweights_the_classes():
    # one class is over-represented threefold; with the population's prior given, the estimate is the population's
    problem = gaussians_problem(shift=1.5, class_prior=0.25)
    rng = np.random.default_rng(0)
    truth = problem.smi().value
    weighted, plain = [], []
    for seed in range(4):
        X = np.vstack([problem.positive.sample(900, rng), problem.negative.sample(900, rng)])
        y = np.repeat([1, 0], 900)
        weighted.append(PNSMI(class_prior=0.25, random_state=seed).fit(X, y).smi())
        plain.append(PNSMI(random_state=seed).fit(X, y).smi())
    at_half = gaussians_problem(shift=1.5, class_prior=0.5).smi().value
    assert np.mean(weighted) == pytest.approx(truth, rel=0.12)
    assert np.mean(plain) == pytest.approx(at_half, rel=0.12)


# -- streams and threads ----------------------------------------------------------------------------------------------


def assert_equal_sums(found, expected):
    np.testing.assert_array_equal(found.count, expected.count)
    np.testing.assert_allclose(found.first, expected.first, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.second, expected.second, rtol=1e-9, atol=1e-9)


@scenarios
def test_threads_do_not_change_the_result(scenario):
    X, y = small(0, scenario=scenario)
    one, two = (PUSMI(n_centers=20, scenario=scenario, random_state=0, n_jobs=n).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.oof_density_ratio_, two.oof_density_ratio_)
    assert one.information_ == two.information_


@scenarios
@pytest.mark.parametrize("seed", range(3))
def test_batches_of_a_stream_give_the_coefficients_of_the_whole(seed, scenario):
    X, y = small(seed, 100, 200, scenario)
    settings = {
        "centers": X[100:112],
        "bandwidth": 1.0,
        "alpha": 0.05,
        "scenario": scenario,
        "random_state": seed,
    }
    stream = PUSMI(**settings)
    whole = PUSMI(**settings).fit(X, y, folds=stream_folds(X, stream.cv, draw_seed(seed)))
    for rows in np.array_split(np.random.default_rng(seed).permutation(len(X)), 7):
        stream.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-8)
    assert stream.information_in_sample_ == pytest.approx(whole.information_in_sample_, rel=1e-8)
    assert stream.information_ == pytest.approx(whole.information_, rel=1e-8)
    assert_equal_sums(stream.sums_, whole.sums_)
    assert not hasattr(stream, "oof_density_ratio_")


@pytest.mark.parametrize("estimator", [PUSMI, PNSMI])
def test_one_batch_of_a_stream_is_a_fit(estimator):
    X, y = small(0, 60, 90)
    fit, stream = (estimator(n_centers=20, random_state=0) for _ in range(2))
    fit.fit(X, y, folds=stream_folds(X, fit.cv, draw_seed(0)))
    stream.partial_fit(X, y)
    assert_equal_sums(stream.sums_, fit.sums_)
    np.testing.assert_allclose(stream.coef_, fit.coef_, rtol=1e-9)
    assert stream.information_ == pytest.approx(fit.information_, rel=1e-9)
    np.testing.assert_allclose(stream.cv_results_["mean_test_score"], fit.cv_results_["mean_test_score"], rtol=1e-9)


def test_a_grid_over_a_stream_has_the_sums_of_the_whole():
    X, y = small(1, 100, 200)
    grid = {"centers": X[100:110], "bandwidth": [0.5, 1.0, 2.0], "random_state": 0}
    whole, stream = PUSMI(**grid).fit(X, y), PUSMI(**grid)
    for rows in np.array_split(np.arange(len(X)), 3):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1])
    np.testing.assert_allclose(stream.sums_.second.sum(axis=2), whole.sums_.second.sum(axis=2), rtol=1e-9)
    assert abs(stream.information_ - whole.information_) < 5 * whole.information_interval().standard_error


def test_a_stream_whose_batches_hold_one_kind_of_row():
    X, y = small(2)
    positive, unlabelled = X[y == 1], X[y == 0]
    stream = PUSMI(n_centers=15, random_state=0).partial_fit(unlabelled, [-1] * len(unlabelled), classes=[-1, 1])
    assert not hasattr(stream, "coef_")  # no positives yet
    stream.partial_fit(positive, np.ones(len(positive), dtype=int))
    assert np.isfinite(stream.information_)
    np.testing.assert_array_equal(stream.classes_, [-1, 1])
    folds = stream_folds(X, stream.cv, draw_seed(0))
    whole = PUSMI(n_centers=15, random_state=0).fit(X, np.where(y == 1, 1, -1), folds=folds)
    assert_equal_sums(stream.sums_, whole.sums_)
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-8)


def test_parts_of_a_cluster_merge():
    X, y = small(3, 100, 200)
    settings = {"centers": X[100:110], "bandwidth": [1.0], "random_state": 0}
    parts = [PUSMI(**settings).partial_fit(X[i::2], y[i::2]) for i in range(2)]
    merged = parts[0].sums_ + parts[1].sums_
    assert_equal_sums(merged, PUSMI(**settings).partial_fit(X, y).sums_)


def test_fit_after_partial_fit_starts_anew():
    X, y = small(4)
    model = PUSMI(n_centers=15, random_state=0)
    expected = clone(model).fit(X, y).coef_
    model.partial_fit(X[::2], y[::2]).fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected)


def test_an_interval_after_a_stream_needs_rows_set_aside():
    X, y = small(5, 100, 200)
    stream = PUSMI(n_centers=15, random_state=0).partial_fit(X[::2], y[::2])
    with pytest.raises(ValueError, match=r"pass rows that were set aside: information_interval\(X, y\)"):
        stream.information_interval()
    interval = stream.information_interval(X[1::2], y[1::2])
    assert interval.information == pytest.approx(stream.score(X[1::2], y[1::2]) - 0.5, rel=1e-9)


# -- what a user may rely on ------------------------------------------------------------------------------------------


@scenarios
def test_score_is_minus_the_objective_on_new_rows(scenario):
    X, y = small(6, scenario=scenario)
    model = PUSMI(n_centers=20, scenario=scenario, random_state=0).fit(X, y)
    fresh, labels = small(7, scenario=scenario)
    w = model.density_ratio(fresh, clip=False)
    everywhere = w if scenario == "single-sample" else w[labels == 0]
    assert model.score(fresh, labels) == pytest.approx(-pu_objective(w[labels == 1], everywhere), rel=1e-12)
    assert model.score(X, y) == pytest.approx(model.information_in_sample_ + 0.5, rel=1e-9)


def test_grid_search_and_pipelines_take_it():
    X, y = small(8, 80, 160)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(PUSMI(alpha=0.1, random_state=0), {"n_centers": [2, 20], "bandwidth": [1e-4, 1.0]}, cv=folds)
    search.fit(X, y)
    assert search.best_params_["bandwidth"] == 1.0
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    pipeline = make_pipeline(StandardScaler(), PUSMI(n_centers=10, random_state=0)).fit(X, y)
    assert np.isfinite(pipeline.score(X, y))
    assert GridSearchCV(PNSMI(random_state=0), {"n_centers": [5]}, cv=folds).fit(X, y).best_score_ > 0


def test_ratios_are_clipped_unless_asked_not_to_be():
    X, y = small(9)
    # a wave is negative somewhere whatever its coefficients
    model = PUSMI(basis=lambda rows: np.column_stack([np.sin(3 * rows[:, 0]), np.cos(3 * rows[:, 0])])).fit(X, y)
    raw, clipped = model.density_ratio(X, clip=False), model.density_ratio(X)
    assert raw.min() < 0
    np.testing.assert_array_equal(clipped, np.maximum(raw, 0))
    posterior = model.posterior(X, 0.99)
    assert posterior.min() >= 0
    assert posterior.max() <= 1


def test_a_basis_of_the_users_own():
    X, y = small(10)
    gaussian = PUSMI(centers=X[40:50], bandwidth=0.9, alpha=[0.01, 0.1, 1.0], random_state=0).fit(X, y)
    own = PUSMI(basis=lambda rows: gaussians(rows, X[40:50], 0.9), alpha=[0.01, 0.1, 1.0], random_state=0).fit(X, y)
    np.testing.assert_allclose(own.coef_, gaussian.coef_, rtol=1e-7)
    assert own.information_ == pytest.approx(gaussian.information_, rel=1e-8)
    assert own.bandwidth_ is None
    assert own.fold_bandwidth_ is None
    assert not hasattr(own, "centers_")
    assert np.isnan(own.cv_results_["param_bandwidth"]).all()


@pytest.mark.parametrize("estimator", [PUSMI, PNSMI])
def test_sparse_rows_are_dense_rows(estimator):
    rng = np.random.default_rng(0)
    X, y = small(11, 60, 90)
    X = np.column_stack([X, np.where(rng.random((len(X), 3)) < 0.2, 1.0, 0.0)])
    dense = estimator(n_centers=20, random_state=0).fit(X, y)
    sparse = estimator(n_centers=20, random_state=0).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(sparse.density_ratio(sp.csc_matrix(X)), dense.density_ratio(X), rtol=1e-6, atol=1e-8)
    assert not sp.issparse(sparse.centers_)


def test_single_precision_changes_little():
    X, y = small(12, 200, 400)
    grid = {"centers": X[200:230], "random_state": 0}
    double = PUSMI(**grid).fit(X, y)
    single = PUSMI(**grid).fit(X.astype(np.float32), y)  # rounded rows have other keys, so other folds
    assert abs(single.information_ - double.information_) < 5 * double.information_interval().standard_error
    fixed = {"centers": X[200:230], "bandwidth": 1.0, "alpha": 0.1}
    np.testing.assert_allclose(
        PUSMI(**fixed).fit(X.astype(np.float32), y).coef_, PUSMI(**fixed).fit(X, y).coef_, rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_data_far_from_zero_lose_nothing(offset):
    X, y = small(13, 100, 200)
    X = np.round(X * 64) / 64  # numbers that an offset leaves exact
    fixed = {"bandwidth": [0.5, 1.0, 2.0], "alpha": [0.01, 0.1, 1.0], "cv": 5, "random_state": 0}
    here = PUSMI(centers=X[100:130], **fixed).fit(X, y)
    there = PUSMI(centers=X[100:130] + offset, **fixed).fit(X + offset, y)
    # other keys, so other folds; the cells' solutions on all rows are the same
    assert abs(there.information_ - here.information_) < 5 * here.information_interval().standard_error
    one = {"bandwidth": 1.0, "alpha": 0.05}
    near = PUSMI(centers=X[100:130], **one).fit(X, y)
    far = PUSMI(centers=X[100:130] + offset, **one).fit(X + offset, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(far.density_ratio(X + offset), near.density_ratio(X), rtol=1e-6, atol=1e-8)


def test_scaling_all_columns_scales_the_bandwidth_and_nothing_else():
    X, y = small(14, 100, 200)
    one = PUSMI(centers=X[100:120], alpha=0.1, random_state=0).fit(X, y)
    big = PUSMI(centers=1024.0 * X[100:120], alpha=0.1, random_state=0).fit(1024.0 * X, y)
    np.testing.assert_allclose(big.cv_results_["param_bandwidth"], 1024.0 * one.cv_results_["param_bandwidth"])
    same = PUSMI(centers=X[100:120], alpha=0.1, bandwidth=1.0).fit(X, y)
    scaled = PUSMI(centers=1024.0 * X[100:120], alpha=0.1, bandwidth=1024.0).fit(1024.0 * X, y)
    np.testing.assert_allclose(scaled.coef_, same.coef_, rtol=1e-8)


@pytest.mark.filterwarnings("default")
def test_the_end_of_a_grid_warns_and_its_inside_does_not():
    problem = gaussians_problem(shift=2.0, class_prior=0.5)
    sample = problem.sample(600, 1200, 0)
    for grid, name, end in (
        ({"bandwidth": [0.001, 0.003, 0.01], "alpha": 0.1}, "bandwidth", "largest"),
        ({"bandwidth": 1.0, "alpha": [3.0, 10.0, 30.0]}, "alpha", "smallest"),
    ):
        with pytest.warns(SearchBoundWarning, match=rf"{name}=.* is the {end} of the grid .* {name}=\[...\]"):
            PUSMI(**grid, random_state=0).fit(sample.X, sample.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PUSMI(random_state=0).fit(sample.X, sample.y)
        PUSMI(bandwidth=0.001, alpha=5.0, random_state=0).fit(sample.X, sample.y)  # nothing was searched


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("estimator", [PUSMI, PNSMI])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_constant_rows_warn_and_tell_nothing(estimator, make):
    y = np.repeat([1, 0], [30, 60])
    with pytest.warns(DegenerateDataWarning, match="the rows of X are all the same"):
        model = estimator(random_state=0).fit(make(np.full((90, 2), 3.0)), y)
    assert model.information_ == pytest.approx(0.0, abs=1e-3)
    np.testing.assert_allclose(model.density_ratio(make(np.full((4, 2), 3.0))), 1.0, atol=0.05)


@pytest.mark.filterwarnings("error::purely.exceptions.DegenerateDataWarning")
def test_a_single_centre_is_not_taken_for_constant_rows():
    X, y = small(15, 100, 200)
    model = PUSMI(n_centers=1, random_state=0).fit(100.0 * X, y)
    assert 5.0 < model.bandwidth_ < 5000.0
    # all unlabelled rows the same, the positives not: there is a distance to go by
    constant = np.vstack([X[:100], np.zeros((100, 2))])
    assert 0.05 < PUSMI(random_state=0).fit(constant, np.repeat([1, 0], 100)).bandwidth_ < 50.0


def test_pickling_and_cloning():
    X, y = small(16)
    model = PUSMI(n_centers=15, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.density_ratio(X), model.density_ratio(X))
    assert again.information_interval() == model.information_interval()
    again.partial_fit(X, y)
    bare = clone(model)
    assert not hasattr(bare, "coef_")
    assert bare.get_params() == model.get_params()


def test_centres_are_unlabelled_rows():
    X, y = small(17)
    model = PUSMI(n_centers=25, random_state=0).fit(X, y)
    unlabelled = {tuple(row) for row in X[y == 0]}
    assert len({tuple(row) for row in model.centers_}) == 25
    assert {tuple(row) for row in model.centers_} <= unlabelled
    assert PUSMI(n_centers=1000).fit(X, y).centers_.shape[0] == (y == 0).sum()
    assert {tuple(r) for r in PNSMI(n_centers=len(X)).fit(X, y).centers_} == {tuple(row) for row in X}


def test_stacked_samples_are_what_it_takes():
    X, y = small(18)
    P, U = X[y == 1], X[y == 0]
    np.testing.assert_array_equal(
        PUSMI(n_centers=9, random_state=0).fit(*stack(P, U)).coef_, PUSMI(n_centers=9, random_state=0).fit(X, y).coef_
    )


def test_information_and_smi_are_never_confused():
    X, y = small(19)
    model = PUSMI(n_centers=15, random_state=0).fit(X, y)
    with pytest.raises(TypeError):
        model.smi()
    with pytest.raises(TypeError):
        model.smi_interval()
    assert not hasattr(model, "smi_")
    assert not hasattr(model, "class_prior_")
    information, smi = model.information_interval(), model.smi_interval(0.2)
    assert type(information) is InformationInterval
    assert type(smi) is SMIInterval
    assert not hasattr(information, "value")
    assert not hasattr(information, "class_prior")
    assert not hasattr(smi, "information")
    assert smi.class_prior == 0.2
    for name in ("standard_error", "low", "high"):
        assert getattr(smi, name) == pytest.approx(getattr(information, name) * 0.25)
    assert smi.value == pytest.approx(model.smi(0.2)) == pytest.approx(information.information * 0.25)
    assert str(information).startswith("information ")
    assert str(smi).startswith("SMI ")
    assert "class prior 0.2" in str(smi)


def test_given_folds_are_used_and_checked():
    sample = paper_problem().sample(60, 120, random_state=0)
    groups = np.arange(180) % 3
    fitted = PUSMI(random_state=0).fit(sample.X, sample.y, folds=groups)
    np.testing.assert_array_equal(fitted.folds_, groups)
    assert fitted.fold_coef_.shape[0] == 3
    again = PUSMI(random_state=0).fit(sample.X, sample.y)
    same = PUSMI(random_state=0).fit(sample.X, sample.y, folds=again.folds_)
    np.testing.assert_allclose(same.oof_density_ratio_, again.oof_density_ratio_)
    for folds, words in (
        (groups[:-1], "one a row"),
        (groups + 0.5, "whole numbers"),
        (np.where(sample.y == 1, 0, groups), "no labelled positives"),
        (np.zeros(180, dtype=int), "two folds"),
    ):
        with pytest.raises(ValueError, match=words):
            PUSMI().fit(sample.X, sample.y, folds=folds)
