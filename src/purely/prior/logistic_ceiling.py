r"""A logistic posterior under a ceiling: the share where the top of the score is not pure.

Every method that reads the top of the density ratio overestimates where no row is surely positive. This one
extrapolates instead: if the posterior of the classes is logistic in the score :math:`s`, the density ratio of positives
to unlabelled rows is a logistic curve under the ceiling :math:`1 / \pi_U` [1]_ [2]_,

.. math:: w(s) = \frac{1}{\pi_U + (1 - \pi_U) \, e^{-(a + b s)}} ,

and :math:`(\pi_U, a, b)` maximise the likelihood of the labels with both samples weighing the same,

.. math:: \frac{1}{n_P} \sum_{P} \log \frac{w}{1 + w} + \frac{1}{n_U} \sum_{U} \log \frac{1}{1 + w} .

The ceiling is seen as a bend of :math:`\log w`; where the data show none, :math:`\pi_U` could be anything below the
best bin's estimate, so a normal prior of :math:`\operatorname{logit} \pi_U` around that estimate is added.

The gradient with respect to :math:`\log w` is :math:`1 - \sigma(\log w)` on the positives and
:math:`-\sigma(\log w)` on the unlabelled rows; with :math:`\ell = a + b s`,
:math:`\partial \log w / \partial \ell = 1 - \pi_U w` and
:math:`\partial \log w / \partial \pi_U = - w (1 - e^{-\ell})`.

References
----------
.. [1] Lancaster, T. and Imbens, G. Case-control studies with contaminated controls. *Journal of Econometrics*, 1996.
.. [2] Jaskie, K., Elder, C. and Spanias, A. A modified logistic regression for positive and unlabeled learning.
   Asilomar Conference on Signals, Systems, and Computers, 2019.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from purely.checks import RandomState, check_number
from purely.prior.best_bin import best_bin
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import Reader, ScoreReading, ScoreTable

__all__ = ["LogisticCeilingPrior", "logistic_ceiling"]

Floats = NDArray[np.float64]
_BOUNDS = [(-7.0, 7.0), (-30.0, 30.0), (-4.0, 4.0)]


def logistic_ceiling(table: ScoreTable, n_cells: int = 256, leeway: float | None = 1.0) -> ScoreReading:
    """Fit the ceiling by maximum likelihood.

    Parameters
    ----------
    table : ScoreTable
        Scores on a scale on which the posterior is about logistic: log-odds, not probabilities.
    n_cells : int, default=256
        The table is merged to this many cells first.
    leeway : float or None, default=1.0
        Standard deviation, on the logit scale, of a normal prior of the share around the best bin's; None for none.

    Examples
    --------
    Two overlapping normal classes: no row is surely positive, yet the share is found.

    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.logistic_ceiling import logistic_ceiling
    >>> rng = np.random.default_rng(0)
    >>> P, U = rng.normal(1, 1, 20000), np.concatenate([rng.normal(1, 1, 12000), rng.normal(-1, 1, 28000)])
    >>> round(logistic_ceiling(ScoreTable.from_scores(P, U)).share, 1)
    0.3
    """
    cells = table.coarsen(n_cells)
    p, u = cells.count_p / cells.n_p, cells.count_u / cells.n_u
    mass = 0.5 * (p + u)
    centre = float(mass @ cells.score)
    spread = float(np.sqrt(mass @ (cells.score - centre) ** 2)) or 1.0
    x = (cells.score - centre) / spread
    anchor = float(np.clip(logit(best_bin(table).share), *_BOUNDS[0]))
    # The mean log-likelihood has the information of n_P n_U / (n_P + n_U) rows.
    pull = 0.0 if leeway is None else (1.0 / table.n_p + 1.0 / table.n_u) / leeway**2
    best = None
    for first in ((anchor, 0.0, 0.5), (anchor - 1.0, 0.0, 0.0)):
        fit = minimize(_loss, first, args=(x, p, u, anchor, pull), jac=True, method="L-BFGS-B", bounds=_BOUNDS)
        if best is None or fit.fun < best.fun:
            best = fit
    theta = best.x  # type: ignore[union-attr]
    share = float(expit(theta[0]))
    log_w, _ = _log_ratio(theta, x)
    # Share of positives among the rows at the best twentieth of the positives: one where the top is pure.
    top = int(np.searchsorted(np.cumsum(p), 0.05))
    purity = float(np.clip(share * np.exp(log_w[min(top, log_w.size - 1)]), 0.0, 1.0))
    return ScoreReading(
        share=share,
        x=cells.score[::-1],
        curve=np.exp(-log_w)[::-1],
        x_label="score",
        curve_label="one over the fitted ratio",
        chosen=None,
        details={
            "purity": purity,
            "logit": float(theta[0]),
            "intercept": float(theta[1]),
            "log_slope": float(theta[2]),
        },
    )


def _log_ratio(theta: Floats, x: Floats) -> tuple[Floats, Floats]:
    log_share, log_rest = log_expit(theta[0]), log_expit(-theta[0])
    linear = theta[1] + np.exp(theta[2]) * x
    return -np.logaddexp(log_share, log_rest - linear), linear


def _loss(theta: Floats, x: Floats, p: Floats, u: Floats, anchor: float, pull: float) -> tuple[float, Floats]:
    """Penalised negative log-likelihood and its gradient in (logit share, intercept, log slope)."""
    log_w, linear = _log_ratio(theta, x)
    share, slope = expit(theta[0]), np.exp(theta[2])
    value = -float(p @ log_expit(log_w) + u @ log_expit(-log_w))
    by_ratio = -(p * expit(-log_w) - u * expit(log_w))
    w = np.exp(log_w)
    by_linear = by_ratio * (1.0 - share * w)
    # d log w / d share times d share / d logit; exp(-linear) * w stays finite where linear is very negative.
    odd = np.exp(np.minimum(log_w - linear, 700.0))
    by_share = -(by_ratio @ (w - odd)) * share * (1.0 - share)
    gradient = np.array([by_share, by_linear.sum(), slope * float(by_linear @ x)])
    # A slope so steep that the curve is a step, or so flat that it is a constant, has no finite optimum.
    away = theta[0] - anchor
    value += 1e-4 * theta[2] ** 2 + 0.5 * pull * away**2
    return value, gradient + np.array([pull * away, 0.0, 2e-4 * theta[2]])


class LogisticCeilingPrior(OneDimensionalPrior):
    """Class prior by a logistic posterior under a ceiling, for classes that overlap everywhere.

    Parameters
    ----------
    leeway : float or None, default=1.0
        Standard deviation, on the logit scale, of a normal prior of the share around the best bin's estimate, which
        holds where the data show no ceiling; None for no prior.
    n_cells : int, default=256
        Scores are merged to this many cells before the fit.
    ratio : "auto", estimator or None, default="auto"
        How several columns become one score; see :class:`BestBinPrior`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_resamples : int, default=50
        Bootstrap replicates behind the interval.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, models and resampling.

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

    def __init__(
        self,
        leeway: float | None = 1.0,
        *,
        n_cells: int = 256,
        ratio: Any = "auto",
        scenario: str = "case-control",
        level: float = 0.9,
        n_resamples: int = 50,
        random_state: RandomState = 0,
    ) -> None:
        self.leeway = leeway
        self.n_cells = n_cells
        self.ratio = ratio
        self.scenario = scenario
        self.level = level
        self.n_resamples = n_resamples
        self.random_state = random_state

    def _reader(self) -> Reader:
        n_cells = check_number("n_cells", self.n_cells, 8, integer=True)
        leeway = None if self.leeway is None else check_number("leeway", self.leeway, 0.0, np.inf, open_low=True)
        return partial(logistic_ceiling, n_cells=n_cells, leeway=leeway)
