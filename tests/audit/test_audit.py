"""Audits: the draw, the posterior against quadrature, intervals against the truth, what follows, and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from purely.audit import AuditSample, draw_audit, read_audit, read_audit_labels
from purely.audit._design import inclusion_probabilities, row_sizes
from purely.audit._posterior import BEND, SHIFT, UNEVEN, draw_posterior, group_pool
from purely.exceptions import PromiseWarning


def make_pool(share: float, n: int, seed: int, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are too large, and the truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < round(share * n)
    score = rng.normal(2.0 * truth, 1.0)
    return expit(2.0 * score - 2.0 + np.log(share / (1.0 - share)) + shift), truth


# -- the draw ----------------------------------------------------------------------------------------------------------


def test_rows_are_drawn_as_often_as_the_design_says() -> None:
    probability, _ = make_pool(0.1, 200, 0)
    chances = inclusion_probabilities(row_sizes(probability), 40)
    times, often = 1500, np.zeros(200)
    for seed in range(times):
        sample = draw_audit(probability, 40, random_state=seed)
        often[sample.index] += 1.0
        assert sample.inclusion == pytest.approx(chances[sample.index])
    z = (often / times - chances) / np.sqrt(chances * (1.0 - chances) / times)
    assert np.abs(z).max() < norm.ppf(1.0 - 1e-4 / 400)


def test_chances_sum_to_n_and_never_exceed_one() -> None:
    sizes = np.array([1.0] * 50 + [100.0] * 3)
    for n in (1, 5, 20, 53):
        chances = inclusion_probabilities(sizes, n)
        assert chances.sum() == pytest.approx(n)
        assert 0.0 < chances.min() <= chances.max() <= 1.0


def test_doubtful_rows_are_drawn_more_often_and_none_is_left_out() -> None:
    probability = np.array([0.0] * 500 + [0.5] * 500 + [1.0] * 500)
    chances = inclusion_probabilities(row_sizes(probability), 100)
    assert chances[500] > 3.0 * chances[0] > 0.0
    assert chances[0] == pytest.approx(chances[-1])


def test_a_second_round_adds_rows() -> None:
    probability, _ = make_pool(0.1, 1000, 0)
    first = draw_audit(probability, 50, random_state=0, id=[f"r{i}" for i in range(1000)])
    both = draw_audit(probability, 50, random_state=0, after=first, id=[f"r{i}" for i in range(1000)])
    assert np.array_equal(both.index[:50], first.index)
    assert np.unique(both.index).size == 100
    assert np.array_equal(both.round, np.repeat([1, 2], 50))
    assert both.ids is not None
    assert both.ids[77] == f"r{both.index[77]}"
    once = inclusion_probabilities(row_sizes(probability), 100)[both.index]
    assert both.inclusion == pytest.approx(once, rel=0.1)


# -- the posterior -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("found", "seen"), [(0, 40), (3, 40), (39, 40)])
def test_the_posterior_of_one_group_is_that_of_quadrature(found, seen) -> None:
    n = 100_000  # so large that drawing the rest adds nothing
    pool = group_pool(np.full(n, 0.2))
    posterior = draw_posterior(pool, np.arange(seen), np.arange(seen) < found)
    f = np.linspace(-25.0, 15.0, 8001)
    spread = np.sqrt(SHIFT**2 + BEND**2 + UNEVEN**2)
    density = norm.pdf(f, np.log(0.25), spread) * np.exp(found * f - seen * np.logaddexp(0.0, f))
    cdf = np.cumsum(density) / density.sum()
    drawn = np.sort(posterior.total / n)
    wanted = np.interp(drawn, expit(f), cdf)
    even = (np.arange(drawn.size) + 0.5) / drawn.size
    assert np.abs(wanted - even).max() < 0.1  # chains of 20 steps: some 500 independent draws, 1.63 / sqrt(500)


def test_a_pool_that_was_labelled_throughout_is_known_exactly() -> None:
    probability, truth = make_pool(0.2, 300, 1)
    sample = draw_audit(probability, 300, random_state=0)
    share = read_audit(sample, truth[sample.index], probability).share
    assert share.low == share.value == share.high == pytest.approx(0.2)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_intervals_cover_whatever_the_model_says(share) -> None:
    covered = []
    for seed in range(40):
        probability, truth = make_pool(share, 3000, seed, shift=2.0)
        if seed % 4 == 0:  # a model that is of no use
            probability = np.random.default_rng(seed).permutation(probability)
        sample = draw_audit(probability, 80, random_state=seed)
        estimate = read_audit(sample, truth[sample.index], probability).share
        covered.append(estimate.low <= truth.mean() <= estimate.high)
    assert sum(covered) >= 31  # fewer in one of 500 runs where the level is 90 %


def test_metrics_at_a_threshold_are_near_the_truth() -> None:
    probability, truth = make_pool(0.2, 4000, 3)
    sample = draw_audit(probability, 400, random_state=3)
    result = read_audit(sample, truth[sample.index], probability)
    called = probability > 0.6
    true = {
        "precision": truth[called].mean(),
        "recall": called[truth].mean(),
        "lift": truth[called].mean() / truth.mean(),
        "error": (called != truth).mean(),
    }
    for name, value in true.items():
        estimate = getattr(result, name)(0.6)
        assert abs(estimate.value - value) < 4.0 * estimate.standard_error, name
        assert estimate.low <= estimate.value <= estimate.high
    assert result.calibration.value == pytest.approx(probability.mean() - result.share.value, abs=1e-9)
    curve = result.calibration_curve()
    assert curve.rows.sum() == 4000
    assert (curve.low <= curve.share).all()
    assert (curve.share <= curve.high).all()


def test_missing_labels_widen_the_interval_both_ways() -> None:
    probability, truth = make_pool(0.3, 2000, 5)
    sample = draw_audit(probability, 100, random_state=5)
    labels = truth[sample.index].astype(float)
    whole = read_audit(sample, labels, probability)
    labels[::5] = np.nan
    partly = read_audit(sample, labels, probability)
    assert (partly.n_missing, partly.n_labelled) == (20, 80)
    for name in ("share", "precision", "recall", "error"):
        before, after = (e() if callable(e := getattr(r, name)) else e for r in (whole, partly))
        assert after.low < before.low, name
        assert after.high > before.high or before.high == 1.0, name
    assert "20 rows could not be told" in partly.share.note


# -- what follows ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::purely.exceptions.PromiseWarning")
def test_a_promised_precision_is_kept() -> None:
    kept = []
    for seed in range(30):
        probability, truth = make_pool(0.2, 3000, seed)
        sample = draw_audit(probability, 100, random_state=seed)
        threshold = read_audit(sample, truth[sample.index], probability).threshold_for_precision(0.7)
        if np.isfinite(threshold):
            kept.append(truth[probability > threshold].mean() >= 0.7)
    assert len(kept) >= 20
    assert np.mean(kept) >= 0.7  # of 20 or more at 90 %, fewer in one of 200 runs


def test_a_precision_that_nobody_can_promise_is_not_promised() -> None:
    rng = np.random.default_rng(0)
    probability, truth = rng.random(2000), np.arange(2000) < 100
    sample = draw_audit(probability, 60, random_state=0)
    result = read_audit(sample, truth[sample.index], probability)
    with pytest.warns(PromiseWarning, match="no threshold can promise a precision of 0.9"):
        assert np.isnan(result.threshold_for_precision(0.9))


def test_labelled_positives_that_were_clear_ones_are_found_out() -> None:
    status = {"random": [], "easy": []}
    for seed in range(10):
        probability, truth = make_pool(0.2, 3000, seed)
        sample = draw_audit(probability, 150, random_state=seed)
        result = read_audit(sample, truth[sample.index], probability)
        others, _ = make_pool(0.2, 1500, seed + 100)
        positives = others[:300]
        status["random"].append(result.assumptions(positives).status)
        status["easy"].append(result.assumptions(np.sort(positives)[150:]).status)
    assert status["easy"].count("violated") >= 9
    assert status["random"].count("violated") <= 2


# -- labels and bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        ([1, 0, None], [1, 0, np.nan]),
        ([True, False, False], [1, 0, 0]),
        (["Yes", "NO", "?"], [1, 0, np.nan]),
        (["fraud", "no", ""], [1, 0, np.nan]),
        (["negative", "neg", "n"], [0, 0, 0]),
        ([1.0, 0.0, np.nan], [1, 0, np.nan]),
        (["1", "-1", "unknown"], [1, 0, np.nan]),
    ],
)
def test_labels_are_read_by_what_they_say(labels, read) -> None:
    assert np.array_equal(read_audit_labels(labels), np.array(read, dtype=float), equal_nan=True)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["fraud", "theft", "no"], "labels must have two values; found 3"),
        (["a", "b", "a"], "which of the labels 'a', 'b' marks a positive cannot be told"),
        (["fraud", "fraud", ""], "labels must have two values; found 1"),
        ([1, 0], "one entry for each of the 3 rows drawn; 2 were given"),
        ([None, "", "?"], "no row of the audit has a label yet"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(labels, sentence) -> None:
    probability = np.linspace(0.1, 0.9, 30)
    sample = draw_audit(probability, 3, random_state=0)
    with pytest.raises(ValueError, match=sentence):
        read_audit(sample, labels, probability)


def test_all_no_gives_a_bound() -> None:
    probability = np.linspace(0.001, 0.2, 2000)
    sample = draw_audit(probability, 100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = read_audit(sample, ["no"] * 100, probability)
    assert result.n_positive == 0
    assert 0.0 <= result.share.low < 0.001
    assert 0.005 < result.share.high < 0.08


@pytest.mark.parametrize(
    ("probability", "n", "sentence"),
    [
        ([0.1, 0.2], 3, "n must be at most the 2 rows that the pool has; 3 was given"),
        ([0.1, 1.2], 1, "numbers from 0 to 1"),
        ([0.1, np.nan], 1, "numbers from 0 to 1"),
        ([], 1, "probability is empty"),
        ([[0.1, 0.9]] * 3, 1, "take the second column"),
        ([0.1, 0.2], 0, "n must be an integer of at least 1"),
    ],
)
def test_pools_that_cannot_be_drawn_from_are_refused(probability, n, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        draw_audit(probability, n)


def test_an_audit_is_read_with_the_probabilities_it_was_drawn_by() -> None:
    probability = np.linspace(0.1, 0.9, 30)
    sample: AuditSample = draw_audit(probability, 3, random_state=0)
    with pytest.raises(ValueError, match="drawn from 30 rows and probability has 29"):
        read_audit(sample, [1, 0, 1], probability[:-1])
    with pytest.raises(ValueError, match="probability is not what the audit was drawn by"):
        read_audit(sample, [1, 0, 1], probability[::-1])
    with pytest.raises(ValueError, match="id and probability must have the same length"):
        draw_audit(probability, 3, id=["a"])
