r"""The share where the top of a score is not pure, and how far it is determined.

Every method that reads the top of the density ratio overestimates where no row is surely positive. This one
extrapolates: if the log-odds of the classes are linear in a score :math:`s` and rise without end, the density ratio of
positives to unlabelled rows is a logistic curve under a ceiling :math:`1 / c` [1]_ [2]_,

.. math:: w(s) = \frac{1}{c + (1 - c) \, e^{-(a + b s)}} , \qquad c = \pi_U .

A model of the ratio says :math:`r \approx \log w` itself, which levels off where rows are surely positive while the
posterior's log-odds go on rising; so :math:`s = \log (e^r / (M - e^r))` with *M* just above the ratios of the labelled
positives (:func:`straightened`). The parameters :math:`(c, a, b)` maximise the likelihood of the labels of all rows,

.. math:: \ell = \sum_{P} \log \frac{\rho w}{1 + \rho w} + \sum_{U} \log \frac{1}{1 + \rho w} , \qquad
    \rho = \frac{n_P}{n_U} .

The ceiling is seen as a bend of :math:`\log w`. Where the data show none, every *c* below some value fits as well:
:class:`CeilingProfile` holds the best likelihood that each can have, :math:`\max_{a, b} \ell`.

A ceiling need not be that of the classes. Where columns tell little, even the rows that look most positive are mixed:
of their densities a ratio :math:`r_0 = p_N / p_P > 0` is left, and the ceiling is at

.. math:: c = \pi_U + (1 - \pi_U) \, r_0 .

No method can tell both terms apart by the rows at hand, but the better columns separate the classes, the smaller
:math:`r_0` is: 1 where they tell nothing, 0 where they separate all. With *A* the area under the curve of positives
against negatives,

.. math:: r_0 = \exp \left( -k \, \Phi^{-1}(A)^{\alpha} \, e^{\sigma \varepsilon} \right), \qquad
    \varepsilon \sim N(0, 1) .

For a share :math:`\pi_U` that area follows from the one against the unlabelled rows,
:math:`A = (A_U - \pi_U / 2) / (1 - \pi_U)`. So each share has a likelihood: that of its ceilings, averaged over
:math:`r_0`. From it and a weight :math:`\pi_U^{.4} (1 - \pi_U)^{.2}` of the log-odds come the interval of every class
prior here, and the range in which the recommended estimate lies (:func:`logistic_ceiling`). The doubt about :math:`r_0`
does not shrink with more rows, as the doubt about *c* does; and where positives look like the pool, no share is ruled
out: nearly all rows may be positive, or the columns may tell nothing.

A classifier's own scores are log-odds already, and are not straightened. With their curve the share of positives among
the unlabelled rows above a threshold is :math:`\pi_U` times the mean of *w* there (:meth:`CeilingProfile.draw_purity`).
Its doubt is mostly that about :math:`r_0`: a ceiling that is read too high raises :math:`\pi_U` and lowers *w*.

With :math:`z = a + b s` the gradients are :math:`\partial \ell / \partial \log w = 1 - \sigma(\log \rho w)` on the
positives, :math:`-\sigma(\log \rho w)` on the unlabelled rows, and
:math:`\partial \log w / \partial z = 1 - c w`.

References
----------
.. [1] Lancaster, T. and Imbens, G. Case-control studies with contaminated controls. *Journal of Econometrics*, 1996.
.. [2] Jaskie, K., Elder, C. and Spanias, A. A modified logistic regression for positive and unlabeled learning.
   Asilomar Conference on Signals, Systems, and Computers, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, logit, ndtri

from purely.crossfit import finite_log_odds
from purely.prior.scores import ScoreReading, ScoreTable
from purely.typing import Floats, Indices

#: Log-odds of the shares that are tried, closer together where shares are common.
GRID = np.concatenate([np.linspace(-9.0, -2.2, 35), np.linspace(-2.0, 2.6, 36), np.linspace(2.8, 7.0, 15)])
#: A table is merged to this many cells before curves are fitted to it.
N_CELLS = 128
#: The likelihood counts at most this many rows of one kind for each row of the other: more say little of the ceiling,
#: and would make small departures from the curve look certain.
MOST_A_ROW = 10.0
#: Steps of the minimisation at most; some twenty are enough.
MOST_STEPS = 200
#: Weight of the squared log-slope: a curve so steep that it is a step, or so flat that it is a constant, has no finite
#: optimum.
SLOPE_PENALTY = 1e-4
#: The ratio's upper end is taken to be a little above the ratio of all but a fiftieth of the positives.
TOP_SHARE, TOP_FACTOR = 0.98, 1.05
#: The *k*, alpha and sigma of the ratio at the top of a score (`experiments/prior_posterior.py`). Of fourteen forms
#: with up to six constants none predicted the shares of other tables clearly better; this one is exact where columns
#: tell nothing, and where they tell all.
TOP_FALL, TOP_POWER, TOP_SPREAD = 4.2, 0.88, 0.41
#: Middles of equal parts of the normal distribution, over which the ratio at the top is averaged.
TOP_QUANTILES = ndtri((np.arange(32) + 0.5) / 32)
#: Weights of shares by log-odds before any row is seen. With Jeffreys' prior, 1/2 and 1/2, the upper end is too low
#: where most rows are positive.
RARE_POWER, COMMON_POWER = 0.4, 0.2
#: Standard deviation of the ceiling's log-odds around the best bin's, which keeps a curve without a bend from going on
#: rising far above all rows; and the confidence factor of that reading.
CEILING_LEEWAY, BEST_BIN_CONFIDENCE = 1.7, 0.75
#: Spread of the share's log-odds around the best bin's, interpolated between these shares: where positives are rare,
#: best bin reads two or three times too much, where nearly all rows are positive too little, between about what is
#: true (`experiments/promises.py`).
LEEWAY = ((0.3, 2.0), (0.5, 0.2), (0.7, 0.2), (0.85, 2.0))
#: Level of the interval in which that reading is kept: the curve says nothing of a top that is not pure.
MIDDLE = 0.2


@dataclass(frozen=True)
class SharePosterior:
    """What is known of the share of positives among the unlabelled rows.

    Attributes
    ----------
    weight : ndarray of shape (n_grid,)
        Probability of each value of `GRID`, the share's log-odds.
    """

    weight: Floats

    def quantile(self, q: float) -> float:
        """The share that is exceeded with probability 1 - q."""
        middle = np.cumsum(self.weight) - 0.5 * self.weight
        return float(expit(np.interp(q, middle, GRID)))

    def interval(self, level: float) -> tuple[float, float]:
        """Shares between which it lies with probability `level`, with equal chances beyond both ends."""
        tail = 0.5 * (1.0 - level)
        return self.quantile(tail), self.quantile(1.0 - tail)


@dataclass(frozen=True)
class CeilingProfile:
    """The best fit that each share of positives allows.

    Attributes
    ----------
    loss : ndarray of shape (n_grid,)
        Least mean negative log-likelihood with the share held at each value of `GRID`.
    intercept, slope : ndarray of shape (n_grid,)
        The curve that has it, in units of the standardised score.
    centre, spread : float
        How scores are standardised.
    n_eff : float
        Rows that the mean log-likelihood stands for: the harmonic mean of both samples' sizes.
    area : float
        Area under the curve of the positives against the unlabelled rows.
    best_bin : float
        Share of positives that needs no form, see :func:`purely.prior.one_dimensional.best_bin`.
    """

    loss: Floats
    intercept: Floats
    slope: Floats
    centre: float
    spread: float
    n_eff: float
    area: float
    best_bin: float

    @property
    def anchor(self) -> float:
        """Log-odds of the best bin's share, within the grid."""
        return float(np.clip(finite_log_odds(self.best_bin), GRID[0], GRID[-1]))

    def share(self, leeway: float | None) -> float:
        """The ceiling of lowest loss, with a normal prior of its log-odds around the best bin's; None for no prior."""
        pull = 0.0 if leeway is None else 2.0 / (self.n_eff * leeway**2)
        total = self.loss + 0.5 * pull * (GRID - self.anchor) ** 2
        i = int(np.clip(np.argmin(total), 1, GRID.size - 2))
        # The vertex of the parabola through three neighbours, which need not be equally spaced.
        (x0, x1, x2), (f0, f1, f2) = GRID[i - 1 : i + 2], total[i - 1 : i + 2]
        rise, fall = (f2 - f1) / (x2 - x1), (f1 - f0) / (x1 - x0)
        bend = (rise - fall) / (x2 - x0)
        vertex = 0.5 * (x0 + x1) - 0.5 * fall / bend if bend > 0.0 else x1
        return float(expit(np.clip(vertex, x0, x2)))

    def posterior(self) -> SharePosterior:
        """What the likelihood says of the share, with the weight of shares before any row is seen."""
        return SharePosterior(self._with_tops()[0].sum(axis=0))

    def draw_purity(self, table: ScoreTable, thresholds: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the share of positives among the unlabelled rows at or above scores, (n_thresholds, n_draws)."""
        weight, ceiling = self._with_tops()
        drawn = rng.choice(weight.size, n_draws, p=weight.ravel())
        share, ceiling = np.broadcast_to(expit(GRID), weight.shape).ravel()[drawn], ceiling.ravel()[drawn]
        z = self.intercept[:, None] + self.slope[:, None] * (table.score - self.centre) / self.spread
        ratio = np.exp(-np.logaddexp(log_expit(GRID)[:, None], log_expit(-GRID)[:, None] - z))
        last = np.maximum(table.cells_above(thresholds) - 1, 0)
        rows = np.maximum(np.cumsum(table.count_u)[last], 1e-300)
        mean = np.cumsum(ratio * table.count_u, axis=1)[:, last] / rows
        return np.clip([share * np.interp(ceiling, GRID, column) for column in mean.T], 0.0, 1.0)

    def _with_tops(self) -> tuple[Floats, Floats]:
        """Probability of each share with each ratio at the top, and their ceilings' log-odds, both (n_tops, n_grid)."""
        log_likelihood = -self.n_eff * (self.loss - self.loss.min())
        log_likelihood -= 0.5 * ((GRID - self.anchor) / CEILING_LEEWAY) ** 2
        share = expit(GRID)
        area = np.clip((self.area - 0.5 * share) / (1.0 - share), 0.5, 1.0 - 1e-6)
        at_top = np.exp(-TOP_FALL * ndtri(area) ** TOP_POWER * np.exp(TOP_SPREAD * TOP_QUANTILES[:, None]))
        ceiling = finite_log_odds(share + (1.0 - share) * at_top)
        likelihood = np.exp(np.interp(ceiling, GRID, log_likelihood - log_likelihood.max()))
        weight = likelihood * share**RARE_POWER * (1.0 - share) ** COMMON_POWER * np.gradient(GRID)
        return weight / weight.sum(), ceiling

    def log_ratio(self, score: ArrayLike, share: float) -> Floats:
        """Log density ratio at straightened scores, on the curve of a share."""
        at = logit(share)
        intercept, slope = np.interp(at, GRID, self.intercept), np.exp(np.interp(at, GRID, np.log(self.slope)))
        z = intercept + slope * (np.asarray(score, dtype=np.float64) - self.centre) / self.spread
        return -np.logaddexp(log_expit(at), log_expit(-at) - z)


def straightened(table: ScoreTable) -> ScoreTable:
    """The table with log-ratios turned into what the posterior's log-odds are about linear in."""
    tail = np.cumsum(table.count_p) / table.n_p
    top = float(table.score[min(int(np.searchsorted(tail, 1.0 - TOP_SHARE)), table.score.size - 1)])
    below = np.minimum(table.score - top - np.log(TOP_FACTOR), np.log(0.98))  # log(e^r / M)
    return replace(table, score=below - np.log1p(-np.exp(below)))


def ceiling_profile(table: ScoreTable, *, log_odds: bool = False) -> CeilingProfile:
    r"""Fit the curve for every share of a grid, all at once, to log density ratios or to a classifier's log-odds.

    The minimisation over intercept and log-slope is Levenberg's and Marquardt's with the Fisher information
    :math:`\sum (p + u) \, \sigma(\log \rho w) \, \sigma(-\log \rho w) \, (1 - \pi_U w)^2 \, x x^\top`, a two by
    two system for each share.
    """
    cells = table.coarsen(N_CELLS) if log_odds else straightened(table.coarsen(N_CELLS))
    n_p, n_u = min(table.n_p, MOST_A_ROW * table.n_u), min(table.n_u, MOST_A_ROW * table.n_p)
    n_eff, offset = 2.0 / (1.0 / n_p + 1.0 / n_u), np.log(n_p / n_u)
    p, u = cells.count_p / cells.n_p, cells.count_u / cells.n_u
    mass = 0.5 * (p + u)
    p, u = p * n_p / n_eff, u * n_u / n_eff
    centre = float(mass @ cells.score)
    spread = float(np.sqrt(mass @ (cells.score - centre) ** 2)) or 1.0
    x = (cells.score - centre) / spread
    a, t, loss = np.zeros(GRID.size), np.full(GRID.size, 0.5), np.full(GRID.size, np.inf)
    damping, going = np.full(GRID.size, 1e-2), np.arange(GRID.size)

    def fit_at(rows: Indices, a: Floats, t: Floats) -> tuple[Floats, Floats]:
        """Loss and log-ratios with the shares of some places of the grid."""
        at = GRID[rows, None]
        log_w = -np.logaddexp(log_expit(at), log_expit(-at) - a[:, None] - np.exp(t)[:, None] * x)
        fit = log_expit(log_w + offset) @ p + log_expit(-log_w - offset) @ u
        return SLOPE_PENALTY * t**2 - fit, log_w

    loss, log_w = fit_at(going, a, t)
    for _ in range(MOST_STEPS):
        w = np.exp(log_w[going])
        chain = 1.0 - expit(GRID[going, None]) * w
        odds = np.exp(offset) * w
        slope = (u * odds - p) / (1.0 + odds) * chain  # derivative of the loss by z, cell by cell
        curve = (p + u) * odds / (1.0 + odds) ** 2 * chain**2
        b = np.exp(t[going])
        g_a, g_t = slope.sum(axis=1), b * (slope @ x) + 2.0 * SLOPE_PENALTY * t[going]
        h_aa, h_at = curve.sum(axis=1) * (1.0 + damping[going]) + 1e-10, b * (curve @ x)
        h_tt = (b**2 * (curve @ x**2) + 2.0 * SLOPE_PENALTY) * (1.0 + damping[going]) + 1e-10
        determinant = h_aa * h_tt - h_at**2
        new_a = np.clip(a[going] - np.clip((h_tt * g_a - h_at * g_t) / determinant, -5.0, 5.0), -60.0, 60.0)
        new_t = np.clip(t[going] - np.clip((h_aa * g_t - h_at * g_a) / determinant, -1.0, 1.0), -4.0, 4.0)
        new_loss, new_log_w = fit_at(going, new_a, new_t)
        better = new_loss < loss[going]
        ended = np.where(better, loss[going] - new_loss < 1e-9, damping[going] > 1e5)
        moved = going[better]
        a[moved], t[moved], loss[moved], log_w[moved] = (
            new_a[better],
            new_t[better],
            new_loss[better],
            new_log_w[better],
        )
        damping[going] *= np.where(better, 1.0 / 3.0, 4.0)
        going = going[~ended]
        if going.size == 0:
            break
    _, ratio, bound = table.bounds(BEST_BIN_CONFIDENCE)
    best_bin = min(1.0, float(ratio[np.argmin(bound)]))
    return CeilingProfile(loss, a, np.exp(t), centre, spread, n_eff, table.area, best_bin)


def logistic_ceiling(table: ScoreTable, leeway: float | str | None = "auto") -> ScoreReading:
    """Fit the ceiling by maximum likelihood.

    Parameters
    ----------
    table : ScoreTable
        Log density ratios.
    leeway : float, "auto" or None, default="auto"
        Standard deviation, on the logit scale, of a normal prior of the share around the best bin's; None for none,
        "auto" for one that depends on the best bin's share, see `LEEWAY`, with the share kept in the 20 % interval of
        :meth:`CeilingProfile.posterior`.

    Examples
    --------
    Two overlapping normal classes: no row is surely positive, yet the share is found.

    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.ceiling import logistic_ceiling
    >>> rng = np.random.default_rng(0)
    >>> P, U = rng.normal(1, 1, 20000), np.concatenate([rng.normal(1, 1, 12000), rng.normal(-1, 1, 28000)])
    >>> round(logistic_ceiling(ScoreTable.from_scores(P, U)).share, 1)
    0.3
    """
    profile = ceiling_profile(table)
    if leeway == "auto":
        shares, spreads = zip(*LEEWAY, strict=True)
        low, high = profile.posterior().interval(MIDDLE)
        share = min(max(profile.share(float(np.interp(profile.best_bin, shares, spreads))), low), high)
    else:
        share = profile.share(leeway)  # type: ignore[arg-type]
    cells = table.coarsen(N_CELLS)
    x = cells.score
    log_w = profile.log_ratio(straightened(cells).score, share)
    return ScoreReading(
        share=share,
        x=x[::-1],
        curve=np.exp(-log_w)[::-1],
        x_label="score",
        curve_label="one over the fitted ratio",
        chosen=None,
        # Best bin reads the share over the purity of the top it looks at.
        details={
            "purity": min(share / profile.best_bin, 1.0) if profile.best_bin > 0.0 else 1.0,
            "best_bin": profile.best_bin,
        },
    )
