r"""Cross-fitted log density ratios: scores of rows by models that have not seen them.

A model of positives against unlabelled rows gives the ratio :math:`w(x) = p(x \mid y=1) / p(x)`: from a probability
:math:`p`, :math:`\log w = \log p - \log(1 - p) - \log(n_P / n_U)`. In sample it separates the training positives from
their twins among the unlabelled rows; out of fold it does not. A log-ratio means the same in every fold and for every
model, so folds are pooled and models averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from purely._rows import fold_of_rows, row_keys

Floats = NDArray[np.float64]

#: Names of the built-in models of positives against unlabelled rows.
MODEL_NAMES = ("trees", "linear", "kernel", "forest", "boosting")
#: What "auto" stands for.
AUTO_MODELS = ("trees", "linear", "kernel")
#: Trees of the built-in "trees".
N_TREES = 150
#: Probabilities are kept this far from 0 and 1 before the logit.
_CLIP = 1e-3


@dataclass(frozen=True)
class CrossFit:
    """Out-of-fold scores.

    Attributes
    ----------
    score : ndarray of shape (n,)
        Log-ratio, averaged over the models.
    by_model : ndarray of shape (n_models, n)
        Log-ratio of each model.
    fold : ndarray of int, shape (n,)
        The fold whose models scored each row.
    """

    score: Floats
    by_model: Floats
    fold: NDArray[np.intp]


def built_in(name: str, n: int, n_features: int, *, sparse: bool, seed: int, n_estimators: int = N_TREES) -> Any:
    """One of the built-in models, sized for `n` rows of `n_features` columns."""
    if name == "trees":
        # Leaves of five: single-row leaves vote 0 or 1 and rank overlapping classes badly.
        return ExtraTreesClassifier(n_estimators, min_samples_leaf=5, class_weight="balanced", random_state=seed)
    if name == "forest":
        return RandomForestClassifier(200, random_state=seed)
    if name == "linear":
        strength = 1.0 if n_features < 100 else 0.1
        return make_pipeline(MaxAbsScaler(), LogisticRegression(C=strength, class_weight="balanced", max_iter=300))
    if name == "kernel":
        features = kernel_features(min(400, n), n_features, sparse=sparse, seed=seed)
        last = LogisticRegression(C=10.0, class_weight="balanced", max_iter=300)
        return make_pipeline(*(step for _, step in features.steps), last)
    if name == "boosting":
        model = HistGradientBoostingClassifier(
            max_iter=60,
            max_leaf_nodes=15,
            max_features=min(1.0, 20.0 / n_features) if n_features > 30 else 1.0,
            class_weight="balanced",
            early_stopping=False,
            random_state=seed,
        )
        return make_pipeline(FunctionTransformer(_densify), model) if sparse else model
    raise ValueError(
        f"ratio must be 'auto', one of {', '.join(map(repr, MODEL_NAMES))}, an estimator, or a list of these; "
        f"{name!r} was given."
    )


def kernel_features(
    n_components: int, n_features: int, *, sparse: bool, seed: int, gamma: float | None = None
) -> Pipeline:
    """Standardised columns, a Gaussian kernel by `n_components` rows (Nyström), centred."""
    return make_pipeline(
        StandardScaler(with_mean=not sparse),
        Nystroem(gamma=0.5 / n_features if gamma is None else gamma, n_components=n_components, random_state=seed),
        StandardScaler(with_std=False),
    )


def _densify(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


def resolve_models(
    ratio: Any, n: int, n_features: int, *, sparse: bool, seed: int, n_estimators: int = N_TREES
) -> list[Any]:
    """The models that a `ratio` parameter stands for."""
    if isinstance(ratio, str):
        ratio = AUTO_MODELS if ratio == "auto" else (ratio,)
    elif not isinstance(ratio, Sequence):
        ratio = (ratio,)
    if len(ratio) == 0:
        raise ValueError("ratio must name at least one model; an empty list was given.")
    models = []
    for model in ratio:
        if isinstance(model, str):
            models.append(built_in(model, n, n_features, sparse=sparse, seed=seed, n_estimators=n_estimators))
        elif hasattr(model, "fit") and any(
            hasattr(model, m) for m in ("density_ratio", "predict_proba", "decision_function")
        ):
            models.append(clone(model))
        else:
            raise ValueError(
                "ratio must be 'auto', the name of a built-in model, or an estimator with fit and one of "
                f"density_ratio, predict_proba or decision_function; {model!r} was given."
            )
    return models


def log_ratio(model: Any, X: Any, n_positive: int, n_unlabelled: int) -> Floats:
    """Logarithm of a fitted model's density ratio at new rows."""
    if hasattr(model, "density_ratio"):
        ratio = np.asarray(model.density_ratio(X), dtype=np.float64).ravel()
        return np.log(np.clip(ratio, _CLIP, 1.0 / _CLIP))
    if hasattr(model, "predict_proba"):
        probability = np.clip(np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1], _CLIP, 1.0 - _CLIP)
        offset = 0.0 if _is_balanced(model) else np.log(n_positive / n_unlabelled)
        return np.log(probability) - np.log1p(-probability) - offset
    return np.asarray(model.decision_function(X), dtype=np.float64).ravel()


def _is_balanced(model: Any) -> bool:
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return getattr(last, "class_weight", None) == "balanced"


def grouped_folds(X: Any, positive: NDArray[np.bool_], n_folds: int, seed: int) -> NDArray[np.intp]:
    """Fold of each row, equal rows together whatever their labels.

    Where a row of the training folds equals one that is scored, the score is partly in sample: with copies dealt out
    in turn over the folds, a labelled row always meets its labelled twins in training and an unlabelled one its
    unlabelled twins, and the prior comes out too small (by .07 on data a quarter of whose rows are copies).
    Data with too few distinct rows for that are dealt out row by row.
    """
    keys, group = np.unique(row_keys(X, seed), return_inverse=True)
    labelled = np.zeros(keys.size, dtype=bool)
    labelled[group[positive]] = True
    fold_of_group = np.empty(keys.size, dtype=np.intp)
    for members in (labelled, ~labelled):
        fold_of_group[members] = np.arange(np.count_nonzero(members)) % n_folds
    fold = fold_of_group[group]
    counts = np.array([[np.count_nonzero((fold == j) & m) for j in range(n_folds)] for m in (positive, ~positive)])
    if np.any(counts == 0) or np.any(counts.max(axis=1) > 0.6 * counts.sum(axis=1)):
        return fold_of_rows(X, positive, n_folds, seed)
    return fold


def cross_fit(
    ratio: Any,
    X: Any,
    positive: NDArray[np.bool_],
    *,
    cv: int,
    seed: int,
    n_estimators: int = N_TREES,
    score: Callable[[Any, Any, int, int], Floats] = log_ratio,
) -> CrossFit:
    """Scores of all rows, each by models fitted without its fold; `score` says what a fitted model says of rows.

    Rows are put into an order of their own first (by content, then label), so permuting them changes nothing.
    """
    order = np.lexsort((positive, row_keys(X, seed)))
    X, positive = X[order], positive[order]
    n_p, n_u = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    n_folds = max(2, min(cv, n_p, n_u))
    fold = grouped_folds(X, positive, n_folds, seed)
    n_train = X.shape[0] - X.shape[0] // n_folds
    models = resolve_models(ratio, n_train, X.shape[1], sparse=sp.issparse(X), seed=seed, n_estimators=n_estimators)
    target = positive.astype(np.intp)
    scores = np.empty((len(models), positive.size))
    for j in range(n_folds):
        train, test = np.flatnonzero(fold != j), np.flatnonzero(fold == j)
        train_p = int(np.count_nonzero(positive[train]))
        for i, model in enumerate(models):
            fitted = clone(model).fit(X[train], target[train])
            scores[i, test] = score(fitted, X[test], train_p, train.size - train_p)
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return CrossFit(scores.mean(axis=0)[back], scores[:, back], fold[back])
