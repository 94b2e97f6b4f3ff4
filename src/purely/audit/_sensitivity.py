r"""What would follow if labels were not chosen at random: ranges for a given strength of the selection.

Let the odds that a positive is labelled vary by at most a factor :math:`\gamma` over the positives. Then the density of
the positives among the unlabelled rows is that of the labelled ones times a factor :math:`h(x) \in [a, a \gamma]`. With
:math:`q(x)` the probability among the unlabelled rows that a model finds under :math:`\gamma = 1`, where some region
holds nothing but positives, the true probability lies in

.. math:: \frac{q(x)}{\gamma} \le p(y{=}1 \mid x) \le \min(1, \gamma q(x)),

because the same region may be one whose positives were labelled most readily, or least. The share of positives and the
precision above a threshold are means of probabilities, so their ranges are the means of these ends. The class prior's
own interval is carried through: :math:`q` is taken at its lower end on the left and at its upper end on the right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from purely.checks import check_number, check_share, check_threshold
from purely.classifiers.base import BasePUClassifier
from purely.metrics import PUEstimate
from purely.typing import Floats, Mask, Matrix


@dataclass(frozen=True)
class Sensitivity:
    """Ranges that hold if the odds of being labelled vary by at most `gamma` over the positives.

    Attributes
    ----------
    gamma : float
    threshold : float
    probability : ndarray of shape (n,)
        What the model says of the unlabelled rows, or of those that were given.
    weight : ndarray of shape (n,)
        How many rows each stands for.
    scale : tuple of float
        Lower and upper end of the class prior's interval, each divided by the class prior.
    level : float
        Level of the class prior's interval.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.audit import sensitivity
    >>> from purely.classifiers import PULogisticClassifier
    >>> rng = np.random.default_rng(0)
    >>> pool = np.concatenate([rng.normal(2, 1, (100, 2)), rng.normal(-2, 1, (300, 2))])
    >>> model = PULogisticClassifier(class_prior=0.25).fit(*stack(rng.normal(2, 1, (100, 2)), pool))
    >>> ranges = sensitivity(model, 1.0, pool)
    >>> wider = ranges.at(3.0).share
    >>> bool(wider.low < ranges.share.low <= ranges.share.high < wider.high)
    True
    """

    gamma: float
    threshold: float
    probability: Floats
    weight: Floats
    scale: tuple[float, float]
    level: float

    @property
    def probability_range(self) -> Floats:
        """Ends of each row's probability, shape (n, 2)."""
        return np.column_stack(self._ends(self.gamma))

    @property
    def share(self) -> PUEstimate:
        """Share of positives among the rows."""
        return self._estimate("share of positives", np.ones(self.probability.size, dtype=bool))

    @property
    def precision(self) -> PUEstimate:
        """Share of positives among the rows above the threshold."""
        return self._estimate("precision", self.probability > self.threshold)

    def at(self, gamma: float) -> Sensitivity:
        """The same for another gamma."""
        return replace(self, gamma=check_number("gamma", gamma, 1.0))

    def tips(self, *, precision: float | None = None, share: float | None = None) -> float:
        r"""The gamma from which on a conclusion may be wrong; 1 where it is in doubt at once, infinite where never.

        Parameters
        ----------
        precision : float, optional
            The conclusion that the precision above the threshold is at least this.
        share : float, optional
            The conclusion that the share of positives is at most this.

        Returns
        -------
        float
        """
        if (precision is None) == (share is None):
            raise ValueError("give one conclusion: precision= (at least) or share= (at most).")
        if precision is not None:
            return max(1.0, self.at(1.0).precision.low / check_share("precision", precision))
        most = check_share("share", share)
        low, high = 1.0, 1e6
        if self.at(high).share.high <= most:
            return float("inf")
        for _ in range(60):  # the upper end rises with gamma
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if self.at(middle).share.high <= most else (low, middle)
        return low

    def _ends(self, gamma: float) -> tuple[Floats, Floats]:
        low, high = (np.minimum(1.0, self.probability * s) for s in self.scale)
        return low / gamma, np.minimum(1.0, gamma * high)

    def _estimate(self, name: str, rows: Mask) -> PUEstimate:
        weight, nan = np.where(rows, self.weight, 0.0), float("nan")
        assumption = (
            f"The odds that a positive is labelled vary by at most a factor {self.gamma:g} over the positives, and "
            "some rows are certain to be positive."
        )
        if not weight.any():
            return PUEstimate(name, nan, nan, 0.0, 1.0, self.level, assumption, nan, "No row is above it.")
        ends = self.probability, *self._ends(self.gamma)
        value, low, high = (float(np.average(end, weights=weight)) for end in ends)
        return PUEstimate(name, value, nan, min(low, value), max(high, value), self.level, assumption, value)

    def __str__(self) -> str:
        share, precision = self.share, self.precision
        return (
            f"gamma {self.gamma:g}: share of positives {share.value:.3f} [{share.low:.3f}, {share.high:.3f}], "
            f"precision above {self.threshold:g} {precision.value:.3f} [{precision.low:.3f}, {precision.high:.3f}]"
        )


def sensitivity(
    model: BasePUClassifier, gamma: float, X: Matrix | None = None, *, threshold: float | None = None
) -> Sensitivity:
    """Ranges of share, precision and probabilities if labels were not chosen at random, see :mod:`purely.audit`.

    Parameters
    ----------
    model : fitted classifier of purely
    gamma : float
        Factor by which the odds of being labelled vary over the positives, at least 1; 1 is labelling at random.
    X : array, data frame or sparse matrix of shape (n, d), optional
        The pool that the ranges are about; the model's own unlabelled rows, out of fold, where it is not given.
    threshold : float, optional
        Probability above which the precision is asked for; the model's own where it is not given.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> from purely import PUClassifier, stack
    >>> from purely.audit import sensitivity
    >>> rng = np.random.default_rng(0)
    >>> U = np.concatenate([rng.normal(2, 1, (100, 2)), rng.normal(-2, 1, (300, 2))])
    >>> model = PUClassifier(members="light").fit(*stack(rng.normal(2, 1, (100, 2)), U))
    >>> ranges = sensitivity(model, gamma=2.0)
    >>> share = ranges.share
    >>> bool(share.low < 0.25 < share.high)
    True
    >>> bool(ranges.tips(share=0.6) > 1.2)  # how uneven may labelling be before 60 % are possible?
    True
    """
    gamma = check_number("gamma", gamma, 1.0)
    at = check_threshold(getattr(model, "threshold", 0.5)) if threshold is None else check_share("threshold", threshold)
    if X is None:
        table = getattr(model, "oof_table_", None)
        if table is None:
            raise ValueError(
                f"this {type(model).__name__} keeps no out-of-fold scores of its unlabelled rows; give the pool's "
                "rows, X."
            )
        log_odds, weight = table.score, table.count_u
    else:
        log_odds = model.log_odds(X)
        weight = np.ones(log_odds.size)
    # what a model says holds for the population; selection is about the unlabelled rows
    shift = float(logit(model.class_prior_) - logit(model.unlabelled_prior_))
    prior = model.prior_
    scale = prior.low / prior.value, prior.high / prior.value
    return Sensitivity(gamma, at, expit(log_odds - shift), np.asarray(weight, dtype=np.float64), scale, prior.level)
