r"""The top of a monotone density ratio.

If the score orders rows as the density ratio :math:`w = p(x \mid y=1) / p(x)` does, the curve of
:math:`q_P` against :math:`q_U` (shares of both samples above a threshold) is concave with slope :math:`w`. Its least
concave majorant is the Grenander estimator of :math:`w` [1]_, the same as isotonic regression of the labels on the
score by pooling adjacent violators. Since :math:`w \le 1 / \pi_U` with equality where only positives are, the share is
one over the slope at the top. The slope at the very top is not consistent; it is read at :math:`q_P = n_P^{-1/3}`
instead [2]_.

References
----------
.. [1] Grenander, U. On the theory of mortality measurement, part II. *Scandinavian Actuarial Journal*, 1956.
.. [2] Kulikov, V. and Lopuhaä, H. The behavior of the NPMLE of a decreasing density near the boundaries of the support.
   *Annals of Statistics*, 2006.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from purely.base import with_parameters
from purely.checks import check_number
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import Reader, ScoreReading, ScoreTable

__all__ = ["MonotoneRatioPrior", "monotone_top"]

Floats = NDArray[np.float64]


def monotone_ratio(table: ScoreTable) -> Floats:
    """Isotonic estimate of `w` in each cell of the table, highest cell first."""
    mass = table.count_p + table.count_u
    labelled = isotonic_regression(table.count_p / mass, sample_weight=mass, increasing=False)
    with np.errstate(divide="ignore"):
        return np.asarray(labelled / (1.0 - labelled) * table.n_u / table.n_p, dtype=np.float64)


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
    >>> from purely.prior.monotone import monotone_top
    >>> table = ScoreTable.from_scores(np.full(100, 1.0), np.repeat([0.0, 1.0], [150, 50]))
    >>> round(monotone_top(table).share, 6)
    0.25
    """
    kept = (table.count_p + table.count_u) > 0
    table = ScoreTable(table.score[kept], table.count_p[kept], table.count_u[kept])
    where = table.n_p ** (-1.0 / 3.0) if top is None else top
    ratio = monotone_ratio(table)
    q_p, _ = table.tails()
    at = min(int(np.searchsorted(q_p, where - 1e-12)), q_p.size - 1)
    with np.errstate(divide="ignore"):
        curve = np.minimum(1.0 / ratio, 5.0)
    return ScoreReading(
        share=float(np.clip(curve[at], 0.0, 1.0)),
        x=q_p,
        curve=curve,
        x_label="share of the positives above the threshold",
        curve_label="one over the monotone ratio",
        chosen=float(q_p[at]),
    )


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

    top: float | None = field(default=None, kw_only=False)

    def _reader(self) -> Reader:
        top = None if self.top is None else check_number("top", self.top, 0.0, 1.0, open_low=True)
        return partial(monotone_top, top=top)
