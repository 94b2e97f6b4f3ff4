"""What every classifier shares: labels, class priors, probabilities, thresholds."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, has_fit_parameter

from purely.base import PUEstimator, with_parameters
from purely.calibration import ScoreCalibration, calibrate_scores
from purely.checks import check_share, check_threshold
from purely.class_prior import ClassPriors, Prior, PriorParameter, read_prior
from purely.classifiers import promises
from purely.classifiers.promises import Precision
from purely.classifiers.thresholds import threshold_for_cost
from purely.crossfit import finite_log_odds
from purely.exceptions import PromiseWarning, SearchBoundWarning
from purely.folds import Folds
from purely.labels import PULabels, check_scenario
from purely.prior.auto import ClassPrior
from purely.prior.base import PriorEstimator
from purely.prior.scores import ScoreTable
from purely.typing import Floats, Indices, Mask, Matrix

#: Outputs this close to -1 and 1 are taken for certainty.
MARGIN_EPS = 2e-3


def log_odds_of_margin(z: ArrayLike) -> Floats:
    """Log-odds of the probability (1 + z) / 2 that squared-loss outputs stand for; goes on rising beyond -1 and 1."""
    z = np.asarray(z, dtype=np.float64)
    inside = np.clip(z, -1.0 + MARGIN_EPS, 1.0 - MARGIN_EPS)
    return logit(0.5 * (1.0 + inside)) + (z - inside) / (1.0 + np.abs(z - inside))


@with_parameters
class BasePUClassifier(ClassifierMixin, PUEstimator):
    """Base of the classifiers.

    A subclass validates and resolves its prior with :meth:`_start`, and says in :meth:`_log_odds` what the log-odds of
    the positive class in the population are; predictions, probabilities and thresholds follow.
    """

    class_prior: PriorParameter = "auto"
    threshold: float | tuple[float, float] = 0.5
    scenario: str = "case-control"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False  # the mixin's tags come after those of PUEstimator
        return tags

    def _log_odds(self, X: Matrix) -> Floats:
        """Log-odds of the positive class in the population, at validated rows."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores rows.")

    def _start(self, X: Matrix, y: ArrayLike, **options: Any) -> tuple[Any, PULabels]:
        """Check data and common parameters, set `classes_`."""
        check_threshold(self.threshold)
        check_scenario(self.scenario)
        _refuse_calibration_by_labels(self)
        try:
            X, labels = self._validate_fit(X, y, **options)
        except ValueError as error:
            if "different values (" not in str(error):
                raise
            # scikit-learn's own words for a target of several classes come first; tools look for them
            raise ValueError(f"Only binary classification is supported. {error}") from None
        self.classes_ = labels.classes
        return X, labels

    def _resolve_prior(
        self, X: Matrix, labels: PULabels, weight: Floats | None = None, folds: Folds | None = None
    ) -> ClassPriors:
        """Class priors from `class_prior`: a number, a :class:`purely.Prior`, or an estimator, fitted to these rows.

        Weights are passed on where the estimator's `fit` takes them; `folds` to the recommended estimator.
        """
        given = self.class_prior
        if isinstance(given, str) and given == "auto":
            estimator = ClassPrior(scenario=self.scenario, n_jobs=getattr(self, "n_jobs", None))
            return self._adopt_estimate(estimator.fit_rows(X, labels, folds), labels)
        if hasattr(given, "fit"):
            estimator = clone(given, safe=False)  # fit and class_prior_ are enough
            if hasattr(estimator, "get_params") and "scenario" in estimator.get_params(deep=False):
                estimator.set_params(scenario=self.scenario)
            takes = weight is not None and has_fit_parameter(estimator, "sample_weight")
            estimator.fit(X, labels.positive.astype(np.intp), **({"sample_weight": weight} if takes else {}))
            if not hasattr(estimator, "class_prior_"):
                raise TypeError(
                    "class_prior must be a number, a Prior or an estimator that sets class_prior_; "
                    f"{type(given).__name__} does not."
                )
            return self._adopt_estimate(estimator, labels)
        if isinstance(given, str):
            raise ValueError(  # noqa: TRY004 - a word is a value that is not allowed here
                "class_prior must be a number strictly between 0 and 1, 'auto', a Prior, or an estimator with fit and "
                f"class_prior_; {given!r} was given."
            )
        known = given if isinstance(given, Prior) else Prior.exactly(check_share("class_prior", given))
        prior = replace(known, same_rows=False)
        self.prior_estimator_ = None
        return self._use_prior(prior, self._priors_of(labels, population=prior.value), labels, estimated=False)

    def _priors_of(self, labels: PULabels, *, population: float | None = None, unlabelled: float = 0.0) -> ClassPriors:
        """All three numbers from one of them."""
        scenario = check_scenario(self.scenario)
        n_p, n_u = labels.n_positive, labels.n_unlabelled
        if population is None:
            return ClassPriors.from_unlabelled(unlabelled, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)
        return ClassPriors.from_population(population, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)

    def _adopt_estimate(self, estimator: Any, labels: PULabels) -> ClassPriors:
        """Class priors of a fitted estimator."""
        self.prior_estimator_ = estimator
        prior = read_prior(estimator, n_unlabelled=2**62)  # kept away from 0 and 1 below, with a warning
        prior = replace(prior, same_rows=isinstance(estimator, PriorEstimator))
        if hasattr(estimator, "unlabelled_prior_"):
            share = float(np.clip(estimator.unlabelled_prior_, 0.0, 1.0))
            return self._use_prior(prior, self._priors_of(labels, unlabelled=share), labels, estimated=True)
        labelled = labels.n_positive / labels.positive.size
        floor = labelled if self.scenario == "single-sample" else 0.0
        priors = self._priors_of(labels, population=max(prior.value, floor))
        return self._use_prior(prior, priors, labels, estimated=True)

    def _use_prior(self, prior: Prior, priors: ClassPriors, labels: PULabels, *, estimated: bool) -> ClassPriors:
        """Keep the share of positives among the unlabelled rows half a row away from none and from all, and note it."""
        half_a_row = 0.5 / labels.n_unlabelled
        share = float(np.clip(priors.unlabelled, half_a_row, 1.0 - half_a_row))
        if share != priors.unlabelled:
            if estimated:
                warnings.warn(
                    f"the estimated share of positives among the unlabelled rows is {priors.unlabelled:.3g}, a bound; "
                    f"{share:.3g} is used, and nearly all rows will be called "
                    f"{'negative' if share < 0.5 else 'positive'}. Look at the prior estimator, or give class_prior.",
                    SearchBoundWarning,
                    stacklevel=6,
                )
            priors = self._priors_of(labels, unlabelled=share)
        value = priors.population
        low, high = (value, value) if prior.known else (min(prior.low, value), max(prior.high, value))
        self.prior_ = replace(prior, value=value, low=low, high=high)
        self.class_prior_ = value
        self.class_prior_interval_ = self.prior_.interval
        self.unlabelled_prior_ = priors.unlabelled
        self.label_frequency_ = priors.label_frequency
        return priors

    def log_odds(self, X: Matrix) -> Floats:
        """Log-odds of the positive class in the population, whatever the threshold.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "classes_")
        return self._log_odds(self._validate_rows(X))

    def decision_function(self, X: Matrix) -> Floats:
        """Log-odds of the positive class above those of the threshold; positive where `predict` says positive.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.log_odds(X) - float(logit(check_threshold(self.threshold)))

    def predict_proba(self, X: Matrix) -> Floats:
        """Probability of the negative and of the positive class in the population.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n, 2)
            Columns in the order of `classes_`: the value of unlabelled rows stands for the negative class.
        """
        positive = expit(self.log_odds(X))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Class of each row, in the coding of the labels.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        called = self.decision_function(X) > 0.0  # asked first: it refuses a classifier that was not fitted
        return self.classes_[called.astype(np.intp)]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        r"""Accuracy as positive and unlabelled rows tell it, at the fitted class prior.

        One minus the zero-one risk of :mod:`purely.nn.risks`,

        .. math:: 1 - \pi\, \text{FNR} - \max\big(0, \omega (q_U - \pi_U\, \text{TPR})\big),

        where :math:`q_U` is the share of the unlabelled rows that is called positive. Accuracy against the labels
        themselves would reward calling every hidden positive negative.

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
        X, labels = self._validate_fit(X, y, least=(1, 1), reset=False)
        called = self._log_odds(X) > float(logit(check_threshold(self.threshold)))
        w = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        kinds = labels.positive, ~labels.positive
        found, share = (float(np.average(called[kind], weights=None if w is None else w[kind])) for kind in kinds)
        omega = (1.0 - self.class_prior_) / (1.0 - self.unlabelled_prior_)
        false = max(0.0, omega * (share - self.unlabelled_prior_ * found))
        return 1.0 - self.class_prior_ * (1.0 - found) - false

    def predict_proba_interval(self, X: Matrix) -> Floats:
        r"""Probabilities of the positive class at both ends of the class prior's interval.

        With the ratio :math:`w = p_P / p_U` the probability among the unlabelled rows is :math:`\pi_U w`: it is as
        uncertain as the share :math:`\pi_U`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n, 2)
            At the lower and at the upper end of ``class_prior_interval_``.
        """
        return self.probability_interval(self.log_odds(X))

    def probability_interval(self, log_odds: Floats) -> Floats:
        """The same of log-odds that :meth:`log_odds` has given."""
        among = expit(log_odds - self._population_shift())
        columns = []
        for population in self.class_prior_interval_:
            share = self._share_of(population)
            probability = np.clip(among * share / self.unlabelled_prior_, 0.0, 1.0 - 1e-12)
            columns.append(expit(finite_log_odds(probability) + logit(population) - logit(share)))
        return np.column_stack(columns)

    def _share_of(self, population: float) -> float:
        """Share of positives among the unlabelled rows at another class prior of the population."""
        if self.scenario == "case-control":
            return population
        table = self._out_of_fold()
        labelled = table.n_p / (table.n_p + table.n_u)
        return float(np.clip((population - labelled) / (1.0 - labelled), 1e-9, 1.0 - 1e-9))

    def _calibrated(
        self, score: Floats, positive: Mask, method: str = "averaged", weight: Floats | None = None
    ) -> ScoreCalibration:
        """The map of out-of-fold scores to log-odds among the unlabelled rows."""
        p, u = positive, ~positive
        of_p, of_u = (None, None) if weight is None else (weight[p], weight[u])
        return calibrate_scores(
            score[p], score[u], self.unlabelled_prior_, method=method, weight_positive=of_p, weight_unlabelled=of_u
        )

    def _note_out_of_fold(self, log_odds: Floats, positive: Mask, order: Indices | slice = slice(None)) -> None:
        """Keep out-of-fold log-odds in the population, of rows in some order: as probabilities, and as a table."""
        self.oof_probability_ = np.empty(log_odds.size)
        self.oof_probability_[order] = expit(log_odds)
        self.oof_table_ = ScoreTable.from_scores(log_odds[positive], log_odds[~positive])

    def _out_of_fold(self) -> ScoreTable:
        check_is_fitted(self, "classes_")
        if not hasattr(self, "oof_table_"):
            raise ValueError(
                f"this {type(self).__name__} has no out-of-fold scores, from which such a threshold is found. "
                "PUClassifier and CalibratedPUClassifier have them, and so has a classifier with the parameter cv that "
                "was fitted with cv=5. Or use the functions of purely.classifiers on probabilities of rows set aside."
            )
        return self.oof_table_

    def threshold_for_precision(self, precision: float, confidence: float = 0.9) -> float:
        """A probability above which the asked precision holds with some confidence.

        The class prior's uncertainty and the number of rows are taken into account; see
        :mod:`purely.classifiers.promises`. Give it to ``set_params(threshold=...)``; no new fit is needed.

        Parameters
        ----------
        precision : float
            Share of positives among the rows called positive, strictly between 0 and 1.
        confidence : float, default=0.9
            How sure that has to be.

        Returns
        -------
        float
            NaN, with a :class:`purely.exceptions.PromiseWarning`, where no threshold can promise it.

        Examples
        --------
        >>> from purely import PUClassifier
        >>> from purely.datasets import make_gaussians
        >>> sample = make_gaussians(200, 800, class_prior=0.4, shift=4.0, n_features=2, random_state=0)
        >>> model = PUClassifier(members=["linear"]).fit(sample.X, sample.y)
        >>> threshold = model.threshold_for_precision(0.8)
        >>> bool(model.precision_above(threshold).low >= 0.8)
        True
        """
        precision, confidence = _open_share("precision", precision), _open_share("confidence", confidence)
        scenario = check_scenario(self.scenario)
        found = promises.threshold_for_precision(self._out_of_fold(), self.prior_, scenario, precision, confidence)
        if np.isnan(found):
            best = promises.most_promised(self._out_of_fold(), self.prior_, scenario, confidence)
            warnings.warn(
                f"no threshold can promise a precision of {precision:g} with a confidence of {confidence:.0%}: "
                f"{best:.2f} is the most. An audit of some unlabelled rows, a class prior known from elsewhere or more "
                "labelled positives would help; so would a lower precision or confidence.",
                PromiseWarning,
                stacklevel=2,
            )
            return found
        return _as_threshold(found)

    def precision_above(self, threshold: float, confidence: float = 0.9) -> Precision:
        """The precision to be expected above a threshold, and what it is at least with some confidence.

        Parameters
        ----------
        threshold : float
        confidence : float, default=0.9

        Returns
        -------
        Precision
        """
        confidence, scenario = _open_share("confidence", confidence), check_scenario(self.scenario)
        score = float(logit(check_threshold(threshold)))
        return promises.precision_above(self._out_of_fold(), self.prior_, scenario, score, confidence)

    def threshold_for_recall(self, recall: float, confidence: float = 0.9) -> float:
        """A probability above which that share of the positives lies, with some confidence; needs no class prior.

        Parameters
        ----------
        recall : float
            Share of the positives, strictly between 0 and 1.
        confidence : float, default=0.9

        Returns
        -------
        float
        """
        recall, confidence = _open_share("recall", recall), _open_share("confidence", confidence)
        return _as_threshold(promises.threshold_for_recall(self._out_of_fold(), recall, confidence))

    def threshold_for_share(self, share: float) -> float:
        """A probability above which about that share of rows like the unlabelled ones lies.

        Rows that the model was trained on tend to score lower than others; for a share of these use
        :func:`purely.classifiers.threshold_for_share` on `oof_probability_`.

        Parameters
        ----------
        share : float
            Strictly between 0 and 1.

        Returns
        -------
        float
        """
        return _as_threshold(promises.threshold_for_share(self._out_of_fold(), _open_share("share", share)))

    def threshold_for_cost(self, false_positive: float, false_negative: float) -> float:
        """The probability of least expected cost, see :func:`purely.classifiers.threshold_for_cost`.

        Parameters
        ----------
        false_positive, false_negative : float
            Costs of calling a negative positive, and of missing a positive.

        Returns
        -------
        float
        """
        return threshold_for_cost(false_positive, false_negative)

    def _population_shift(self) -> float:
        r"""What log-odds among the unlabelled rows have to be raised by to refer to the population.

        Labelled rows are missing among the unlabelled ones in the single-sample scenario; with the ratio
        :math:`r = p_P / p_U` both odds are multiples of :math:`r / (1 - \pi_U r)`, by :math:`\pi_U` and by
        :math:`\pi (1 - \pi_U) / (1 - \pi)`. Zero in the case-control scenario.
        """
        return float(logit(self.class_prior_) - logit(self.unlabelled_prior_))


def _as_threshold(log_odds: float) -> float:
    """A probability a rounding error below that of the log-odds: rows above a threshold are called positive."""
    return float(np.clip(expit(log_odds) * (1.0 - 1e-9), 1e-12, 1.0 - 1e-12))


def _open_share(name: str, value: object) -> float:
    return check_share(name, value, ": nothing is certain")


def _refuse_calibration_by_labels(model: BasePUClassifier) -> None:
    """Refuse to be fitted inside scikit-learn's CalibratedClassifierCV, which would make every probability wrong.

    It calibrates to the labels that it is given, under which hidden positives are negatives; nothing in its interface
    lets an estimator know, so the callers are looked at.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "sklearn.calibration":
            name = type(model).__name__
            raise ValueError(
                f"CalibratedClassifierCV calibrates to the labels, where hidden positives count as negatives, so the "
                f"probabilities of {name} would become those of having a label. {name} is calibrated already; use "
                "purely.CalibratedPUClassifier for other classifiers."
            )
        frame = frame.f_back  # type: ignore[assignment]
