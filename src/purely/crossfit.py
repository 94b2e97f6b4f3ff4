r"""What a fitted model says of a row, and what models say of rows that they have not seen.

A model of labelled against unlabelled rows says one thing in several ways: `density_ratio`, `predict_proba` or
`decision_function`. :func:`log_ratio` puts them on one scale, the log of the density ratio of positives to unlabelled
rows,

.. math:: \log \frac{p(x \mid \text{labelled})}{p(x \mid \text{unlabelled})}
          = \operatorname{logit} p(\text{labelled} \mid x) - \log \frac{n_P}{n_U} ,

and :func:`cross_fit` asks, for every row, models that were trained on the other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.special import logit
from scipy.stats import rankdata
from sklearn.base import clone

from purely.folds import Folds
from purely.progress import track
from purely.typing import Estimator, Floats, Indices, Mask, Matrix

#: Rank correlation of two scores from which on they are taken to be of the same rows.
SAME_ROWS = 0.5

#: What a model can be asked about a row.
Statement = Literal["class", "score", "log-odds", "ratio", "probability"]
#: What a model says of rows, given how many positives and unlabelled rows it was trained on.
Says: TypeAlias = Callable[[Any, Matrix, int, int], Floats]

#: Log-odds are kept within this range: a probability closer to 0 or 1 than about 1e-13 says nothing more.
LARGEST_LOG_ODDS = 30.0
#: Log-ratios are kept within this range. A ratio of 1,000 needs some thousand rows to be told from a larger one, and
#: trees whose leaves are pure would say infinity; an average over models must not hang on one of them.
LARGEST_LOG_RATIO = float(np.log(1000.0))
#: Rows that a model is trained on at most, see `docs/speed`: beyond, more rows change little.
MOST_ROWS = 10_000


def model_says(model: Any, X: Matrix, what: Statement, positive: object = 1) -> Floats:
    """What a fitted model says of rows.

    Parameters
    ----------
    model : fitted estimator
    X : rows of the kind the model was trained on
    what : {"class", "score", "log-odds", "ratio", "probability"}
        "class": 1.0 where the row is called positive; "score": any number that rises with the probability;
        "log-odds": finite log-odds of the positive class; "ratio": the density ratio, or the probability, which is a
        multiple of it; "probability": of the positive class.
    positive : object, default=1
        The value of the positive class.

    Returns
    -------
    ndarray of shape (n,)
    """
    if what == "class":
        return np.asarray(np.asarray(model.predict(X)) == positive, dtype=np.float64)
    if what == "log-odds" and hasattr(model, "log_odds"):
        return _column(model.log_odds(X))
    if what in ("score", "log-odds") and hasattr(model, "decision_function"):
        return _column(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        classes = list(getattr(model, "classes_", (None, positive)))
        place = classes.index(positive) if positive in classes else 1
        probability = _column(np.asarray(model.predict_proba(X))[:, place])
        return finite_log_odds(probability) if what == "log-odds" else probability
    if what in ("score", "ratio") and hasattr(model, "density_ratio"):
        return np.maximum(_column(model.density_ratio(X)), 0.0)
    needed = {
        "score": "decision_function, predict_proba or density_ratio",
        "log-odds": "decision_function or predict_proba",
        "ratio": "predict_proba or density_ratio",
        "probability": "predict_proba",
    }[what]
    raise TypeError(f"{type(model).__name__} has no {needed}, which is looked at here.")


def scores_rows(model: object) -> bool:
    """Whether a model, fitted or not, says more of rows than their class."""
    return any(hasattr(model, name) for name in ("density_ratio", "predict_proba", "decision_function"))


def finite_log_odds(probability: ArrayLike) -> Floats:
    """Log-odds of probabilities, finite at 0 and 1, which sums of shares may pass by a rounding error."""
    inside = np.clip(np.asarray(probability, dtype=np.float64), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return np.clip(logit(inside), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)


def log_ratio(model: Any, X: Matrix, n_positive: int, n_unlabelled: int) -> Floats:
    """Log density ratio of positives to unlabelled rows, as a fitted model of 1 against 0 says it.

    Parameters
    ----------
    model : fitted estimator
        With `log_odds`, `density_ratio`, `predict_proba` or `decision_function`; the first of these that exists. What
        is not a ratio is taken as it is: it rises with one.
    X : rows of shape (n, d)
    n_positive, n_unlabelled : int
        How many rows of each kind it was trained on; a model that weighs both kinds alike (class_weight="balanced")
        knows nothing of these.

    Returns
    -------
    ndarray of shape (n,)
    """
    if hasattr(model, "log_odds"):
        return _column(model.log_odds(X))
    if hasattr(model, "density_ratio"):
        with np.errstate(divide="ignore"):
            value = np.log(np.maximum(_column(model.density_ratio(X)), 0.0))
    elif hasattr(model, "predict_proba"):
        balanced = getattr(last_step(model), "class_weight", None) == "balanced"
        value = finite_log_odds(model_says(model, X, "probability"))
        value -= 0.0 if balanced else np.log(n_positive / n_unlabelled)
    else:
        return model_says(model, X, "score")
    return np.clip(value, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def _column(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(-1)


def cross_fit(
    models: Sequence[Estimator],
    X: Matrix,
    positive: Mask,
    folds: Folds,
    *,
    n_jobs: int | None = None,
    says: Says = log_ratio,
) -> Floats:
    """Log-ratio of every row by models that were trained on the other folds.

    Parameters
    ----------
    models : sequence of estimators
        Prototypes; each is cloned and fitted once a fold.
    X : array or sparse matrix of shape (n, d)
    positive : ndarray of bool, shape (n,)
    folds : Folds
    n_jobs : int, optional
        Fits at a time, through joblib.

    says : function
        What a model says of rows, such as :func:`purely.collapsed.collapsed_ratio`.

    Returns
    -------
    ndarray of shape (n_models, n)
    """
    target = positive.astype(np.intp)
    scores = np.empty((len(models), positive.size))
    jobs = [(i, k) for k in range(folds.n_folds) for i in range(len(models))]
    if not jobs:
        return scores
    done = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_and_score)(models[i], X, target, folds, k, says) for i, k in jobs
    )
    with track("models", len(jobs), unit="model") as bar:
        for (i, k), score in zip(jobs, done, strict=True):
            scores[i, folds.test(k)] = score
            bar.advance()
    return scores


def last_step(estimator: Any) -> Any:
    """The estimator itself, or what a pipeline ends with."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def out_of_fold(model: Any, found: Floats) -> Floats | None:
    """Out-of-fold probabilities of the rows of which a model says `found`; None where it holds none of these rows."""
    stored = np.asarray(getattr(last_step(model), "oof_probability_", ()), dtype=np.float64)
    return stored if are_training_rows(stored, found) else None


def are_training_rows(stored: Floats, found: Floats) -> bool:
    """Whether out-of-fold scores are those of the rows of which a model says `found`: as many, and in like order."""
    if not stored.size == found.size > 0:
        return False
    with np.errstate(invalid="ignore"):
        agreement = np.corrcoef(rankdata(stored), rankdata(found))[0, 1]
    return bool(agreement > SAME_ROWS)


def _fit_and_score(model: Estimator, X: Matrix, target: Indices, folds: Folds, k: int, says: Says) -> Floats:
    train, test = folds.sample(k, target == 1, MOST_ROWS), folds.test(k)
    n_positive = int(target[train].sum())
    fitted = clone(model, safe=False).fit(X[train], target[train])
    return says(fitted, X[test], n_positive, train.size - n_positive)
