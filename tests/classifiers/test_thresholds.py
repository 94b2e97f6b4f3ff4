"""Thresholds reach what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from purely.classifiers import (
    ReweightedPUClassifier,
    threshold_for_cost,
    threshold_for_precision,
    threshold_for_recall,
    threshold_for_share,
)
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


def test_choose_threshold_needs_no_new_fit():
    X, y = gaussians()
    model = ReweightedPUClassifier(class_prior=0.4, random_state=0).fit(X, y)
    U = X[y == 0]
    for aim in ({"share": 0.2}, {"recall": 0.8}, {"precision": 0.9}, {"cost": (4.0, 1.0)}):
        t = model.choose_threshold(U, **aim)
        model.set_params(threshold=t)
        p = model.predict_proba(U)[:, 1]
        np.testing.assert_array_equal(model.predict(U) == 1, p > t)
    assert threshold_for_cost(4.0, 1.0) == t
    share = model.set_params(threshold=model.choose_threshold(U, share=0.2)).predict(U).mean()
    assert share == pytest.approx(0.2, abs=0.05)
    with pytest.raises(ValueError, match="give one of cost, precision, recall or share; none was given"):
        model.choose_threshold(U)
