"""The generators tell the truth: each claim is checked by a second route, within what the sample size allows."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from purely import datasets
from purely.datasets import (
    Gaussian,
    Mixture,
    PUProblem,
    SelectedGaussian,
    StudentT,
    TrueValue,
    gaussians_problem,
    heavy_tailed_problem,
    high_dimensional_problem,
    imbalanced_problem,
    independent_problem,
    label_biased_problem,
    overlapping_problem,
    paper_problem,
)

PROBLEMS = {
    "gaussians": gaussians_problem(shift=1.5),
    "gaussians-3d": gaussians_problem(shift=1.0, class_prior=0.3, n_features=3),
    "paper": paper_problem(),
    "paper-half": paper_problem(class_prior=0.5),
    "overlapping": overlapping_problem(),
    "high-dimensional": high_dimensional_problem(n_features=20),
    "two-sided": high_dimensional_problem(n_features=8, two_sided=True),
    "rare-positives": imbalanced_problem(),
    "rare-negatives": imbalanced_problem(class_prior=0.95),
    "heavy-tailed": heavy_tailed_problem(),
    "heavy-tailed-1d": heavy_tailed_problem(n_features=1),
    "label-biased": label_biased_problem(),
    "independent": independent_problem(class_prior=0.3),
}
ON_A_LINE = [name for name, p in PROBLEMS.items() if p.n_features == 1 or p.projection is not None]
MAKERS = sorted(name for name in datasets.__all__ if name.startswith("make_") and name != "make_pu")

#: A bound that a normal deviate passes once in two million draws.
Z = 5.0

each_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
seeds = pytest.mark.parametrize("seed", range(3))


@cache
def information(problem: PUProblem) -> TrueValue:
    return problem.information()


@cache
def labelled_information(problem: PUProblem) -> TrueValue:
    return information(problem) if problem.labelled is None else problem.labelled_information()


@pytest.mark.parametrize("name", ON_A_LINE)
def test_densities_integrate_to_one(name: str) -> None:
    line = PROBLEMS[name].reduced()
    u = np.linspace(-np.pi / 2, np.pi / 2, 100_001)[1:-1]
    t = 5.0 * np.tan(u)
    weights = 5.0 * (1.0 + np.tan(u) ** 2)
    for density in (line.positive_density, line.negative_density, line.density):
        assert trapezoid(density(t[:, None]) * weights, u) == pytest.approx(1.0, abs=1e-4)
    labelled = line.labelled_density_ratio(t[:, None]) * line.density(t[:, None])
    assert trapezoid(labelled * weights, u) == pytest.approx(1.0, abs=1e-4)


@seeds
def test_columns_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, s, df = rng.normal(size=3), rng.uniform(0.1, 5.0, 3), rng.uniform(0.5, 9.0)
    X = 100.0 * rng.standard_cauchy((200, 3))
    for density, law in ((Gaussian(m, s), stats.norm(m, s)), (StudentT(m, s, df), stats.t(df, m, s))):
        np.testing.assert_allclose(density.log_density(X), law.logpdf(X).sum(axis=1), rtol=1e-10)
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        np.testing.assert_allclose(density.sample(20, ours), law.rvs((20, 3), random_state=theirs), rtol=1e-12)


@each_problem
def test_densities_ratio_and_posterior_agree(problem: PUProblem) -> None:
    X = problem.sample(50, 200, 0).X
    p1, p0, p = problem.positive_density(X), problem.negative_density(X), problem.density(X)
    pi = problem.class_prior
    np.testing.assert_allclose(p, pi * p1 + (1 - pi) * p0, rtol=1e-10)
    np.testing.assert_allclose(problem.density_ratio(X), p1 / p, rtol=1e-9)
    np.testing.assert_allclose(problem.posterior(X), pi * problem.density_ratio(X), rtol=1e-12)


@pytest.mark.parametrize("name", ON_A_LINE)
def test_the_reduction_keeps_the_ratio(name: str) -> None:
    problem = PROBLEMS[name]
    line = problem.reduced()
    X = problem.sample(100, 300, 1).X
    t = X if problem.projection is None else (X @ problem.projection)[:, None]
    np.testing.assert_allclose(line.density_ratio(t), problem.density_ratio(X), rtol=1e-9)
    np.testing.assert_allclose(line.labelled_density_ratio(t), problem.labelled_density_ratio(X), rtol=1e-9)
    np.testing.assert_allclose(line.propensity(t), problem.propensity(X), rtol=1e-9)


@each_problem
def test_far_out_nothing_is_undefined(problem: PUProblem) -> None:
    for far in (1e3, 1e6, 1e100, -1e6):
        X = np.full((1, problem.n_features), far)
        with np.errstate(invalid="raise", divide="raise"):
            posterior, ratio = problem.posterior(X), problem.density_ratio(X)
        assert 0.0 <= posterior[0] <= 1.0
        assert np.isfinite(ratio[0])


def test_the_posterior_is_right_where_the_densities_underflow() -> None:
    X = np.array([[300.0], [-300.0]])
    problem = gaussians_problem(shift=2.0)
    assert problem.density(X).max() == 0.0
    # odds of exp(2 x - 2) to one
    np.testing.assert_allclose(problem.posterior(X), [1.0, np.exp(-602.0)], rtol=1e-9)
    assert problem.posterior(X)[0] == 1.0


@each_problem
@seeds
def test_the_ratio_averages_to_one_over_the_unlabelled_rows(problem: PUProblem, seed: int) -> None:
    # the variance of w over the population is twice the information
    n = 20_000
    sample = problem.sample(10, n, seed)
    unlabelled = sample.y == 0
    for ratio, truth in (
        (sample.density_ratio, information(problem)),
        (sample.labelled_density_ratio, labelled_information(problem)),
    ):
        error = np.sqrt(2.0 * truth.value / n)
        assert abs(ratio[unlabelled].mean() - 1.0) <= Z * error + 1e-9


@each_problem
@seeds
def test_samples_follow_the_densities(problem: PUProblem, seed: int) -> None:
    # E_P[f] = E_U[w_P f] for any f; a bounded one, so that the heavy tails do no harm
    sample = problem.sample(20_000, 20_000, seed)
    labelled = sample.y == 1
    f = np.tanh(sample.X - problem.sample(1, 1, 0).X[:1]).mean(axis=1)
    left, right = f[labelled], (sample.labelled_density_ratio * f)[~labelled]
    error = np.hypot(left.std() / np.sqrt(left.size), right.std() / np.sqrt(right.size))
    assert abs(left.mean() - right.mean()) <= Z * error
    hidden = f[~labelled & (sample.y_true == 1)]
    if problem.labelled is None and hidden.size > 1_000:
        error = np.hypot(left.std() / np.sqrt(left.size), hidden.std() / np.sqrt(hidden.size))
        assert abs(left.mean() - hidden.mean()) <= Z * error


@each_problem
@seeds
def test_quadrature_and_large_sample_agree(problem: PUProblem, seed: int) -> None:
    for truth, labelled in ((information(problem), False), (labelled_information(problem), True)):
        by_sample = problem.information_by_sample(50_000, 100 + seed, labelled=labelled)
        slack = 4.0 * np.hypot(by_sample.error, truth.error)
        assert abs(truth.value - by_sample.value) <= slack + 1e-12
        if problem.labelled is None:
            break


@each_problem
def test_the_information_is_the_objective_at_the_true_ratio(problem: PUProblem) -> None:
    sample = problem.sample(40_000, 40_000, 5)
    w = sample.labelled_density_ratio
    w_p, w_u = w[sample.y == 1], w[sample.y == 0]
    minus_j = w_p.mean() - 0.5 * (w_u**2).mean()
    error = np.hypot(w_p.std(), 0.5 * (w_u**2).std()) / np.sqrt(40_000)
    assert abs(minus_j - 0.5 - labelled_information(problem).value) <= Z * error + 1e-9


@pytest.mark.parametrize("name", ON_A_LINE)
def test_quadrature_is_used_on_a_line_and_is_sharp(name: str) -> None:
    truth = information(PROBLEMS[name])
    assert truth.method == "quadrature"
    assert truth.error <= 1e-9 * max(truth.value, 1.0)


def test_information_known_in_closed_form() -> None:
    assert independent_problem().information().value == pytest.approx(0.0, abs=1e-12)
    # classes apart: w is 1 / prior on the positives and 0 elsewhere, so I = (1 / prior - 1) / 2 and SMI = 1 / 2
    for prior in (0.01, 0.3, 0.95):
        apart = gaussians_problem(shift=40.0, class_prior=prior)
        assert apart.information().value == pytest.approx((1.0 / prior - 1.0) / 2.0, rel=1e-8)
        assert apart.smi().value == pytest.approx(0.5, rel=1e-8)
    # the second column adds nothing
    assert gaussians_problem(n_features=4).information().value == pytest.approx(
        gaussians_problem().information().value, rel=1e-9
    )


def test_smi_is_the_definition_of_the_paper() -> None:
    # sum over both classes of p(y) / 2 * int (p(x, y) / (p(x) p(y)) - 1)^2 p(x) dx
    problem = gaussians_problem(shift=1.3, class_prior=0.2)
    t = np.linspace(-12.0, 14.0, 200_001)[:, None]
    p, p1, p0 = problem.density(t), problem.positive_density(t), problem.negative_density(t)
    smi = sum(prior / 2.0 * trapezoid((py / p - 1.0) ** 2 * p, t[:, 0]) for prior, py in ((0.2, p1), (0.8, p0)))
    assert problem.smi().value == pytest.approx(smi, rel=1e-6)


@each_problem
@seeds
def test_the_share_of_positives_is_the_prior(problem: PUProblem, seed: int) -> None:
    n, pi = 20_000, problem.class_prior
    sample = problem.sample(7, n, seed)
    assert sample.X.shape == (n + 7, problem.n_features)
    assert sample.y.sum() == 7
    assert np.all(sample.y_true[sample.y == 1] == 1)
    assert abs(sample.y_true[sample.y == 0].mean() - pi) <= Z * np.sqrt(pi * (1 - pi) / n)
    exact = problem.sample(7, n, seed, exact_counts=True)
    assert exact.y_true[exact.y == 0].sum() == round(pi * n)


@seeds
def test_counts_that_are_not_exact_vary(seed: int) -> None:
    found = {int(paper_problem().sample(1, 500, 10 * seed + k).y_true.sum()) for k in range(8)}
    assert len(found) > 1


@each_problem
@seeds
def test_one_sample(problem: PUProblem, seed: int) -> None:
    n_p, n_u, pi = int(2_000 * problem.class_prior), 18_000, problem.class_prior
    sample = problem.sample(n_p, n_u, seed, scenario="single-sample")
    n = n_p + n_u
    # all rows together are the population
    assert abs(sample.y_true.mean() - pi) <= Z * np.sqrt(pi * (1 - pi) / n)
    assert abs(sample.density_ratio.mean() - 1.0) <= Z * np.sqrt(2.0 * information(problem).value / n) + 1e-9
    assert sample.priors.unlabelled == pytest.approx((pi * n - n_p) / n_u)
    exact = problem.sample(n_p, n_u, seed, scenario="single-sample", exact_counts=True)
    assert exact.y_true.sum() == round(pi * n)
    assert exact.y.sum() == n_p


def test_one_sample_refuses_more_labels_than_positives() -> None:
    with pytest.raises(ValueError, match=r"leaves about 30 positives .* of 100 rows, but n_positive=40"):
        gaussians_problem(class_prior=0.3).sample(40, 60, scenario="single-sample")


@seeds
def test_labels_are_biased_and_the_propensity_says_so(seed: int) -> None:
    problem = label_biased_problem(bias=2.0)
    for scenario in ("case-control", "single-sample"):
        sample = problem.sample(2_000, 10_000, seed, scenario=scenario)
        hidden = (sample.y == 0) & (sample.y_true == 1)
        labelled, left = sample.propensity[sample.y == 1], sample.propensity[hidden]
        assert labelled.mean() - left.mean() > 0.1
    # e(x) over all positives averages to one half; among the labelled, 1 / e(x) does so to 2
    positives = problem.positive.sample(20_000, np.random.default_rng(seed))
    e = problem.propensity(positives)
    assert abs(e.mean() - 0.5) <= Z * e.std() / np.sqrt(e.size)
    np.testing.assert_allclose(
        problem.labelled_density_ratio(positives), 2.0 * e * problem.density_ratio(positives), rtol=1e-9
    )


@seeds
def test_the_rate_of_a_selection_off_centre(seed: int) -> None:
    base = Gaussian([1.0, -2.0], [2.0, 0.5])
    selected = SelectedGaussian(base, [1.0, 1.0], slope=1.5, centre=0.5)
    e = selected.propensity(base.sample(50_000, np.random.default_rng(seed)))
    assert abs(e.mean() - selected.rate) <= Z * e.std() / np.sqrt(e.size)
    # kept rows: E[f] = E[e f] / rate
    kept = selected.sample(50_000, np.random.default_rng(seed + 10))[:, 0]
    rows = base.sample(50_000, np.random.default_rng(seed + 20))
    weighted = selected.propensity(rows) * rows[:, 0] / selected.rate
    error = np.hypot(kept.std(), weighted.std()) / np.sqrt(50_000)
    assert abs(kept.mean() - weighted.mean()) <= Z * error


def test_no_bias_is_selection_at_random() -> None:
    problem = label_biased_problem(bias=0.0)
    X = problem.sample(10, 50, 0).X
    np.testing.assert_allclose(problem.labelled_density_ratio(X), problem.density_ratio(X), rtol=1e-12)
    np.testing.assert_array_equal(problem.propensity(X), 0.5)


def test_overlapping_classes_have_no_pure_region() -> None:
    pi, share = 0.4, 0.25
    problem = overlapping_problem(class_prior=pi, contamination=share)
    highest = problem.posterior(np.column_stack([np.linspace(-50, 50, 1001), np.zeros(1001)])).max()
    assert highest == pytest.approx(pi / (pi + (1 - pi) * share), rel=1e-9)


def test_uninformative_columns_do_not_enter() -> None:
    problem = high_dimensional_problem()
    X = problem.sample(5, 20, 0).X
    other = X.copy()
    other[:, 3:] = 0.0
    np.testing.assert_allclose(problem.posterior(X), problem.posterior(other), rtol=1e-9)
    other[:, 0] += 1.0
    assert np.all(problem.posterior(X) != problem.posterior(other))


@pytest.mark.parametrize("name", MAKERS)
def test_makers(name: str) -> None:
    make = getattr(datasets, name)
    sample = make(30, 120, class_prior=0.4, random_state=3)
    assert sample.X.shape == (150, sample.problem.n_features)
    assert (sample.n_positive, sample.n_unlabelled, sample.class_prior) == (30, 120, 0.4)
    np.testing.assert_array_equal(sample.X, make(30, 120, class_prior=0.4, random_state=3).X)
    assert not np.array_equal(sample.X, make(30, 120, class_prior=0.4, random_state=4).X)
    np.testing.assert_array_equal(sample.posterior, sample.problem.posterior(sample.X))
    one = make(10, 140, class_prior=0.4, random_state=3, scenario="single-sample", exact_counts=True)
    assert (one.scenario, one.y_true.sum()) == ("single-sample", 60)


@pytest.mark.parametrize("name", MAKERS)
def test_makers_share_their_problem_s_arguments_and_defaults(name: str) -> None:
    stem = {"make_paper_data": "paper"}.get(name, name.removeprefix("make_"))
    problem = inspect.signature(getattr(datasets, f"{stem}_problem")).parameters
    maker = inspect.signature(getattr(datasets, name)).parameters
    assert {k: p.default for k, p in problem.items()} == {k: maker[k].default for k in problem}


def test_randomness_is_private() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    paper_problem().sample(10, 10, 0)
    paper_problem().sample(10, 10, np.random.default_rng(0))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_samples_pickle_and_do_not_change() -> None:
    sample = datasets.make_paper_data(5, 10, random_state=0)
    again = pickle.loads(pickle.dumps(sample))
    np.testing.assert_array_equal(again.problem.posterior(sample.X), sample.posterior)
    with pytest.raises(FrozenInstanceError):
        sample.class_prior = 0.1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: paper_problem(class_prior=1.0), "class_prior must be a number strictly between 0 and 1; 1.0"),
        (lambda: paper_problem().posterior([[0.0]]), r"X has 1 column\(s\); this problem has 2"),
        (lambda: paper_problem().sample(0, 10), "n_positive"),
        (lambda: paper_problem().sample(10, 10, scenario="both"), "scenario must be"),
        (lambda: high_dimensional_problem(n_features=2), "n_informative must be at most n_features=2; 3 was given"),
        (lambda: overlapping_problem(contamination=1.0), r"contamination must lie in \[0, 1\)"),
        (lambda: heavy_tailed_problem(outlier_share=-0.1), r"outlier_share must lie in \[0, 1\)"),
        (lambda: label_biased_problem(bias=np.nan), "bias must be a finite number; nan was given"),
        (lambda: heavy_tailed_problem(df=0.0), "df must be a positive number"),
        (lambda: heavy_tailed_problem().reduced(), "no direction is known"),
        (lambda: Gaussian([0.0], [0.0]), "std must be positive and finite"),
        (lambda: Gaussian([0.0, 0.0], [1.0, 1.0, 1.0]), r"std must be one number or one for each of the 2 column\(s\)"),
        (lambda: StudentT([np.nan]), "location must be a non-empty vector of finite numbers"),
        (lambda: Mixture([0.5, 0.6], [Gaussian([0.0]), Gaussian([1.0])]), "weights must be positive and sum to one"),
        (lambda: Mixture([1.0], [Gaussian([0.0]), Gaussian([1.0])]), "one value for each of the 2 components"),
        (lambda: Mixture([0.5, 0.5], [Gaussian([0.0]), Gaussian([1.0, 0.0])]), "same dimension"),
        (lambda: PUProblem(Gaussian([0.0]), Gaussian([0.0, 1.0]), 0.5), "same dimension; they have 1 and 2"),
        (
            lambda: PUProblem(Gaussian([0.0]), Gaussian([0.0]), 0.5, projection=[1, 0]),
            r"projection must have shape \(1,\)",
        ),
    ],
)
def test_refusals(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
