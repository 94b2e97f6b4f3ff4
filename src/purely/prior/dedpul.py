r"""DEDPUL's estimate: expectation-maximisation on a smoothed density ratio of the scores.

With :math:`r = f_P / f_U` the ratio of the two samples' score densities, the share solves :math:`\alpha = M(\alpha)`,

.. math:: M(\alpha) = \frac{1}{n_U} \sum_{x \in U} \min(1, \alpha \, r(x)) ,

which expectation-maximisation finds from :math:`\alpha = 1` downwards [1]_. The excess
:math:`D(\alpha) = \alpha - M(\alpha)` is zero up to :math:`1 / \max r` and convex, and a noisy ratio has a maximum that
is too large, so the iteration stops where a step, which is :math:`D`, falls below the sampling error of :math:`M`.

The densities are Gaussian kernel estimates on the normal scores of the pooled ranks, so the estimate depends on the
order of the rows only; the ratio is made monotone in the score, as that of a good score is, and its top is averaged.

References
----------
.. [1] Ivanov, D. DEDPUL: difference-of-estimated-densities-based positive-unlabeled learning. ICMLA 2020.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import bisect
from scipy.special import ndtri
from sklearn.isotonic import isotonic_regression

from purely.base import number, with_parameters
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import ScoreReading, ScoreTable
from purely.typing import Floats

_GRID = 512


def smoothed_ratio(table: ScoreTable, bandwidth: float = 1.0) -> tuple[Floats, Floats]:
    """Unlabelled mass and monotone ratio `f_P / f_U` on a grid of normal scores, increasing."""
    mass = 0.5 * (table.count_p / table.n_p + table.count_u / table.n_u)
    position = -ndtri(np.clip(np.cumsum(mass) - 0.5 * mass, 1e-6, 1.0 - 1e-6))  # of pooled mid-ranks
    low, high = float(position.min()) - 0.5, float(position.max()) + 0.5
    edges = np.linspace(low, high, _GRID + 1)
    step = edges[1] - edges[0]
    p, _ = np.histogram(position, bins=edges, weights=table.count_p / table.n_p)
    u, _ = np.histogram(position, bins=edges, weights=table.count_u / table.n_u)
    # Silverman's rule for the smaller sample; the pooled normal scores have unit spread by construction.
    width = bandwidth * 1.06 * min(table.n_p, table.n_u) ** -0.2 / step
    smooth_p, smooth_u = (gaussian_filter1d(m, width, mode="constant", truncate=6.0) for m in (p, u))
    present = smooth_u > 1e-12
    ratio = np.zeros(_GRID)
    ratio[present] = smooth_p[present] / smooth_u[present]
    ratio = isotonic_regression(ratio, sample_weight=smooth_p + smooth_u + 1e-12)
    ratio = ratio / max(float(u @ ratio), 1e-12)  # the mean of f_P / f_U over the unlabelled rows is one
    return u, np.asarray(ratio, dtype=np.float64)


def dedpul(table: ScoreTable, bandwidth: float = 1.0, tolerance: float = 0.25) -> ScoreReading:
    """DEDPUL estimate of the share of positives.

    Parameters
    ----------
    table : ScoreTable
    bandwidth : float, default=1.0
        Factor on Silverman's bandwidth of the density estimates.
    tolerance : float, default=0.25
        The iteration stops at a step of this many times `n_U ** -0.5`.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.dedpul import dedpul
    >>> rng = np.random.default_rng(0)
    >>> negatives, positives = rng.normal(0, 1, 700), rng.normal(4, 1, 300)
    >>> table = ScoreTable.from_scores(rng.normal(4, 1, 500), np.concatenate([negatives, positives]))
    >>> 0.2 < dedpul(table).share < 0.4
    True
    """
    mass, ratio = smoothed_ratio(table, bandwidth)
    grid = np.linspace(0.0, 1.0, 401)
    excess = grid - np.minimum(1.0, grid[:, None] * ratio[None, :]) @ mass

    def beyond(share: float) -> float:
        return share - float(np.minimum(1.0, share * ratio) @ mass) - tolerance / np.sqrt(table.n_u)

    # the largest share at which a step of expectation-maximisation is small enough, by bisection: D is convex
    share = 1.0 if beyond(1.0) <= 0.0 else float(bisect(beyond, 0.0, 1.0, xtol=5e-6))
    return ScoreReading(share, grid, excess, "share of positives", "share - mean posterior", share)


@with_parameters
class DEDPULPrior(OneDimensionalPrior):
    """Class prior by DEDPUL: expectation-maximisation on the ratio of score densities.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Factor on Silverman's bandwidth of the density estimates.
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
        The excess of the share over the mean posterior, against the share.

    References
    ----------
    .. [1] Ivanov, D. DEDPUL: difference-of-estimated-densities-based positive-unlabeled learning. ICMLA 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import DEDPULPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(4, 1, (500, 1))
    >>> U = np.concatenate([rng.normal(4, 1, (300, 1)), rng.normal(0, 1, (700, 1))])
    >>> 0.25 < DEDPULPrior().fit(*stack(P, U)).class_prior_ < 0.4
    True
    """

    _read = staticmethod(dedpul)

    bandwidth: float = number(default=1.0, low=0.0, open_low=True, kw_only=False)
