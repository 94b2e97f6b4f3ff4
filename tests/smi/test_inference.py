"""Intervals, the bootstrap, the exact test and the ranking of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from experiments.exact_moments import captured_information
from scipy import stats

from purely import PUSMI, independence_test, rank_features
from purely.datasets import gaussians_problem, independent_problem, paper_problem
from purely.smi import bootstrap_information, information_interval
from purely.smi.inference import fold_interaction_variance, row_contributions

pytestmark = pytest.mark.filterwarnings("ignore::purely.exceptions.SearchBoundWarning")
scenarios = pytest.mark.parametrize("scenario", ["case-control", "single-sample"])


def some_ratios(seed, scenario, n_positive=400, n_unlabelled=900):
    sample = gaussians_problem(shift=1.5, class_prior=0.5).sample(n_positive, n_unlabelled, seed, scenario=scenario)
    return sample.density_ratio, sample.y == 1


# -- intervals ---------------------------------------------------------------------------------------------------------


@scenarios
@pytest.mark.parametrize("seed", range(3))
def test_the_interval_and_the_bootstrap_agree(seed, scenario):
    w, positive = some_ratios(seed, scenario)
    interval = information_interval(w, positive, scenario=scenario)
    boot = bootstrap_information(w, positive, scenario=scenario, n_resamples=1500, random_state=seed)
    assert boot.information == interval.information
    # a standard deviation of B draws is known to about 1/sqrt(2 B), a quantile of 5 % tails to about 2/sqrt(B) errors
    assert boot.standard_error == pytest.approx(interval.standard_error, rel=0.12)
    for end in ("low", "high"):
        assert abs(getattr(boot, end) - getattr(interval, end)) < 0.35 * interval.standard_error


@scenarios
def test_the_standard_error_is_the_spread_over_samples(scenario):
    """Of a fixed function over new rows; the true ratio is one."""
    draws = [some_ratios(seed, scenario, 100, 250) for seed in range(300)]
    intervals = [information_interval(w, positive, scenario=scenario) for w, positive in draws]
    spread = np.std([i.information for i in intervals], ddof=1)
    # the spread of 300 draws is known to 4 %; five times that
    assert np.mean([i.standard_error for i in intervals]) == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("seed", range(3))
def test_the_case_control_variance_is_the_sum_of_two(seed):
    w, positive = some_ratios(seed, "case-control")
    expected = np.var(w[positive]) / positive.sum() + np.var(0.5 * w[~positive] ** 2) / np.sum(~positive)
    assert information_interval(w, positive).standard_error == pytest.approx(np.sqrt(expected), rel=1e-10)
    assert np.sum(row_contributions(w, positive, "case-control")) == pytest.approx(0.0, abs=1e-12)
    assert np.sum(row_contributions(w, positive, "single-sample")) == pytest.approx(0.0, abs=1e-12)


def test_levels_nest_and_extra_variance_widens():
    w, positive = some_ratios(0, "case-control")
    narrow, middle, wide = (information_interval(w, positive, level=level) for level in (0.5, 0.95, 0.999))
    assert wide.low < middle.low < narrow.low < narrow.information < narrow.high < middle.high < wide.high
    assert (middle.high - middle.low) == pytest.approx(2 * 1.959964 * middle.standard_error, rel=1e-6)
    more = information_interval(w, positive, extra_variance=3 * middle.standard_error**2)
    assert more.standard_error == pytest.approx(2 * middle.standard_error)


def test_labels_in_any_coding_are_a_mask():
    w, positive = some_ratios(0, "case-control", 20, 30)
    expected = information_interval(w, positive)
    for labels in (positive.astype(int), np.where(positive, 1, -1), np.where(positive, 2, 1), positive.tolist()):
        assert information_interval(w, labels) == expected


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_folds", [2, 5])
def test_the_folds_interaction_has_the_variance_it_is_said_to_have(seed, n_folds):
    rng = np.random.default_rng(seed)
    b, n_draws = 4, 20_000
    root = rng.normal(size=(b, b))
    A = root @ root.T + np.eye(b)
    root = rng.normal(size=(b, b))
    omega = root @ root.T / 10.0  # covariance of the mean over all rows, so each fold's is n_folds times that
    u = rng.normal(size=(n_draws, n_folds, b)) @ np.linalg.cholesky(n_folds * omega).T
    total = u.sum(axis=1)
    inverse = np.linalg.inv(A)

    def form(v):
        return np.einsum("...i,ij,...j->...", v, inverse, v)

    bilinear = (form(total) - form(u).sum(axis=1)) / (n_folds * (n_folds - 1))
    # heavy tails: the relative error of the variance is a few over sqrt(n_draws)
    assert np.var(bilinear) == pytest.approx(fold_interaction_variance(A, omega, n_folds), rel=0.2)
    assert abs(bilinear.mean()) < 5 * bilinear.std() / np.sqrt(n_draws)


@scenarios
@pytest.mark.parametrize("seed", range(2))
def test_the_score_covariance_is_a_sum_over_rows(seed, scenario):
    sample = paper_problem().sample(60, 90, seed, scenario=scenario)
    X, positive = sample.X, sample.y == 1
    model = PUSMI(n_centers=8, bandwidth=1.0, alpha=0.1, scenario=scenario, random_state=seed).fit(X, sample.y)
    distances = ((X[:, None] - model.centers_[None]) ** 2).sum(axis=-1)
    phi = np.column_stack([np.exp(-0.5 * distances), np.ones(len(X))])
    w, n_p = model.oof_density_ratio_, positive.sum()
    h = phi[positive].mean(axis=0)
    single = scenario == "single-sample"
    population = np.ones(len(X), dtype=bool) if single else ~positive
    m = (w[population, None] * phi[population]).mean(axis=0)
    expected = np.zeros((9, 9))
    for i in range(len(X)):
        term = np.zeros(9)
        if positive[i]:
            term += (phi[i] - h) / n_p
        if population[i]:
            term -= (w[i] * phi[i] - m) / population.sum()
        expected += np.outer(term, term)
    np.testing.assert_allclose(model._score_covariance(X, positive, h), expected, rtol=1e-8, atol=1e-12)
    whole = model._equations().whole(model.sums_)
    extra = fold_interaction_variance(whole.H[0] + 0.1 * np.eye(9), expected, 5)
    plain = information_interval(w, positive, scenario=scenario)
    found = model.information_interval().standard_error
    assert found == pytest.approx(np.sqrt(plain.standard_error**2 + extra), rel=1e-6)
    assert found > plain.standard_error


def test_an_interval_on_new_rows_has_no_folds_in_it():
    problem = paper_problem()
    sample, fresh = problem.sample(100, 200, 0), problem.sample(100, 200, 1)
    model = PUSMI(n_centers=20, random_state=0).fit(sample.X, sample.y)
    found = model.information_interval(fresh.X, fresh.y, level=0.8)
    expected = information_interval(model.density_ratio(fresh.X, clip=False), fresh.y == 1, level=0.8)
    assert found.information == pytest.approx(expected.information, rel=1e-10)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-10)


@pytest.mark.slow
@scenarios
def test_the_interval_covers_the_captured_information(scenario):
    problem = gaussians_problem(shift=1.5, class_prior=0.5)
    n_draws, covered = 60, 0
    for seed in range(n_draws):
        sample = problem.sample(150, 300, seed, scenario=scenario)
        model = PUSMI(n_centers=30, scenario=scenario, random_state=seed).fit(sample.X, sample.y)
        interval = model.information_interval(level=0.95)
        covered += interval.low <= captured_information(problem, model) <= interval.high
    # at a true coverage of 95 % fewer than 48 of 60 are covered once in 100,000 times
    assert covered >= 48


# -- the test of independence ------------------------------------------------------------------------------------------


def p_values(draw, n_draws, **settings):
    return np.array([independence_test(*draw(seed), random_state=seed, **settings).p_value for seed in range(n_draws)])


def independent_rows(seed):
    sample = independent_problem().sample(15, 25, seed)
    return sample.X, sample.y


@pytest.mark.slow
def test_the_test_has_its_size_and_uniform_p_values():
    n_draws, n_permutations = 200, 99
    p = p_values(independent_rows, n_draws, n_permutations=n_permutations, n_centers=20)
    # at most 5 % are rejected; a binomial count exceeds this bound once in 100,000 times
    assert np.sum(p <= 0.05) <= stats.binom.ppf(1 - 1e-5, n_draws, 0.05)
    # a p-value is uniform on 1/100, ..., 1; spread within its step it is uniform on (0, 1)
    spread = p - np.random.default_rng(0).random(n_draws) / (n_permutations + 1)
    assert stats.kstest(spread, "uniform").pvalue > 1e-5


@pytest.mark.slow
def test_the_test_is_exact_on_discrete_rows_and_thinned_rows():
    def binary_rows(seed):
        rng = np.random.default_rng(seed)
        return rng.integers(0, 2, size=(60, 2)), rng.permutation(np.arange(60) < 20)

    for settings in ({}, {"max_rows": 30}):
        p = p_values(binary_rows, 300, n_permutations=39, n_centers=4, **settings)
        assert np.sum(p <= 0.05) <= stats.binom.ppf(1 - 1e-5, 300, 0.05)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, pd.DataFrame, lambda X: pl.DataFrame(X)])
def test_a_strong_signal_has_the_smallest_p_value(make):
    for seed in range(3):
        sample = gaussians_problem(shift=4.0, class_prior=0.3).sample(60, 120, seed)
        result = independence_test(make(sample.X), sample.y, n_permutations=99, random_state=seed)
        assert result.p_value == 0.01
        assert result.statistic > result.null_distribution.max()
        assert result.null_distribution.shape == (99,)
        assert result.n_rows == 180


def test_a_signal_in_the_spread_alone_is_found():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)) * 0.3, rng.normal(size=(300, 2))])
    assert independence_test(X, np.arange(450) < 150, n_permutations=99, random_state=0).p_value == 0.01


@pytest.mark.parametrize("binary", [False, True])
def test_the_test_does_not_depend_on_the_order_of_rows(binary):
    sample = gaussians_problem(shift=1.0).sample(40, 80, 0)
    X = (sample.X > 0).astype(float) if binary else sample.X
    shuffle = np.random.default_rng(1).permutation(120)
    here = independence_test(X, sample.y, n_permutations=99, random_state=0)
    there = independence_test(X[shuffle], sample.y[shuffle], n_permutations=99, random_state=0)
    assert here.p_value == there.p_value
    np.testing.assert_allclose(there.statistic, here.statistic, rtol=1e-4)
    np.testing.assert_allclose(there.null_distribution, here.null_distribution, rtol=1e-3, atol=1e-4)


def test_constant_rows_are_no_evidence():
    assert independence_test(np.ones((40, 2)), np.arange(40) < 10, n_permutations=39).p_value == 1.0


def test_large_data_are_thinned_and_both_kinds_kept():
    sample = gaussians_problem(shift=3.0).sample(30, 600, 0)
    result = independence_test(sample.X, sample.y, max_rows=200, n_permutations=49, random_state=0)
    assert 150 <= result.n_rows <= 200
    assert 1 / 50 <= result.p_value <= 1


# -- which columns -----------------------------------------------------------------------------------------------------


def columns_with_a_copy(seed, n_positive=400, n_unlabelled=800):
    """Columns 1 and 3 are informative copies of each other, column 0 is informative by itself, 2 and 4 are noise."""
    rng = np.random.default_rng(seed)
    n = n_positive + n_unlabelled
    y = (np.arange(n) < n_positive).astype(int)
    truth = np.where(y == 1, 1, rng.random(n) < 0.5)
    X = rng.normal(size=(n, 5))
    X[:, 0] += 1.2 * truth
    X[:, 1] += 2.0 * truth
    X[:, 3] = X[:, 1] + 0.01 * rng.normal(size=n)
    return X, y


@pytest.mark.parametrize("seed", range(3))
def test_informative_columns_come_first_and_copies_lose_little(seed):
    X, y = columns_with_a_copy(seed)
    ranking = rank_features(X, y, estimator=PUSMI(n_centers=50, random_state=0))
    assert set(ranking.names[:2]) == {"x1", "x3"}
    assert ranking.names[2] == "x0"
    assert set(ranking.names[3:]) == {"x2", "x4"}
    assert (np.diff(ranking.alone) <= 0).all()
    place = {name: i for i, name in enumerate(ranking.names)}
    copy = place["x1"]
    assert ranking.alone[copy] > 2 * ranking.alone_error[copy]
    assert ranking.loss[copy] < 0.5 * ranking.alone[copy]
    for noise in ("x2", "x4"):
        assert ranking.alone[place[noise]] < 5 * ranking.alone_error[place[noise]] + 0.01
    assert (ranking.alone_error > 0).all()
    assert (ranking.loss_error > 0).all()
    lines = str(ranking).splitlines()
    assert len(lines) == 6
    assert lines[1].split()[0] == ranking.names[0]


def test_a_group_of_copies_left_out_is_a_loss():
    X, y = columns_with_a_copy(0)
    ranking = rank_features(
        X, y, groups={"both": [1, 3], "noise": [2, 4], "first": [0]}, estimator=PUSMI(n_centers=50, random_state=0)
    )
    assert ranking.names == ["both", "first", "noise"]
    assert ranking.loss[0] > 0.5 * ranking.alone[0]
    assert ranking.loss[0] > ranking.loss[2]


def test_groups_by_names_and_by_numbers_are_the_same():
    X, y = columns_with_a_copy(1, 60, 120)
    names = list("abcde")
    model = PUSMI(n_centers=15, random_state=0)
    by_number = rank_features(X, y, groups={"p": [0, 1], "q": (2, 3), "r": np.array([4])}, estimator=model)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        by_name = rank_features(table, y, groups={"p": ["a", "b"], "q": ["c", "d"], "r": ["e"]}, estimator=model)
        assert by_name.names == by_number.names
        np.testing.assert_allclose(by_name.alone, by_number.alone, rtol=1e-9)
        np.testing.assert_allclose(by_name.loss, by_number.loss, rtol=1e-9)
    assert set(rank_features(pd.DataFrame(X, columns=names), y, estimator=model).names) == set(names)
    sparse = rank_features(sp.csr_matrix(X), y, groups={"p": [0, 1], "q": [2, 3], "r": [4]}, estimator=model)
    np.testing.assert_allclose(sparse.alone, by_number.alone, rtol=1e-5, atol=1e-7)


def test_one_group_of_all_columns_loses_everything():
    X, y = columns_with_a_copy(2, 60, 120)
    ranking = rank_features(X, y, groups={"all": range(5)}, estimator=PUSMI(n_centers=15, random_state=0))
    assert ranking.alone[0] == ranking.loss[0] == ranking.full
    assert ranking.alone_error[0] == ranking.loss_error[0]


def test_threads_and_the_estimator_do_not_change_the_ranking():
    X, y = columns_with_a_copy(3, 60, 120)
    model = PUSMI(n_centers=15, random_state=0)
    one, two = (rank_features(X, y, estimator=model, n_jobs=n) for n in (None, 2))
    assert one.names == two.names
    np.testing.assert_array_equal(one.alone, two.alone)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("groups", "error", "sentence"),
    [
        ({"a": [5]}, ValueError, "groups: 'a' names column 5, which X does not have; X has 5 columns."),
        ({"a": [-1]}, ValueError, "names column -1"),
        ({"a": ["age"]}, ValueError, "names column 'age', which X does not have"),
        ({"a": [0.5]}, ValueError, "names column 0.5"),
        ({"a": [True]}, ValueError, "names column True"),
        ({"a": [None]}, ValueError, "names column None"),
        ({"a": []}, ValueError, "groups: 'a' names no columns"),
        ({}, ValueError, "groups is empty; name at least one group of columns."),
        ({"a": "x0"}, TypeError, "groups: 'a' must name a list of columns; 'x0' was given."),
        ({"a": 3}, TypeError, "groups: 'a' must name a list of columns; 3 was given."),
        ([[0], [1]], TypeError, "groups must map names to lists of columns"),
    ],
)
def test_bad_groups(groups, error, sentence):
    X, y = columns_with_a_copy(0, 10, 20)
    with pytest.raises(error, match=sentence):
        rank_features(X, y, groups=groups)
