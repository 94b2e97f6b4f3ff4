"""TwoStepPUClassifier: reliable negatives by spies, then a classifier of positives against them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from purely.base import with_parameters
from purely.checks import check_share
from purely.classifiers.meta import MetaPUClassifier, Training
from purely.classifiers.weights import weighted_quantile

__all__ = ["TwoStepPUClassifier"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@with_parameters
class TwoStepPUClassifier(MetaPUClassifier):
    r"""Two steps: find reliable negatives with spies, then learn from positives and these.

    A share of the positives, the spies, is put among the unlabelled rows, and a classifier is trained on the other
    positives against all of them. Unlabelled rows that score lower than nearly all spies are reliable negatives [1]_;
    the second classifier is trained on the positives against these. Its scores, of rows not seen in either step, are
    calibrated to the class prior.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier, for both steps. None: extremely randomised trees.
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    spy_fraction : float, default=0.15
        Share of the positives that are spies.
    spy_tolerance : float, default=0.1
        Share of the spies that may score lower than a reliable negative.
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
        The classifier of the second step.
    reliable_negative_ : ndarray of bool, shape (n,)
        Training rows that were taken for negatives.
    oof_probability_ : ndarray of shape (n,)
        Probability of each training row by models that have not seen it.
    classes_ : ndarray of shape (2,)

    References
    ----------
    .. [1] B. Liu, W. S. Lee, P. S. Yu, X. Li. Partially supervised classification of text documents. ICML, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import TwoStepPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (300, 2)), rng.normal(-2, 1, (300, 2))])
    >>> TwoStepPUClassifier(class_prior=0.5, random_state=0).fit(*stack(P, U)).predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    spy_fraction: float = 0.15
    spy_tolerance: float = 0.1
    cv: int = 5

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
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
        check_share("spy_fraction", self.spy_fraction)
        check_share("spy_tolerance", self.spy_tolerance)
        training = self._ordered(X, y, sample_weight, fit_params)
        estimator, positive, fold = self._base_estimator(), training.positive, training.folds(self.cv)
        self._resolve_prior(training.X, training.labels, training.weight)
        score = np.empty(positive.size)
        for k in np.unique(fold):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            fitted, _ = self._two_steps(estimator, training.part(train))
            score[test] = training.log_ratio(fitted, training.X[test])
        self._calibrate(score, training)
        self.estimator_, reliable = self._two_steps(estimator, training)
        self.reliable_negative_ = np.empty(positive.size, dtype=bool)
        self.reliable_negative_[self._order] = reliable
        return self

    def _two_steps(self, estimator: Any, training: Training) -> tuple[Any, Mask]:
        """The classifier of the second step, and the rows it took for negatives."""
        positive = training.positive
        rng = np.random.default_rng([training.seed, 1])
        known = np.flatnonzero(positive)
        n_spies = min(max(1, round(self.spy_fraction * known.size)), max(1, known.size - 1))
        spies = rng.choice(known, n_spies, replace=False)
        target = positive.copy()
        if known.size > 1:  # a single positive cannot be its own spy and be learnt from
            target[spies] = False
        scores = training.log_ratio(training.fitted(estimator, target=target), training.X)
        limit = weighted_quantile(scores[spies], self.spy_tolerance, training.weight_of(spies))
        reliable = ~positive & (scores < limit)
        if not reliable.any():  # every row scores like a spy: the lowest are the best guess there is
            rest = np.flatnonzero(~positive)
            n_taken = max(1, round(0.1 * rest.size))
            reliable[rest[np.argsort(scores[rest], kind="stable")[:n_taken]]] = True
        rows = np.flatnonzero(positive | reliable)
        return training.fitted(estimator, rows), reliable
