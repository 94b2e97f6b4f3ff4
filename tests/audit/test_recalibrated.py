"""A classifier that an audit has set right."""

from __future__ import annotations

import numpy as np
import pytest

import purely
from purely.audit import draw_audit, read_audit
from purely.classifiers import PULogisticClassifier


@pytest.fixture(scope="module")
def audited():
    """A model with a class prior that is far too large, and an audit of its pool."""
    rng = np.random.default_rng(0)
    truth = np.arange(3000) < 150
    U = rng.normal(1.5 * truth[:, None] * np.array([1.0, 1.0]), 1.0)
    P = rng.normal(1.5, 1.0, (200, 2))
    X, y = purely.stack(P, U)
    model = PULogisticClassifier(class_prior=0.4).fit(X, y)
    probability = model.predict_proba(U)[:, 1]
    sample = draw_audit(probability, 150, random_state=0)
    return model, U, truth, read_audit(sample, truth[sample.index], probability)


def test_probabilities_agree_with_the_audit_and_ranks_stay(audited) -> None:
    model, U, truth, result = audited
    again = result.recalibrated(model)
    before, after = (m.predict_proba(U)[:, 1] for m in (model, again))
    assert after.mean() == pytest.approx(result.share.value, abs=0.01)
    assert abs(after.mean() - 0.05) < abs(before.mean() - 0.05)
    order = np.argsort(before, kind="stable")
    assert (np.diff(after[order]) >= 0.0).all()
    assert (again.predict(U) != truth).mean() < (model.predict(U) != truth).mean()
    assert again.class_prior_ == result.share.value
    assert again.class_prior_interval_ == (result.share.low, result.share.high)


def test_its_threshold_is_that_of_the_audit(audited) -> None:
    model, U, _, result = audited
    again = result.recalibrated(model)
    first, second = result.threshold_for_precision(0.15), again.threshold_for_precision(0.15)
    called = [m.predict_proba(U)[:, 1] > t for m, t in ((model, first), (again, second))]
    assert np.array_equal(*called)


def test_it_is_saved_and_loaded(audited, tmp_path) -> None:
    model, U, _, result = audited
    again = result.recalibrated(model)
    purely.save(again, tmp_path / "model.purely")
    loaded = purely.load(tmp_path / "model.purely")
    assert loaded.predict_proba(U) == pytest.approx(again.predict_proba(U), abs=1e-12)
    assert loaded.threshold_for_precision(0.15) == again.threshold_for_precision(0.15)
    assert loaded.prior_ == again.prior_


def test_it_cannot_be_fitted(audited) -> None:
    model, U, truth, result = audited
    with pytest.raises(ValueError, match="cannot be fitted: its probabilities come from an audit"):
        result.recalibrated(model).fit(U, truth)
