r"""What labels of some rows say about the positives of the whole pool, score by score.

The pool's rows, in the order of the model's log-odds :math:`z`, are put into at most 40 groups that are as likely to be
drawn from. Of the :math:`N_g` rows of group :math:`g`, :math:`n_g` were labelled and :math:`k_g` found positive:

.. math:: k_g \sim \text{Binomial}(n_g, p_g), \qquad \operatorname{logit} p = \bar z + a + b (z - \bar z) + h(u) + e .

Each row of a group is about as likely to be drawn as another, so the likelihood needs no weights, and no more is said
of the model than how the probability may depend on its score: shifted (:math:`a`), stretched or turned round
(:math:`b`), bent (:math:`h`, a smooth function of the group's place :math:`u`) and uneven (:math:`e`). All are normal a
priori, with spreads that admit a model that is useless or wrong; the posterior is drawn by elliptical slice sampling
[1]_, many chains at a time. The rows that nobody labelled are drawn as well, so that every number is one of this pool.

References
----------
.. [1] I. Murray, R. P. Adams, D. J. C. MacKay. Elliptical slice sampling. AISTATS 2010.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri
from scipy.stats import beta

from purely.audit._design import row_sizes
from purely.checks import level_to_z
from purely.crossfit import finite_log_odds
from purely.exceptions import PromiseWarning
from purely.typing import Floats, Indices, Mask

#: A threshold that every row is above.
LEAST_CUT = 1e-12
#: Groups of the pool at most.
MOST_GROUPS = 40
#: Log-odds beyond these say no more: probabilities of a model are not that well known.
LARGEST = 6.0
#: A-priori standard deviations of shift, slope (around 1), bend and unevenness; scale on which the bend varies, where
#: all groups together are 1 long. Wide enough that scores at random and scores turned round keep the level.
SHIFT, SLOPE, BEND, UNEVEN, SCALE = 3.0, 1.0, 1.0, 0.3, 0.25
#: How much longer intervals are than the draws', from no label of the rarer class to so many and more: the law of the
#: draws smooths over what may be uneven, and counts of a few rows make intervals long already. On the choosing tables
#: of `experiments/audit_study.py` 90 % intervals of the draws cover 88 to 94 % by share, 1.1 times as long 91 to 97 %,
#: and as long as here 90 to 95 %, by share, labels and mechanism.
LEAST_LONGER, LONGER, MANY_FOUND = 0.95, 1.1, 10
#: Chains, and steps of each: the first are dropped.
CHAINS, DROPPED, KEPT = 100, 10, 20


@dataclass(frozen=True)
class Pool:
    """A pool's rows in groups by score.

    Attributes
    ----------
    group : ndarray of shape (n_pool,)
        Group of each row, increasing with the score.
    rows : ndarray of shape (n_groups,)
        Rows of each group.
    log_odds, place : ndarray of shape (n_groups,)
        Mean log-odds of each group, and its place on a line of length 1.
    cut : ndarray of shape (n_groups,)
        A probability between the group and the one below it.
    """

    group: Indices
    rows: Floats
    log_odds: Floats
    place: Floats
    cut: Floats


@dataclass(frozen=True)
class Posterior:
    """Draws of the number of positives in each group of a pool.

    Attributes
    ----------
    rows : ndarray of shape (n_groups,)
        Rows of each group, the lowest scores first.
    cut : ndarray of shape (n_groups,)
        A probability between the group and the one below it; next to 0 for the lowest.
    found, seen : ndarray of shape (n_groups,)
        Positives that were found in each group, and rows that were labelled.
    positives : ndarray of shape (n_draws, n_groups)

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.beta(0.3, 3.0, 5000)
    >>> truth = rng.random(5000) < probability
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> posterior = read_audit(sample, truth[sample.index], probability).posterior
    >>> low, high = np.quantile(posterior.total, [0.05, 0.95])
    >>> bool(low < truth.sum() < high)
    True
    """

    rows: Floats
    cut: Floats
    found: Floats
    seen: Floats
    positives: Floats

    @property
    def total(self) -> Floats:
        """Positives of the pool, in each draw."""
        return np.asarray(self.positives.sum(axis=1))

    def ends(self, draws: Floats, level: float) -> Floats:
        """Both ends of an interval from draws of anything, longer or shorter than theirs, see LONGER."""
        rarer = min(self.found.sum(), (self.seen - self.found).sum())
        longer = LEAST_LONGER + (LONGER - LEAST_LONGER) * min(1.0, rarer / MANY_FOUND)
        tail = float(ndtr(-longer * level_to_z(level)))
        return np.asarray(np.quantile(draws, [tail, 1.0 - tail], axis=0))

    def above(self, group: Indices, called: Mask) -> Floats:
        """Positives among the rows above a threshold, in each draw; a group that it cuts is divided at random."""
        inside = np.bincount(group, called, self.rows.size)
        rng = np.random.default_rng(0)
        good, bad = self.positives.astype(np.int64), (self.rows - self.positives).astype(np.int64)
        return np.asarray(rng.hypergeometric(good, bad, inside.astype(np.int64)).sum(axis=1), dtype=np.float64)


def group_pool(probability: Floats) -> Pool:
    """Groups of rows by score that are as likely to be drawn from; equal scores stay together."""
    sizes = row_sizes(probability)
    order = np.argsort(probability, kind="stable")
    score, size = probability[order], sizes[order] / sizes.sum()
    place = np.cumsum(size) - size / 2.0
    first = np.searchsorted(score, score)  # of equal scores the first one's place decides for all
    own = np.unique(np.minimum((place * MOST_GROUPS).astype(np.intp), MOST_GROUPS - 1)[first], return_inverse=True)[1]
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    cut = np.concatenate([[LEAST_CUT], (score[starts[1:]] + score[starts[1:] - 1]) / 2.0])
    group = np.empty(score.size, dtype=np.intp)
    group[order] = own
    rows, width = np.bincount(own).astype(np.float64), np.bincount(own, size)
    z = np.bincount(own, np.clip(finite_log_odds(score), -LARGEST, LARGEST)) / rows
    return Pool(group, rows, z, np.cumsum(width) - width / 2.0, cut)


def draw_posterior(pool: Pool, index: Indices, positive: Mask, seed: int = 0) -> Posterior:
    """Draws of the positives of each group, given the labels of some rows.

    Parameters
    ----------
    pool : Pool
    index : ndarray of shape (n,)
        Rows that were labelled.
    positive : ndarray of shape (n,)
        What was found.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    n_groups, group = pool.rows.size, pool.group[index]
    found = np.bincount(group[positive], minlength=n_groups).astype(np.float64)
    seen = np.bincount(group, minlength=n_groups).astype(np.float64)
    mean, covariance = prior_law(pool)
    p = expit(_slice_samples(mean, covariance, found, seen, rng))
    rest = (pool.rows - seen).astype(np.int64)
    positives = found + rng.binomial(np.broadcast_to(rest, p.shape), p).astype(np.float64)
    return Posterior(pool.rows, pool.cut, found, seen, positives)


def prior_law(pool: Pool) -> tuple[Floats, Floats]:
    """Mean and covariance of the groups' log-odds before any label is seen."""
    width = np.diff(np.concatenate([[0.0], (pool.place[1:] + pool.place[:-1]) / 2.0, [1.0]]))
    z = pool.log_odds - width @ pool.log_odds
    distance = (pool.place[:, None] - pool.place) / SCALE
    bend = BEND**2 * np.exp(-0.5 * distance**2)
    covariance = SHIFT**2 + SLOPE**2 * np.outer(z, z) + bend + UNEVEN**2 * np.eye(z.size)
    return pool.log_odds, covariance


def _slice_samples(mean: Floats, covariance: Floats, found: Floats, seen: Floats, rng: np.random.Generator) -> Floats:
    """Draws of the log-odds, shape (CHAINS * KEPT, n_groups); chains start from a normal law at the mode."""

    def log_likelihood(deviation: Floats) -> Floats:
        f = mean + deviation
        return np.asarray((found * f - seen * np.logaddexp(0.0, f)).sum(axis=1))

    mode, root = _normal_at_mode(mean, covariance, found, seen)
    state = mode - mean + rng.standard_normal((CHAINS, mean.size)) @ root.T
    level, prior_root = log_likelihood(state), np.linalg.cholesky(covariance)
    kept = []
    for step in range(DROPPED + KEPT):
        ellipse = rng.standard_normal(state.shape) @ prior_root.T
        floor = level + np.log(rng.random(CHAINS))
        angle = rng.uniform(0.0, 2.0 * np.pi, CHAINS)
        low, high = angle - 2.0 * np.pi, angle.copy()
        moved, waiting = state.copy(), np.arange(CHAINS)
        while waiting.size:
            a = angle[waiting, None]
            proposed = state[waiting] * np.cos(a) + ellipse[waiting] * np.sin(a)
            value = log_likelihood(proposed)
            taken = value > floor[waiting]
            moved[waiting[taken]], level[waiting[taken]] = proposed[taken], value[taken]
            waiting = waiting[~taken]
            refused = angle[waiting]
            low[waiting] = np.where(refused < 0.0, refused, low[waiting])
            high[waiting] = np.where(refused < 0.0, high[waiting], refused)
            angle[waiting] = rng.uniform(low[waiting], high[waiting])
        state = moved
        if step >= DROPPED:
            kept.append(mean + state)
    return np.concatenate(kept)


def _normal_at_mode(mean: Floats, covariance: Floats, found: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """Mode of the posterior, and a root of the inverse curvature there, by Newton's method."""
    precision = np.linalg.inv(covariance)
    f = mean.copy()
    for _ in range(50):
        p = expit(f)
        curvature = precision + np.diag(seen * p * (1.0 - p))
        step = np.linalg.solve(curvature, found - seen * p - precision @ (f - mean))
        f = f + step * min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-6:
            break
    p = expit(f)
    at_mode = np.linalg.inv(precision + np.diag(seen * p * (1.0 - p)))
    return f, np.asarray(np.linalg.cholesky((at_mode + at_mode.T) / 2.0), dtype=np.float64)


def promised_cut(posterior: Posterior, precision: float, confidence: float) -> float:
    """The lowest cut above which rows have the precision with that confidence; NaN, with a warning, if there is none.

    More of the draws than the confidence says have to have it, as intervals are longer than those of the draws. The
    labels above the cut alone have to say the same with at most twice the doubt (Jeffreys' law): where nobody has
    looked, the draws go by the model.
    """
    needed = float(ndtr(LONGER * ndtri(confidence))) if confidence > 0.5 else confidence
    held = posterior.rows, posterior.positives, posterior.found, posterior.seen
    rows, positives, found, seen = map(_from_top, held)
    chance = np.mean(positives >= precision * rows, axis=0)
    alone = beta.sf(precision, found + 0.5, seen - found + 0.5)
    kept = np.flatnonzero((chance >= needed) & (alone >= 2.0 * confidence - 1.0))
    if kept.size:
        return float(posterior.cut[kept[0]])
    by_draws = np.quantile(positives / rows, 1.0 - needed, axis=0)
    by_labels = beta.ppf(min(2.0 - 2.0 * confidence, 1.0), found + 0.5, seen - found + 0.5)
    best = float(np.minimum(by_draws, by_labels).max())
    warnings.warn(
        f"no threshold can promise a precision of {precision:g} with a confidence of {confidence:.0%}: {best:.2f} is "
        "the most. More labels of rows with high scores would help; so would a lower precision or confidence.",
        PromiseWarning,
        stacklevel=3,
    )
    return float("nan")


def _from_top(values: Floats) -> Floats:
    """Sums over each group and all above it; groups are the last axis."""
    return np.asarray(np.cumsum(values[..., ::-1], axis=-1)[..., ::-1])
