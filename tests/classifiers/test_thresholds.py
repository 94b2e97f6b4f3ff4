"""Thresholds reach what they promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from purely import ClassPrior, Prior
from purely.classifiers import (
    PUClassifier,
    ReweightedPUClassifier,
    threshold_for_cost,
    threshold_for_precision,
    threshold_for_recall,
    threshold_for_share,
)
from purely.exceptions import PromiseWarning
from tests.classifiers.conftest import gaussians

P = np.random.default_rng(0).random(500)


@pytest.mark.parametrize("target", [0.05, 0.5, 0.9, 1.0])
def test_targets_are_reached(target):
    t = threshold_for_share(P, target)
    assert np.mean(t < P) == pytest.approx(target, abs=1 / P.size)
    t = threshold_for_recall(P, target)
    assert P[t < P].sum() / P.sum() >= target - 1e-9
    assert P[t + 1e-6 < P].sum() / P.sum() <= target  # a row less would miss it
    t = threshold_for_precision(P, min(target, 0.95))
    assert P[t < P].mean() >= min(target, 0.95) - 1e-9


def test_an_unreachable_precision_gives_the_purest_row():
    assert threshold_for_precision([0.1, 0.2], 0.9) == pytest.approx(0.2)


def test_cost_is_minimal():
    t = threshold_for_cost(3.0, 1.0)
    p = np.linspace(0.001, 0.999, 999)
    np.testing.assert_array_equal(p > t, (1 - p) * 3.0 < p * 1.0)


@pytest.mark.parametrize("bad", [0.0, 1.0, "x", None, (1.0, -1.0), True])
def test_thresholds_that_are_none_are_refused(bad):
    X, y = gaussians()
    with pytest.raises(ValueError, match=r"threshold must be|cost"):
        ReweightedPUClassifier(class_prior=0.4, threshold=bad).fit(X, y)


def test_thresholds_of_a_classifier_need_no_new_fit():
    X, y = gaussians()
    model = ReweightedPUClassifier(class_prior=0.4, random_state=0).fit(X, y)
    U = X[y == 0]
    asked = [model.threshold_for_share(0.2), model.threshold_for_recall(0.8), model.threshold_for_cost(4.0, 1.0)]
    for t in asked:
        model.set_params(threshold=t)
        np.testing.assert_array_equal(model.predict(U) == 1, model.predict_proba(U)[:, 1] > t)
    assert threshold_for_cost(4.0, 1.0) == t
    others, labels = gaussians(1)
    share = model.set_params(threshold=asked[0]).predict(others[labels == 0]).mean()
    assert share == pytest.approx(0.2, abs=0.05)


def overlapping(seed, prior, shift=2.0, n_p=200, n_u=2000):
    """Two normal classes of five columns: labelled positives, a pool, and the pool's truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_u) < prior
    X = rng.normal(size=(n_p + n_u, 5))
    X[:n_p, 0] += shift
    X[n_p:, 0] += shift * truth
    return X, np.repeat([1, 0], [n_p, n_u]), truth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "shift", "models"),
    [
        (0.3, 2.0, ["linear", "trees"]),
        (0.05, 4.0, ["linear"]),
        pytest.param(0.05, 4.0, ["linear", "trees"], marks=pytest.mark.full),
        pytest.param(0.05, 2.0, ["linear", "trees"], marks=pytest.mark.full),
    ],
)
def test_a_precision_that_is_promised_is_kept(prior, shift, models):
    kept, promised = 0, 0
    for seed in range(6):
        X, y, truth = overlapping(seed, prior, shift)
        model = PUClassifier(ClassPrior(models, cv=3), members=models, cv=3, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            t = model.fit(X, y).threshold_for_precision(0.8)
        if np.isnan(t):
            continue
        called = model.predict_proba(X[y == 0])[:, 1] > t
        promised += 1
        kept += truth[called].mean() >= 0.8
    assert kept >= promised - 1  # nine of ten are expected to be kept


def test_an_estimated_prior_shares_its_errors_with_the_precision():
    """A prior drawn apart from the counts that it comes from would count their noise twice, and promise less."""
    X, y, truth = overlapping(0, 0.3, shift=4.0)
    own = PUClassifier(ClassPrior("linear"), members=["linear"], random_state=0).fit(X, y)
    handed_on = PUClassifier(own.prior_, members=["linear"], random_state=0).fit(X, y)
    assert own.prior_.same_rows
    assert not handed_on.prior_.same_rows
    t = own.threshold_for_precision(0.8)
    assert truth[own.predict_proba(X[y == 0])[:, 1] > t].mean() >= 0.8
    assert own.precision_above(t).low > handed_on.precision_above(t).low
    copy = own.distil(X)
    assert copy.threshold_for_precision(0.8) == t


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_labelled_rows_count_where_they_are_part_of_the_population(scenario):
    X, y, truth = overlapping(1, 0.1, shift=4.0)
    model = PUClassifier(ClassPrior("linear"), scenario=scenario, members=["linear"], random_state=0).fit(X, y)
    cut = 0.9
    expected = model.precision_above(cut).expected
    called = model.oof_probability_ > cut
    whole = np.concatenate([np.ones(200, bool), truth])
    rows = called & (y == 0) if scenario == "case-control" else called
    got, n = whole[rows].mean(), rows.sum()
    assert abs(expected - got) <= 3.0 * np.sqrt(expected * (1.0 - expected) / n)  # what n rows allow


def test_what_cannot_be_promised_is_said():
    X, y, _ = overlapping(0, 0.02, shift=1.0)
    model = PUClassifier(members=["linear"], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    with pytest.warns(PromiseWarning, match=r"no threshold can promise a precision of 0.95 .* is the most\. An audit"):
        assert np.isnan(model.threshold_for_precision(0.95))
    for bad in (1, 1.0, 0.0, "high", True, float("nan")):
        with pytest.raises(ValueError, match="precision must be a number strictly between 0 and 1"):
            model.threshold_for_precision(bad)


def test_more_doubt_promises_less():
    X, y, _ = overlapping(0, 0.3, shift=3.0)
    known = PUClassifier(0.3, members=["linear"], random_state=0).fit(X, y)
    doubtful = PUClassifier(Prior(0.3, 0.1, 0.5, 0.9), members=["linear"], random_state=0).fit(X, y)
    t = known.threshold_for_precision(0.8)
    assert known.precision_above(t).low >= 0.8 - 1e-9
    assert doubtful.precision_above(t).low < known.precision_above(t).low
    assert doubtful.precision_above(t).expected == pytest.approx(known.precision_above(t).expected, abs=0.05)
    ends = doubtful.predict_proba_interval(X)
    assert np.all(ends[:, 0] <= doubtful.predict_proba(X)[:, 1] + 1e-9)
    assert np.all(ends[:, 1] >= doubtful.predict_proba(X)[:, 1] - 1e-9)
    np.testing.assert_allclose(known.predict_proba_interval(X), known.predict_proba(X)[:, [1, 1]], atol=1e-9)
