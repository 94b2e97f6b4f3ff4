"""Probabilities from scores, without negatives: a function, and a wrapper for any classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from purely.base import with_parameters
from purely.calibration import CALIBRATIONS, ScoreCalibration, calibrate_scores
from purely.checks import check_choice
from purely.classifiers.meta import MetaPUClassifier

__all__ = ["CalibratedPUClassifier", "ScoreCalibration", "calibrate_scores"]

Floats = NDArray[np.float64]


@with_parameters
class CalibratedPUClassifier(MetaPUClassifier):
    r"""Calibrated probabilities of the positive class from any classifier's scores.

    The classifier is trained on positives against unlabelled rows, fold by fold; the scores of rows it has not seen and
    the class prior give :math:`p(y{=}1 \mid s) = \pi_U f_P(s) / f_U(s)` (:func:`calibrate_scores`). The classifier
    itself is then trained on all rows. What scikit-learn's ``CalibratedClassifierCV`` gives on such labels is
    :math:`p(\text{labelled} \mid x)`.

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

    method: str = "averaged"
    cv: int = 5

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Train the classifier and calibrate it.

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
        check_choice("method", self.method, CALIBRATIONS)
        training = self._ordered(X, y, sample_weight, fit_params)
        estimator = self._base_estimator()
        self._resolve_prior(training.X, training.labels, training.weight)
        self._calibrate(training.out_of_fold(estimator, training.folds(self.cv)), training, self.method)
        self.calibration_ = self._map
        self.estimator_ = training.fitted(estimator)
        return self
