"""SelfTrainingPUClassifier: ignore as many of the most positive unlabelled rows as the prior says, and train again."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from purely.base import with_parameters
from purely.checks import check_number
from purely.classifiers.meta import MetaPUClassifier, Training
from purely.labels import PULabels

__all__ = ["SelfTrainingPUClassifier"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@with_parameters
class SelfTrainingPUClassifier(MetaPUClassifier):
    r"""Training that ignores the unlabelled rows that look most positive (CVIR), with the prior in turn (TEDn).

    In each round the share :math:`\pi_U` of the unlabelled rows with the highest scores is left out, and the classifier
    is trained on the positives against what remains:

    .. math:: \min_f\ \operatorname{mean}_P \ell(f(x), 1) + \operatorname{mean}_{U'} \ell(f(x), 0), \qquad
        U' = \text{the } (1 - \pi_U) n_U \text{ rows of } U \text{ of lowest score},

    the conditional value ignoring risk [1]_. Scores are those of models that have not seen the row, fold by fold, since
    a flexible model calls every row negative that it was told is. With `alternate` the prior is estimated anew in every
    round from these scores.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier. None: extremely randomised trees.
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    alternate : bool, default=False
        Fit the prior estimator again in every round, to the scores as its only column; `class_prior` must then be an
        estimator (in the paper :class:`purely.prior.BestBinPrior`) or "auto".
    n_rounds : int, default=4
        Rounds after the first training, which is on all unlabelled rows.
    cv : int, default=5
        Folds in which rows are scored.
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
    class_prior_path_ : ndarray
        Class prior of each round.
    estimator_ : classifier
        The classifier of the last round, trained on all folds.
    oof_probability_ : ndarray of shape (n,)
        Probability of each training row by models that have not seen it.
    classes_ : ndarray of shape (2,)

    References
    ----------
    .. [1] S. Garg, Y. Wu, A. J. Smola, S. Balakrishnan, Z. C. Lipton. Mixture proportion estimation and PU learning: a
       modern approach. NeurIPS, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import SelfTrainingPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (300, 2)), rng.normal(-2, 1, (300, 2))])
    >>> model = SelfTrainingPUClassifier(class_prior=0.5, n_rounds=2, random_state=0)
    >>> model.fit(*stack(P, U)).predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    alternate: bool = False
    n_rounds: int = 4
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
            its `fit` takes them. What is left out is the share of the unlabelled rows' weight.
        **fit_params : dict
            For the estimator's `fit`, where scikit-learn's metadata routing is enabled and it has asked for them.

        Returns
        -------
        self
        """
        rounds = check_number("n_rounds", self.n_rounds, 0, integer=True)
        if self.alternate and not (hasattr(self.class_prior, "fit") or self.class_prior == "auto"):
            raise ValueError(
                "alternate=True needs an estimator as class_prior, such as purely.prior.BestBinPrior(); "
                f"{self.class_prior!r} was given."
            )
        training = self._ordered(X, y, sample_weight, fit_params)
        estimator, fold = self._base_estimator(), training.folds(self.cv)
        self._resolve_prior(training.X, training.labels, training.weight)
        kept = np.ones(training.positive.size, dtype=bool)
        score = training.out_of_fold(estimator, fold)
        path = [self.class_prior_]
        for _ in range(rounds):
            before = kept
            kept = self._negatives(score, training)
            score = training.out_of_fold(estimator, fold, kept)
            if self.alternate:
                self._prior_of_scores(score, training.labels)
            path.append(self.class_prior_)
            if not self.alternate and np.array_equal(before, kept):
                break
        self.class_prior_path_ = np.array(path)
        self._calibrate(score, training)
        self.estimator_ = training.fitted(estimator, np.flatnonzero(kept))
        return self

    def _negatives(self, score: Floats, training: Training) -> Mask:
        """All rows but the share of unlabelled ones that look most positive; at least one unlabelled row stays."""
        rest = np.flatnonzero(~training.positive)
        n_kept = max(1, rest.size - round(self.unlabelled_prior_ * rest.size))
        lowest = rest[np.argsort(score[rest], kind="stable")]
        weight = training.weight_of(lowest)
        if weight is not None:  # as many rows as have the kept share of the weight, which is one a row in the mean
            first = int(np.flatnonzero(weight)[0]) + 1
            n_kept = max(first, int(np.searchsorted(np.cumsum(weight), n_kept + 0.5)))
        kept = training.positive.copy()
        kept[lowest[:n_kept]] = True
        return kept

    def _prior_of_scores(self, score: Floats, labels: PULabels) -> None:
        estimator = clone(self.prior_estimator_)
        estimator.fit(score[:, None], labels.positive.astype(np.intp))
        self._adopt_estimate(estimator, labels)
