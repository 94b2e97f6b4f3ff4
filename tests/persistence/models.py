"""Small fitted models of every kind that a file may hold by default, and rows to ask them about."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import purely
from purely import classifiers, prior, representation, smi
from purely.audit import draw_audit, read_audit
from purely.classifiers.imitation import train

WORDS = np.array(["price", "rate", "loan", "bond", "stock", "game", "team", "goal", "match", "coach"])
_SCORED: dict[str, Any] = {"ratio": "linear"}
_NETWORK: dict[str, Any] = {"hidden": (4,), "max_epochs": 2, "device": "cpu", "random_state": 0}


def numbers(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [40, 60])
    X = rng.normal(size=(100, 3))
    X[:, 0] += 1.5 * np.where(y == 1, 1.0, rng.integers(0, 2, size=100))
    return X, y


def texts(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [40, 60])
    topic = np.where(y == 1, 0, 5 * rng.integers(0, 2, size=100))
    return [" ".join(rng.choice(WORDS[t : t + 5], 6)) for t in topic], y


def table(seed: int = 0) -> tuple[Any, Any]:
    """A frame with numbers, gaps, truth values, levels, dates and text."""
    X, y = numbers(seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": X[:, 0], "y": np.where(rng.random(100) < 0.2, np.nan, X[:, 1])})
    frame["k"] = rng.choice(["a", "b", "c", None], 100)
    frame["w"] = rng.choice(["yes", "no"], 100)
    frame["d"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 100), "D")
    frame["t"] = texts(seed)[0]
    return frame, y


def _estimators() -> Iterator[tuple[str, Any]]:
    """Estimators of rows of numbers."""
    yield "information", smi.PUSMI(n_centers=8, n_jobs=1)
    yield "supervised information", smi.PNSMI(n_centers=8)
    yield "linear representation", representation.LSDR(n_starts=2, max_iter=2, n_centers=8)
    for name in prior.__all__:
        if name.endswith("Prior") and name != "ClassPrior":
            cls = getattr(prior, name)
            yield name, cls(**{k: v for k, v in _SCORED.items() if k in cls().get_params()})
    yield "ClassPrior", prior.ClassPrior(["linear", "boosting"], prior.BestBinPrior(), cv=2)
    trees, forest = ExtraTreesClassifier(3, max_depth=3), RandomForestClassifier(3, max_depth=3)
    yield "least squares", classifiers.PULeastSquaresClassifier(0.5, n_centers=8)
    yield "linear least squares", classifiers.PULeastSquaresClassifier(0.5, basis="linear")
    yield "logistic", classifiers.PULogisticClassifier(0.5)
    yield "kernel logistic", classifiers.PULogisticClassifier(0.5, basis="gaussian", n_components=8)
    yield "elkan-noto", classifiers.ElkanNotoClassifier(forest, cv=2)
    yield "bagging", classifiers.BaggingPUClassifier(class_prior=0.5, n_estimators=3)
    yield "reweighted", classifiers.ReweightedPUClassifier(trees, class_prior=0.5, cv=2)
    yield "two-step", classifiers.TwoStepPUClassifier(DecisionTreeClassifier(max_depth=2), class_prior=0.5, cv=2)
    yield "self-training", classifiers.SelfTrainingPUClassifier(trees, class_prior=0.5, cv=2, n_rounds=1)
    yield "calibrated", classifiers.CalibratedPUClassifier(LogisticRegression(), class_prior=0.5, cv=2)
    boosting = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=5)
    state = np.random.RandomState(3)
    members = ["logistic", "linear", trees, boosting]
    yield "members", classifiers.PUClassifier(0.5, members=members, cv=2, random_state=state)
    mixed = [trees, boosting, "kernel-logistic", "linear", DecisionTreeClassifier(max_depth=2)]
    stack = classifiers.PUClassifier(0.5, members=mixed, weights="equal", cv=2)
    yield "distilled", classifiers.DistilledPUClassifier(stack)
    yield "selection-aware", classifiers.SelectionAwareClassifier(selection_features=[1], members=["linear"], cv=2)
    yield "pipeline", make_pipeline(StandardScaler(), classifiers.PULogisticClassifier(purely.Prior(0.4, 0.3, 0.5)))
    if find_spec("torch") is not None:
        yield "networks", classifiers.NNPUClassifier(0.5, cv=2, n_ensemble=2, **_NETWORK)
        yield "representation", representation.PURL(2, n_ensemble=2, **_NETWORK)
        yield "supervised representation", representation.PNRL(2, **_NETWORK)
        network = classifiers.NNPUClassifier(n_ensemble=1, **_NETWORK)
        ensemble = classifiers.PUClassifier(0.5, members=[network, "logistic"], cv=2, device="cpu")
        yield "ensemble", ensemble
        yield "distilled ensemble", classifiers.DistilledPUClassifier(clone(ensemble).set_params(weights="equal"))


def declared_models() -> dict[str, tuple[Any, Any]]:
    """Fitted models, and rows for each, that together hold every class that may be in a file by default."""
    X, y = numbers()
    rows = sp.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    T, frame = texts()[0], table()[0]
    few = classifiers.PULogisticClassifier(0.5)
    sparse = classifiers.PUClassifier(0.5, members=["kernel", "boosting"], cv=2)
    models = {name: (estimator, X) for name, estimator in _estimators()}
    models["sparse rows"] = sparse, rows
    models["words"] = make_pipeline(TfidfVectorizer(), few), T
    models["counts"] = make_pipeline(CountVectorizer(ngram_range=(1, 2), stop_words=["loan"]), few), T
    if find_spec("pyarrow") is not None:
        from purely.tables import Origin, TableEncoder

        models["table"] = Pipeline([("table", TableEncoder()), ("classifier", few)]), frame
        models["sparse table"] = TableEncoder(sparse=True, max_levels=2), frame
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = {name: (clone(model).fit(data, y), data) for name, (model, data) in models.items()}
    if "sparse table" in fitted:  # as the command line notes it
        fitted["sparse table"][0].origin_ = Origin("t.csv", 100, "fraud", "1", None, ("customer",))
    fitted["audited"] = _audited(fitted["logistic"][0], X, y), X
    fitted["imitated"] = _imitated(fitted["distilled"][0], X), X
    return fitted


def _imitated(model: Any, X: Any) -> Any:
    """A distilled classifier with a network; of so few rows none would be made."""
    made = copy(model)
    made.imitation_ = train(X, model.log_odds(X), np.random.default_rng(0), 20)
    return made


def _audited(model: Any, X: Any, y: Any) -> Any:
    """The model after an audit of some unlabelled rows, its ranking refined too."""
    pool = X[y == 0]
    probability = model.predict_proba(pool)[:, 1]
    sample = draw_audit(probability, 30, random_state=0)
    labels = (pool[sample.index, 0] > 0.8).astype(int)
    return read_audit(sample, labels, probability).recalibrated(model, pool[sample.index])


def answers(model: Any, rows: Any) -> list[Any]:
    """Everything a model says about rows."""
    asked = ("predict_proba", "decision_function", "predict", "density_ratio", "transform")
    return [getattr(model, name)(rows) for name in asked if hasattr(model, name)]
