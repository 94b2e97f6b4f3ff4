"""The difference of two rankings: against the truth, against the areas themselves, and in words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from purely.datasets import gaussians_problem
from purely.metrics import pu_ranking_gain, pu_roc_auc

PROBLEM = gaussians_problem(n_features=3, class_prior=0.3)


def noisy(data, seed):
    """The first column, which tells the class, with noise."""
    return data.X[:, 0] + np.random.default_rng(seed).normal(0.0, 1.0, len(data.X))


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_difference_of_the_estimated_areas(scenario, seed):
    data = PROBLEM.sample(150, 600, random_state=seed)
    prior = 0.45 if scenario == "single-sample" else 0.3
    found = pu_ranking_gain(data.y, data.posterior, noisy(data, seed), prior, scenario=scenario)
    areas = [
        pu_roc_auc(data.y, score, prior, scenario=scenario, n_resamples=0).raw
        for score in (data.posterior, noisy(data, seed))
    ]
    assert found.difference.raw == pytest.approx(areas[0] - areas[1], abs=1e-10)


def test_ties_count_half_in_both():
    data = PROBLEM.sample(100, 300, random_state=0)
    coarse = np.round(data.X[:, 0])
    found = pu_ranking_gain(data.y, coarse, np.zeros(400), 0.3)
    assert found.plain_area == pytest.approx(0.5)
    assert found.difference.raw == pytest.approx(pu_roc_auc(data.y, coarse, 0.3, n_resamples=0).raw - 0.5, abs=1e-10)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    large = PROBLEM.sample(1, 200_000, random_state=99)
    truth = roc_auc_score(large.y_true[1:], large.posterior[1:]) - roc_auc_score(large.y_true[1:], noisy(large, 99)[1:])
    hits = 0
    for seed in range(200):
        data = PROBLEM.sample(150, 600, random_state=seed)
        difference = pu_ranking_gain(data.y, data.posterior, noisy(data, 1000 + seed), 0.3).difference
        hits += difference.low <= truth <= difference.high
    assert 164 <= hits <= 196  # 180 expected; four standard errors


def test_equal_scores_are_level_and_swapped_ones_change_sign():
    data = PROBLEM.sample(200, 800, random_state=1)
    same = pu_ranking_gain(data.y, data.posterior, data.posterior, (0.2, 0.4))
    assert same.difference.value == 0.0
    assert same.verdict == "level"
    assert "equally well" in str(same)
    better = pu_ranking_gain(data.y, data.posterior, noisy(data, 1), (0.2, 0.4))
    worse = pu_ranking_gain(data.y, noisy(data, 1), data.posterior, (0.2, 0.4))
    assert (better.verdict, worse.verdict) == ("better", "worse")
    assert better.difference.low == pytest.approx(-worse.difference.high)
    assert "helps here" in str(better)
    assert "plain forest ranks these rows better" in str(worse)


def test_out_of_fold_and_an_uncertain_prior_make_it_longer():
    data = PROBLEM.sample(200, 800, random_state=2)
    plain, longer, wide = (
        pu_ranking_gain(data.y, data.posterior, noisy(data, 2), prior, out_of_fold=fold).difference
        for prior, fold in ((0.3, False), (0.3, True), ((0.1, 0.6), False))
    )
    assert longer.high - longer.low == pytest.approx(1.25 * (plain.high - plain.low))
    assert wide.high - wide.low > plain.high - plain.low
    assert np.sign(wide.low) == np.sign(plain.low)


def test_a_prior_that_is_too_large_gives_no_area_above_one():
    data = PROBLEM.sample(200, 800, random_state=3)
    found = pu_ranking_gain(data.y, data.posterior, noisy(data, 3), 0.9)
    assert found.area == pytest.approx(1.0)
    assert found.area - found.plain_area == pytest.approx(found.difference.value)


def test_of_several_plain_scores_the_best_is_compared_with():
    data = PROBLEM.sample(200, 800, random_state=4)
    weak, good = noisy(data, 4), data.X[:, 0]
    found = pu_ranking_gain(data.y, data.posterior, [weak, good], 0.3)
    assert found == pu_ranking_gain(data.y, data.posterior, good, 0.3)
    assert found.difference.value < pu_ranking_gain(data.y, data.posterior, weak, 0.3).difference.value


def test_no_prior_is_refused():
    data = PROBLEM.sample(20, 40, random_state=0)
    with pytest.raises(ValueError, match="needs class_prior"):
        pu_ranking_gain(data.y, data.posterior, data.posterior, None)
