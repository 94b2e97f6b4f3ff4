"""Every metric against the truth of fully labelled data, within its own standard error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from purely.datasets import gaussians_problem
from purely.metrics import (
    pu_accuracy,
    pu_average_precision,
    pu_calibration_curve,
    pu_calibration_error,
    pu_f1,
    pu_precision,
    pu_precision_recall_curve,
    pu_recall,
    pu_report,
    pu_risk,
    pu_roc_auc,
    pu_roc_curve,
)

SCENARIOS = ("case-control", "single-sample")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_metric_is_close_to_the_truth(case, scenario) -> None:
    n_seeds = 5
    gaps: dict[str, list[float]] = {name: [] for name in case.truth}
    for seed in range(n_seeds):
        sample = case.problem.sample(500, 1500, random_state=seed, scenario=scenario)
        report = pu_report(
            sample.y, sample.posterior, case.prior, scenario=scenario, n_resamples=200, random_state=seed
        )
        for name, truth in case.truth.items():
            estimate = report[name]
            assert estimate.low <= estimate.value <= estimate.high
            gaps[name].append((estimate.value - truth) / estimate.standard_error)
    for name, z in gaps.items():
        if name == "calibration_error":  # zero is the end of its range
            continue
        # the mean of five has a standard error of 0.45; small samples bias the average precision by half of one
        assert abs(np.mean(z)) < 4.0 / np.sqrt(n_seeds) + 0.5, (name, z)


@pytest.mark.parametrize("seed", range(3))
def test_with_known_classes_the_formulas_are_those_of_the_textbook(seed) -> None:
    """Labelled rows that are exactly U's positives make P and U consistent without any noise."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat([1, 0], [30, 70]))
    score = np.round(rng.normal(truth, 1.0), 1)  # rounded: ties
    y = np.repeat([1, 0], [30, 100])
    both = np.concatenate([score[truth == 1], score])
    predicted = both > 0.5
    prior, one = 0.3, {"class_prior": 0.3, "n_resamples": 0}
    assert pu_precision(y, predicted, **one).value == pytest.approx(precision_score(truth, score > 0.5))
    assert pu_recall(y, predicted, n_resamples=0).value == pytest.approx(recall_score(truth, score > 0.5))
    assert pu_f1(y, predicted, **one).value == pytest.approx(f1_score(truth, score > 0.5))
    assert pu_accuracy(y, predicted, **one).value == pytest.approx(accuracy_score(truth, score > 0.5))
    assert pu_roc_auc(y, both, **one).value == pytest.approx(roc_auc_score(truth, score))
    assert pu_average_precision(y, both, **one).value == pytest.approx(average_precision_score(truth, score))
    margin = np.where(truth == 1, score, -score)
    for loss, of_margin in (("logistic", np.logaddexp(0, -margin)), ("squared", (1 - margin) ** 2 / 4)):
        assert pu_risk(y, both, prior, loss=loss, n_resamples=0).value == pytest.approx(of_margin.mean())

    curve = pu_roc_curve(y, both, prior, n_resamples=0)
    rate, recall, thresholds = roc_curve(truth, score, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_positive_rate, rate, atol=1e-12)
    np.testing.assert_allclose(curve.true_positive_rate, recall, atol=1e-12)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    pr = pu_precision_recall_curve(y, both, prior, n_resamples=0)
    expected = [precision_score(truth, score >= t) for t in pr.thresholds]
    np.testing.assert_allclose(pr.precision, expected)


@pytest.mark.parametrize("seed", range(3))
def test_single_sample_is_case_control_at_the_share_among_the_unlabelled(seed) -> None:
    """The second route: ranking and rates of the classes do not depend on the scenario, given the matching prior."""
    sample = gaussians_problem().sample(200, 600, random_state=seed, scenario="single-sample")
    score, share = sample.X[:, 0], sample.priors.unlabelled
    one = pu_report(sample.y, score, sample.class_prior, 1.0, scenario="single-sample", n_resamples=0)
    two = pu_report(sample.y, score, share, 1.0, scenario="case-control", n_resamples=0)
    for name in ("recall", "specificity", "balanced_accuracy", "roc_auc"):
        assert one[name].raw == pytest.approx(two[name].raw), name
    assert one["precision"].value != pytest.approx(two["precision"].value)


def test_curves_bend_like_the_truth(case) -> None:
    big = case.problem.sample(1, 200_000, random_state=1)
    negative = np.sort(big.posterior[big.y_true == 0])
    inside = []
    for seed in range(5):
        sample = case.problem.sample(1000, 3000, random_state=seed)
        curve = pu_roc_curve(sample.y, sample.posterior, case.prior, level=0.99, random_state=seed)
        assert (np.diff(curve.false_positive_rate) >= 0).all()
        assert curve.false_positive_rate[-1] == pytest.approx(1.0)
        true_rate = 1.0 - np.searchsorted(negative, curve.thresholds[1:]) / negative.size
        low, high = curve.false_positive_rate_low[1:], curve.false_positive_rate_high[1:]
        inside.append(np.mean((low - 0.01 <= true_rate) & (true_rate <= high + 0.01)))
    assert np.mean(inside) > 0.9
    pr = pu_precision_recall_curve(sample.y, sample.posterior, case.prior, random_state=0)
    assert ((pr.precision_low <= pr.precision) & (pr.precision <= pr.precision_high)).all()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_calibration_error_tells_honest_probabilities_from_others(scenario) -> None:
    problem = gaussians_problem(shift=2.0, class_prior=0.4)
    honest, off = [], []
    for seed in range(4):
        sample = problem.sample(1000, 3000, random_state=seed, scenario=scenario)
        options = {"scenario": scenario, "random_state": seed, "n_resamples": 200}
        honest.append(pu_calibration_error(sample.y, sample.posterior, 0.4, **options))
        off.append(pu_calibration_error(sample.y, 0.2 + 0.6 * sample.posterior, 0.4, **options))
    assert np.mean([e.value for e in honest]) < 0.025
    assert sum(e.low == 0.0 for e in honest) >= 3
    big = problem.sample(1, 200_000, random_state=9)
    truth = np.mean(np.abs(0.2 - 0.4 * big.posterior[1:]))  # |0.2 + 0.6 p - p|
    assert abs(np.mean([e.value for e in off]) - truth) < 3 * np.mean([e.standard_error for e in off]) / 2 + 0.005
    assert all(e.low > 0.05 for e in off)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_calibration_curve_lies_on_the_diagonal_for_the_posterior(scenario, strategy) -> None:
    z = []
    for seed in range(4):
        sample = gaussians_problem().sample(1000, 3000, random_state=seed, scenario=scenario)
        curve = pu_calibration_curve(sample.y, sample.posterior, 0.5, scenario=scenario, strategy=strategy)
        assert curve.share.sum() == pytest.approx(1.0)
        z.append((curve.observed - curve.predicted) / curve.standard_error)
    assert np.abs(np.concatenate(z)).max() < 4.5
    assert np.sqrt(np.mean(np.concatenate(z) ** 2)) < 1.5


def test_nnpu_is_never_below_upu() -> None:
    sample = gaussians_problem(shift=3.0).sample(50, 100, random_state=0)
    for prior in (0.2, 0.5, 0.9):
        upu = pu_risk(sample.y, sample.X[:, 0] - 1.5, prior, loss="sigmoid", n_resamples=0).raw
        nnpu = pu_risk(sample.y, sample.X[:, 0] - 1.5, prior, loss="sigmoid", estimator="nnpu", n_resamples=0).raw
        assert nnpu >= max(upu, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["case-control", pytest.param("single-sample", marks=pytest.mark.full)])
def test_intervals_cover(case, scenario) -> None:
    n_seeds = 100
    covered = dict.fromkeys(case.truth, 0)
    for seed in range(n_seeds):
        sample = case.problem.sample(300, 900, random_state=1000 + seed, scenario=scenario)
        report = pu_report(
            sample.y, sample.posterior, case.prior, scenario=scenario, n_resamples=200, random_state=seed
        )
        for name, truth in case.truth.items():
            covered[name] += report[name].low <= truth <= report[name].high
    for name, count in covered.items():
        # 90 % less three standard errors of the share over 100 draws, and two points for the nonlinear ones
        assert count / n_seeds > 0.9 - 3 * np.sqrt(0.9 * 0.1 / n_seeds) - 0.02, (name, count)


@pytest.mark.slow
def test_intervals_cover_where_the_prior_is_uncertain() -> None:
    """A prior that is off by its own standard error is carried through; taken as known it would not be."""
    problem, error, n_seeds = gaussians_problem(shift=2.0, class_prior=0.4), 0.04, 100
    truth = 0.9214  # Phi(shift / sqrt 2)
    covered, covered_if_known = 0, 0
    for seed in range(n_seeds):
        sample = problem.sample(1000, 3000, random_state=seed)
        prior = 0.4 + error * np.random.default_rng(seed).standard_normal()
        interval = (prior, prior - 1.96 * error, prior + 1.96 * error)
        for class_prior, known in ((interval, False), (prior, True)):
            estimate = pu_roc_auc(sample.y, sample.X[:, 0], class_prior, n_resamples=200, random_state=seed)
            hit = estimate.low <= truth <= estimate.high
            covered, covered_if_known = (
                (covered, covered_if_known + hit) if known else (covered + hit, covered_if_known)
            )
    assert covered / n_seeds > 0.9 - 3 * np.sqrt(0.9 * 0.1 / n_seeds)
    assert covered_if_known < covered
