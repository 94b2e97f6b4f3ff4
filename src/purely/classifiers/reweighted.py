"""Probabilities from one estimator of positives against unlabelled rows, by its ratio or by its scores alone."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from purely.base import number, one_of, with_parameters
from purely.calibration import CALIBRATIONS
from purely.classifiers.base import log_odds_of_margin
from purely.classifiers.meta import MetaPUClassifier, Training
from purely.labels import check_scenario
from purely.typing import Estimator, Floats, Matrix


@with_parameters
class ReweightedPUClassifier(MetaPUClassifier):
    r"""The posterior as prior times density ratio.

    A classifier of positives against unlabelled rows gives the ratio :math:`r(x) = p(x \mid y{=}1) / p_U(x)`: from its
    probability :math:`g`, :math:`r = \frac{g}{1 - g} \frac{n_U}{n_P}`. So does any estimator with `density_ratio`, such
    as :class:`purely.PUSMI` or :class:`purely.PURL`. Then

    .. math:: p(y{=}1 \mid x, \text{unlabelled}) = \pi_U\, r(x),

    clipped to [0, 1]. With `calibrate` it is the monotone function of :math:`r` that agrees best with the scores of
    rows not seen in training.

    Parameters
    ----------
    estimator : classifier or estimator with density_ratio, optional
        None: extremely randomised trees.
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    calibrate : bool, default=True
        Whether probabilities are calibrated by out-of-fold scores (:func:`purely.calibration.calibrate_scores`).
        Otherwise they are those of the formula, which needs probabilities :math:`g` that are right already.
    cv : int, default=5
        Folds of the calibration.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        The prior estimator's interval; the number itself where one was given.
    estimator_ : classifier
        The fitted model of positives against unlabelled rows.
    oof_probability_ : ndarray of shape (n,)
        Only with `calibrate`: probability of each training row by models that have not seen it.
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> import numpy as np
    >>> from purely import PUSMI, stack
    >>> from purely.classifiers import ReweightedPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (300, 2)), rng.normal(-2, 1, (300, 2))])
    >>> model = ReweightedPUClassifier(PUSMI(), class_prior=0.5, random_state=0).fit(*stack(P, U))
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    calibrate: bool = True
    cv: int = number(default=5, low=2, integer=True)

    def _train(self, training: Training, estimator: Estimator) -> None:
        self._find_prior(training)
        if self.calibrate:
            self._calibrate(training.out_of_fold(estimator, training.folds(self.cv)), training)
        self.estimator_ = training.fitted(estimator)

    def _base_estimator(self) -> Estimator:
        if hasattr(self.estimator, "density_ratio"):
            estimator = clone(self.estimator)
            if "scenario" in estimator.get_params(deep=False):
                check_scenario(self.scenario)
                estimator.set_params(scenario="case-control")  # the ratio to the unlabelled rows is what is wanted
            return estimator
        return super()._base_estimator()

    def _log_odds(self, X: Matrix) -> Floats:
        if self.calibrate:
            return super()._log_odds(X)
        posterior = self.unlabelled_prior_ * np.exp(self._score(X))
        return log_odds_of_margin(2.0 * posterior - 1.0) + self._population_shift()

    def density_ratio(self, X: Matrix) -> Floats:
        """The ratio p(x | y=1) / p(x) that the probabilities stand for, with p(x) the population's density."""
        X = self._validate_rows(X)
        return np.asarray(expit(self._log_odds(X)) / self.class_prior_, dtype=np.float64)


@with_parameters
class CalibratedPUClassifier(MetaPUClassifier):
    r"""Calibrated probabilities of the positive class from any classifier's scores.

    The classifier is trained on positives against unlabelled rows, fold by fold; the scores of rows it has not seen and
    the class prior give :math:`p(y{=}1 \mid s) = \pi_U f_P(s) / f_U(s)` (:func:`calibrate_scores`). The classifier
    itself is then trained on all rows. On such labels scikit-learn's ``CalibratedClassifierCV`` gives
    :math:`p(\text{labelled} \mid x)` instead.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with `predict_proba` or `decision_function`, of this package or of scikit-learn. None: extremely
        randomised trees.
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    method : {"averaged", "isotonic", "sigmoid"}, default="averaged"
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        The prior estimator's interval; the number itself where one was given.
    estimator_ : classifier
        The classifier, fitted to all rows.
    calibration_ : ScoreCalibration
        The map of its scores to log-odds among the unlabelled rows.
    oof_probability_ : ndarray of shape (n,)
        Probability of each training row by models that have not seen it.
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVC
    >>> from purely import stack
    >>> from purely.classifiers import CalibratedPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(1, 1, (500, 1))
    >>> U = np.concatenate([rng.normal(1, 1, (500, 1)), rng.normal(-1, 1, (500, 1))])
    >>> model = CalibratedPUClassifier(LinearSVC(), class_prior=0.5, random_state=0).fit(*stack(P, U))
    >>> bool(abs(model.predict_proba([[0.0]])[0, 1] - 0.5) < 0.15)
    True
    """

    method: str = one_of(*CALIBRATIONS, default="averaged")
    cv: int = number(default=5, low=2, integer=True)

    def _train(self, training: Training, estimator: Estimator) -> None:
        self._find_prior(training)
        self._calibrate(training.out_of_fold(estimator, training.folds(self.cv)), training, self.method)
        self.calibration_ = self._map
        self.estimator_ = training.fitted(estimator)
