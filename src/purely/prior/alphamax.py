r"""AlphaMax: the largest share at which the likelihood has not begun to fall.

Let the unlabelled rows have mass :math:`w_i` in cell :math:`i` of a score, a share :math:`\beta_i \in [0, 1]` of which
is positive. The positives then have mass :math:`\beta_i w_i / \alpha` there, with :math:`\alpha = \sum_i \beta_i w_i`
the share of positives, and the log-likelihood of the labelled counts :math:`c_i` at a given :math:`\alpha` is [1]_

.. math:: \ell(\alpha) = \max_{\beta} \sum_i c_i \log \frac{\beta_i w_i}{\alpha}
    \quad \text{such that} \quad 0 \le \beta \le 1, \; \textstyle\sum_i \beta_i w_i = \alpha .

The maximiser is :math:`\beta_i = \min(1, \mu \, c_i / w_i)`. The curve is flat as long as no :math:`\beta_i` reaches
one and falls beyond; the estimate is the elbow. At the true share about half of the cells that are purely positive are
at one by chance, and each has cost half a unit of likelihood on average, so the elbow is read where the fall equals
half the number of cells at one.

References
----------
.. [1] Jain, S., White, M., Trosset, M. and Radivojac, P. Nonparametric semi-supervised learning of class proportions.
   arXiv:1601.01944, 2016.
"""

from __future__ import annotations

import numpy as np

from purely.base import number, with_parameters
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import ScoreReading, ScoreTable
from purely.typing import Floats


def alphamax(table: ScoreTable, n_cells: int = 64) -> ScoreReading:
    """AlphaMax estimate of the share of positives.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.alphamax import alphamax
    >>> rng = np.random.default_rng(0)
    >>> U = np.concatenate([rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> 0.25 < alphamax(ScoreTable.from_scores(rng.normal(4, 1, 500), U)).share < 0.4
    True
    """
    cells = table.coarsen(n_cells)
    # Half a row in every cell: an empty cell of unlabelled rows would allow no positive there.
    w = (cells.count_u + 0.5) / (cells.n_u + 0.5 * cells.count_u.size)
    c = cells.count_p
    ratio = c / (cells.n_p * w)
    grid = np.linspace(0.0, 1.0, 501)[1:]
    # The unlabelled mass is itself counted: a deviation's variance is 1 / c + 1 / u, not 1 / c, and weighs less.
    trust = (cells.count_u + 0.5) / (cells.count_u + 0.5 + c)
    observed = np.log(np.maximum(ratio, 1e-300))
    beta = _fill(ratio, w, grid)
    fitted = cells.n_p * beta * w / grid[:, None]
    excess = np.where(c > 0, observed - np.log(np.maximum(beta, 1e-300) / grid[:, None]), 0.0)
    fall = (c * excess - c + fitted) @ trust
    at_one = np.count_nonzero(beta >= 1.0 - 1e-9, axis=1)
    inside = np.flatnonzero(fall <= 0.5 * at_one + 1e-9)
    share = float(grid[inside[-1] if inside.size else 0])
    return ScoreReading(share, grid, -fall, "share of positives", "log-likelihood, from its maximum", share)


def _fill(ratio: Floats, w: Floats, alpha: Floats) -> Floats:
    """`min(1, mu * ratio)` with `mu` such that the mean over the unlabelled mass is `alpha`; a row for each `alpha`."""
    order = np.argsort(-ratio, kind="stable")
    r, mass = ratio[order], w[order]
    full = np.concatenate([[0.0], np.cumsum(mass)[:-1]])  # mass of the cells at one, if the first k are
    rest = np.cumsum((mass * r)[::-1])[::-1]
    mu = np.where(rest > 0.0, (alpha[:, None] - full) / np.maximum(rest, 1e-300), -1.0)
    feasible = (mu >= 0.0) & (mu * r <= 1.0 + 1e-12)
    some = np.asarray(np.any(feasible, axis=1))
    first = np.argmax(feasible, axis=1)
    beta = np.minimum(1.0, mu[np.arange(alpha.size), first][:, None] * ratio)
    # More than the cells with positives can hold: they are full, and the others fill up evenly.
    spare = np.asarray(ratio <= 0.0)
    level = np.clip((alpha - w[~spare].sum()) / max(float(w[spare].sum()), 1e-300), 0.0, 1.0)
    return np.where(some[:, None], beta, np.where(spare, level[:, None], 1.0))


@with_parameters
class AlphaMaxPrior(OneDimensionalPrior):
    """Class prior by AlphaMax.

    Parameters
    ----------
    n_cells : int, default=64
        Number of cells of the score, of equal mass.
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
        The log-likelihood against the share.

    References
    ----------
    .. [1] Jain, S. et al. Nonparametric semi-supervised learning of class proportions. arXiv:1601.01944, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import AlphaMaxPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(4, 1, (500, 1))
    >>> U = np.concatenate([rng.normal(4, 1, (300, 1)), rng.normal(0, 1, (700, 1))])
    >>> 0.25 < AlphaMaxPrior().fit(*stack(P, U)).class_prior_ < 0.4
    True
    """

    _read = staticmethod(alphamax)

    n_cells: int = number(default=64, low=4, integer=True, kw_only=False)
