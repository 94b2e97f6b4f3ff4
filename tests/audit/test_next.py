"""What to label next."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from purely.audit import next_to_label
from purely.audit._next import expected_gain
from purely.audit._posterior import draw_posterior, group_pool, prior_law


class Given:
    """A model whose probability is the first column."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])


def pool(seed: int, share: float = 0.1, n: int = 3000):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < round(share * n)
    q = expit(2.0 * rng.normal(2.0 * truth) - 2.0 + logit(share) + 1.0)
    return np.column_stack([q, rng.normal(size=(n, 2))]), truth


def test_the_gain_is_that_of_the_normal_law() -> None:
    X, _ = pool(0)
    groups = group_pool(X[:, 0])
    mean, covariance = prior_law(groups)
    p = expit(mean)
    a, v = groups.rows / groups.rows.sum() * p * (1 - p), p * (1 - p)
    picked = np.random.default_rng(0).integers(0, p.size, 15)
    gain = expected_gain(covariance, v, a[:, None], picked)
    counts = np.bincount(picked, minlength=p.size)
    after = np.linalg.inv(np.linalg.inv(covariance) + np.diag(counts * v))
    assert 1.0 - gain[-1] == pytest.approx(np.sqrt((a @ after @ a) / (a @ covariance @ a)), rel=1e-6)
    assert (np.diff(gain) >= 0.0).all()


def test_labels_of_the_goal_tell_the_share_better_than_labels_at_random() -> None:
    errors = {"next": [], "random": []}
    for seed in range(25):
        X, truth = pool(seed, share=0.05)
        groups = group_pool(X[:, 0])
        chosen = next_to_label(Given(), X, 40, goal="share", random_state=seed).index
        assert np.unique(chosen).size == 40
        other = np.random.default_rng(seed).choice(3000, 40, replace=False)
        for name, index in (("next", chosen), ("random", other)):
            errors[name].append(np.median(draw_posterior(groups, index, truth[index]).total / 3000) - 0.05)
    assert np.std(errors["next"]) < np.std(errors["random"])


def test_the_goal_precision_looks_above_the_threshold_first() -> None:
    X, _ = pool(1)
    above = int((X[:, 0] > 0.6).sum())
    rows = next_to_label(Given(), X, 30, goal="precision", threshold=0.6)
    assert (X[rows.index, 0] > 0.6).all()
    more = next_to_label(Given(), X, above + 20, goal="precision", threshold=0.6)
    assert np.unique(more.index).size == above + 20
    assert (X[more.index, 0] > 0.6).sum() == above


def test_labels_of_the_goal_tell_the_precision_better_than_labels_at_random() -> None:
    errors = {"next": [], "random": []}
    for seed in range(25):
        X, truth = pool(seed, share=0.1)
        groups, above = group_pool(X[:, 0]), X[:, 0] > 0.5
        chosen = next_to_label(Given(), X, 30, goal="precision", random_state=seed).index
        other = np.random.default_rng(seed).choice(3000, 30, replace=False)
        for name, index in (("next", chosen), ("random", other)):
            found = draw_posterior(groups, index, truth[index]).above(groups.group, above)
            errors[name].append(np.median(found) / above.sum() - truth[above].mean())
    assert np.mean(np.square(errors["next"])) < 0.7 * np.mean(np.square(errors["random"]))


@pytest.mark.parametrize("goal", ["share", "model", "precision"])
def test_rows_are_different_reach_every_region_and_gain_more_with_each(goal) -> None:
    X, _ = pool(2)
    rows = next_to_label(Given(), X, 60, goal=goal)
    assert np.unique(rows.index).size == 60
    assert (np.diff(rows.gain) >= -1e-12).all()
    assert 0.0 < rows.gain[0] < rows.gain[-1] < 1.0
    if goal != "precision":
        places = np.argsort(np.argsort(X[:, 0]))[rows.index] / 3000
        assert np.histogram(places, [0.0, 0.5, 0.8, 1.0])[0].min() >= 3


@pytest.mark.parametrize("goal", ["share", "model"])
def test_doubtful_rows_are_drawn_more_often(goal) -> None:
    X, _ = pool(2)
    doubt = X[:, 0] * (1 - X[:, 0])
    drawn = [doubt[next_to_label(Given(), X, 60, goal=goal, random_state=s).index].mean() for s in range(5)]
    assert np.mean(drawn) > 1.2 * doubt.mean()


def test_bad_input_is_refused() -> None:
    X, _ = pool(0, n=50)
    with pytest.raises(ValueError, match="n must be at most the 50 rows"):
        next_to_label(Given(), X, 51)
    with pytest.raises(ValueError, match="goal must be one of 'precision', 'share', 'model'"):
        next_to_label(Given(), X, 5, goal="recall")
    with pytest.raises(ValueError, match="no row of the pool is above the threshold"):
        next_to_label(Given(), np.minimum(X, 0.9), 5, threshold=0.999)
