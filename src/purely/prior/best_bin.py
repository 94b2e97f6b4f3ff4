r"""Best-bin estimation: the smallest ratio of tail shares that can be trusted.

With :math:`q_P(c)` and :math:`q_U(c)` the shares of both samples scoring at least :math:`c`, every :math:`q_U / q_P` is
an upper bound of the share of positives. The best bin [1]_ is the threshold whose upper confidence bound is smallest,

.. math::

    \hat c = \arg\min_c \frac{q_U(c)}{q_P(c)} + \frac{1 + \gamma}{q_P(c)}
        \left( \sqrt{\frac{\log(4/\delta)}{2 n_U}} + \sqrt{\frac{\log(4/\delta)}{2 n_P}} \right),
    \qquad \hat\pi_U = \frac{q_U(\hat c)}{q_P(\hat c)} .

References
----------
.. [1] Garg, S., Wu, Y., Smola, A., Balakrishnan, S. and Lipton, Z. Mixture proportion estimation and PU learning: a
   modern approach. NeurIPS 2021.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial

import numpy as np

from purely.base import with_parameters
from purely.checks import check_number
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import Reader, ScoreReading, ScoreTable

__all__ = ["BestBinPrior", "best_bin"]


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
    >>> from purely.prior.best_bin import best_bin
    >>> table = ScoreTable.from_scores(np.full(100, 1.0), np.repeat([0.0, 1.0], [150, 50]))
    >>> best_bin(table).share
    0.25
    """
    q_p, q_u = table.tails()
    usable = q_p > 0.0
    q_p, q_u, score = q_p[usable], q_u[usable], table.score[usable]
    term = np.log(4.0 / delta) / 2.0
    width = (1.0 + gamma) * (np.sqrt(term / table.n_u) + np.sqrt(term / table.n_p))
    ratio = q_u / q_p
    bound = ratio + confidence * width / q_p
    best = int(np.argmin(bound))
    return ScoreReading(
        share=float(min(1.0, ratio[best])),
        x=q_p,
        curve=ratio,
        x_label="share of the positives above the threshold",
        curve_label="unlabelled share / positive share",
        chosen=float(q_p[best]),
        details={"threshold": float(score[best]), "upper_bound": float(min(1.0, bound[best]))},
    )


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

    confidence: float = field(default=1.0, kw_only=False)
    delta: float = field(default=0.1, kw_only=False)

    def _reader(self) -> Reader:
        confidence = check_number("confidence", self.confidence, 0.0, np.inf)
        delta = check_number("delta", self.delta, 0.0, 1.0, open_low=True)
        return partial(best_bin, confidence=confidence, delta=delta)
