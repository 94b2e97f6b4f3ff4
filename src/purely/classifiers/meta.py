"""What the classifiers over scikit-learn estimators share: an order of the rows, out-of-fold scores, weights, seeds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils._metadata_requests import _raise_for_params
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from purely.base import with_parameters
from purely.checks import RandomState, draw_seed
from purely.class_prior import ClassPriors
from purely.classifiers.base import BasePUClassifier
from purely.classifiers.weights import normalised_weights
from purely.crossfit import log_ratio
from purely.folds import deal_folds, row_keys, stream_folds
from purely.labels import PULabels
from purely.typing import Estimator, Floats, Indices, Mask, Matrix


@dataclass(frozen=True)
class Training:
    """Rows of a fit in an order of their own, and what goes with them to the estimators inside.

    Attributes
    ----------
    X : array or sparse matrix of shape (n, d)
    labels : PULabels
    weight : ndarray of shape (n,) or None
        Weights with the mean 1 over each kind of rows.
    passed_on : bool
        Whether the estimator inside gets them.
    params : dict
        What else its `fit` gets.
    seed : int
    n_jobs : int or None
        Fits at a time.
    """

    X: Matrix
    labels: PULabels
    weight: Floats | None
    passed_on: bool
    params: dict[str, Any]
    seed: int
    n_jobs: int | None = None

    @property
    def positive(self) -> Mask:
        """Whether each row is a labelled positive."""
        return self.labels.positive

    def weight_of(self, rows: Indices | Mask | slice) -> Floats | None:
        """Weights of some rows."""
        return None if self.weight is None else self.weight[rows]

    def fitted(
        self, estimator: Estimator, rows: Indices | None = None, label: Mask | None = None, weight: Floats | None = None
    ) -> Any:
        """A copy of the estimator, its unset random states set, fitted to some rows (all); one may be named twice.

        Rows are told apart by `target` (the labels), and their weights are multiplied by `weight`.
        """
        chosen = np.arange(self.positive.size) if rows is None else rows
        copy = clone(estimator)
        unset = [k for k, v in copy.get_params().items() if f"__{k}".endswith("__random_state") and v is None]
        copy.set_params(**dict.fromkeys(unset, self.seed % 2**31))
        options = _check_method_params(self.X, self.params, chosen)
        if self.passed_on and self.weight is not None:
            weight = self.weight[chosen] * (1.0 if weight is None else weight)
        if weight is not None:
            options[_weight_option(copy)] = weight
        X, label = self.X if rows is None else self.X[rows], self.positive[chosen] if label is None else label
        return copy.fit(X, np.asarray(label, dtype=np.intp), **options)

    def part(self, rows: Indices) -> Training:
        """Some rows of a training, as one of their own."""
        labels = PULabels(self.positive[rows], self.labels.classes)
        params = _check_method_params(self.X, self.params, rows)
        return replace(self, X=self.X[rows], labels=labels, weight=self.weight_of(rows), params=params)

    def folds(self, cv: int) -> Indices:
        """Fold of each row."""
        if self.weight is None:
            return deal_folds(self.X, self.positive, cv, self.seed).number
        # Rows without weight are dealt out by themselves: every fold is to leave some weight of either kind.
        fold = stream_folds(self.X, 2, self.seed)
        counted = np.flatnonzero(self.weight)
        fold[counted] = deal_folds(self.X[counted], self.positive[counted], cv, self.seed).number
        return fold

    def out_of_fold(self, estimator: Estimator, fold: Indices, kept: Mask | None = None) -> Floats:
        """Log-ratio of each row by an estimator trained on the other folds, on `kept` rows only where given."""
        score = np.empty(self.positive.size)
        numbers = np.unique(fold)
        found = Parallel(n_jobs=self.n_jobs)(delayed(self._score_fold)(estimator, fold == k, kept) for k in numbers)
        for k, scores in zip(numbers, found, strict=True):
            score[fold == k] = scores
        return score

    def _score_fold(self, estimator: Estimator, test: Mask, kept: Mask | None) -> Floats:
        """Log-ratio of the rows of a fold by an estimator trained on the others."""
        train = np.flatnonzero(~test if kept is None else kept & ~test)
        if self.positive[train].all():
            train = np.flatnonzero(~test)
        return self.log_ratio(self.fitted(estimator, train), self.X[test])

    def log_ratio(self, fitted: Any, X: Matrix) -> Floats:
        """Log-ratio that an estimator says of rows, which was trained on these rows or on most of them."""
        return log_ratio(fitted, X, self.labels.n_positive, self.labels.n_unlabelled)


@with_parameters
class MetaPUClassifier(BasePUClassifier):
    """Base of the classifiers over any scikit-learn estimator.

    Rows are put into an order of their own (by content, then label) before anything random happens to them, so
    permuting them changes nothing. A subclass trains in :meth:`_train`: it sets `estimator_`, or gives :meth:`_score`,
    and calls :meth:`_calibrate` with scores of the training rows by models that have not seen them.
    """

    #: What is fitted where no estimator is given: single-row leaves vote 0 or 1 and rank overlapping classes badly.
    _default: ClassVar[Estimator] = ExtraTreesClassifier(200, min_samples_leaf=5)
    #: Whether the estimator's `fit` is to take the weights of the rows.
    _passes_weights: ClassVar[bool] = True

    estimator: Estimator | None = field(default=None, kw_only=False)
    n_jobs: int | None = None
    random_state: RandomState = 0

    def _score(self, X: Matrix) -> Floats:
        """A score of validated rows, the higher the more positive."""
        return self._says(self.estimator_, X)

    def _says(self, fitted: Any, X: Matrix) -> Floats:
        """Log-ratio that an estimator inside says of new rows."""
        return log_ratio(fitted, X, *self._counts)

    def _log_odds(self, X: Matrix) -> Floats:
        return self._map(self._score(X)) + self._population_shift()

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` passes on: parameters that the estimator inside has asked for.

        Returns
        -------
        MetadataRouter
        """
        inside = self.estimator
        if inside is None:
            inside = clone(self._default)
            if _routing_enabled():
                inside.set_fit_request(sample_weight=True)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router: MetadataRouter = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=inside, method_mapping=mapping)

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, for the estimator's `fit`, which has to take them, and for the calibration. Those of
            positives and those of unlabelled rows are normalised apart. An estimator of the class prior gets them where
            its `fit` takes them.
        **fit_params : dict
            For the estimator's `fit`, where scikit-learn's metadata routing is enabled and it has asked for them.

        Returns
        -------
        self
        """
        given = X
        X, labels = self._start(X, y)
        estimator = self._base_estimator()
        weight = normalised_weights(sample_weight, X, labels.positive)
        passed_on, params = self._passes_weights and weight is not None, fit_params
        if _routing_enabled():
            own = {"sample_weight": sample_weight} if passed_on else {}
            params = dict(process_routing(self, "fit", **own, **fit_params).estimator.fit)
            passed_on = params.pop("sample_weight", None) is not None
        else:
            _raise_for_params(fit_params, self, "fit")
        seed = draw_seed(self.random_state)
        self._counts = labels.n_positive, labels.n_unlabelled
        self._order = order = np.lexsort((labels.positive, row_keys(X, seed)))
        labels, weight = PULabels(labels.positive[order], labels.classes), None if weight is None else weight[order]
        params = _check_method_params(given, params, order)
        self._train(Training(X[order], labels, weight, passed_on, params, seed, self.n_jobs), estimator)
        return self

    def _train(self, training: Training, estimator: Estimator) -> None:
        """Fit the estimator inside, as often as it takes, and set what predictions need."""
        raise NotImplementedError

    def _find_prior(self, training: Training) -> ClassPriors:
        return self._resolve_prior(training.X, training.labels, training.weight)

    def _calibrate(self, score: Floats, rows: Training, method: str = "averaged") -> None:
        self._map = self._calibrated(score, rows.positive, method, rows.weight)
        self._note_out_of_fold(self._map(score) + self._population_shift(), rows.positive, self._order)

    def _base_estimator(self) -> Estimator:
        """A copy of the estimator to fit; the default where none is given."""
        given = self._default if self.estimator is None else self.estimator
        if not hasattr(given, "fit") or not (hasattr(given, "predict_proba") or hasattr(given, "decision_function")):
            raise TypeError(
                "estimator must be a classifier with fit and one of predict_proba or decision_function; "
                f"{given!r} was given."
            )
        return clone(given)


def _routing_enabled() -> bool:
    return bool(get_config().get("enable_metadata_routing", False))


def _weight_option(estimator: Estimator) -> str:
    """The name by which the estimator's `fit` takes weights."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        if has_fit_parameter(last, "sample_weight"):
            return "sample_weight" if _routing_enabled() else f"{name}__sample_weight"
    raise TypeError(f"estimator must take sample_weight in fit to be weighted; {type(estimator).__name__} does not.")
