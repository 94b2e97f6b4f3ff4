"""The class prior as one object: what it carries, and that nothing is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest

from purely import ClassPrior, Prior, PULogisticClassifier
from purely.class_prior import read_prior
from purely.classifiers import ElkanNotoClassifier
from purely.datasets import make_paper_data
from purely.metrics import pu_report
from purely.prior import BestBinPrior


@pytest.fixture(scope="module")
def sample():
    return make_paper_data(n_positive=150, n_unlabelled=300, class_prior=0.5, random_state=0)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.99])
def test_a_classifier_hands_on_the_level_of_its_prior(sample, level):
    estimator = BestBinPrior(ratio="linear", level=level)
    model = PULogisticClassifier(estimator).fit(sample.X, sample.y)
    prior = read_prior(model)
    assert prior == model.prior_
    assert prior.level == level
    assert prior.interval == model.class_prior_interval_ == model.prior_estimator_.class_prior_interval_


def test_the_spread_of_a_handed_on_prior_is_that_of_its_level(sample):
    """A 90 % interval that was taken for a 95 % one made the prior's uncertainty a fifth too small."""
    model = PULogisticClassifier(Prior(0.5, 0.4, 0.6, level=0.9)).fit(sample.X, sample.y)
    rng = np.random.default_rng(0)
    drawn = read_prior(model).draw(20000, rng)
    assert np.mean((drawn >= 0.4) & (drawn <= 0.6)) == pytest.approx(0.9, abs=0.01)
    score = model.predict_proba(sample.X)[:, 1]
    wide = pu_report(sample.y, score, model, n_resamples=400)["precision"]
    known = pu_report(sample.y, score, 0.5, n_resamples=400)["precision"]
    assert wide.standard_error > 1.5 * known.standard_error


def test_every_way_to_say_a_prior(sample):
    assert read_prior(0.3) == Prior.exactly(0.3)
    assert read_prior((0.2, 0.4)).value == pytest.approx(0.3)
    assert read_prior((0.2, 0.4)).interval == (0.2, 0.4)
    assert read_prior((0.25, 0.2, 0.4)) == Prior(0.25, 0.2, 0.4)
    fitted = ClassPrior().fit(sample.X, sample.y)
    assert read_prior(fitted).value == fitted.class_prior_
    assert read_prior(ElkanNotoClassifier().fit(sample.X, sample.y)).known
    with pytest.raises(TypeError, match="has not been fitted"):
        read_prior(ClassPrior())
    with pytest.raises(ValueError, match="0 <= low <= value <= high <= 1"):
        Prior(0.5, 0.6, 0.7)


def test_draws_stay_inside_and_may_be_lopsided():
    prior = Prior(0.02, 0.001, 0.03, level=0.9)
    drawn = prior.draw(40000, np.random.default_rng(0))
    assert drawn.min() > 0.0
    assert np.mean(drawn < 0.001) == pytest.approx(0.05, abs=0.005)
    assert np.mean(drawn > 0.03) == pytest.approx(0.05, abs=0.005)
    assert np.mean(drawn < 0.02) == pytest.approx(0.5, abs=0.01)


def test_what_is_not_determined_is_printed_as_a_bound():
    assert str(Prior(0.25, 0.2, 0.31)) == "0.25 [0.2, 0.31] in the population"
    assert str(Prior.exactly(0.3)) == "0.3 in the population"
    shown = str(Prior(0.02, 0.003, 0.038, upper_bound=0.04, determined=False))
    assert shown == "at most 0.04 in the population (estimate 0.02, between 0.003 and 0.038)"
