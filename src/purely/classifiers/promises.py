r"""Thresholds that keep what was asked of them, as far as out-of-fold scores and the class prior's uncertainty go.

Of rows that score above :math:`t` a share

.. math:: \text{precision}(t) = \frac{\pi \, \text{TPR}(t)}{q(t)}

is positive, with :math:`\pi` the class prior, TPR the share of positives above :math:`t`, which the labelled ones tell,
and :math:`q` the share of all rows above it. Where the class prior is given, it is drawn from its interval, and both
shares from beta distributions of the counts. Where it was estimated from the same rows, its errors and those of the
shares go together, so it is read off the classifier's own scores with the precision, as a curve under a ceiling
(:mod:`purely.prior.ceiling`); what is left is the doubt whether the top is pure. The rows that a pool of the same size
will have above :math:`t` are drawn as well. A threshold promises a precision with some confidence where that share of
the draws reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from purely.class_prior import Prior
from purely.labels import Scenario
from purely.prior.ceiling import ceiling_profile
from purely.prior.scores import ScoreTable
from purely.typing import Floats

N_DRAWS = 2000
#: Thresholds that are looked at: few, since the best of many is too good; with some positives above the highest.
N_CANDIDATES, FEWEST_POSITIVES = 8, 5
#: With an estimated prior, this many labelled positives keep a promise as often as asked, and more of them oftener: so
#: draws may use up the square root of their multiple of the doubt, at most three times. On the tables for choosing
#: 96 of 100 promises were kept, 97 on our own, 94 on the strangers' (`experiments/choices.py`).
MANY, MOST_DOUBT = 100, 3.0


@dataclass(frozen=True)
class Precision:
    """The precision above a threshold.

    Attributes
    ----------
    expected : float
        Median of what is to be expected.
    low : float
        What it is above with the given confidence.
    confidence : float
    """

    expected: float
    low: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.expected:.2f} expected, at least {self.low:.2f} with a confidence of {self.confidence:.0%}"


def threshold_for_precision(
    table: ScoreTable, prior: Prior, scenario: Scenario, precision: float, confidence: float
) -> float:
    """The least score above which the precision holds with that confidence; NaN where no threshold can promise it."""
    thresholds = candidates(table)
    drawn = _draws(table, prior, scenario, thresholds)
    kept = np.flatnonzero(np.mean(drawn < precision, axis=1) <= _allowed(table, prior, confidence))
    return float(thresholds[kept[0]]) if kept.size else float("nan")


def most_promised(table: ScoreTable, prior: Prior, scenario: Scenario, confidence: float) -> float:
    """The highest precision that any threshold can promise with that confidence."""
    drawn = _draws(table, prior, scenario, candidates(table))
    return float(np.quantile(drawn, _allowed(table, prior, confidence), axis=1).max())


def _allowed(table: ScoreTable, prior: Prior, confidence: float) -> float:
    """Share of the draws that may fall short."""
    factor = np.clip(np.sqrt(table.n_p / MANY), 1.0, MOST_DOUBT) if prior.same_rows else 1.0
    return min((1.0 - confidence) * float(factor), 0.5)


def candidates(table: ScoreTable) -> Floats:
    """Scores that are looked at as thresholds, increasing."""
    least = min(max(0.05, FEWEST_POSITIVES / table.n_p), 0.95)
    return np.unique(score_quantiles(table.score, table.count_p, np.linspace(least, 0.95, N_CANDIDATES)))


def precision_above(
    table: ScoreTable, prior: Prior, scenario: Scenario, threshold: float, confidence: float
) -> Precision:
    """What is to be expected above a score, and what is kept with some confidence."""
    drawn = _draws(table, prior, scenario, np.array([threshold]))[0]
    low = np.quantile(drawn, _allowed(table, prior, confidence))
    return Precision(float(np.median(drawn)), float(low), confidence)


def threshold_for_recall(table: ScoreTable, recall: float, confidence: float) -> float:
    """The greatest score above which that share of the positives lies with that confidence; needs no class prior."""
    above = np.cumsum(table.count_p)
    low = beta.ppf(1.0 - confidence, np.maximum(above, 0.5), table.n_p - above + 1.0)  # Clopper and Pearson's
    reached = np.flatnonzero(low >= recall)
    return float(table.score[reached[0]]) if reached.size else float(table.score[-1])


def threshold_for_share(table: ScoreTable, share: float) -> float:
    """The score above which about that share of the unlabelled rows lies."""
    return float(score_quantiles(table.score, table.count_u, np.array([share]))[0])


def score_quantiles(score: Floats, count: Floats, above: Floats) -> Floats:
    """Scores with the given shares of the counts at or above them; `score` is decreasing."""
    tail = np.cumsum(count) / count.sum()
    return score[np.minimum(np.searchsorted(tail, above - 1e-12), score.size - 1)]


def _draws(table: ScoreTable, prior: Prior, scenario: Scenario, thresholds: Floats) -> Floats:
    """Precisions above thresholds, shape (n_thresholds, N_DRAWS)."""
    rng = np.random.default_rng(0)
    place = table.cells_above(thresholds)
    k_p, k_u = (np.concatenate([[0.0], np.cumsum(c)])[place][:, None] for c in (table.count_p, table.count_u))
    n_p, n_u = table.n_p, table.n_u
    k, n = (k_u, n_u) if scenario == "case-control" else (k_p + k_u, n_p + n_u)
    if prior.same_rows:
        purity = ceiling_profile(table, log_odds=True).draw_purity(table, thresholds, N_DRAWS, rng)
        expected = purity if scenario == "case-control" else (k_p + k_u * purity) / np.maximum(k, 1e-300)
    else:
        shape = (thresholds.size, N_DRAWS)
        found = rng.beta(k_p + 0.5, n_p - k_p + 0.5, shape)
        called = rng.beta(k + 0.5, n - k + 0.5, shape)
        expected = np.clip(prior.draw(N_DRAWS, rng) * found / called, 0.0, 1.0)
    rows = np.maximum(k, 1.0)
    # Jeffreys' prior: a hundred rows cannot show that more than 99 of 100 are positive.
    return np.asarray(rng.beta(rows * expected + 0.5, rows * (1.0 - expected) + 0.5))
