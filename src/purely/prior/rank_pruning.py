r"""Rank pruning's estimate: confident counts above the positives' mean probability.

Rank pruning counts a row as confidently positive if its probability of a label :math:`g(x)` is at least the mean of
:math:`g` over the labelled positives [1]_. The labelling frequency is the labelled share of the confident positives, so

.. math:: \hat\pi_U = \frac{q_U(t)}{q_P(t)}, \qquad t = \frac{1}{n_P} \sum_{x \in P} g(x) ,

with :math:`q_P, q_U` the shares of both samples scoring at least :math:`t`.

References
----------
.. [1] Northcutt, C., Wu, T. and Chuang, I. Learning with confident examples: rank pruning for robust classification
   with noisy labels. UAI 2017.
"""

from __future__ import annotations

import numpy as np

from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import Reader, ScoreReading, ScoreTable

__all__ = ["RankPruningPrior", "rank_pruning"]


def rank_pruning(table: ScoreTable) -> ScoreReading:
    """Share of positives by confident counts, from a table of log density ratios.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.rank_pruning import rank_pruning
    >>> table = ScoreTable.from_scores(np.full(100, 1.0), np.repeat([-3.0, 1.0], [150, 50]))
    >>> rank_pruning(table).share
    0.25
    """
    labelled = 1.0 / (1.0 + np.exp(-np.clip(table.score, -500.0, 500.0)) * table.n_u / table.n_p)
    threshold = float(table.count_p @ labelled) / table.n_p
    q_p, q_u = table.tails()
    at = max(int(np.count_nonzero(labelled >= threshold - 1e-12)) - 1, 0)
    usable = q_p > 0.0
    return ScoreReading(
        share=float(min(1.0, q_u[at] / q_p[at])) if q_p[at] > 0.0 else 1.0,
        x=q_p[usable],
        curve=q_u[usable] / q_p[usable],
        x_label="share of the positives above the threshold",
        curve_label="unlabelled share / positive share",
        chosen=float(q_p[at]),
        details={"threshold": threshold},
    )


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

    def _reader(self) -> Reader:
        return rank_pruning
