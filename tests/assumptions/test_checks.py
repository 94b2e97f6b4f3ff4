"""Size on data that keep the assumptions, power on data that break them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from purely.assumptions import (
    check_assumptions,
    check_identifiability,
    check_sampling,
    check_selection,
    check_top,
)
from purely.datasets import (
    gaussians_problem,
    independent_problem,
    label_biased_problem,
    overlapping_problem,
    paper_problem,
)

N_SEEDS = 40
#: A test of size .05 rejects more often than this with a chance of a thousandth (binomial, 40 draws).
MOST_REJECTIONS = 8


def statuses(
    problem, check, *, n_positive=400, n_unlabelled=1000, scenario="case-control", n_seeds=N_SEEDS
) -> list[str]:
    return [
        check(problem.sample(n_positive, n_unlabelled, random_state=seed, scenario=scenario)).status
        for seed in range(n_seeds)
    ]


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("problem", [gaussians_problem(), gaussians_problem(shift=4.0), paper_problem()])
def test_size(problem, scenario) -> None:
    prior = problem.class_prior
    for check in (
        lambda s: check_selection(s.y, s.posterior, prior, scenario=scenario),
        lambda s: check_top(s.y, s.posterior),
        lambda s: check_sampling(s.y, s.posterior, prior, X=s.X, scenario=scenario),
    ):
        found = statuses(problem, check, scenario=scenario)
        assert sum(status != "ok" for status in found) <= MOST_REJECTIONS


def test_power_against_labels_that_prefer_clear_positives() -> None:
    found = statuses(label_biased_problem(), lambda s: check_selection(s.y, s.posterior, 0.5), n_seeds=10)
    assert found == ["violated"] * 10


def test_power_against_labels_that_shun_clear_positives() -> None:
    found = statuses(label_biased_problem(bias=-1.5), lambda s: check_top(s.y, s.posterior), n_seeds=10)
    assert found == ["violated"] * 10


def test_a_prior_that_is_too_large_is_contradicted_and_bounded() -> None:
    problem = gaussians_problem(shift=3.0)
    for seed in range(10):
        sample = problem.sample(400, 1000, random_state=seed)
        check = check_selection(sample.y, sample.posterior, 0.75)
        assert check.status == "violated"
        assert 0.4 < check.details["largest_prior"] < 0.7
        assert "the class prior 0.75 is too large" in check.message
        # the low end of an interval counts: a prior that may well be smaller is no contradiction
        assert check_selection(sample.y, sample.posterior, (0.4, 0.9)).status == "ok"


def test_the_largest_prior_is_an_upper_bound() -> None:
    problem = gaussians_problem(shift=3.0, class_prior=0.3)
    for scenario in ("case-control", "single-sample"):
        bounds = [
            check_selection(s.y, s.posterior, 0.3, scenario=scenario).details["largest_prior"]
            for s in (problem.sample(200, 1000, random_state=seed, scenario=scenario) for seed in range(N_SEEDS))
        ]
        assert sum(bound < 0.3 for bound in bounds) <= MOST_REJECTIONS
        assert np.median(bounds) < 0.5


def test_identifiability_flat_rising_and_absent() -> None:
    flat = statuses(paper_problem(), lambda s: check_identifiability(s.y, s.posterior))
    assert sum(status != "ok" for status in flat) <= MOST_REJECTIONS
    none = statuses(independent_problem(), lambda s: check_identifiability(s.y, s.X[:, 0]))
    assert sum(status == "violated" for status in none) >= N_SEEDS - MOST_REJECTIONS
    # next to no positives among the unlabelled: the ratio exp(1.5 x) grows without end
    y = np.repeat([1, 0], [2000, 8000])
    for seed in range(5):
        score = np.random.default_rng(seed).normal(1.5 * y, 1.0)
        assert check_identifiability(y, score).status == "violated"
    few = statuses(paper_problem(), lambda s: check_identifiability(s.y, s.posterior), n_positive=30, n_unlabelled=60)
    assert set(few) <= {"doubtful", "violated"}


def test_an_impure_flat_top_is_not_seen_and_the_message_says_so() -> None:
    problem = overlapping_problem(shift=3.0, contamination=0.3)
    samples = [problem.sample(1000, 2000, random_state=seed) for seed in range(8)]
    checks = [check_identifiability(s.y, s.posterior) for s in samples]
    bounds = [check.details["largest_unlabelled_prior"] for check in checks]
    assert np.mean(bounds) > 0.55  # the prior is 0.5, the flat top says 0.65
    flat = [check for check in checks if check.status == "ok"]
    assert len(flat) >= 5
    assert all("if all rows at the top are positive" in check.message for check in flat)


def test_single_sample_rows_passed_as_case_control() -> None:
    problem = gaussians_problem(shift=3.0)
    found = statuses(
        problem,
        lambda s: check_sampling(s.y, s.posterior, 0.5, scenario="case-control"),
        scenario="single-sample",
        n_seeds=10,
    )
    assert found.count("doubtful") >= 8


@pytest.mark.parametrize("kind", ["array", "frame", "sparse"])
def test_labelled_rows_left_among_the_unlabelled(kind) -> None:
    sample = gaussians_problem(n_features=3).sample(100, 400, random_state=0)
    X = np.concatenate([sample.X, sample.X[:100]])
    y = np.concatenate([sample.y, np.zeros(100, dtype=int)])
    wrap = {"array": np.asarray, "frame": pd.DataFrame, "sparse": sp.csr_array}[kind]
    check = check_sampling(y, X=wrap(X), scenario="single-sample")
    assert (check.status, check.statistic) == ("violated", 1.0)
    assert "100% of the labelled rows are also among the unlabelled" in check.message
    assert check_sampling(y, X=wrap(X), scenario="case-control").status == "doubtful"
    assert check_sampling(sample.y, X=wrap(sample.X), scenario="single-sample").status == "ok"


def test_rows_that_repeat_anyway_are_no_sign() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (500, 2)).astype(float), np.repeat([1, 0], [100, 400])
    assert check_sampling(y, X=X, scenario="single-sample").status == "ok"


def test_report_of_all_checks() -> None:
    sample = label_biased_problem().sample(400, 1000, random_state=0)
    report = check_assumptions(sample.y, sample.posterior, 0.5, X=sample.X)
    assert report.status == "violated"
    assert [check.name for check in report.checks] == ["selection", "top", "identifiability", "sampling"]
    assert str(report).count("\n") == 3
    with pytest.raises(KeyError, match="the checks are selection"):
        report["prior"]


def test_ties_constant_scores_and_few_rows() -> None:
    y = np.repeat([1, 0], [5, 10])
    for score in (np.zeros(15), np.repeat([1.0, 0.0], [5, 10]), np.arange(15.0)):
        report = check_assumptions(y, score, 0.5)
        assert all(np.isfinite(c.statistic) or c.name == "sampling" for c in report.checks)
    assert check_identifiability(y, np.zeros(15)).status == "violated"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: check_selection([1, 1, 0, 0], [1, 2, 3], 0.5), "they have 3 and 4 rows"),
        (lambda: check_selection([1, 1, 0, 0], [1, 2, 3, np.inf], 0.5), "score has 1 NaN or infinite"),
        (lambda: check_selection([1, 1, 0, 0], [1, 2, 3, 4], 1.5), "class_prior must be a number strictly"),
        (lambda: check_top([1, 1, 0, 0], [1, 2, 3, 4], alpha=2), "alpha must be a number strictly between 0 and 1"),
        (lambda: check_sampling([1, 1, 0, 0]), "needs score and class_prior, or X"),
        (lambda: check_sampling([1, 1, 0, 0], X=[[1.0]]), "X and y must have the same length"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
