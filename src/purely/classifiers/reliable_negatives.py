"""Classifiers that first find unlabelled rows that are reliably negative: by rounds of training, or by spies."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from purely.base import number, parameter, with_parameters
from purely.checks import check_share
from purely.classifiers.meta import MetaPUClassifier, Training
from purely.classifiers.weights import weighted_quantile
from purely.typing import Estimator, Floats, Mask


@with_parameters
class SelfTrainingPUClassifier(MetaPUClassifier):
    r"""Training that ignores the unlabelled rows that look most positive (CVIR, and TEDn with `alternate`).

    In each round the share :math:`\pi_U` of the unlabelled rows with the highest scores is left out, and the classifier
    is trained on the positives against what remains:

    .. math:: \min_f\ \operatorname{mean}_P \ell(f(x), 1) + \operatorname{mean}_{U'} \ell(f(x), 0),

    where :math:`U'` are the :math:`(1 - \pi_U) n_U` rows of *U* of lowest score: the conditional value ignoring risk
    [1]_. Each row is scored by models that have not seen it, fold by fold, because a flexible model calls every row
    negative that was a negative in its training. With `alternate` the prior is estimated anew in every round from these
    scores.

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

    Notes
    -----
    Where rows have weights, what is left out is the share of the unlabelled rows' weight.

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
    n_rounds: int = number(default=4, low=0, integer=True)
    cv: int = number(default=5, low=2, integer=True)

    def _train(self, training: Training, estimator: Estimator) -> None:
        if self.alternate and not (hasattr(self.class_prior, "fit") or self.class_prior == "auto"):
            raise ValueError(
                "alternate=True needs an estimator as class_prior, such as purely.prior.BestBinPrior(); "
                f"{self.class_prior!r} was given."
            )
        fold = training.folds(self.cv)
        self._find_prior(training)
        kept = np.ones(training.positive.size, dtype=bool)
        score = training.out_of_fold(estimator, fold)
        path = [self.class_prior_]
        for _ in range(self.n_rounds):
            before = kept
            kept = self._negatives(score, training)
            score = training.out_of_fold(estimator, fold, kept)
            if self.alternate:
                estimator_of_prior = clone(self.prior_estimator_)
                estimator_of_prior.fit(score[:, None], training.positive.astype(np.intp))
                self._adopt_estimate(estimator_of_prior, training.labels)
            path.append(self.class_prior_)
            if not self.alternate and np.array_equal(before, kept):
                break
        self.class_prior_path_ = np.array(path)
        self._calibrate(score, training)
        self.estimator_ = training.fitted(estimator, np.flatnonzero(kept))

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

    spy_fraction: float = parameter(default=0.15, check=check_share)
    spy_tolerance: float = parameter(default=0.1, check=check_share)
    cv: int = number(default=5, low=2, integer=True)

    def _train(self, training: Training, estimator: Estimator) -> None:
        positive, fold = training.positive, training.folds(self.cv)
        self._find_prior(training)
        score = np.empty(positive.size)
        for k in np.unique(fold):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            fitted, _ = self._two_steps(estimator, training.part(train))
            score[test] = training.log_ratio(fitted, training.X[test])
        self._calibrate(score, training)
        self.estimator_, reliable = self._two_steps(estimator, training)
        self.reliable_negative_ = np.empty(positive.size, dtype=bool)
        self.reliable_negative_[self._order] = reliable

    def _two_steps(self, estimator: Estimator, training: Training) -> tuple[Any, Mask]:
        """The classifier of the second step, and the rows it took for negatives."""
        positive = training.positive
        rng = np.random.default_rng([training.seed, 1])
        known = np.flatnonzero(positive)
        n_spies = min(max(1, round(self.spy_fraction * known.size)), max(1, known.size - 1))
        spies = rng.choice(known, n_spies, replace=False)
        target = positive.copy()
        if known.size > 1:  # a single positive cannot be its own spy and be learnt from
            target[spies] = False
        scores = training.log_ratio(training.fitted(estimator, label=target), training.X)
        limit = weighted_quantile(scores[spies], self.spy_tolerance, training.weight_of(spies))
        reliable = ~positive & (scores < limit)
        if not reliable.any():  # every row scores like a spy: the lowest are the best guess there is
            rest = np.flatnonzero(~positive)
            n_taken = max(1, round(0.1 * rest.size))
            reliable[rest[np.argsort(scores[rest], kind="stable")[:n_taken]]] = True
        return training.fitted(estimator, np.flatnonzero(positive | reliable)), reliable
