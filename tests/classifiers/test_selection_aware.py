"""Labels that depend on a named column."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from purely.classifiers import PUClassifier, SelectionAwareClassifier
from purely.classifiers.selection_aware import PART, fit_selection
from purely.datasets import Labelling, make_pu
from purely.prior import ClassPrior

pytestmark = pytest.mark.filterwarnings("ignore::purely.exceptions.PurelyWarning")
MEMBERS = ["trees", "logistic"]


def biased(seed: int, n: int = 6000, frame: bool = False):
    """Three columns tell the classes apart; the fourth says nothing of the class and decides the labelling."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < n // 2
    X = rng.normal(size=(n, 4))
    X[truth, :3] += 1.3
    X = pd.DataFrame(X, columns=["a", "b", "c", "branch"]) if frame else X
    how = Labelling("column", ratio=30.0, column="branch" if frame else 3)
    return make_pu(
        X, truth, n_positive=300, n_unlabelled=1500, class_prior=0.3, n_test=2000, labelling=how, random_state=seed
    )


@cache
def fitted(seed: int):
    """A draw and the classifier that knows the column."""
    draw = biased(seed)
    return draw, SelectionAwareClassifier(selection_features=[3], members=MEMBERS).fit(draw.X, draw.y)


@pytest.mark.parametrize("seeds", [(0, 1), pytest.param((2, 3, 4, 5), marks=pytest.mark.full)])
def test_naming_the_column_ranks_better(seeds) -> None:
    correlations = []
    for seed in seeds:
        draw, aware = fitted(seed)
        areas = [roc_auc_score(draw.y_test, m.log_odds(draw.X_test)) for m in (aware.classifier_, aware)]
        assert areas[1] > areas[0] + 0.01
        propensity = aware.relative_propensity(draw.X_test)
        correlations.append(np.corrcoef(np.log(propensity), draw.X_test[:, 3])[0, 1])
    # One draw's curve may bend back where few are labelled: the correlation was .66 to .98 over twelve of them.
    assert min(correlations) > 0.6
    assert np.mean(correlations) > 0.8


def test_without_a_name_nothing_is_corrected() -> None:
    draw = biased(0)
    settings = {"class_prior": ClassPrior("linear"), "members": MEMBERS, "cv": 2}
    aware = SelectionAwareClassifier(**settings).fit(draw.X, draw.y)
    plain = PUClassifier(**settings).fit(draw.X, draw.y)
    assert aware.selection_ is None
    assert aware.class_prior_ == pytest.approx(plain.class_prior_)
    assert aware.log_odds(draw.X_test) == pytest.approx(plain.log_odds(draw.X_test))
    assert aware.oof_probability_ == pytest.approx(plain.oof_probability_)
    assert (aware.relative_propensity(draw.X_test) == 1.0).all()


def test_the_curve_finds_a_known_propensity() -> None:
    rng = np.random.default_rng(0)
    X, positive = rng.random((3000, 2)), np.arange(3000) < 1500
    rank = np.argsort(np.argsort(X[:, 1])) / 3000
    log_odds = 4.0 * rank - 2.0 * rank**2 + rng.exponential(size=3000) * -1.0  # the upper end is that of the curve
    curve = fit_selection(X, np.array([1]), positive, log_odds)
    wanted = PART * (4.0 * rank - 2.0 * rank**2)
    found = curve(X)
    assert np.abs((found - found.mean()) - (wanted - wanted.mean())).max() < 0.2


def test_a_known_prior_stays_and_an_estimated_one_is_not_determined() -> None:
    draw, found = fitted(0)
    known = SelectionAwareClassifier(0.3, selection_features=[3], members=MEMBERS).fit(draw.X, draw.y)
    assert known.class_prior_interval_ == (0.3, 0.3)
    assert known.oof_probability_[draw.y == 0].mean() == pytest.approx(0.3, abs=0.02)
    assert not found.prior_.determined
    low, high = found.class_prior_interval_
    first = found.classifier_.class_prior_interval_
    assert low <= first[0]
    assert high >= first[1]
    assert low <= found.class_prior_ <= high


def test_columns_have_names_in_a_frame() -> None:
    draw = biased(1, frame=True)
    by_name, by_place = (
        SelectionAwareClassifier(0.3, selection_features=[column], members=["logistic"]).fit(draw.X, draw.y)
        for column in ("branch", 3)
    )
    assert np.array_equal(by_name.log_odds(draw.X_test), by_place.log_odds(draw.X_test))
    with pytest.raises(ValueError, match="places below 4; 'brunch' was given"):
        SelectionAwareClassifier(selection_features=["brunch"]).fit(draw.X, draw.y)
    with pytest.raises(ValueError, match="places below 4; 7 was given"):
        SelectionAwareClassifier(selection_features=[7]).fit(draw.X, draw.y)
