"""Reasons add up, agree with what is known in closed form and with models that lack the column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from purely import PUClassifier, PULogisticClassifier
from purely.classifiers import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    PULeastSquaresClassifier,
    ReweightedPUClassifier,
)
from purely.explain import explain_rows, said_of

#: Shifts of the positives by column; the last two say nothing.
SHIFT = np.array([2.0, 1.0, 0.5, 0.0, 0.0])


def independent(n_positive, n_unlabelled, prior, rng):
    """Columns that are independent given the class: the log-odds are a sum over columns, and the truth is known."""
    truth = np.concatenate([np.ones(n_positive), rng.random(n_unlabelled) < prior]).astype(bool)
    X = rng.normal(size=(truth.size, SHIFT.size)) + np.where(truth[:, None], SHIFT, 0.0)
    return X, (np.arange(truth.size) < n_positive).astype(int)


class Truth:
    """The log-odds of `independent`, and one that is no sum."""

    def __init__(self, prior, twist=0.0):
        self.shift, self.twist = np.log(prior / (1 - prior)) - 0.5 * SHIFT @ SHIFT, twist

    def log_odds(self, X):
        return X @ SHIFT + self.shift + self.twist * X[:, 0] * X[:, 1]


def models():
    trees = RandomForestClassifier(10, max_depth=4, random_state=0)
    return {
        "light": PUClassifier(0.3, members=["trees", "logistic", "boosting"], cv=2),
        "logistic": PULogisticClassifier(0.3),
        "least squares": PULeastSquaresClassifier(0.3, n_centers=20),
        "elkan-noto": ElkanNotoClassifier(trees, cv=2),
        "bagging": BaggingPUClassifier(class_prior=0.3, n_estimators=5),
        "reweighted": ReweightedPUClassifier(trees, class_prior=0.3, cv=2),
        "scikit-learn's": HistGradientBoostingClassifier(max_iter=10),
        "a pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", models())
def test_reasons_add_up(name):
    X, y = independent(80, 240, 0.3, np.random.default_rng())
    model = models()[name].fit(X, y)
    found = explain_rows(model, X[::17], X, n_samples=5)
    said = model[:-1].transform(X[::17]) if isinstance(model, Pipeline) else X[::17]
    last = model[-1] if isinstance(model, Pipeline) else model
    says = last.log_odds(said) if hasattr(last, "log_odds") else last.decision_function(said)
    np.testing.assert_allclose(found.log_odds, says, atol=1e-9)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.log_odds, atol=1e-9)


def test_a_sum_over_columns_is_explained_exactly():
    rng = np.random.default_rng()
    X = rng.normal(size=(40, 5))
    found = explain_rows(Truth(0.3), X[:9], X, n_samples=40)
    expected = (X[:9] - X.mean(axis=0)) * SHIFT
    np.testing.assert_allclose(found.contributions, expected, atol=1e-9)
    assert next(iter(found.importance)) == f"x{np.abs(expected).mean(axis=0).argmax()}"
    assert min(found.importance.values()) == pytest.approx(0.0, abs=1e-12)


def test_a_product_is_shared_by_its_two_columns():
    """The Shapley value of x0 x1 against b: each gets its own change halfway; reversed orders give it exactly."""
    rng = np.random.default_rng()
    X, b = rng.normal(size=(6, 5)), rng.normal(size=(1, 5))
    found = explain_rows(Truth(0.3, twist=1.0), X, b, n_samples=2)
    expected = (X[:, 0] - b[0, 0]) * (2.0 + 0.5 * (X[:, 1] + b[0, 1]))
    np.testing.assert_allclose(found.contributions[:, 0], expected, atol=1e-9)
    assert found.base == pytest.approx(float(Truth(0.3, twist=1.0).log_odds(b)[0]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda: PULogisticClassifier(0.3), 0.95),
        # two calibrations and boosting's steps come between: about .9, at times below .8
        (lambda: PUClassifier(0.3, members=["logistic", "boosting"], cv=2), 0.6),
    ],
)
def test_reasons_agree_with_models_that_lack_the_column(make, least):
    """Two routes: where columns are independent given the class, leaving one out takes its term away."""
    rng = np.random.default_rng(0)
    X, y = independent(600, 2400, 0.3, rng)
    new = independent(0, 300, 0.3, rng)[0]
    model = make().fit(X, y)
    found = explain_rows(model, new, X[y == 0], n_samples=48)
    order = list(found.importance)
    assert order[:2] == ["x0", "x1"]
    assert max(found.importance[name] for name in ("x3", "x4")) < found.importance["x1"]
    for j in (0, 1):
        rest = np.delete(np.arange(5), j)
        without = make().fit(X[:, rest], y)
        lost = model.log_odds(new) - without.log_odds(new[:, rest])
        assert np.corrcoef(lost, found.contributions[:, j])[0, 1] > least
        assert np.corrcoef(new[:, j] * SHIFT[j], found.contributions[:, j])[0, 1] > 0.95  # and with the truth


def test_groups_are_exchanged_together():
    rng = np.random.default_rng()
    X = rng.normal(size=(20, 5))
    alone, together = (
        explain_rows(Truth(0.3), X, n_samples=20, groups=groups) for groups in (None, ["a", "a", "b", "c", "c"])
    )
    assert together.names == ("a", "b", "c")
    np.testing.assert_allclose(together.contributions[:, 0], alone.contributions[:, :2].sum(axis=1), atol=1e-9)


def test_sparse_rows_and_data_frames_as_arrays():
    rng = np.random.default_rng()
    X, y = independent(60, 120, 0.3, rng)
    X[np.abs(X) < 0.7] = 0.0
    model = PULogisticClassifier(0.3).fit(X, y)
    dense = explain_rows(model, X[:5], X)
    sparse = explain_rows(model, sp.csr_matrix(X[:5]), sp.csr_matrix(X))
    np.testing.assert_allclose(sparse.contributions, dense.contributions, atol=1e-9)
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = explain_rows(PULogisticClassifier(0.3).fit(frame, y), frame[:5], frame)
    assert named.names == tuple("abcde")
    np.testing.assert_allclose(named.contributions, dense.contributions, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_columns_of_a_table():
    pytest.importorskip("pyarrow")
    from purely.tables import TableEncoder

    rng = np.random.default_rng(0)
    X, y = independent(100, 300, 0.3, rng)
    country = np.where(rng.random(400) < np.where(y == 1, 0.9, 0.2), "NG", rng.choice(["DE", "FR"], 400))
    frame = pd.DataFrame({"amount": X[:, 3], "country": country})
    model = Pipeline([("table", TableEncoder()), ("classifier", PULogisticClassifier(0.3))]).fit(frame, y)
    found = explain_rows(model, frame[:50], frame[y == 0])  # positives are hardly ever of another country
    assert found.names == ("amount", "country")
    assert list(found.importance) == ["country", "amount"]
    first, second, _ = str(found).splitlines()
    assert first == "log-odds of 50 rows; mean size of what each column adds:"
    assert second.startswith("country  ")
    from_there = found.contributions[(country == "NG")[:50], 1]
    assert (from_there > 0).all()
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.log_odds, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X: explain_rows(Truth(0.3), X, groups=["a"]), "groups must name a column for each of the 5"),
        (lambda X: explain_rows(Truth(0.3), X, X[:, :3]), "X has 5 columns and background has 3"),
        (lambda X: explain_rows(Truth(0.3), X, n_samples=0), "n_samples must be"),
        (lambda X: explain_rows(Truth(0.3), np.ma.masked_less(X, 0.0)), "masked"),
        (lambda X: explain_rows(StandardScaler().fit(X), X), "has no decision_function or predict_proba"),
        (lambda X: explain_rows(Truth(0.3), np.zeros((2, 1001))), "1,001 columns"),
    ],
)
def test_what_cannot_be_explained(call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call(np.random.default_rng(0).normal(size=(9, 5)))


def test_words():
    assert said_of("hour", 2, 0.5) == "hour = 2: raises (+0.50)"
    assert said_of("hour", float("nan"), -0.5) == "hour is missing: lowers (-0.50)"
    assert said_of("hour", 2, 0.0) == "hour = 2: changes nothing"
