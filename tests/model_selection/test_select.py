"""Scorers agree with the metrics; the better model is chosen; trivial answers are told."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

from purely.datasets import make_gaussians, make_independent, make_paper_data
from purely.exceptions import TrivialModelWarning
from purely.metrics import pu_accuracy, pu_average_precision, pu_risk, pu_roc_auc
from purely.model_selection import PUStratifiedKFold, pu_scorer, pu_scorer_names, select_model


@pytest.fixture(scope="module")
def sample():
    return make_gaussians(200, 500, n_features=3, random_state=0)


@pytest.mark.parametrize("name", pu_scorer_names())
def test_every_scorer_serves_cross_validation(sample, name) -> None:
    scorer = pu_scorer(name, class_prior=0.5)
    cv = PUStratifiedKFold(3, random_state=0)
    for model in (LogisticRegression(), RandomForestClassifier(5, random_state=0)):
        scores = cross_val_score(model, sample.X, sample.y, scoring=scorer, cv=cv)
        assert np.isfinite(scores).all()
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert name in repr(scorer)


def test_scorers_agree_with_the_metrics(sample) -> None:
    model = LogisticRegression(class_weight="balanced").fit(sample.X, sample.y)
    score, p = model.decision_function(sample.X), model.predict_proba(sample.X)[:, 1]
    expected = {
        "roc_auc": pu_roc_auc(sample.y, score, 0.5, n_resamples=0).raw,
        "average_precision": pu_average_precision(sample.y, score, 0.5, n_resamples=0).raw,
        "accuracy": pu_accuracy(sample.y, model.predict(sample.X), 0.5, n_resamples=0).raw,
        "risk": -pu_risk(sample.y, score, 0.5, n_resamples=0).raw,
        "brier": -pu_risk(sample.y, p, 0.5, loss="brier", n_resamples=0).raw,
        "logistic_risk": -pu_risk(sample.y, score, 0.5, loss="logistic", n_resamples=0).raw,
    }
    for name, value in expected.items():
        assert pu_scorer(name, 0.5)(model, sample.X, sample.y) == pytest.approx(value), name


def test_grid_search_finds_the_model_that_can_see_the_classes() -> None:
    """The paper's negatives lie on both sides: a line ranks nothing, a parabola nearly everything."""
    data = make_paper_data(300, 700, random_state=0)
    search = GridSearchCV(
        make_pipeline(PolynomialFeatures(), StandardScaler(), LogisticRegression()),
        {"polynomialfeatures__degree": [1, 2]},
        scoring={name: pu_scorer(name, class_prior=0.7) for name in ("roc_auc", "ranking", "information")},
        refit="roc_auc",
        cv=PUStratifiedKFold(4, random_state=0),
    ).fit(pd.DataFrame(data.X, columns=["a", "b"]), data.y)
    assert search.best_params_ == {"polynomialfeatures__degree": 2}
    for name in ("ranking", "information"):
        line, parabola = search.cv_results_[f"mean_test_{name}"]
        assert parabola > line


@pytest.mark.parametrize("scoring", [None, "roc_auc", "average_precision", "information", "brier", "lee_liu", "f1"])
@pytest.mark.parametrize("seed", range(2))
def test_the_better_model_is_chosen_and_told_apart(scoring, seed) -> None:
    data = make_paper_data(400, 1000, random_state=seed)
    candidates = {"line": LogisticRegression(class_weight="balanced"), "two bells": GaussianNB(priors=[0.5, 0.5])}
    chosen = select_model(candidates, data.X, data.y, class_prior=0.7, scoring=scoring, cv=4, random_state=seed)
    assert chosen.best_name == "two bells"
    assert chosen.indistinguishable == ()
    assert chosen.differences["two bells"].value == 0.0
    assert chosen.best_estimator.predict(data.X).shape == data.y.shape
    text = str(chosen)
    assert "two bells" in text
    assert "best" in text


class HalfPrior(BaseEstimator):
    """Stands in for a prior estimator."""

    def fit(self, X, y):
        self.class_prior_, self.class_prior_interval_ = 0.5, (0.4, 0.6)
        return self


def test_a_prior_estimator_is_fitted_once_and_its_interval_counts(sample) -> None:
    def error(class_prior) -> float:
        chosen = select_model(
            [LogisticRegression(class_weight="balanced")], sample.X, sample.y, class_prior=class_prior, random_state=0
        )
        return chosen.estimates["LogisticRegression"].standard_error

    assert error(HalfPrior()) == error(HalfPrior().fit(None, None)) == error((0.4, 0.6)) > error(0.5)


def test_scorers_pass_through_metadata_routing(sample) -> None:
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            LogisticRegression(), {"C": [1.0, 2.0]}, scoring=pu_scorer("f1", 0.5), cv=PUStratifiedKFold(3)
        ).fit(sample.X, sample.y)
    assert np.isfinite(search.best_score_)


def test_paired_errors_are_sharper_than_single_ones(sample) -> None:
    twins = [LogisticRegression(C=1.0), LogisticRegression(C=1.1)]
    chosen = select_model(twins, sample.X, sample.y, class_prior=0.5, scoring="roc_auc", random_state=0)
    assert set(chosen.estimates) == {"LogisticRegression", "LogisticRegression-2"}
    other = next(n for n in chosen.estimates if n != chosen.best_name)
    assert chosen.differences[other].standard_error < chosen.estimates[other].standard_error / 5
    assert chosen.indistinguishable == (other,)


def test_standard_errors_match_the_metrics(sample) -> None:
    """Means over folds of draws within folds: the same spread as the pooled metric's, for the share of errors."""
    chosen = select_model(
        [LogisticRegression(class_weight="balanced")], sample.X, sample.y, class_prior=0.5, random_state=0
    )
    name = chosen.best_name
    pooled = pu_risk(sample.y, chosen.outputs[name] - 0.5, 0.5, random_state=0)
    assert chosen.estimates[name].value == pytest.approx(pooled.raw, abs=0.01)
    assert chosen.estimates[name].standard_error == pytest.approx(pooled.standard_error, rel=0.3)


def test_the_trivial_answer_is_told() -> None:
    data = make_independent(200, 600, class_prior=0.2, random_state=0)
    balanced = LogisticRegression(class_weight="balanced")
    with pytest.warns(TrivialModelWarning, match="'all negative' has a risk of 0.200"):
        select_model([balanced], data.X, data.y, class_prior=0.2, random_state=0)
    with pytest.warns(TrivialModelWarning, match="'all positive' has a recall of 1.000"):
        select_model([balanced], data.X, data.y, scoring="recall", random_state=0)
    with pytest.warns(TrivialModelWarning, match="DummyClassifier, gives every row the same answer"):
        select_model([DummyClassifier()], data.X, data.y, class_prior=0.2, random_state=0)


def test_no_warning_where_something_is_learnt(sample) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = select_model(
            [LogisticRegression(class_weight="balanced")], sample.X, sample.y, class_prior=0.5, random_state=0
        )
    assert chosen.trivial["all positive"] == pytest.approx(0.5)


def test_codings_sparse_rows_models_without_probabilities_and_single_samples(sample) -> None:
    y = np.where(sample.y == 1, "yes", "no")
    X = sp.csr_array(sample.X)
    chosen = select_model([LinearSVC()], X, y, refit=False, random_state=0, scenario="single-sample")
    assert chosen.best_estimator is None
    same = select_model([LinearSVC()], sample.X, sample.y, random_state=0, scenario="single-sample")
    assert chosen.estimates["LinearSVC"].value == pytest.approx(same.estimates["LinearSVC"].value, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda s: pu_scorer("roc_auc"), ValueError, "scoring='roc_auc' needs class_prior; without one choose among"),
        (lambda s: pu_scorer("auc", 0.5), ValueError, "scoring must be one of"),
        (lambda s: select_model([], s.X, s.y), ValueError, "candidates is empty"),
        (lambda s: select_model(["x"], s.X, s.y), TypeError, "has no fit method"),
        (lambda s: select_model([GaussianNB()], s.X, s.y, n_resamples=1), ValueError, "n_resamples must be at least 2"),
        (lambda s: select_model([GaussianNB()], s.X, s.y, scoring="f1"), ValueError, "needs class_prior"),
        (
            lambda s: select_model([LinearSVC()], s.X, s.y, scoring="brier", class_prior=0.5),
            TypeError,
            "LinearSVC has no predict_proba",
        ),
    ],
)
def test_bad_input_is_refused_with_a_sentence(sample, call, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        call(sample)
