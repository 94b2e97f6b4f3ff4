"""What the classifiers over scikit-learn estimators share: an order of the rows, out-of-fold scores, weights, seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from purely._base import draw_seed
from purely._rows import fold_of_rows, row_keys
from purely.classifiers._base import BasePUClassifier, log_odds
from purely.classifiers._calibration import ScoreCalibration, calibrate_scores
from purely.labels import PULabels

__all__ = ["MetaPUClassifier", "fit_estimator", "folds_of", "forest", "log_score", "out_of_fold"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def forest() -> ExtraTreesClassifier:
    """Randomised trees with leaves of five rows: single-row leaves vote 0 or 1 and rank overlapping classes badly."""
    return ExtraTreesClassifier(200, min_samples_leaf=5)


class MetaPUClassifier(BasePUClassifier):
    """Base of the classifiers over any scikit-learn estimator.

    Rows are put into an order of their own (by content, then label) before anything random happens to them, so
    permuting them changes nothing. A subclass gives :meth:`_score`, and calls :meth:`_calibrate` with scores of the
    training rows by models that have not seen them.
    """

    # Declared for type checkers; subclasses assign them in __init__.
    estimator: Any
    random_state: Any
    _map: ScoreCalibration

    def _score(self, X: Any) -> Floats:
        """A score of validated rows, the higher the more positive."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores rows.")

    def _log_odds(self, X: Any) -> Floats:
        return self._map(self._score(X)) + self._population_shift()

    def _ordered(self, X: Any, y: ArrayLike) -> tuple[Any, PULabels]:
        """Validated rows and labels in the rows' own order; the seed and the order are kept."""
        X, labels = self._start(X, y)
        self._seed = draw_seed(self.random_state)
        self._order = np.lexsort((labels.positive, row_keys(X, self._seed)))
        return X[self._order], PULabels(labels.positive[self._order], labels.classes)

    def _calibrate(self, score: Floats, positive: Mask) -> None:
        self._map = calibrate_scores(score[positive], score[~positive], self.unlabelled_prior_)
        self.oof_probability_ = np.empty(score.size)
        self.oof_probability_[self._order] = expit(self._map(score) + self._population_shift())

    def _base_estimator(self, default: Any) -> Any:
        """A copy of the estimator to fit; the default where none is given."""
        given = default if self.estimator is None else self.estimator
        if not hasattr(given, "fit") or not (hasattr(given, "predict_proba") or hasattr(given, "decision_function")):
            raise TypeError(
                "estimator must be a classifier with fit and one of predict_proba or decision_function; "
                f"{given!r} was given."
            )
        return clone(given)


def fit_estimator(estimator: Any, X: Any, target: ArrayLike, seed: int, weight: Floats | None = None) -> Any:
    """A fitted copy of an estimator, its unset random states set from `seed`."""
    copy = clone(estimator)
    parameters = copy.get_params(deep=True)
    states = [k for k in parameters if (k == "random_state" or k.endswith("__random_state")) and parameters[k] is None]
    if states:
        copy.set_params(**dict.fromkeys(states, seed % (2**31)))
    target = np.asarray(target, dtype=np.intp)
    if weight is None:
        return copy.fit(X, target)
    if has_fit_parameter(copy, "sample_weight"):
        return copy.fit(X, target, sample_weight=weight)
    if isinstance(copy, Pipeline) and has_fit_parameter(copy.steps[-1][1], "sample_weight"):
        return copy.fit(X, target, **{f"{copy.steps[-1][0]}__sample_weight": weight})
    raise TypeError(f"estimator must take sample_weight in fit to be weighted; {type(copy).__name__} does not.")


def log_score(estimator: Any, X: Any) -> Floats:
    """Log-odds of a fitted classifier for class 1: of its probability, its density ratio, or its decision function."""
    if hasattr(estimator, "density_ratio"):
        return np.log(np.clip(np.asarray(estimator.density_ratio(X), dtype=np.float64).ravel(), 1e-6, 1e6))
    if hasattr(estimator, "predict_proba"):
        # Votes of few trees are 0 or 1: an average of log-odds must not hang on one of them.
        return log_odds(np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, 1], 1e-4, 1.0 - 1e-4))
    return np.asarray(estimator.decision_function(X), dtype=np.float64).ravel()


def folds_of(X: Any, positive: Mask, cv: Any, seed: int) -> NDArray[np.intp]:
    """Fold number of each row; fewer folds than asked for where there are fewer rows of a kind."""
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 2:
        raise ValueError(f"cv must be an integer of at least 2; {cv!r} was given.")
    smallest = int(min(np.count_nonzero(positive), np.count_nonzero(~positive)))
    return fold_of_rows(X, positive, max(2, min(int(cv), smallest)), seed)


def out_of_fold(estimator: Any, X: Any, positive: Mask, fold: NDArray[np.intp], seed: int) -> Floats:
    """Score of each row by a model of positives against unlabelled rows that has not seen its fold."""
    score = np.empty(positive.size)
    for k in np.unique(fold):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        score[test] = log_score(fit_estimator(estimator, X[train], positive[train], seed), X[test])
    return score
