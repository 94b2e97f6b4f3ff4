"""Ranges for labels that were not chosen at random."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from purely import PUClassifier, stack
from purely.audit import Sensitivity, sensitivity
from purely.classifiers import PULogisticClassifier


def exact(gamma: float, seed: int = 0) -> tuple[Sensitivity, np.ndarray]:
    """Ranges from the exact probability under random labelling, and the truth under a selection that obeys gamma.

    Positives lie uniformly on (0, 1), negatives have density 2 (1 - x) there and reach nothing at 1; the factor h of
    the docstring rises or falls with x by gamma.
    """
    x = (np.arange(4000) + 0.5) / 4000
    prior, factor = 0.3, gamma**x if seed % 2 else gamma ** (1.0 - x)
    negative = 2.0 * (1.0 - x)
    mixed = prior + (1.0 - prior) * negative
    truth = prior / mixed
    labelled = (1.0 / factor) / np.mean(1.0 / factor)
    ratio = labelled / mixed
    found = ratio / ratio.max()  # what is learnt where some region is thought to hold nothing but positives
    weight = mixed
    return Sensitivity(gamma, 0.5, found, weight, (1.0, 1.0), 0.9), truth


@pytest.mark.parametrize("gamma", [1.0, 1.5, 3.0, 10.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_ranges_hold_where_the_mechanism_obeys_gamma(gamma, seed) -> None:
    ranges, truth = exact(gamma, seed)
    low, high = ranges.probability_range.T
    assert (low <= truth + 1e-3).all()
    assert (truth <= high + 1e-3).all()
    assert ranges.share.low - 1e-3 <= 0.3 <= ranges.share.high + 1e-3
    above = ranges.probability > 0.5
    precision = np.average(truth[above], weights=ranges.weight[above])
    assert ranges.precision.low - 1e-3 <= precision <= ranges.precision.high + 1e-3


def test_gamma_one_is_the_model_itself_and_ranges_grow() -> None:
    ranges, _ = exact(1.0)
    assert ranges.share.low == ranges.share.value == ranges.share.high
    widths = [ranges.at(g).share.high - ranges.at(g).share.low for g in (1.0, 1.5, 2.0, 5.0)]
    assert widths == sorted(widths)
    assert np.allclose(ranges.probability_range[:, 0], ranges.probability)


def test_conclusions_tip_where_the_range_reaches_them() -> None:
    ranges, _ = exact(1.0)
    gamma = ranges.tips(precision=0.5)
    assert ranges.at(gamma).precision.low == pytest.approx(0.5)
    gamma = ranges.tips(share=0.6)
    assert ranges.at(gamma).share.high == pytest.approx(0.6, abs=1e-6)
    assert ranges.tips(precision=0.999) == 1.0
    assert ranges.tips(share=0.999999) == pytest.approx(ranges.tips(share=0.999999))
    with pytest.raises(ValueError, match="give one conclusion"):
        ranges.tips()


def test_the_priors_interval_is_carried_through() -> None:
    rng = np.random.default_rng(0)
    U = np.concatenate([rng.normal(1.5, 1, (100, 2)), rng.normal(-1.5, 1, (300, 2))])
    model = PUClassifier(members="light").fit(*stack(rng.normal(1.5, 1, (100, 2)), U))
    low, high = model.class_prior_interval_
    own = sensitivity(model, 1.0)
    assert own.share.low == pytest.approx(own.share.value * low / model.class_prior_)
    assert own.share.value < own.share.high <= own.share.value * high / model.class_prior_ + 1e-9
    new = sensitivity(model, 2.0, U, threshold=0.7)
    assert new.probability == pytest.approx(model.predict_proba(U)[:, 1])
    assert new.probability_range.shape == (400, 2)


def test_the_single_sample_ranges_are_about_the_unlabelled_rows() -> None:
    rng = np.random.default_rng(0)
    U = np.concatenate([rng.normal(1.5, 1, (100, 2)), rng.normal(-1.5, 1, (300, 2))])
    P = rng.normal(1.5, 1, (100, 2))
    model = PULogisticClassifier(class_prior=0.4, scenario="single-sample").fit(*stack(P, U))
    shift = logit(0.4) - logit(model.unlabelled_prior_)
    assert sensitivity(model, 1.5, U).probability == pytest.approx(expit(model.log_odds(U) - shift))


def test_bad_input_is_refused() -> None:
    rng = np.random.default_rng(0)
    model = PULogisticClassifier(class_prior=0.4).fit(*stack(rng.normal(1, 1, (50, 2)), rng.normal(0, 1, (100, 2))))
    with pytest.raises(ValueError, match="gamma must be a number of at least 1"):
        sensitivity(model, 0.5)
    with pytest.raises(ValueError, match="keeps no out-of-fold scores of its unlabelled rows; give the pool's rows, X"):
        sensitivity(model, 2.0)
