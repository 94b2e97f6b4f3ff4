r"""Estimates from positive and unlabelled rows: what is resampled, what is clipped, what is said about it.

Let :math:`\pi` be the population's class prior, :math:`E_P` the mean over the labelled positives and :math:`E_X` the
mean over the population,

.. math::

    E_X[f] = E_U[f] \quad\text{(case-control)}, \qquad
    E_X[f] = \frac{n_P E_P[f] + n_U E_U[f]}{n_P + n_U} \quad\text{(single-sample)} .

In the single-sample scenario the unlabelled rows are what labelling left over; all rows together are the sample of the
population. Every metric here is a function of :math:`E_P`, :math:`E_X` and :math:`\pi` alone, so one formula serves
both scenarios. Written with the share :math:`\pi_U` of positives among the unlabelled rows it reads as usual: for the
false positive rate

.. math:: \frac{E_X[f] - \pi E_P[f]}{1 - \pi} = \frac{E_U[f] - \pi_U E_P[f]}{1 - \pi_U} .
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from purely.checks import RandomState, check_column, check_number, draw_seed, level_to_z, refuse_length
from purely.class_prior import ClassPriors, KnownPrior, Prior, read_prior
from purely.labels import PULabels, Scenario, check_scenario, read_labels
from purely.notebook import Sentence
from purely.typing import Floats, Indices, Mask

#: Labels, or what was read of them: a caller that asks for several metrics reads them once.
Labels = ArrayLike | PULabels
#: (shares of P, shares of the population, class prior) -> value; the groups are the last axis, draws the first.
Functional = Callable[[Floats, Floats, Floats], Floats]

#: Resampling works on at most this many groups of neighbouring scores; the value itself always uses every row.
MAX_GROUPS = 1000

#: How much longer an interval of out-of-fold scores is made. A row that is scored also trains the other folds' models,
#: so that what is odd about a sample counts twice; the bootstrap of the scores sees it once. Measured: the spread over
#: 40 draws of a9a was 1.16 to 1.30 standard errors; over the 21 cells of `experiments/metrics_study.py` 1.0 for forests
#: and 1.2 for logistic regressions.
OUT_OF_FOLD = 1.25

#: Jeffreys' half a row in each cell: an interval at 0 or 1 then has a width.
HALF_A_ROW = 0.5


@dataclass(frozen=True)
class PUEstimate(Sentence):
    """A metric estimated from positive and unlabelled rows.

    Attributes
    ----------
    name : str
    value : float
        Within the metric's legal range.
    standard_error, low, high : float
        From `n_resamples` draws of the rows and of the class prior; NaN where none were asked for.
    level : float
        Level of the interval.
    assumption : str
        What must hold for the value to mean what its name says.
    raw : float
        The value before it was clipped to the legal range.
    note : str
        What to look at, empty where there is nothing: for example that the raw value was out of range.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.metrics import pu_recall
    >>> recall = pu_recall(data.y, data.posterior > 0.5)
    >>> recall.name, bool(recall.low < float(recall) < recall.high)
    ('recall', True)
    """

    name: str
    value: float
    standard_error: float
    low: float
    high: float
    level: float
    assumption: str
    raw: float
    note: str = ""

    @property
    def numbers(self) -> dict[str, float]:
        """Value and interval by name."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name} {self.value:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.level:.0%} interval)"


class Resampling(TypedDict, total=False):
    """What every metric takes by name; the defaults are those of :meth:`Evaluation.read`."""

    scenario: Scenario
    level: float
    n_resamples: int
    random_state: RandomState


class Stated(TypedDict, total=False):
    """What is known of an estimate, see :meth:`Evaluation.estimate`."""

    legal: tuple[float, float]
    centred: bool
    note: str


@dataclass(frozen=True)
class Evaluation:
    """What every metric is asked with: labels, prior, scenario, and how to resample."""

    labels: PULabels
    prior: Prior | None
    scenario: Scenario
    level: float
    n_resamples: int
    seed: int

    @classmethod
    def read(
        cls,
        y: Labels,
        class_prior: KnownPrior | None,
        *,
        scenario: Scenario = "case-control",
        level: float = 0.9,
        n_resamples: int = 500,
        random_state: RandomState = 0,
    ) -> Evaluation:
        """Validate what all metrics share; a prior of None is for metrics that need none, see :meth:`known_prior`."""
        labels = y if isinstance(y, PULabels) else read_labels(y)
        scenario = check_scenario(scenario)
        level_to_z(level)
        n_draws = check_number("n_resamples", n_resamples, 0, integer=True)
        prior = None
        if class_prior is not None:
            prior = read_prior(class_prior, n_unlabelled=labels.n_unlabelled)
            ClassPriors.from_population(  # refuses a prior below the labelled share of a single sample
                prior.value, n_positive=labels.n_positive, n_unlabelled=labels.n_unlabelled, scenario=scenario
            )
        return cls(labels, prior, scenario, float(level), n_draws, draw_seed(random_state))

    @property
    def one_sample(self) -> bool:
        """Whether the labelled positives are a part of the population's sample."""
        return self.scenario == "single-sample"

    @property
    def prior_value(self) -> Floats:
        """The class prior as formulas take it; 1 for those that hold none."""
        return np.asarray(1.0 if self.prior is None else self.prior.value)

    def known_prior(self, name: str) -> Prior:
        """The class prior, for what cannot do without."""
        if self.prior is None:
            raise ValueError(f"{name} needs class_prior: a number in (0, 1), an interval, or a fitted prior estimator.")
        return self.prior

    def column(self, values: ArrayLike, name: str) -> Floats:
        """One finite number a row."""
        return check_column(name, values, self.labels.positive.size)

    def predictions(self, y_pred: ArrayLike) -> Mask:
        """Predicted classes as a mask of the positives; in the coding of the labels, or 1 against 0 or -1."""
        values = np.asarray(column_or_1d(np.asarray(y_pred)))
        refuse_length("y_pred", values.size, self.labels.positive.size)
        usual = self.labels.classes.dtype.kind in "biuf" and self.labels.classes[1] == 1
        if values.dtype.kind == "b" or (usual and values.dtype.kind in "iuf" and np.isin(values, (-1, 0, 1)).all()):
            return np.asarray(values == 1, dtype=bool)
        if usual and values.dtype.kind == "f":
            raise ValueError(
                "y_pred must hold predicted classes; it holds real numbers. Compare scores with a threshold first: "
                "score > 0.5."
            )
        return read_labels(values, classes=self.labels.classes).positive

    # -- groups of rows and their shares ------------------------------------------------------------------------------

    def shares(self, n_p: Floats, n_u: Floats) -> tuple[Floats, Floats]:
        """Shares of P and of the population in each group; works on draws too (groups on the last axis)."""
        population = n_p + n_u if self.one_sample else n_u
        return n_p / n_p.sum(-1, keepdims=True), population / population.sum(-1, keepdims=True)

    def draws(self, n_p: Floats, n_u: Floats, smoothing: float) -> tuple[Floats, Floats, Floats]:
        """Shares of P and of the population in each group, and the prior, `n_resamples` times.

        The Bayesian bootstrap: gamma weights, summed over a group's rows. In the case-control scenario P and U are two
        samples and are weighted apart; in the single-sample scenario all rows are one sample.
        """
        rng = np.random.default_rng(self.seed)
        shape = (self.n_resamples, n_p.size)
        priors = np.ones(self.n_resamples) if self.prior is None else self.prior.draw(self.n_resamples, rng)
        weight_p = rng.standard_gamma(n_p + smoothing, shape)
        weight_u = rng.standard_gamma(n_u + smoothing, shape)
        if self.one_sample:
            priors = np.maximum(priors, self.labels.n_positive / self.labels.positive.size)
        return *self.shares(weight_p, weight_u), priors

    # -- from draws to an estimate ------------------------------------------------------------------------------------

    def estimate(
        self,
        name: str,
        functional: Functional,
        counts: tuple[Floats, Floats],
        *,
        legal: tuple[float, float] = (0.0, 1.0),
        resampled: tuple[Functional, tuple[Floats, Floats]] | None = None,
        smoothing: float = 0.0,
        centred: bool = False,
        note: str = "",
    ) -> PUEstimate:
        """Value on every row, spread over the draws, both clipped to the legal range.

        `resampled` replaces functional and counts for the draws (neighbouring scores grouped); `centred` moves the
        draws onto the value, for functionals whose bias grows with noise, since a draw is noisier than the sample; both
        arms then take the longer one's length, since such draws crowd at the end of the legal range.
        """
        raw = float(functional(*self.shares(*counts), self.prior_value))
        value = float(np.clip(raw, *legal))
        error, low, high = np.nan, np.nan, np.nan
        if self.n_resamples > 1:
            on_draws, grouped = resampled or (functional, counts)
            draws = np.asarray(on_draws(*self.draws(*grouped, smoothing)), dtype=np.float64)
            tail = (1.0 - self.level) / 2.0
            low, high = np.quantile(draws, [tail, 1.0 - tail])
            if centred:
                arm = max(draws.mean() - low, high - draws.mean())
                low, high = raw - arm, raw + arm
            low, high = np.clip([min(low, value), max(high, value)], *legal)
            error = draws.std(ddof=1)
            if self.labels.n_positive < 2 and not smoothing:
                error, (low, high) = np.nan, legal
                note = note or "One labelled positive says nothing about the spread: the interval is the legal range."
        note = note or self._out_of_range(raw, value, float(error))
        return PUEstimate(name, value, float(error), float(low), float(high), self.level, self.assumption(), raw, note)

    def of_scores(
        self, name: str, scores: Floats, formula: Callable[[Indices, int], Functional], **options: Unpack[Stated]
    ) -> PUEstimate:
        """An estimate from groups of rows by score: every score for the value, at most MAX_GROUPS groups for the draws.

        `formula` takes the group of each row and the number of groups and returns the functional of their shares.
        """

        def on(group: Indices, n_groups: int) -> tuple[Functional, tuple[Floats, Floats]]:
            return formula(group, n_groups), self.labels.counts(group, n_groups)

        resampled = on(*group_scores(scores, MAX_GROUPS)) if self.n_resamples else None
        return self.estimate(name, *on(*group_scores(scores)), resampled=resampled, **options)

    def _out_of_range(self, raw: float, value: float, error: float) -> str:
        if raw == value:
            return ""
        if np.isfinite(error) and abs(raw - value) < 2.0 * error:
            return f"The raw value {raw:.4g} was out of range, by no more than chance explains."
        reason = "the labelled positives are not a random sample of the positives"
        if self.prior is not None:
            reason = f"the class prior {self.prior.value:g} is too large, or {reason}"
        return f"The raw value {raw:.4g} was out of range: {reason}."

    def assumption(self) -> str:
        """What must hold, as a sentence."""
        sentence = (
            "The labelled positives are a random part of all positives, and labelled and unlabelled rows together are "
            "a random sample of the population"
            if self.one_sample
            else "The labelled positives are a random sample of all positives and the unlabelled rows a random sample "
            "of the population"
        )
        prior = "; no class prior is needed." if self.prior is None else f". The class prior is {self.prior}."
        return sentence + prior


def widened(estimate: PUEstimate, factor: float, legal: tuple[float, float]) -> PUEstimate:
    """The estimate with a standard error and an interval `factor` times as long, within the legal range."""
    ends = np.array([estimate.low, estimate.high])
    low, high = np.clip(estimate.value + factor * (ends - estimate.value), *legal)
    return replace(estimate, standard_error=factor * estimate.standard_error, low=float(low), high=float(high))


def group_scores(score: Floats, max_groups: int | None = None) -> tuple[Indices, int]:
    """Group of each row, ascending with the score: one a distinct score, neighbours merged beyond `max_groups`."""
    _, group, size = np.unique(score, return_inverse=True, return_counts=True)
    if max_groups is not None and size.size > max_groups:
        merged = ((np.cumsum(size) - 1) * max_groups) // score.size
        group = np.unique(merged[group], return_inverse=True)[1]
    return group.astype(np.intp), int(group.max()) + 1
