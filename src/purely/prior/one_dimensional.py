r"""The estimators that read a share off a score, and those that read it at its top.

With :math:`q_P(c)` and :math:`q_U(c)` the shares of both samples scoring at least :math:`c`, every :math:`q_U / q_P` is
an upper bound of the share of positives. The three differ in where they read it.

The *best bin* [1]_ is the threshold whose upper confidence bound is smallest,

.. math::

    \hat c = \arg\min_c \frac{q_U(c)}{q_P(c)} + \frac{1 + \gamma}{q_P(c)}
        \left( \sqrt{\frac{\log(4/\delta)}{2 n_U}} + \sqrt{\frac{\log(4/\delta)}{2 n_P}} \right),
    \qquad \hat\pi_U = \frac{q_U(\hat c)}{q_P(\hat c)} .

*Monotone ratio.* If the score orders rows as the density ratio :math:`w = p(x \mid y=1) / p(x)` does, the curve of
:math:`q_P` against :math:`q_U` is concave with slope :math:`w`. Its least concave majorant is the Grenander estimator
of :math:`w` [2]_, the same as isotonic regression of the labels on the score by pooling adjacent violators. Since
:math:`w \le 1 / \pi_U` with equality where only positives are, the share is one over the slope at the top. The slope at
the very top is not consistent; it is read at :math:`q_P = n_P^{-1/3}` instead [3]_.

*Rank pruning* counts a row as confidently positive if its probability of a label :math:`g(x)` is at least the mean of
:math:`g` over the labelled positives [4]_. The labelling frequency is the labelled share of the confident positives, so

.. math:: \hat\pi_U = \frac{q_U(t)}{q_P(t)}, \qquad t = \frac{1}{n_P} \sum_{x \in P} g(x) .

References
----------
.. [1] Garg, S., Wu, Y., Smola, A., Balakrishnan, S. and Lipton, Z. Mixture proportion estimation and PU learning: a
   modern approach. NeurIPS 2021.
.. [2] Grenander, U. On the theory of mortality measurement, part II. *Scandinavian Actuarial Journal*, 1956.
.. [3] Kulikov, V. and Lopuhaä, H. The behavior of the NPMLE of a decreasing density near the boundaries of the support.
   *Annals of Statistics*, 2006.
.. [4] Northcutt, C., Wu, T. and Chuang, I. Learning with confident examples: rank pruning for robust classification
   with noisy labels. UAI 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.isotonic import isotonic_regression

from purely.base import check_parameters, number, parameter, with_parameters
from purely.checks import check_number, dense
from purely.folds import Folds
from purely.prior.base import PriorEstimate, PriorEstimator, read_scores
from purely.prior.ceiling import logistic_ceiling
from purely.prior.scores import Reader, ScoreReading, ScoreTable
from purely.typing import Floats, Mask, Matrix

#: Axes of curves along the thresholds.
ABOVE, TAIL_RATIO = "share of the positives above the threshold", "unlabelled share / positive share"


class OneDimensionalPrior(PriorEstimator):
    """Base of the methods that read a share off one score.

    One column is the score itself, the higher the more positive; several columns become one through `ratio`. A method
    says by `_read`, a function of a table of scores and of the method's own parameters, how it reads the share.
    """

    _read: Callable[..., ScoreReading]

    def _reader(self) -> Reader:
        """How the share is read, with the parameters that not every estimator has."""
        check_parameters(type(self), vars(self))
        shared = PriorEstimator._get_param_names()
        return partial(self._read, **{n: v for n, v in self.get_params(deep=False).items() if n not in shared})

    def _score(self, X: Matrix, positive: Mask, folds: Folds | None) -> Floats:
        if X.shape[1] == 1:
            return dense(X).ravel()
        if self.ratio is None:
            raise ValueError(
                f"ratio=None takes one column, a score, as it is; X has {X.shape[1]} columns. Use ratio='auto' to make "
                "a score of them."
            )
        return self._ratios(X, positive, folds).score

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
        return read_scores(self._score(X, positive, folds), positive, self._reader())


def best_bin(table: ScoreTable, confidence: float = 1.0, delta: float = 0.1, gamma: float = 0.01) -> ScoreReading:
    """Best-bin estimate of the share of positives.

    Parameters
    ----------
    table : ScoreTable
    confidence : float, default=1.0
        Factor on the confidence term; below one the bin is smaller: less bias where tops are impure, more variance.
    delta, gamma : float
        Constants of the confidence term.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.one_dimensional import best_bin
    >>> table = ScoreTable.from_scores(np.full(100, 1.0), np.repeat([0.0, 1.0], [150, 50]))
    >>> best_bin(table).share
    0.25
    """
    q_p, ratio, bound = table.bounds(confidence, delta, gamma)
    best, usable = int(np.argmin(bound)), q_p > 0.0
    details = {"threshold": float(table.score[best]), "upper_bound": float(min(1.0, bound[best]))}
    share, chosen = float(min(1.0, ratio[best])), float(q_p[best])
    return ScoreReading(share, q_p[usable], ratio[usable], ABOVE, TAIL_RATIO, chosen, details)


def monotone_top(table: ScoreTable, top: float | None = None) -> ScoreReading:
    """One over the monotone ratio at its top.

    Parameters
    ----------
    table : ScoreTable
    top : float, optional
        Share of the positives above the place where the ratio is read; `n_P ** (-1 / 3)` by default.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.one_dimensional import monotone_top
    >>> table = ScoreTable.from_scores(np.full(100, 1.0), np.repeat([0.0, 1.0], [150, 50]))
    >>> round(monotone_top(table).share, 6)
    0.25
    """
    kept = (table.count_p + table.count_u) > 0
    table = ScoreTable(table.score[kept], table.count_p[kept], table.count_u[kept])
    where = table.n_p ** (-1.0 / 3.0) if top is None else top
    mass, (q_p, _) = table.count_p + table.count_u, table.tails()
    labelled = isotonic_regression(table.count_p / mass, sample_weight=mass, increasing=False)
    at = min(int(np.searchsorted(q_p, where - 1e-12)), q_p.size - 1)
    with np.errstate(divide="ignore"):
        curve = np.minimum(1.0 / (labelled / (1.0 - labelled) * table.n_u / table.n_p), 5.0)
    share = float(np.clip(curve[at], 0.0, 1.0))
    return ScoreReading(share, q_p, curve, ABOVE, "one over the monotone ratio", float(q_p[at]))


def rank_pruning(table: ScoreTable) -> ScoreReading:
    """Share of positives by confident counts, from a table of log density ratios.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.one_dimensional import rank_pruning
    >>> table = ScoreTable.from_scores(np.full(100, 1.0), np.repeat([-3.0, 1.0], [150, 50]))
    >>> rank_pruning(table).share
    0.25
    """
    labelled = table.label_probability
    threshold = float(table.count_p @ labelled) / table.n_p
    q_p, q_u = table.tails()
    at = max(int(np.count_nonzero(labelled >= threshold - 1e-12)) - 1, 0)
    usable = q_p > 0.0
    share = float(min(1.0, q_u[at] / q_p[at])) if q_p[at] > 0.0 else 1.0
    ratio, details = q_u[usable] / q_p[usable], {"threshold": threshold}
    return ScoreReading(share, q_p[usable], ratio, ABOVE, TAIL_RATIO, float(q_p[at]), details)


@with_parameters
class BestBinPrior(OneDimensionalPrior):
    """Class prior by best-bin estimation.

    Parameters
    ----------
    confidence : float, default=1.0
        Factor on the confidence term of the bound that is minimised.
    delta : float, default=0.1
        Level of the confidence term.
    ratio : "auto", estimator or None, default="auto"
        How several columns become one score: "auto" cross-fits the package's default ratio models, an estimator is
        cross-fitted as :class:`ClassPrior` does, None refuses several columns. One column is the score itself.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_ : float
        Share of positives in the population.
    unlabelled_prior_ : float
        Share of positives among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        The ratio of tail shares, and where it was read.

    References
    ----------
    .. [1] Garg, S. et al. Mixture proportion estimation and PU learning: a modern approach. NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import BestBinPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(4, 1, (500, 1))
    >>> U = np.concatenate([rng.normal(4, 1, (300, 1)), rng.normal(0, 1, (700, 1))])
    >>> round(BestBinPrior().fit(*stack(P, U)).class_prior_, 1)
    0.3
    """

    _read = staticmethod(best_bin)

    confidence: float = number(default=1.0, low=0.0, kw_only=False)
    delta: float = number(default=0.1, low=0.0, high=1.0, open_low=True, kw_only=False)


@with_parameters
class MonotoneRatioPrior(OneDimensionalPrior):
    """Class prior as one over the top of the isotonic (Grenander) density ratio.

    Parameters
    ----------
    top : float, optional
        Share of the positives above the place where the ratio is read; the cube root of one over their number by
        default.
    ratio : "auto", estimator or None, default="auto"
        How several columns become one score; see :class:`BestBinPrior`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        One over the monotone ratio, and where it was read.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import MonotoneRatioPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(4, 1, (500, 1))
    >>> U = np.concatenate([rng.normal(4, 1, (300, 1)), rng.normal(0, 1, (700, 1))])
    >>> 0.2 < MonotoneRatioPrior().fit(*stack(P, U)).class_prior_ < 0.4
    True
    """

    _read = staticmethod(monotone_top)

    top: float | None = number(default=None, low=0.0, high=1.0, open_low=True, kw_only=False)


class RankPruningPrior(OneDimensionalPrior):
    """Class prior by rank pruning's confident counts.

    Parameters
    ----------
    ratio : "auto", estimator or None, default="auto"
        How several columns become one score; see :class:`BestBinPrior`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        The ratio of tail shares, and where it was read.

    References
    ----------
    .. [1] Northcutt, C., Wu, T. and Chuang, I. Learning with confident examples. UAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import RankPruningPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(5, 1, (300, 2))])
    >>> 0.3 < RankPruningPrior().fit(*stack(P, U)).class_prior_ < 0.5
    True
    """

    _read = staticmethod(rank_pruning)


def _check_leeway(name: str, value: object) -> float | None:
    return None if value is None else check_number(name, value, 0.0, open_low=True)


@with_parameters
class LogisticCeilingPrior(OneDimensionalPrior):
    """Class prior by a logistic posterior under a ceiling, for classes that overlap everywhere.

    Parameters
    ----------
    leeway : float, "auto" or None, default="auto"
        Standard deviation, on the logit scale, of a normal prior of the share around the best bin's estimate, which
        holds where the data show no ceiling; None for no prior, "auto" for 2 where positives are rare and 0.2 where
        they are common, with an estimate in the 40 % interval of what is known of the share.
    ratio : "auto", estimator or None, default="auto"
        How several columns become one score; see :class:`BestBinPrior`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        One over the fitted ratio, whose floor is the share.

    Notes
    -----
    The answer rests on the logistic form: a score whose log-odds are far from linear gives a wrong share with a narrow
    interval. Methods that read the top of the ratio need no form, but a pure top.

    References
    ----------
    .. [1] Lancaster, T. and Imbens, G. Case-control studies with contaminated controls. Journal of Econometrics, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import LogisticCeilingPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(1, 1, (4000, 1))
    >>> U = np.concatenate([rng.normal(1, 1, (3000, 1)), rng.normal(-1, 1, (3000, 1))])
    >>> 0.4 < LogisticCeilingPrior().fit(*stack(P, U)).class_prior_ < 0.6
    True
    """

    _read = staticmethod(logistic_ceiling)

    leeway: float | str | None = parameter(default="auto", check=_check_leeway, kw_only=False)
