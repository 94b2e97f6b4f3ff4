r"""A classifier for labels that were given more readily for some values of named columns.

Let :math:`e(x)` be the chance that a positive at *x* is labelled, and let it depend on named columns :math:`c` alone.
What positives and unlabelled rows tell is the ratio of their densities,

.. math:: r(x) \propto e(c)\, p(y{=}1 \mid x),

and :math:`e` and :math:`p` cannot be told apart in general: a column may matter because positives have other values
there, or because they are labelled there. Where some positives are certain at every value of :math:`c` (local certainty
[1]_), the upper end of :math:`r` at :math:`c` is that of :math:`e(c)`. So the upper quantile of the labelled positives'
out-of-fold log-odds, as a function of :math:`c`, shows :math:`\log e(c)`, mixed with what the
column says of the class. Half of it is taken off the log-odds: on the choosing tables of
`experiments/selection_study.py` the area was .902 without it, .921, .927, .922 and .901 with a quarter, half, three
quarters and all of it.

References
----------
.. [1] W. Gerych, T. Hartvigsen, L. Buquicchio, E. Agu, E. Rundensteiner. Recovering the propensity score from biased
   positive unlabeled data. AAAI 2022.
.. [2] J. Bekker, P. Robberechts, J. Davis. Beyond the selected completely at random assumption for learning from
   positive and unlabeled data. ECML PKDD 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.linear_model import QuantileRegressor
from sklearn.utils.validation import check_is_fitted

from purely.base import with_parameters
from purely.calibration import ScoreCalibration, calibrate_scores
from purely.checks import RandomState, dense
from purely.class_prior import PriorParameter
from purely.classifiers.auto import PUClassifier
from purely.classifiers.base import BasePUClassifier
from purely.classifiers.members import Members
from purely.crossfit import finite_log_odds
from purely.labels import PULabels
from purely.typing import Floats, Indices, Mask, Matrix

#: The quantile of the labelled positives' log-odds that is looked at, and the part of it that is taken for selection.
QUANTILE, PART = 0.9, 0.5
#: Knots of a column's ranks, and labelled positives that the curve is fitted to at most.
N_KNOTS, MOST_FITTED = 101, 2000
#: Log-propensities are kept within these of their mean: nobody knows that positives are a hundred times as hidden.
LARGEST = 3.0


@dataclass(frozen=True)
class SelectionCurve:
    r"""Log-propensity as a function of some columns, up to a constant: a quadratic of each column's ranks.

    Attributes
    ----------
    columns : ndarray of shape (k,)
        Places of the columns.
    knots : ndarray of shape (k, m)
        Values of each column at equally spaced ranks.
    coef : ndarray of shape (k, 2)
        Of the rank and of its square.
    centre : float
        The mean over the labelled positives, which is taken off.
    """

    columns: Indices
    knots: Floats
    coef: Floats
    centre: float

    def __call__(self, X: Matrix) -> Floats:
        """Log-propensity of each row, 0 for the labelled positives' mean."""
        basis = _basis(dense(X[:, self.columns]), self.knots)
        return np.clip(basis @ self.coef.ravel() - self.centre, -LARGEST, LARGEST)


def fit_selection(X: Matrix, columns: Indices, positive: Mask, log_odds: Floats) -> SelectionCurve:
    """The part of the upper quantile of the labelled positives' log-odds that is taken for selection.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    columns : ndarray of shape (k,)
    positive : ndarray of shape (n,)
        Which rows are labelled.
    log_odds : ndarray of shape (n,)
        Out of fold.
    """
    ranks = np.linspace(0.0, 1.0, N_KNOTS)
    knots = np.quantile(dense(X[:, columns]), ranks, axis=0).T
    rows = np.flatnonzero(positive)
    basis = _basis(dense(X[rows][:, columns]), knots)
    some = np.linspace(0, rows.size - 1, min(rows.size, MOST_FITTED)).astype(np.intp)
    found = QuantileRegressor(quantile=QUANTILE, alpha=0.0, solver="highs").fit(basis[some], log_odds[rows][some])
    coef = PART * found.coef_
    return SelectionCurve(columns, knots, coef.reshape(-1, 2), float((basis @ coef).mean()))


def _basis(values: Floats, knots: Floats) -> Floats:
    """Ranks and their squares, shape (n, 2 k); the middle of its ranks where a value is frequent."""
    ranks = [
        (np.searchsorted(own, column, side="left") + np.searchsorted(own, column, side="right")) / (2.0 * own.size)
        for column, own in zip(values.T, knots, strict=True)
    ]
    return np.column_stack([power for rank in ranks for power in (rank, rank**2)])


@with_parameters
class SelectionAwareClassifier(BasePUClassifier):
    """:class:`PUClassifier` with a correction for labels that depend on named columns.

    The classifier is fitted as if labels were chosen at random; then the log-propensity of the named columns is
    estimated (see :mod:`purely.classifiers.selection_aware`), subtracted from the log-odds, and the probabilities are
    calibrated; a labelled positive counts the more there, the more rarely such positives are labelled. Without named
    columns nothing is corrected: what labels depend on cannot be found out from positives and unlabelled rows. Then
    :func:`purely.audit.sensitivity` says how far the answers could be off; the labels of an audit (:mod:`purely.audit`)
    tell how far they are off.

    Parameters
    ----------
    class_prior : float, Prior, "auto" or estimator, default="auto"
        See :class:`PUClassifier`. An estimated one is corrected as well, and counts as not determined.
    selection_features : sequence of int or str, default=None
        Columns that the labelling depends on, by place or by name: a branch, a date, a price.
    members : {"auto", "light"} or list, default="auto"
    cv : int, default=5
    threshold : float or pair of float, default=0.5
    scenario : {"case-control", "single-sample"}, default="case-control"
    n_jobs : int or None, default=None
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classifier_ : PUClassifier
        As if labels were chosen at random.
    selection_ : SelectionCurve or None
    class_prior_, unlabelled_prior_ : float
    class_prior_interval_ : tuple of float
        Covers the intervals before and after the correction.
    prior_ : Prior
    oof_probability_ : ndarray of shape (n,)
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> import numpy as np
    >>> from purely.classifiers import SelectionAwareClassifier
    >>> from purely.datasets import Labelling, make_pu
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(4000) < 2000
    >>> X = np.column_stack([rng.normal(2.5 * truth, 1.0), rng.normal(size=4000)])
    >>> how = Labelling("column", ratio=30.0, column=1)  # column 1 says nothing of the class, and decides the labelling
    >>> draw = make_pu(X, truth, n_positive=200, n_unlabelled=1000, class_prior=0.3, labelling=how)
    >>> model = SelectionAwareClassifier(selection_features=[1], members="light").fit(draw.X, draw.y)
    >>> low, high = model.relative_propensity([[2.5, -1.5], [2.5, 1.5]])
    >>> bool(low < high)
    True
    """

    class_prior: PriorParameter = field(default="auto", kw_only=False)
    selection_features: Sequence[int | str] | None = None
    members: Members = "auto"
    cv: int = 5
    n_jobs: int | None = None
    random_state: RandomState = 0

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Fit the classifier, estimate the selection and correct for it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.

        Returns
        -------
        self
        """
        X, labels = self._start(X, y)
        columns = self._columns()
        shared = {name: getattr(self, name) for name in ("members", "cv", "scenario", "n_jobs", "random_state")}
        self.classifier_ = PUClassifier(self.class_prior, **shared).fit(X, labels.positive.astype(np.intp))
        score = finite_log_odds(self.classifier_.oof_probability_) - self.classifier_._population_shift()
        self.selection_ = fit_selection(X, columns, labels.positive, score) if columns.size else None
        propensity = np.zeros(score.size) if self.selection_ is None else self.selection_(X)
        weight = np.exp(-propensity[labels.positive])
        self._correct_prior(score[labels.positive], weight / weight.mean(), labels)
        if self.selection_ is None:  # calibrating once more could only blur the ranking
            self._map: ScoreCalibration | None = None
            self.oof_probability_ = self.classifier_.oof_probability_
            self.oof_table_ = self.classifier_.oof_table_
        else:
            self._calibrate(score - propensity, weight, labels)
        return self

    def _columns(self) -> Indices:
        """Places of the named columns."""
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        found = []
        for name in self.selection_features if self.selection_features is not None else ():
            found.append(names.index(name) if isinstance(name, str) and name in names else name)
            if not isinstance(found[-1], (int, np.integer)) or not 0 <= found[-1] < self.n_features_in_:
                known = f"names of columns ({', '.join(map(repr, names[:5]))}, ...) or " if names else ""
                raise ValueError(
                    f"selection_features must hold {known}places below {self.n_features_in_}; {name!r} was given."
                )
        return np.array(sorted(set(found)), dtype=np.intp)

    def _correct_prior(self, score: Floats, weight: Floats, labels: PULabels) -> None:
        r"""The share of positives that goes with the corrected ratio.

        The ratio of a labelled positive becomes *w* times what it was. The share is divided by the median change among
        labelled positives, so that their probabilities stay what they were, in the middle.
        """
        first = self.classifier_
        self.prior_estimator_ = first.prior_estimator_
        share = first.unlabelled_prior_
        if first.prior_.known or self.selection_ is None:
            self._use_prior(first.prior_, self._priors_of(labels, unlabelled=share), labels, estimated=False)
            return
        log_probability = np.log(expit(score))
        change = float(np.exp(np.median(log_probability + np.log(weight)) - np.median(log_probability)))
        priors = self._priors_of(labels, unlabelled=float(np.clip(share / change, 1e-6, 1.0 - 1e-6)))
        scale = priors.population / first.class_prior_
        low, high = first.prior_.interval
        low, high = min(low, low * scale, priors.population), min(max(high, high * scale, priors.population), 1.0)
        prior = replace(
            first.prior_,
            value=priors.population,
            low=low,
            high=high,
            upper_bound=high,
            determined=False,
            same_rows=False,
        )
        self._use_prior(prior, priors, labels, estimated=False)

    def _calibrate(self, score: Floats, weight: Floats, labels: PULabels) -> None:
        """Log-odds from corrected scores, and their table, with labelled positives weighed."""
        positive = labels.positive
        found = calibrate_scores(score[positive], score[~positive], self.unlabelled_prior_, weight_positive=weight)
        self._map, log_odds = found, found(score) + self._population_shift()
        self._note_out_of_fold(log_odds, positive)
        table = self.oof_table_
        cell = table.score.size - np.searchsorted(table.score[::-1], log_odds[positive], side="right")
        effective = weight.sum() ** 2 / (weight @ weight)  # as many unweighted rows say as much
        counts = np.bincount(cell, weight, table.score.size) / weight.sum() * effective
        self.oof_table_ = replace(table, count_p=counts)

    def relative_propensity(self, X: Matrix) -> Floats:
        """How readily positives of each row's kind are labelled, over the mean of the labelled ones.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "classifier_")
        X = self._validate_rows(X)
        return np.ones(X.shape[0]) if self.selection_ is None else np.exp(self.selection_(X))

    def _log_odds(self, X: Matrix) -> Floats:
        if self.selection_ is None or self._map is None:
            return self.classifier_.log_odds(X)
        score = self.classifier_.log_odds(X) - self.classifier_._population_shift()
        return self._map(score - self.selection_(X)) + self._population_shift()
