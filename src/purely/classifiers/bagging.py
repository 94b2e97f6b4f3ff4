"""BaggingPUClassifier: many classifiers, each against a small draw of the unlabelled rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

from purely.base import number, with_parameters
from purely.classifiers.meta import MetaPUClassifier, Training
from purely.typing import Estimator, Floats, Matrix


@with_parameters
class BaggingPUClassifier(MetaPUClassifier):
    r"""Bagging of classifiers of positives against draws of unlabelled rows.

    Each classifier is trained on a bootstrap sample of the positives against a draw of `n_drawn` unlabelled rows. The
    smaller the draw, the more the number of hidden positives in it varies from draw to draw; the average over the
    classifiers does not have that variation [1]_. The score of a row is the mean of the classifiers' log-odds. For a
    training row only those classifiers count that have not seen it, and these scores are calibrated to the class prior.

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

    Notes
    -----
    Rows are drawn in proportion to their `sample_weight`, positives and unlabelled rows apart; the estimator's `fit`
    does not get the weights.

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

    _default = DecisionTreeClassifier(min_samples_leaf=2)
    _passes_weights = False  # rows are drawn in proportion to them

    n_estimators: int = number(default=100, low=1, integer=True)
    n_drawn: int | None = number(default=None, low=1, integer=True)

    def _train(self, training: Training, estimator: Estimator) -> None:
        positive = training.positive
        self._find_prior(training)
        P, U = np.flatnonzero(positive), np.flatnonzero(~positive)
        weight = np.ones(positive.size) if training.weight is None else training.weight
        share_p, share_u = (weight[rows] / weight[rows].sum() for rows in (P, U))
        n_drawn = P.size if self.n_drawn is None else self.n_drawn
        self._counts = P.size, n_drawn  # what each tree sees

        def one(t: int) -> tuple[Any, Floats]:
            rng = np.random.default_rng([training.seed, t])
            rows = np.concatenate([rng.choice(P, P.size, p=share_p), rng.choice(U, n_drawn, p=share_u)])
            fitted = replace(training, seed=int(rng.integers(2**31))).fitted(estimator, rows)
            score = np.full(positive.size, np.nan)
            unseen = np.setdiff1d(np.arange(positive.size), rows)
            if unseen.size:
                score[unseen] = self._says(fitted, training.X[unseen])
            return fitted, score

        done = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(one)(t) for t in range(self.n_estimators))
        self.estimators_ = [fitted for fitted, _ in done]
        # the mean score of each row over classifiers that have not seen it; over all, where every one has
        scores = np.stack([score for _, score in done])
        counts = np.count_nonzero(~np.isnan(scores), axis=0)
        mean = np.nansum(scores, axis=0) / np.maximum(counts, 1)
        seen = np.flatnonzero(counts == 0)
        if seen.size:
            mean[seen] = self._score(training.X[seen])
        self._calibrate(mean, training)

    def _score(self, X: Matrix) -> Floats:
        return np.asarray(np.mean([self._says(e, X) for e in self.estimators_], axis=0), dtype=np.float64)
