"""Priors with intervals, ends of ranges, ties, few rows, and bad input."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from purely.class_prior import Prior, read_prior
from purely.datasets import gaussians_problem, make_gaussians
from purely.exceptions import DegenerateDataWarning
from purely.metrics import (
    pu_accuracy,
    pu_average_precision,
    pu_calibration_error,
    pu_f1,
    pu_lee_liu,
    pu_lift,
    pu_precision,
    pu_recall,
    pu_report,
    pu_risk,
    pu_roc_auc,
    pu_roc_curve,
    pu_specificity,
)

Y = np.repeat([1, 0], [20, 80])


@pytest.fixture(scope="module")
def sample():
    return make_gaussians(200, 600, random_state=0)


def test_the_priors_interval_widens_the_metrics(sample) -> None:
    score = sample.X[:, 0]
    known = pu_roc_auc(sample.y, score, 0.5, random_state=0)
    narrow = pu_roc_auc(sample.y, score, (0.48, 0.52), random_state=0)
    wide = pu_roc_auc(sample.y, score, (0.3, 0.7), random_state=0)
    assert known.value == narrow.value == wide.value
    assert known.standard_error < narrow.standard_error < wide.standard_error
    recall = pu_recall(sample.y, score > 1, (0.3, 0.7), random_state=0)
    assert recall.standard_error == pu_recall(sample.y, score > 1, random_state=0).standard_error


def test_priors_are_read_from_whatever_carries_one() -> None:
    estimator = SimpleNamespace(class_prior_=0.4, class_prior_interval_=(0.3, 0.6), level=0.9)
    assert read_prior(estimator) == Prior(0.4, 0.3, 0.6, 0.9)
    assert read_prior(SimpleNamespace(class_prior_=0.4)) == Prior(0.4, 0.4, 0.4)
    draws = read_prior(estimator).draw(20_000, np.random.default_rng(0))
    below, above = np.mean(draws < 0.3), np.mean(draws > 0.6)
    assert below == pytest.approx(0.05, abs=0.01)
    assert above == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_an_estimated_prior_at_the_end_warns_and_stays_finite(sample, at) -> None:
    with pytest.warns(DegenerateDataWarning, match="estimated a class prior of"):
        report = pu_report(sample.y, sample.posterior, SimpleNamespace(class_prior_=at), n_resamples=50)
    for estimate in report:
        assert np.isfinite([estimate.value, estimate.standard_error, estimate.low]).all(), estimate


@pytest.mark.parametrize("prior", [1e-6, 1 - 1e-6])
def test_extreme_priors_stay_finite_and_legal(sample, prior) -> None:
    for estimate in pu_report(sample.y, sample.posterior, prior, n_resamples=50, random_state=0):
        assert np.isfinite(estimate.value)
        assert 0.0 <= estimate.low <= estimate.value <= estimate.high


def test_a_prior_that_is_too_large_is_noted() -> None:
    sample = gaussians_problem(shift=4.0, class_prior=0.3).sample(500, 1000, random_state=0)
    estimate = pu_precision(sample.y, sample.posterior > 0.5, 0.6, random_state=0)
    assert estimate.value == 1.0
    assert estimate.raw > 1.5
    assert "class prior 0.6 is too large" in estimate.note
    assert pu_precision(sample.y, sample.posterior > 0.5, 0.3, random_state=0).raw < 1.2


def test_constant_scores_rank_nothing() -> None:
    score = np.full(Y.size, 0.3)
    auc = pu_roc_auc(Y, score, 0.4, random_state=0)
    assert auc.value == pytest.approx(0.5)
    assert "rank nothing" in auc.note
    assert pu_average_precision(Y, score, 0.4, random_state=0).value == pytest.approx(0.4)
    assert pu_roc_curve(Y, score, 0.4).false_positive_rate.tolist() == [0.0, 1.0]


def test_all_positive_and_all_negative_answers() -> None:
    ones, zeros = np.ones(Y.size), np.zeros(Y.size)
    assert pu_precision(Y, ones, 0.3).value == pytest.approx(0.3)
    assert pu_accuracy(Y, ones, 0.3).value == pytest.approx(0.3)
    assert pu_accuracy(Y, zeros, 0.3).value == pytest.approx(0.7)
    assert pu_specificity(Y, zeros, 0.3).value == pytest.approx(1.0)
    assert pu_lift(Y, ones).value == pytest.approx(1.0)
    assert pu_lee_liu(Y, ones).value == pytest.approx(1.0)
    assert pu_f1(Y, zeros, 0.3).value == 0.0
    nothing = pu_precision(Y, zeros, 0.3)
    assert nothing.value == 0.0
    assert "No row is predicted positive" in nothing.note
    perfect = pu_recall(Y, ones)
    assert perfect.value == perfect.high == 1.0
    assert 0.8 < perfect.low < 1.0  # all of 20 is not all of them


def test_one_labelled_positive() -> None:
    y = np.repeat([1, 0], [1, 50])
    report = pu_report(y, np.linspace(1, 0, 51), 0.2, random_state=0)
    assert (report["roc_auc"].low, report["roc_auc"].high) == (0.0, 1.0)
    assert report["recall"].low < 0.5
    assert all(np.isfinite(e.value) for e in report)


@pytest.mark.parametrize("coding", [(1, -1), (True, False), ("yes", "no"), (5, 2), (2, 1)])
def test_any_coding_of_labels_and_predictions(coding) -> None:
    rng = np.random.default_rng(0)
    predicted = rng.random(Y.size) < 0.4
    y = np.where(Y == 1, *coding)
    expected = pu_f1(Y, predicted, 0.3, n_resamples=0).value
    assert pu_f1(y, predicted, 0.3, n_resamples=0).value == expected
    assert pu_f1(y, np.where(predicted, *coding), 0.3, n_resamples=0).value == expected


def test_same_seed_same_interval_and_order_of_rows_does_not_matter(sample) -> None:
    first = pu_f1(sample.y, sample.X[:, 0] > 1, 0.5, random_state=3)
    assert first == pu_f1(sample.y, sample.X[:, 0] > 1, 0.5, random_state=3)
    order = np.random.default_rng(0).permutation(sample.y.size)
    for metric in (pu_roc_auc, pu_average_precision):
        a = metric(sample.y, sample.X[:, 0], 0.5, random_state=3)
        b = metric(sample.y[order], sample.X[order, 0], 0.5, random_state=3)
        assert (a.value, a.low) == pytest.approx((b.value, b.low))


def test_a_monotone_map_of_the_score_changes_no_ranking_metric(sample) -> None:
    score = sample.X[:, 0]
    for metric in (pu_roc_auc, pu_average_precision):
        assert metric(sample.y, score, 0.5, random_state=0) == metric(sample.y, np.exp(score), 0.5, random_state=0)


def test_no_draws_no_interval(sample) -> None:
    estimate = pu_roc_auc(sample.y, sample.X[:, 0], 0.5, n_resamples=0)
    assert np.isnan([estimate.standard_error, estimate.low, estimate.high]).all()
    assert float(estimate) == estimate.value


def test_report_prints_and_pickles(sample) -> None:
    report = pu_report(sample.y, sample.posterior, (0.4, 0.6), random_state=0, n_resamples=50)
    text = str(report)
    for name in ("accuracy", "roc_auc", "calibration_error", "Assumption: The labelled positives"):
        assert name in text
    assert str(pickle.loads(pickle.dumps(report))) == text
    assert report.to_dict()["f1"] == report["f1"].value
    assert "brier" not in pu_report(sample.y, sample.X[:, 0], 0.5, 1.0, n_resamples=0).estimates


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: pu_f1(Y, np.ones(99), 0.3),
            ValueError,
            "y_pred and y must have the same length; they have 99 and 100",
        ),
        (lambda: pu_f1(Y, np.linspace(0, 1, 100), 0.3), ValueError, "Compare scores with a threshold first"),
        (lambda: pu_roc_auc(Y, np.full(100, np.nan), 0.3), ValueError, "score has 100 NaN or infinite value"),
        (lambda: pu_roc_auc(Y, np.ones(100), 1.2), ValueError, "class_prior must be a number strictly between 0 and 1"),
        (lambda: pu_roc_auc(Y, np.ones(100), None), ValueError, "roc_auc needs class_prior"),
        (lambda: pu_roc_auc(Y, np.ones(100), (0.6, 0.2)), ValueError, "low <= value <= high"),
        (lambda: pu_roc_auc(Y, np.ones(100), (0.6,)), ValueError, "it has 1 entries"),
        (lambda: pu_roc_auc(Y, np.ones(100), SimpleNamespace(fit=1)), TypeError, "has not been fitted"),
        (lambda: pu_roc_auc(Y, np.ones(100), 0.1, scenario="single-sample"), ValueError, "below the labelled share"),
        (lambda: pu_roc_auc(Y, np.ones(100), 0.3, scenario="both"), ValueError, "scenario must be"),
        (lambda: pu_roc_auc(Y, np.ones(100), 0.3, level=95), ValueError, "level must be a number strictly between"),
        (lambda: pu_roc_auc(Y, np.ones(100), 0.3, n_resamples=-1), ValueError, "n_resamples"),
        (lambda: pu_risk(Y, np.ones(100), 0.3, loss="ramp"), ValueError, "loss must be one of 'zero-one'"),
        (lambda: pu_risk(Y, np.ones(100), 0.3, estimator="pn"), ValueError, "estimator must be one of 'upu', 'nnpu'"),
        (lambda: pu_risk(Y, 2 * np.ones(100), 0.3, loss="brier"), ValueError, "needs probabilities"),
        (lambda: pu_calibration_error(Y, 2 * np.ones(100), 0.3), ValueError, "probability must lie between 0 and 1"),
        (lambda: pu_calibration_error(Y, np.ones(100), 0.3, strategy="x"), ValueError, "strategy must be"),
        (lambda: pu_roc_auc(np.arange(100), np.ones(100), 0.3), ValueError, "y has 100 different values"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_intervals_of_out_of_fold_scores_are_longer(sample) -> None:
    data = sample
    plain, longer = (
        pu_report(data.y, data.posterior, 0.5, out_of_fold=folds, random_state=0) for folds in (False, True)
    )
    for name, estimate in longer.estimates.items():
        before = plain[name]
        assert estimate.value == before.value
        assert estimate.standard_error == pytest.approx(1.25 * before.standard_error)
        assert estimate.low <= before.low <= before.high <= estimate.high
        if name != "lift":
            assert 0.0 <= estimate.low <= estimate.high <= 1.0
    low, high = (plain["accuracy"].value - end for end in (plain["accuracy"].low, longer["accuracy"].low))
    assert high == pytest.approx(1.25 * low)
