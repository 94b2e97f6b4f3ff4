"""ElkanNotoClassifier: a classifier of labels, divided by the frequency of labelling."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestClassifier

from purely.base import number, with_parameters
from purely.class_prior import ClassPriors, Prior, PriorParameter
from purely.classifiers.base import log_odds_of_margin
from purely.classifiers.meta import MetaPUClassifier, Training
from purely.crossfit import LARGEST_LOG_ODDS
from purely.labels import PULabels
from purely.typing import Estimator, Floats, Matrix

#: No row is surely positive or negative, so that both classes always have some weight.
LEAST_WEIGHT = 1e-6


@with_parameters
class ElkanNotoClassifier(MetaPUClassifier):
    r"""Elkan and Noto's classifiers of positives, weighted and unweighted.

    Where positives are labelled at random with frequency *c*, a classifier :math:`g(x)` of labelled rows against all
    others has :math:`g(x) = c\, p(y{=}1 \mid x)` [1]_. Unweighted, its probabilities are divided by *c*. Weighted, a
    second classifier is trained on the labelled rows and on every other row twice, as a positive of weight

    .. math:: p(y{=}1 \mid x, \text{unlabelled}) = \frac{1-c}{c}\, \frac{g(x)}{1 - g(x)}

    and as a negative of the weight left. Both refer to all rows at hand; in the case-control scenario the odds are then
    corrected to the population's class prior.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with good probabilities. A logistic regression does not have them, since :math:`g`
        levels off at *c*. None: a random forest with leaves of twenty rows.
    weighted : bool, default=False
    class_prior : None, float, "auto" or estimator, default=None
        None: *c* is the mean of :math:`g` over positives it has not seen (their estimator e1). Otherwise *c* follows
        from the class prior: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`; "auto"
        is :class:`purely.ClassPrior`.
    cv : int, default=5
        Folds in which :math:`g` scores rows it has not seen.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    class_prior_, unlabelled_prior_, label_frequency_ : float
        Share of positives in the population and among the unlabelled rows; *c*.
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (2,)

    Notes
    -----
    Weights of the rows also count in the mean that gives *c*; how many rows are labelled stays what it is.

    References
    ----------
    .. [1] C. Elkan, K. Noto. Learning classifiers from only positive and unlabeled data. KDD, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import ElkanNotoClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (300, 2)), rng.normal(-2, 1, (300, 2))])
    >>> ElkanNotoClassifier(random_state=0).fit(*stack(P, U)).predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    _default = RandomForestClassifier(200, min_samples_leaf=20)

    weighted: bool = False
    class_prior: PriorParameter = None
    cv: int = number(default=5, low=2, integer=True)

    def _train(self, training: Training, estimator: Estimator) -> None:
        labels, positive = training.labels, training.positive
        self._log_counts = float(np.log(labels.n_positive / labels.n_unlabelled))
        g = None
        if self.weighted or self.class_prior is None:
            g = expit(training.out_of_fold(estimator, training.folds(self.cv)) + self._log_counts)
        if self.class_prior is None and g is not None:
            priors = self._label_frequency(float(np.average(g[positive], weights=training.weight_of(positive))), labels)
        else:
            priors = self._find_prior(training)
        pooled = (labels.n_positive + priors.unlabelled * labels.n_unlabelled) / positive.size
        self._shift = float(logit(priors.population) - logit(pooled))
        if self.weighted and g is not None:
            self.estimator_ = self._fit_weighted(estimator, training, g[~positive], priors.label_frequency)
        else:
            self.estimator_ = training.fitted(estimator)

    def _label_frequency(self, c: float, labels: PULabels) -> ClassPriors:
        """Class priors from the frequency of labels among positives; a share above one is one."""
        share = min(labels.n_positive * (1.0 / c - 1.0) / labels.n_unlabelled, 1.0)
        self.prior_estimator_ = None
        priors = self._priors_of(labels, unlabelled=share)
        return self._use_prior(Prior.exactly(priors.population), priors, labels, estimated=True)

    def _fit_weighted(self, estimator: Estimator, training: Training, g: Floats, c: float) -> Any:
        w = np.clip((1.0 - c) / c * g / (1.0 - g), LEAST_WEIGHT, 1.0 - LEAST_WEIGHT)
        P, U = np.flatnonzero(training.positive), np.flatnonzero(~training.positive)
        target = np.concatenate([np.ones(P.size + U.size), np.zeros(U.size)])
        weight = np.concatenate([np.ones(P.size), w, 1.0 - w])
        return training.fitted(estimator, np.concatenate([P, U, U]), target, weight)

    def _log_odds(self, X: Matrix) -> Floats:
        z = self._says(self.estimator_, X) + self._log_counts
        if not self.weighted:
            z = log_odds_of_margin(2.0 * expit(z) / self.label_frequency_ - 1.0)
        return np.clip(z, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS) + self._shift
