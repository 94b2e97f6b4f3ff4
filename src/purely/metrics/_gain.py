r"""Does PU learning help? How much better one score ranks than another, from positive and unlabelled rows.

Let :math:`A(s) = \Pr(s_P > s_U) + \frac12 \Pr(s_P = s_U)` be how often a labelled positive is ranked above an
unlabelled row. An unlabelled row is positive with probability :math:`\pi_U`, and is then beaten half of the time by any
score, so

.. math::

    \mathrm{AUC}(s) = \frac12 + \frac{A(s) - \frac12}{1 - \pi_U}, \qquad
    \mathrm{AUC}(s) - \mathrm{AUC}(t) = \frac{A(s) - A(t)}{1 - \pi_U} .

No area exceeds 1, so :math:`\pi_U` is at most :math:`2 (1 - A)` of the better score; a larger one is taken as that. The
share :math:`\pi_U` only stretches the difference: which score ranks better can be told without a class prior. With
:math:`V_i(s)` the share of unlabelled rows below positive *i* and :math:`W_j(s)` the share of positives above
unlabelled row *j*, the variance of :math:`A(s) - A(t)` is

.. math:: \frac{\operatorname{var}_i [V_i(s) - V_i(t)]}{n_P} + \frac{\operatorname{var}_j [W_j(s) - W_j(t)]}{n_U} .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from purely.checks import level_to_z
from purely.class_prior import ClassPriors, KnownPrior
from purely.labels import Scenario
from purely.metrics.estimate import OUT_OF_FOLD, Evaluation, PUEstimate
from purely.notebook import Sentence
from purely.typing import Floats, Mask


@dataclass(frozen=True)
class RankingGain(Sentence):
    """How a score ranks beside that of a plain classifier, from :func:`pu_ranking_gain`; prints as a sentence.

    Attributes
    ----------
    area, plain_area : float
        Estimated areas under the ROC curve of positives against negatives.
    difference : PUEstimate
        The first less the second, with an interval from the same rows for both.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_ranking_gain
    >>> data = make_gaussians(500, 1000, n_features=2, random_state=0)
    >>> gain = pu_ranking_gain(data.y, data.posterior, -data.posterior, class_prior=0.5)
    >>> gain.verdict, bool(gain.area > gain.plain_area)
    ('better', True)
    """

    area: float
    plain_area: float
    difference: PUEstimate

    @property
    def verdict(self) -> str:
        """What the interval says: "better", "level" or "worse"."""
        return "better" if self.difference.low > 0.0 else "worse" if self.difference.high < 0.0 else "level"

    def __str__(self) -> str:
        d = self.difference
        lead, end = {
            "better": ("PU learning helps here", ""),
            "level": (
                "PU learning and a plain forest rank these rows equally well, as far as can be told",
                " What PU learning adds are probabilities of being positive: those of the forest are probabilities of "
                "being labelled.",
            ),
            "worse": ("A plain forest ranks these rows better", " Take its order for the list, not its probabilities."),
        }[self.verdict]
        return (
            f"{lead}: the area under the curve is {self.area:.3f}, that of a plain forest of positives against "
            f"the pool {self.plain_area:.3f}, a difference of {d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}] at "
            f"{d.level:.0%} confidence.{end}"
        )


def pu_ranking_gain(
    y: ArrayLike,
    score: ArrayLike,
    plain: ArrayLike,
    class_prior: KnownPrior,
    *,
    out_of_fold: bool = False,
    scenario: Scenario = "case-control",
    level: float = 0.9,
) -> RankingGain:
    """How much better a score ranks positives above negatives than a plain one, from the same rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    score : array-like of shape (n,)
        The greater, the more positive. The rows must not have trained the model.
    plain : array-like of shape (n,) or (k, n)
        Scores of a plain classifier, for example one of positives against unlabelled rows. Of several, the one that
        ranks these rows best is used, so that the gain is not that over a weak classifier.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
        Its interval stretches that of the difference; whether the difference is above 0 does not depend on it.
    out_of_fold : bool, default=False
        Whether the scores are out-of-fold predictions; the interval is then 1.25 times as long, see
        :mod:`purely.metrics`.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9

    Returns
    -------
    RankingGain

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_ranking_gain
    >>> data = make_gaussians(500, 1000, n_features=2, random_state=0)
    >>> noise = data.X[:, 0] + 2.0 * data.X[:, 1]
    >>> found = pu_ranking_gain(data.y, data.posterior, noise, class_prior=0.5)
    >>> found.verdict
    'better'
    """
    evaluation = Evaluation.read(y, class_prior, scenario=scenario, level=level, n_resamples=0)
    positive, prior = evaluation.labels.positive, evaluation.known_prior("the gain in ranking")
    placed = _placed(evaluation.column(score, "score"), positive)
    several = [_placed(evaluation.column(one, "plain"), positive) for one in np.atleast_2d(np.asarray(plain))]
    plainly = max(several, key=lambda each: float(each[0].mean()))
    by_p, by_u = (a - b for a, b in zip(placed, plainly, strict=True))
    won, plainly_won = float(placed[0].mean()), float(plainly[0].mean())
    gap = won - plainly_won
    n_p, n_u = by_p.size, by_u.size
    spread = np.sqrt(by_p.var(ddof=1) / n_p + by_u.var(ddof=1) / n_u) if min(n_p, n_u) > 1 else np.nan
    error = float(spread) * (OUT_OF_FOLD if out_of_fold else 1.0)

    def stretch(share: float) -> float:
        at = max(share, n_p / (n_p + n_u)) if evaluation.one_sample else share
        found = ClassPriors.from_population(at, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)
        return 1.0 / max(1.0 - found.unlabelled, 2.0 * max(won, plainly_won) - 1.0, 1e-3)

    arm = level_to_z(level) * error
    stretches = [stretch(share) for share in (prior.value, *prior.interval)]
    ends, by = np.multiply.outer([gap - arm, gap + arm], stretches), stretches[0]
    value, low, high = np.clip([gap * by, ends.min(), ends.max()], -1.0, 1.0).tolist()
    difference = PUEstimate(
        "roc_auc_difference", value, error * by, low, high, evaluation.level, evaluation.assumption(), gap * by
    )
    area, plain_area = np.clip([0.5 + (a - 0.5) * by for a in (won, plainly_won)], 0.0, 1.0).tolist()
    return RankingGain(area, plain_area, difference)


def _placed(score: Floats, positive: Mask) -> tuple[Floats, Floats]:
    """Of each positive the share of unlabelled rows below it, of each of these the share of positives above."""
    ranks = rankdata(score)  # ties take the mean of their ranks: half a win each
    p, u = positive, ~positive
    below = (ranks[p] - rankdata(score[p])) / np.count_nonzero(u)
    above = 1.0 - (ranks[u] - rankdata(score[u])) / np.count_nonzero(p)
    return below, above
