r"""Cross-fitted log density ratios: scores of rows by models that have not seen them.

A model of positives against unlabelled rows gives the ratio :math:`w(x) = p(x \mid y=1) / p(x)`: from a probability
:math:`p`, :math:`\log w = \log p - \log(1 - p) - \log(n_P / n_U)`. In sample it separates the training positives from
their twins among the unlabelled rows; out of fold it does not. A log-ratio means the same in every fold and for every
model, so folds are pooled, and models are weighed and added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from purely.collapsed import collapsed_ratio
from purely.crossfit import MOST_ROWS, cross_fit, scores_rows
from purely.folds import Folds, deal_folds
from purely.typing import Estimator, Floats, Mask, Matrix
from purely.weighing import equal_kinds, weigh_models

#: What `ratio` takes: names of built-in models, estimators, or a list of both.
Ratio: TypeAlias = str | Estimator | Sequence[str | Estimator] | None
#: Names of the built-in models of positives against unlabelled rows.
MODEL_NAMES = ("trees", "linear", "kernel", "forest", "boosting")
#: What "auto" stands for.
AUTO_MODELS = ("trees", "linear", "kernel", "boosting")
#: Trees of the built-in "trees" and "forest", and rows that a tree of either sees at most. Half and a third as many do
#: where there are more rows than trees see (`experiments/results/cheaper_trees.csv.gz`).
N_TREES, TREE_ROWS, FOREST_ROWS = 100, 4000, 2000


@dataclass(frozen=True)
class RatioScores:
    """Out-of-fold log density ratios.

    Attributes
    ----------
    score : ndarray of shape (n,)
        Log-ratio of each row, the models' weighed and added up.
    by_model : ndarray of shape (n_models, n)
        Log-ratio of each row by each model.
    weights : ndarray of shape (n_models,)
        Weights of the models, none negative.
    loss : float
        Mean logistic loss of telling positives from unlabelled rows by `score`, both weighing the same: log 2 where
        nothing tells them apart.
    """

    score: Floats
    by_model: Floats
    weights: Floats
    loss: float


def stack_ratios(by_model: Floats, positive: Mask) -> RatioScores:
    r"""Weigh log-ratios so that their sum predicts best which rows are labelled.

    .. math:: \min_{\beta \ge 0, c} \; \tfrac12 \operatorname{mean}_P \log(1 + e^{-z}) + \tfrac12 \operatorname{mean}_U
        \log(1 + e^{z}) + \tfrac1n \| \beta - \tfrac1k \|^2 , \qquad z = \beta^\top s + c ,

    with *n* the size of the smaller sample and *k* models. An average over equal models loses where one is far better.
    """
    weight, sign = equal_kinds(positive), np.where(positive, 1.0, -1.0)

    def loss(z: Floats) -> tuple[float, Floats]:
        return -float(weight @ log_expit(sign * z)), -weight * sign * expit(-sign * z)

    weights, constant = weigh_models(by_model, positive, loss)
    score = weights @ by_model + constant
    return RatioScores(score, by_model, weights, loss(score)[0])


def built_in(name: str, n: int, n_features: int, *, sparse: bool, seed: int) -> Estimator:
    """One of the built-in models, sized for `n` rows of `n_features` columns."""
    n = min(n, MOST_ROWS)  # more are never shown to it
    if name == "trees":
        return ExtraTreesClassifier(
            N_TREES // 2 if n > 2 * TREE_ROWS else N_TREES,
            min_samples_leaf=3,  # single-row leaves vote 0 or 1 and rank overlapping classes badly
            max_features=max(1, int(max(np.sqrt(n_features), min(0.5 * n_features, 16.0)))),
            bootstrap=True,
            max_samples=min(0.5, TREE_ROWS / n),
            class_weight="balanced",
            random_state=seed,
        )
    if name == "forest":
        n_trees, most = (N_TREES // 3, FOREST_ROWS / n) if n > FOREST_ROWS else (N_TREES, None)
        return RandomForestClassifier(n_trees, min_samples_leaf=3, max_samples=most, random_state=seed)
    if name == "linear":
        strength = 1.0 if n_features < 100 else 0.1
        return make_pipeline(MaxAbsScaler(), LogisticRegression(C=strength, class_weight="balanced", max_iter=300))
    if name == "kernel":
        features = kernel_features(min(400, n), n_features, sparse=sparse, seed=seed)
        last = LogisticRegression(C=10.0, class_weight="balanced", max_iter=300)
        return make_pipeline(*(step for _, step in features.steps), last)
    if name == "boosting":
        # Without class_weight, which makes scikit-learn's binning several times slower; `log_ratio` allows for it.
        model = HistGradientBoostingClassifier(
            max_iter=80,
            learning_rate=0.075,
            max_leaf_nodes=15,
            min_samples_leaf=10,
            l2_regularization=1.0,
            max_features=min(1.0, 20.0 / n_features) if n_features > 30 else 1.0,
            early_stopping=False,
            random_state=seed,
        )
        return make_pipeline(FunctionTransformer(_densify), model) if sparse else model
    raise ValueError(
        f"ratio must be 'auto', one of {', '.join(map(repr, MODEL_NAMES))}, an estimator, or a list of these; "
        f"{name!r} was given."
    )


def kernel_features(
    n_components: int, n_features: int, *, sparse: bool, seed: int, bandwidth: float | None = None
) -> Pipeline:
    """Standardised columns, a Gaussian kernel by `n_components` rows (Nyström), centred."""
    width = np.sqrt(n_features) if bandwidth is None else bandwidth
    return make_pipeline(
        StandardScaler(with_mean=not sparse),
        Nystroem(gamma=0.5 / width**2, n_components=n_components, random_state=seed),
        StandardScaler(with_std=False),
    )


def _densify(X: Matrix) -> Matrix:
    return sp.csr_matrix(X).toarray() if sp.issparse(X) else X


def resolve_models(ratio: Ratio, n: int, n_features: int, *, sparse: bool, seed: int) -> list[Estimator]:
    """The models that a `ratio` parameter stands for."""
    named = AUTO_MODELS if ratio == "auto" else ratio
    asked = named if isinstance(named, Sequence) and not isinstance(named, str) else (named,)
    if len(asked) == 0:
        raise ValueError("ratio must name at least one model; an empty list was given.")
    models = []
    for model in asked:
        if isinstance(model, str):
            models.append(built_in(model, n, n_features, sparse=sparse, seed=seed))
        elif hasattr(model, "fit") and scores_rows(model):
            models.append(clone(model))
        else:
            raise ValueError(
                "ratio must be 'auto', the name of a built-in model, or an estimator with fit and one of "
                f"density_ratio, predict_proba or decision_function; {model!r} was given."
            )
    return models


def ratio_scores(
    ratio: Ratio,
    X: Matrix,
    positive: Mask,
    *,
    cv: int = 5,
    seed: int,
    folds: Folds | None = None,
    n_jobs: int | None = None,
) -> RatioScores:
    """Log-ratio of every row by models that were trained on the other folds.

    Parameters
    ----------
    ratio : "auto", str, estimator or list of these
        See :func:`resolve_models`.
    X : array or sparse matrix of shape (n, d)
    positive : ndarray of bool, shape (n,)
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    seed : int
        Seed of folds and models.
    folds : Folds, optional
        The folds themselves.
    n_jobs : int, optional
        Fits at a time, through joblib.
    """
    folds = deal_folds(X, positive, cv, seed) if folds is None else folds
    n_train = X.shape[0] - X.shape[0] // folds.n_folds
    models = resolve_models(ratio, n_train, X.shape[1], sparse=sp.issparse(X), seed=seed)
    return stack_ratios(cross_fit(models, X, positive, folds, n_jobs=n_jobs, says=collapsed_ratio), positive)
