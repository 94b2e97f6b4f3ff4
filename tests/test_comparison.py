"""Methods on the same draws, and results in a notebook."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from purely import Prior, PULogisticClassifier, pu_report
from purely.comparison import compare_methods
from purely.datasets import make_gaussians
from purely.explain import explain_rows
from purely.notebook import html_table

DATA = make_gaussians(600, 1800, n_features=3, random_state=0)


class Remembers(ClassifierMixin, BaseEstimator):
    """A method of one's own, which notes what it was given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        type(self).seen.append(np.asarray(X).sum())
        self.class_prior_ = 0.25
        return self

    def predict(self, X):
        return np.ones(len(X), dtype=int)

    def decision_function(self, X):
        return X[:, 0]


def test_every_method_gets_the_same_draws_and_is_judged_by_the_truth():
    Remembers.seen.clear()
    methods = {"first": Remembers(), "second": Remembers(), "plain": LogisticRegression()}
    found = compare_methods(methods, DATA.X, DATA.y_true, class_prior=0.4, n_draws=3, n_test=200)
    assert found.methods == list(methods)
    assert Remembers.seen[0::2] == Remembers.seen[1::2]
    assert len(set(Remembers.seen)) == 3
    np.testing.assert_allclose(found.values("first", "error"), 0.6)
    np.testing.assert_allclose(found.values("first", "prior_error"), 0.15)
    assert np.isnan(found.values("plain", "prior_error")).all()
    assert "Means over 3 draws" in str(found)


def test_a_pu_method_beats_the_plain_one_where_the_pool_is_half_positive():
    methods = {"plain": LogisticRegression(), "ours": PULogisticClassifier(0.5)}
    found = compare_methods(methods, DATA.X, DATA.y_true, class_prior=0.5, n_draws=4, random_state=None)
    assert (found.values("ours", "error") < found.values("plain", "error")).all()


class Calls:
    """Calls rows positive or not, and no more; not of scikit-learn, and `fit` returns nothing."""

    def fit(self, X, y):
        self.mean_ = X[y == 1].mean()

    def predict(self, X):
        return (X.mean(axis=1) > self.mean_).astype(int)


def test_a_method_needs_only_fit_and_predict():
    found = compare_methods({"calls": Calls()}, DATA.X, DATA.y_true, class_prior=0.4, n_draws=1, n_test=100)
    assert np.isfinite(found.values("calls", "error")).all()
    assert np.isnan(found.values("calls", "area")).all()
    assert str(found).endswith("One draw.")
    assert "nan" not in str(found)


@pytest.mark.parametrize(
    ("method", "said"), [(Calls, "the class Calls; write Calls()"), (len, "function len"), ("forest", "forest")]
)
def test_what_is_no_method_is_named(method, said):
    with pytest.raises(ValueError, match="must be an object with fit") as error:
        compare_methods({"mine": method}, DATA.X, DATA.y_true)
    assert "methods['mine']" in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n_positive": 5000}, "but y has"),
        ({"n_unlabelled": 20, "n_test": 20, "class_prior": 0.01}, "ask for at least 51 rows."),
    ],
)
def test_a_table_that_is_too_small_is_named_in_settings_of_the_comparison(asked, said):
    with pytest.raises(ValueError, match=r"Draws of n_positive=\d+.* cannot be made: ") as error:
        compare_methods({"calls": Calls()}, DATA.X, DATA.y_true, **asked)
    assert said in str(error.value)
    assert not any(word in str(error.value) for word in ("replace", "counts"))


def test_no_methods_is_an_error():
    with pytest.raises(ValueError, match="must be a dict of names and estimators"):
        compare_methods({}, DATA.X, DATA.y_true)


@pytest.mark.filterwarnings("ignore")
def test_results_in_a_notebook():
    hostile = "<script>alert(1)</script>"
    model = PULogisticClassifier(0.4).fit(DATA.X, DATA.y)
    probability = model.predict_proba(DATA.X)[:, 1]
    report = pu_report(DATA.y, probability, 0.4, n_resamples=20)
    explained = explain_rows(model, DATA.X[:5], DATA.X, groups=[hostile, "b", "c"])
    comparison = compare_methods({hostile: Remembers()}, DATA.X, DATA.y_true, class_prior=0.4, n_draws=1)
    for result in (Prior(0.3, 0.2, 0.4), report, report["precision"], explained, comparison):
        page = result._repr_html_()
        assert page.startswith("<")
        assert "<script" not in page
    assert "0.3 [0.2, 0.4]" in Prior(0.3, 0.2, 0.4)._repr_html_()
    assert "precision" in report._repr_html_()
    assert html_table(["a"], [["&"]]).count("&amp;") == 1
