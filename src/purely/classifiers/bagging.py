"""BaggingPUClassifier: many classifiers, each against a small draw of the unlabelled rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeClassifier

from purely.base import with_parameters
from purely.checks import check_number
from purely.classifiers.meta import MetaPUClassifier

__all__ = ["BaggingPUClassifier"]

Floats = NDArray[np.float64]


@with_parameters
class BaggingPUClassifier(MetaPUClassifier):
    r"""Bagging of classifiers of positives against draws of unlabelled rows.

    Each classifier is trained on a bootstrap sample of the positives against a draw of `n_drawn` unlabelled rows: the
    smaller the draw, the more the number of hidden positives in it varies from one to the next, which is what bagging
    averages out [1]_. A row is scored by the mean log-odds; a training row by those classifiers only that have not seen
    it, and these scores are calibrated to the class prior.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier. None: a decision tree with leaves of at least two rows.
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    n_estimators : int, default=100
    n_drawn : int, optional
        Unlabelled rows for each classifier, drawn with replacement. None: as many as there are positives.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        The prior estimator's interval; the number itself where one was given.
    estimators_ : list of classifier
    oof_probability_ : ndarray of shape (n,)
        Probability of each training row by classifiers that have not seen it.
    classes_ : ndarray of shape (2,)

    References
    ----------
    .. [1] F. Mordelet, J.-P. Vert. A bagging SVM to learn from positive and unlabeled examples. Pattern Recognition
       Letters 37, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import BaggingPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (300, 2)), rng.normal(-2, 1, (300, 2))])
    >>> BaggingPUClassifier(class_prior=0.5, random_state=0).fit(*stack(P, U)).predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    n_estimators: int = 100
    n_drawn: int | None = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Train the classifiers.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows: they are drawn in proportion, positives and unlabelled rows apart, and the calibration
            is weighted. An estimator of the class prior gets them where its `fit` takes them.
        **fit_params : dict
            For the estimator's `fit`, where scikit-learn's metadata routing is enabled and it has asked for them.

        Returns
        -------
        self
        """
        check_number("n_estimators", self.n_estimators, 1, integer=True)
        if self.n_drawn is not None:
            check_number("n_drawn", self.n_drawn, 1, integer=True)
        training = self._ordered(X, y, sample_weight, fit_params, pass_weights=False)  # they are drawn with instead
        positive, estimator = training.positive, self._base_estimator()
        self._resolve_prior(training.X, training.labels, training.weight)
        P, U = np.flatnonzero(positive), np.flatnonzero(~positive)
        weight = np.ones(positive.size) if training.weight is None else training.weight
        share_p, share_u = (weight[rows] / weight[rows].sum() for rows in (P, U))
        n_drawn = P.size if self.n_drawn is None else int(self.n_drawn)
        self._counts = P.size, n_drawn  # what each tree sees

        def one(t: int) -> tuple[Any, Floats]:
            rng = np.random.default_rng([training.seed, t])
            rows = np.concatenate([rng.choice(P, P.size, p=share_p), rng.choice(U, n_drawn, p=share_u)])
            fitted = training.fitted(estimator, rows, seed=int(rng.integers(2**31)))
            score = np.full(positive.size, np.nan)
            unseen = np.setdiff1d(np.arange(positive.size), rows)
            if unseen.size:
                score[unseen] = self._says(fitted, training.X[unseen])
            return fitted, score

        done = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(one)(t) for t in range(self.n_estimators))
        self.estimators_ = [fitted for fitted, _ in done]
        self._calibrate(self._mean_unseen(training.X, [score for _, score in done]), training)
        return self

    def _default_estimator(self) -> Any:
        return DecisionTreeClassifier(min_samples_leaf=2)

    def _mean_unseen(self, X: Any, scores: list[Floats]) -> Floats:
        """Mean score of each row over classifiers that have not seen it; over all, where every one has."""
        table = np.stack(scores)
        counts = np.count_nonzero(~np.isnan(table), axis=0)
        mean = np.nansum(table, axis=0) / np.maximum(counts, 1)
        seen = np.flatnonzero(counts == 0)
        if seen.size:
            mean[seen] = self._score(X[seen])
        return mean

    def _score(self, X: Any) -> Floats:
        return np.asarray(np.mean([self._says(e, X) for e in self.estimators_], axis=0), dtype=np.float64)
