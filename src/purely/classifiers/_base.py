"""What every classifier shares: labels, class priors, probabilities, thresholds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from purely._base import PUEstimator
from purely._warnings import SearchBoundWarning
from purely.classifiers._thresholds import (
    check_threshold,
    threshold_for_cost,
    threshold_for_precision,
    threshold_for_recall,
    threshold_for_share,
)
from purely.classifiers._weights import weighted_mean
from purely.labels import ClassPriors, PULabels, check_class_prior, check_scenario

__all__ = ["BasePUClassifier", "log_odds", "log_odds_of_margin"]

Floats = NDArray[np.float64]

#: Log-odds are kept within this range: a probability closer to 0 or 1 than about 1e-13 says nothing more.
LARGEST_LOG_ODDS = 30.0
#: Outputs this close to -1 and 1 are taken for certainty.
MARGIN_EPS = 2e-3


def log_odds(probability: Any) -> Floats:
    """Log-odds of probabilities, finite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.clip(logit(np.asarray(probability, dtype=np.float64)), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)


def log_odds_of_margin(z: Any) -> Floats:
    """Log-odds of the probability (1 + z) / 2 that squared-loss outputs stand for; goes on rising beyond -1 and 1."""
    z = np.asarray(z, dtype=np.float64)
    inside = np.clip(z, -1.0 + MARGIN_EPS, 1.0 - MARGIN_EPS)
    return logit(0.5 * (1.0 + inside)) + (z - inside) / (1.0 + np.abs(z - inside))


class BasePUClassifier(ClassifierMixin, PUEstimator):
    """Base of the classifiers.

    A subclass validates and resolves its prior with :meth:`_start`, and says in :meth:`_log_odds` what the log-odds of
    the positive class in the population are; predictions, probabilities and thresholds follow.
    """

    # Declared for type checkers; subclasses assign them in __init__.
    class_prior: Any
    threshold: Any
    scenario: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False  # the mixin's tags come after those of PUEstimator
        return tags

    def _log_odds(self, X: Any) -> Floats:
        """Log-odds of the positive class in the population, at validated rows."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores rows.")

    def _start(self, X: Any, y: ArrayLike, **options: Any) -> tuple[Any, PULabels]:
        """Check data and common parameters, set `classes_`."""
        check_threshold(self.threshold)
        check_scenario(self.scenario)
        try:
            X, labels = self._validate_fit(X, y, **options)
        except ValueError as error:
            if "different values (" not in str(error):
                raise
            # scikit-learn's own words for a target of several classes come first; tools look for them
            raise ValueError(f"Only binary classification is supported. {error}") from None
        self.classes_ = labels.classes
        return X, labels

    def _resolve_prior(self, X: Any, labels: PULabels, weight: Floats | None = None) -> ClassPriors:
        """Class priors from `class_prior`, a number or an estimator, which is fitted to these rows.

        Weights are passed on where the estimator's `fit` takes them.
        """
        scenario, given = check_scenario(self.scenario), self.class_prior
        counts: dict[str, Any] = {"n_positive": labels.n_positive, "n_unlabelled": labels.n_unlabelled}
        counts["scenario"] = scenario
        if isinstance(given, str) and given == "auto":
            from purely.classifiers.auto import recommended_prior

            given = recommended_prior()
        if not hasattr(given, "fit"):
            if isinstance(given, str):
                raise ValueError(
                    "class_prior must be a number strictly between 0 and 1, 'auto', or an estimator with fit and "
                    f"class_prior_; {given!r} was given."
                )
            value = check_class_prior(given)
            self.prior_estimator_ = None
            self.class_prior_interval_ = (value, value)
            return self._within_bounds(ClassPriors.from_population(value, **counts), counts, estimated=False)
        estimator = clone(given)
        if "scenario" in estimator.get_params(deep=False):
            estimator.set_params(scenario=scenario)
        takes = weight is not None and has_fit_parameter(estimator, "sample_weight")
        estimator.fit(X, labels.positive.astype(np.intp), **({"sample_weight": weight} if takes else {}))
        if not hasattr(estimator, "class_prior_"):
            raise TypeError(
                f"class_prior must be a number or an estimator that sets class_prior_; {type(given).__name__} does not."
            )
        self.prior_estimator_ = estimator
        return self._adopt_prior(estimator, counts)

    def _adopt_prior(self, estimator: Any, counts: dict[str, Any]) -> ClassPriors:
        """Class priors of a fitted estimator."""
        value = float(np.clip(estimator.class_prior_, 0.0, 1.0))
        low, high = getattr(estimator, "class_prior_interval_", (value, value))
        self.class_prior_interval_ = (float(low), float(high))
        if hasattr(estimator, "unlabelled_prior_"):
            share = float(np.clip(estimator.unlabelled_prior_, 0.0, 1.0))
            return self._within_bounds(ClassPriors.from_unlabelled(share, **counts), counts, estimated=True)
        labelled = counts["n_positive"] / (counts["n_positive"] + counts["n_unlabelled"])
        floor = labelled if counts["scenario"] == "single-sample" else 0.0
        return self._within_bounds(ClassPriors.from_population(max(value, floor), **counts), counts, estimated=True)

    def _within_bounds(self, priors: ClassPriors, counts: dict[str, Any], *, estimated: bool) -> ClassPriors:
        """Keep the share of positives among the unlabelled rows half a row away from none and from all."""
        half_a_row = 0.5 / counts["n_unlabelled"]
        share = float(np.clip(priors.unlabelled, half_a_row, 1.0 - half_a_row))
        if share != priors.unlabelled and estimated:
            warnings.warn(
                f"the estimated share of positives among the unlabelled rows is {priors.unlabelled:.3g}, a bound; "
                f"{share:.3g} is used, and nearly all rows will be called "
                f"{'negative' if share < 0.5 else 'positive'}. Look at the prior estimator, or give class_prior.",
                SearchBoundWarning,
                stacklevel=5,
            )
        if share != priors.unlabelled:
            priors = ClassPriors.from_unlabelled(share, **counts)
        self.class_prior_ = priors.population
        self.unlabelled_prior_ = priors.unlabelled
        self.label_frequency_ = priors.label_frequency
        return priors

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the positive class above those of the threshold; positive where `predict` says positive.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "classes_")
        return self._log_odds(self._validate_rows(X)) - float(logit(check_threshold(self.threshold)))

    def predict_proba(self, X: Any) -> Floats:
        """Probability of the negative and of the positive class in the population.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n, 2)
            Columns in the order of `classes_`: the value of unlabelled rows stands for the negative class.
        """
        check_is_fitted(self, "classes_")
        positive = expit(self._log_odds(self._validate_rows(X)))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, in the coding of the labels.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        called = self.decision_function(X) > 0.0
        return self.classes_[called.astype(np.intp)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        r"""Accuracy as positive and unlabelled rows tell it, at the fitted class prior.

        One minus the zero-one risk, :math:`1 - \pi\, \text{FNR} - \max(0, \omega(\text{share of U called positive} -
        \pi_U\, \text{TPR}))`, see :mod:`purely.nn.risks`. Accuracy against the labels themselves would reward calling
        every hidden positive negative.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Labels of positive and unlabelled rows, as in `fit`.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; those of positives and those of unlabelled rows are normalised apart.

        Returns
        -------
        float
        """
        check_is_fitted(self, "classes_")
        X, labels = self._validate_fit(X, y, min_positive=1, min_unlabelled=1, reset=False)
        called = self._log_odds(X) > float(logit(check_threshold(self.threshold)))
        w = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        found, share = (
            weighted_mean(called[mask], None if w is None else w[mask]) for mask in (labels.positive, ~labels.positive)
        )
        omega = (1.0 - self.class_prior_) / (1.0 - self.unlabelled_prior_)
        false = max(0.0, omega * (share - self.unlabelled_prior_ * found))
        return 1.0 - self.class_prior_ * (1.0 - found) - false

    def choose_threshold(
        self,
        X: Any = None,
        *,
        cost: Any = None,
        precision: float | None = None,
        recall: float | None = None,
        share: float | None = None,
    ) -> float:
        """A threshold for an aim; give it to ``set_params(threshold=...)``, no new fit is needed.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Rows of the population on which the aim is to hold; not needed for `cost`.
        cost : pair of numbers, optional
            Costs of a false positive and of a false negative.
        precision, recall : float, optional
            Expected precision or recall to reach.
        share : float, optional
            Share of the rows to be called positive.

        Returns
        -------
        float
        """
        aims = {"cost": cost, "precision": precision, "recall": recall, "share": share}
        given = [name for name, value in aims.items() if value is not None]
        if len(given) != 1:
            raise ValueError(
                f"give one of cost, precision, recall or share; {', '.join(given) if given else 'none'} was given."
            )
        if cost is not None:
            return threshold_for_cost(*cost)
        probability = self.predict_proba(X)[:, 1]
        if precision is not None:
            return threshold_for_precision(probability, precision)
        if recall is not None:
            return threshold_for_recall(probability, recall)
        return threshold_for_share(probability, share)  # type: ignore[arg-type]

    def _population_shift(self) -> float:
        r"""What log-odds among the unlabelled rows have to be raised by to refer to the population.

        Labelled rows are missing among the unlabelled ones in the single-sample scenario; with the ratio
        :math:`r = p_P / p_U` both odds are multiples of :math:`r / (1 - \pi_U r)`, by :math:`\pi_U` and by
        :math:`\pi (1 - \pi_U) / (1 - \pi)`. Zero in the case-control scenario.
        """
        return float(logit(self.class_prior_) - logit(self.unlabelled_prior_))
