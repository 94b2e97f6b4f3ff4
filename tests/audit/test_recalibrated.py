"""A classifier that an audit has set right."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.metrics import roc_auc_score

import purely
from purely.audit import draw_audit, read_audit
from purely.audit._refinement import MOST_COLUMNS
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


def biased_audit(seed: int, form=np.asarray):
    """A model that knows one of two columns, because labelled positives differ in that one alone; and an audit."""
    rng = np.random.default_rng(seed)
    truth = np.arange(3000) < 900
    U = rng.normal(size=(3000, 2)) + 1.5 * truth[:, None]
    P = np.column_stack([rng.normal(1.5, 1.0, 300), rng.normal(0.45, 1.2, 300)])
    P, U = form(P), form(U)
    model = PULogisticClassifier(class_prior=0.3).fit(*purely.stack(P, U))
    probability = model.predict_proba(U)[:, 1]
    sample = draw_audit(probability, 150, random_state=seed)
    return model, U, truth, sample, read_audit(sample, truth[sample.index], probability)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_audited_rows_refine_the_ranking(seed, tmp_path) -> None:
    model, U, truth, sample, result = biased_audit(seed)
    refined = result.recalibrated(model, U[sample.index])
    areas = [roc_auc_score(truth, m.log_odds(U)) for m in (model, refined)]
    assert areas[1] > areas[0] + 0.005
    assert refined.predict_proba(U)[:, 1].mean() == pytest.approx(0.3, abs=0.1)
    purely.save(refined, tmp_path / "model.purely")
    assert purely.load(tmp_path / "model.purely").log_odds(U) == pytest.approx(refined.log_odds(U))
    with pytest.raises(ValueError, match="its ranking was refined after the audit"):
        refined.threshold_for_precision(0.5)
    with pytest.raises(ValueError, match="X must hold the 150 audited rows"):
        result.recalibrated(model, U)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_refinement_finds_positives_of_a_group_that_nobody_labelled(seed) -> None:
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(3000, 6))
    truth = np.abs(U[:, 0]) > 1.2
    P = rng.normal(size=(4000, 6))
    P = P[P[:, 0] > 1.2]  # positives on the other side have no labels, so a linear model cannot rank them
    model = PULogisticClassifier(class_prior=0.23).fit(*purely.stack(P, U))
    probability = model.predict_proba(U)[:, 1]
    sample = draw_audit(probability, 150, random_state=seed)
    refined = read_audit(sample, truth[sample.index], probability).recalibrated(model, U[sample.index])
    areas = [roc_auc_score(truth, m.log_odds(U)) for m in (model, refined)]
    assert areas[0] < 0.6 < 0.85 < areas[1]


def wide(X):
    """More columns than a model is asked about."""
    return np.column_stack([X, np.zeros((len(X), MOST_COLUMNS))])


@pytest.mark.parametrize("form", [sp.csr_matrix, wide])
def test_sparse_and_wide_rows_are_refined_by_a_line(form) -> None:
    model, U, truth, sample, result = biased_audit(0, form)
    refined = result.recalibrated(model, U[sample.index])
    assert refined.refinement_.weight.size == 0
    assert roc_auc_score(truth, refined.log_odds(U)) > roc_auc_score(truth, model.log_odds(U)) + 0.005


def test_rows_are_refined_whatever_the_block() -> None:
    model, U, _, sample, result = biased_audit(0)
    refined = result.recalibrated(model, U[sample.index])
    with sklearn.config_context(working_memory=0.01):
        in_blocks = refined.log_odds(U)
    assert in_blocks == pytest.approx(refined.log_odds(U), abs=1e-9)


def test_it_cannot_be_fitted(audited) -> None:
    model, U, truth, result = audited
    with pytest.raises(ValueError, match="cannot be fitted: its probabilities come from an audit"):
        result.recalibrated(model).fit(U, truth)
