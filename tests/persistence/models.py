"""Small fitted models of many kinds, and rows to ask them about."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import purely
from purely.classifiers import PULeastSquaresClassifier

WORDS = np.array(["price", "rate", "loan", "bond", "stock", "game", "team", "goal", "match", "coach"])


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


def text_model() -> Any:
    """A fitted pipeline that holds a set, words and trees."""
    forest = RandomForestClassifier(3, class_weight={0: 1.0, 1: 2.0}, random_state=0)
    model = make_pipeline(TfidfVectorizer(stop_words=["a", "the"]), forest).fit(*texts())
    model.words_ = set(WORDS.tolist())
    return model


def hostile_bases() -> dict[str, tuple[Any, Any]]:
    """Fitted models, and rows for each, that a fuzzer starts from."""
    X, y = numbers()
    T, _ = texts()
    models = {
        "information": (purely.PUSMI(n_centers=15, random_state=0), X),
        "prior": (purely.prior.KernelMeanPrior(random_state=np.random.RandomState(0)), X),
        "forest": (
            make_pipeline(
                StandardScaler(),
                purely.classifiers.ReweightedPUClassifier(
                    RandomForestClassifier(3, max_depth=3), class_prior=0.5, cv=2, random_state=0
                ),
            ),
            X,
        ),
        "extra trees": (ExtraTreesClassifier(3, max_depth=3, random_state=0), X),
        "boosting": (GradientBoostingClassifier(n_estimators=3, random_state=0), X),
        "histogram boosting": (HistGradientBoostingClassifier(max_iter=3, random_state=0), X),
        "neighbours": (KNeighborsClassifier(algorithm="kd_tree"), X),
        "calibrated": (CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2), X),
        "features": (
            make_pipeline(
                FunctionTransformer(np.arcsinh),
                FeatureUnion([("pca", PCA(2)), ("scale", MinMaxScaler())]),
                SGDClassifier(loss="log_loss", random_state=0),
            ),
            X,
        ),
        "text": (
            make_pipeline(TfidfVectorizer(), PULeastSquaresClassifier(0.5, n_centers=20, random_state=0)),
            T,
        ),
    }
    if find_spec("torch") is not None:
        settings: dict[str, Any] = {"max_epochs": 2, "device": "cpu", "n_ensemble": 2, "random_state": 0}
        models["networks"] = (purely.NNPUClassifier(0.5, hidden=(6,), cv=2, **settings), X)
        models["representation"] = (purely.PURL(2, hidden=(4,), **settings), X)
    return {name: (model.fit(rows, y), rows) for name, (model, rows) in models.items()}


def answers(model: Any, rows: Any) -> list[Any]:
    """Everything a model says about rows."""
    asked = ("predict_proba", "decision_function", "predict", "density_ratio", "transform")
    return [getattr(model, name)(rows) for name in asked if hasattr(model, name)]
