"""A distilled classifier says what its stack says."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from purely import PUClassifier
from purely.classifiers import NNPUClassifier
from purely.classifiers.distilled import Difference, DistilledPUClassifier, NetworkScore, expected_area
from purely.collapsed import SORTED_ROWS, KernelScore, LinearScore, ModelScore, TreeScore, collapse
from purely.crossfit import log_ratio
from purely.exceptions import DistillationError
from tests.classifiers.conftest import gaussians

KINDS = {
    "trees": TreeScore,
    "linear": LinearScore,
    "kernel": KernelScore,
    "forest": TreeScore,
    "boosting": TreeScore,
    "logistic": LinearScore,
    "kernel-logistic": KernelScore,
}
ALL = PUClassifier(0.4, members=list(KINDS), weights="equal", cv=2)


@pytest.fixture(scope="module")
def stack():
    return clone(ALL).fit(*gaussians(0))


def draw(seed, n, columns, dtype=float):
    """Rows in which integers, ties, constants and numbers far from zero occur."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    X[:, 0] = rng.integers(0, 4, n)
    X[:, 1] = 1e9 + rng.integers(0, 300, n)
    X[:, 2] = 7.0
    y = rng.random(n) < 0.3
    X[y, 3] += 1.5
    return X.astype(dtype), y.astype(int)


def test_every_built_in_member_is_collapsed(stack):
    fast = stack.distil()
    assert [member.name for member in fast.members_] == list(KINDS)
    for member in fast.members_:
        assert type(member.score) is KINDS[member.name]


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_new_rows_are_those_of_the_models(seed):
    X, y = draw(seed, 300, 5)
    new, _ = draw(seed + 10, 200, 5)
    stack = clone(ALL).fit(X, y)
    for member in stack.members_:
        score = collapse(member.model, member.counts)
        for rows in (new, X):  # rows of the training lie on thresholds
            np.testing.assert_allclose(score(rows), log_ratio(member.model, rows, *member.counts), atol=2e-3)


def test_few_rows_many_rows_and_sorted_rows_take_the_same_walks(monkeypatch):
    X, y = draw(0, 300, 5)
    stack = PUClassifier(0.3, members=["trees", "forest", "boosting"], weights="equal", cv=2).fit(X, y)
    new = np.concatenate([X, *(draw(seed, 300, 5)[0] for seed in range(1, 4))])
    for member in stack.members_:
        score = collapse(member.model, member.counts)
        assert len(new) < SORTED_ROWS
        many = score(new)
        np.testing.assert_array_equal([score(row[None])[0] for row in X], many[:300])
        with monkeypatch.context() as patch:
            patch.setattr("purely.collapsed.SORTED_ROWS", 1000)
            np.testing.assert_array_equal(score(new), many)
            # the rows were sorted: the trees after the first few met them in another order
            assert 0 < score.n_sorting < len(score.trees)


def test_trees_of_one_leaf():
    X, y = draw(0, 300, 5)
    forest = ExtraTreesClassifier(3, max_depth=1, min_samples_leaf=200, random_state=0).fit(X, y)
    assert {tree.tree_.node_count for tree in forest.estimators_} == {1}
    score, many = collapse(forest, (int(y.sum()), int((1 - y).sum()))), np.tile(X, (10, 1))
    np.testing.assert_allclose(score(many), score(X[:1])[0])
    assert score(X[:0]).shape == (0,)


def test_everything_the_classifier_says(stack):
    fast = stack.distil()
    X, y = gaussians(3)
    for name in ("predict_proba", "decision_function", "predict_proba_interval"):
        np.testing.assert_allclose(getattr(fast, name)(X), getattr(stack, name)(X), atol=2e-3)
    np.testing.assert_array_equal(fast.predict(X), stack.predict(X))
    assert fast.score(X, y) == pytest.approx(stack.score(X, y))
    assert fast.threshold_for_recall(0.8) == stack.threshold_for_recall(0.8)
    assert fast.class_prior_ == stack.class_prior_


def test_one_row_blocks_threads_and_sparse_rows(stack, monkeypatch):
    fast = stack.distil()
    X, _ = gaussians(3)
    whole = fast.log_odds(X)
    np.testing.assert_allclose([fast.log_odds(row[None])[0] for row in X[:20]], whole[:20], atol=1e-4)
    monkeypatch.setattr("purely.classifiers.distilled.MOST_ROWS", 37)
    for n_jobs in (None, 2):
        np.testing.assert_allclose(clone_of(fast, n_jobs=n_jobs).log_odds(X), whole, atol=1e-4)
    np.testing.assert_allclose(fast.log_odds(sp.csr_matrix(X)), whole, atol=1e-4)


def clone_of(fitted, **settings):
    return pickle.loads(pickle.dumps(fitted)).set_params(**settings)


def test_members_of_weight_zero_are_left_out():
    stack = PUClassifier(0.4, members=["linear", "logistic", "trees"], cv=2).fit(*gaussians(0))
    stack.member_weights_ = np.array([0.0, 1.0, 0.0])
    fast = stack.distil(gaussians(1)[0])
    assert [member.name for member in fast.members_] == ["logistic"]
    np.testing.assert_allclose(fast.log_odds(gaussians(1)[0]), stack.log_odds(gaussians(1)[0]))


def test_models_of_others_stay_as_they_are():
    members = [GaussianNB(), HistGradientBoostingClassifier(max_iter=5), LogisticRegression()]
    stack = PUClassifier(0.4, members=members, weights="equal", cv=2).fit(*gaussians(0))
    fast = stack.distil(gaussians(1)[0])
    assert [type(member.score) for member in fast.members_] == [ModelScore, TreeScore, ModelScore]
    assert fast.difference_.largest < 1e-6


def test_sparse_training_rows():
    X, y = gaussians(0)
    rows = sp.csr_matrix(np.where(np.abs(X) < 0.3, 0.0, X))
    stack = PUClassifier(0.4, members=["kernel", "boosting", "trees"], weights="equal", cv=2).fit(rows, y)
    fast = stack.distil(rows)
    assert not any(isinstance(member.score, ModelScore) for member in fast.members_)
    np.testing.assert_allclose(fast.log_odds(rows), stack.log_odds(rows), atol=2e-3)


def test_networks():
    pytest.importorskip("torch")
    network = NNPUClassifier(hidden=(8,), max_epochs=5, n_ensemble=1, device="cpu")
    stack = PUClassifier(0.4, members=[network, "logistic"], weights="equal", cv=2, device="cpu").fit(*gaussians(0))
    fast = stack.distil(gaussians(1)[0])
    assert isinstance(fast.members_[0].score, NetworkScore)
    assert fast.difference_.largest < 1e-6


def test_what_was_measured(stack):
    fast = stack.distil(gaussians(5)[0])
    assert fast.difference_.n_rows == 450
    assert fast.difference_.mean <= fast.difference_.largest < 1e-3
    assert "450 rows" in str(fast.difference_)
    assert str(Difference(10, 0.1, 0.2, 0.3)).startswith("probabilities differ by 0.1 on average and by 0.2 at most")


def test_a_difference_is_refused(stack):
    other = clone_of(stack)
    other._final = replace(other._final, log_odds=other._final.log_odds + 0.5)
    with pytest.raises(DistillationError, match=r"is not handed out: probabilities differ by .* Use the classifier"):
        DistilledPUClassifier(stack).take_over(_Mixed(stack, other), gaussians(1)[0])


class _Mixed:
    """One stack's members, and another's answers."""

    def __init__(self, parts, answers):
        self._parts, self._answers = parts, answers

    def __getattr__(self, name):
        return getattr(self._answers if name == "_log_odds" else self._parts, name)


def test_trees_give_rows_to_judge_on():
    stack = PUClassifier(0.4, members=["boosting", "logistic"], weights="equal", cv=2).fit(*gaussians(0))
    fast = stack.distil()
    assert fast.difference_.n_rows == 400
    assert fast.difference_.largest < 1e-6


def test_without_rows_to_judge_on():
    stack = PUClassifier(0.4, members=["linear"], cv=2).fit(*gaussians(0))
    with pytest.raises(ValueError, match="no member has kept rows"):
        stack.distil()
    with pytest.raises(TypeError, match="must be a PUClassifier; GaussianNB cannot be distilled"):
        DistilledPUClassifier(GaussianNB()).fit(*gaussians(0))


@pytest.mark.parametrize("seed", range(3))
def test_expected_area_of_certain_rows_is_the_area(seed):
    rng = np.random.default_rng(seed)
    truth, score = rng.integers(0, 2, 200), rng.normal(size=200)
    assert expected_area(score, truth.astype(float)) == pytest.approx(roc_auc_score(truth, score))


CHECKED = DistilledPUClassifier(PUClassifier(0.1, members=["linear", "logistic"], cv=2))


@parametrize_with_checks([CHECKED])
def test_scikit_learn(estimator, check):
    check(estimator)
