"""The class prior: a number that means three things, and what is known of it.

:class:`ClassPriors` keeps apart the three numbers that are all called "prior"; :class:`Prior` is the population's class
prior with its uncertainty, in the one form in which it travels from an estimator to classifiers, metrics and reports.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit, logit

from purely.checks import check_number, check_share, level_to_z
from purely.exceptions import DegenerateDataWarning
from purely.labels import Scenario, check_scenario
from purely.notebook import Sentence
from purely.typing import Floats, Matrix

__all__ = ["ClassPriors", "FittedPrior", "KnownPrior", "Prior", "PriorLike", "PriorParameter", "read_prior"]

#: Level of an interval that comes without one.
INTERVAL_LEVEL = 0.9
#: Drawn priors stay this far from 0 and 1.
_SMALLEST_DRAW = 1e-6


@dataclass(frozen=True)
class ClassPriors:
    r"""The three numbers that are all called "prior", kept apart.

    With :math:`\pi = p(y = 1)` in the population, :math:`\pi_U` the share of positives among the unlabelled rows and
    :math:`c = p(\text{labelled} \mid y = 1)` the labelling frequency:

    - *case-control* (two samples; positives drawn apart from the population): :math:`\pi_U = \pi`, and *c* refers to
      the pooled rows, :math:`c = n_P / (n_P + \pi n_U)`;
    - *single-sample* (one sample, some positives of which got a label; the unlabelled rows are what is left):
      :math:`\pi = (n_P + \pi_U n_U) / (n_P + n_U)` and :math:`c = n_P / (n_P + \pi_U n_U)`.

    Attributes
    ----------
    population : float
        :math:`p(y=1)`, what ``class_prior`` means everywhere in this package.
    unlabelled : float
        Share of positives among the unlabelled rows.
    label_frequency : float
        Share of labelled rows among the positives at hand.
    scenario : {"case-control", "single-sample"}

    Examples
    --------
    >>> from purely.class_prior import ClassPriors
    >>> priors = ClassPriors.from_unlabelled(0.25, n_positive=100, n_unlabelled=300, scenario="single-sample")
    >>> priors.population, round(priors.label_frequency, 3)
    (0.4375, 0.571)
    """

    population: float
    unlabelled: float
    label_frequency: float
    scenario: Scenario

    @classmethod
    def from_unlabelled(
        cls, unlabelled: float, *, n_positive: int, n_unlabelled: int, scenario: Scenario = "case-control"
    ) -> ClassPriors:
        """All three numbers from the share of positives among the unlabelled rows."""
        scenario = check_scenario(scenario)
        n_p, n_u = _counts(n_positive, n_unlabelled)
        share = check_number("unlabelled", unlabelled, 0.0, 1.0)
        hidden = share * n_u
        population = share if scenario == "case-control" else (n_p + hidden) / (n_p + n_u)
        return cls(population, share, n_p / (n_p + hidden), scenario)

    @classmethod
    def from_population(
        cls, population: float, *, n_positive: int, n_unlabelled: int, scenario: Scenario = "case-control"
    ) -> ClassPriors:
        """All three numbers from the population's class prior."""
        scenario = check_scenario(scenario)
        n_p, n_u = _counts(n_positive, n_unlabelled)
        prior = check_number("population", population, 0.0, 1.0)
        share = prior if scenario == "case-control" else (prior * (n_p + n_u) - n_p) / n_u
        if share < -1e-12:
            raise ValueError(
                f"a population prior of {prior:g} is below the labelled share {n_p / (n_p + n_u):g}: in the "
                "single-sample scenario the labelled rows alone are more positives than that."
            )
        return cls.from_unlabelled(max(share, 0.0), n_positive=n_p, n_unlabelled=n_u, scenario=scenario)

    @classmethod
    def from_label_frequency(
        cls, label_frequency: float, *, n_positive: int, n_unlabelled: int, scenario: Scenario = "single-sample"
    ) -> ClassPriors:
        """All three numbers from the labelling frequency, which Elkan and Noto's method estimates."""
        n_p, n_u = _counts(n_positive, n_unlabelled)
        frequency = check_number("label_frequency", label_frequency, 0.0, 1.0)
        if frequency == 0.0:
            raise ValueError("label_frequency must be above 0: there are labelled positives.")
        share = n_p * (1.0 / frequency - 1.0) / n_u
        if share > 1.0:
            raise ValueError(
                f"a label_frequency of {frequency:g} with {n_p} labelled rows means {share * n_u:.0f} further "
                f"positives, but there are only {n_u} unlabelled rows."
            )
        return cls.from_unlabelled(share, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)


def _counts(n_positive: int, n_unlabelled: int) -> tuple[int, int]:
    n_p = check_number("n_positive", n_positive, 1, integer=True)
    return n_p, check_number("n_unlabelled", n_unlabelled, 1, integer=True)


@dataclass(frozen=True)
class Prior(Sentence):
    """The population's class prior and what is known of it.

    Attributes
    ----------
    value, low, high : float
        The class prior and the interval it is believed to lie in; all equal where the prior is taken as known.
    level : float, default=0.9
        Level of the interval.
    upper_bound : float, optional
        The class prior is below this with a confidence of 95 %; `high` is used where it is not given.
    determined : bool, default=True
        False where the data give a bound rather than a value.
    same_rows : bool, default=False
        True where it was estimated from the rows that a classifier's own scores are of: their errors go together.

    Examples
    --------
    >>> from purely import Prior
    >>> print(Prior(0.25, 0.2, 0.31))
    0.25 [0.2, 0.31] in the population
    >>> print(Prior(0.02, 0.003, 0.038, upper_bound=0.04, determined=False))
    at most 0.04 in the population (estimate 0.02, between 0.003 and 0.038)
    """

    value: float
    low: float
    high: float
    level: float = INTERVAL_LEVEL
    upper_bound: float | None = None
    determined: bool = True
    same_rows: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.low <= self.value <= self.high <= 1.0:
            raise ValueError(
                f"class_prior must have 0 <= low <= value <= high <= 1; ({self.value:g}, {self.low:g}, {self.high:g}) "
                "was given."
            )
        level_to_z(self.level)
        if self.upper_bound is None:
            object.__setattr__(self, "upper_bound", self.high)

    @classmethod
    def exactly(cls, value: float) -> Prior:
        """A prior that is taken as known."""
        return cls(value, value, value)

    @property
    def known(self) -> bool:
        """True where the prior has no uncertainty."""
        return self.low == self.high

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    def draw(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draws of the class prior, for intervals of what depends on it.

        Their log-odds follow two halves of normal laws, one below the value and one above. Each arm of the interval is
        as many standard deviations long as its level says, so the draws keep the level, the interval may be lopsided,
        and no draw leaves (0, 1).
        """
        if self.known:
            return np.full(n_draws, self.value)
        low, value, high = logit(np.clip([self.low, self.value, self.high], _SMALLEST_DRAW, 1.0 - _SMALLEST_DRAW))
        steps = rng.standard_normal(n_draws) / level_to_z(self.level)
        drawn = expit(value + steps * np.where(steps < 0.0, value - low, high - value))
        return np.clip(drawn, _SMALLEST_DRAW, 1.0 - _SMALLEST_DRAW)

    def within(self, margin: float) -> Prior:
        """The same prior, moved to at least `margin` away from 0 and 1."""
        value, low, high = (float(np.clip(v, margin, 1.0 - margin)) for v in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high)

    def __str__(self) -> str:
        if self.known:
            return f"{self.value:.3g} in the population"
        if self.determined:
            return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}] in the population"
        between = f"estimate {self.value:.3g}, between {self.low:.3g} and {self.high:.3g}"
        return f"at most {self.upper_bound:.3g} in the population ({between})"


@runtime_checkable
class PriorLike(Protocol):
    """Whatever estimates a class prior: `fit` sets `class_prior_`, and `prior_` where more is known."""

    def fit(self, X: Matrix, y: Any) -> Any:
        """Estimate the class prior of positives and unlabelled rows."""


class FittedPrior(Protocol):
    """Whatever has estimated a class prior."""

    class_prior_: float


#: What a classifier takes as its class prior: "auto", a number, a :class:`Prior`, or what estimates one.
PriorParameter = float | str | Prior | PriorLike | None
#: What :func:`read_prior` reads.
KnownPrior = float | Sequence[float] | Prior | FittedPrior


def read_prior(class_prior: KnownPrior, *, n_unlabelled: int = 1_000_000) -> Prior:
    """Read a class prior: a number, an interval, or an object that estimated one.

    Parameters
    ----------
    class_prior : float, (low, high), (value, low, high), Prior, or object with ``class_prior_``
        The middle of ``(low, high)`` is the value. An object may also have ``prior_``, or ``class_prior_interval_`` and
        ``level``; an interval without a level is taken at 90 %.
    n_unlabelled : int
        An estimate at 0 or 1 is moved inwards by half a row of that many, with a warning.

    Returns
    -------
    Prior

    Examples
    --------
    >>> from purely.class_prior import read_prior
    >>> print(read_prior((0.25, 0.2, 0.4)), "|", read_prior(0.3))
    0.25 [0.2, 0.4] in the population | 0.3 in the population
    """
    if isinstance(class_prior, Prior):
        return class_prior
    if hasattr(class_prior, "class_prior_"):
        return _read_estimate(class_prior, 0.5 / n_unlabelled)
    if hasattr(class_prior, "fit"):
        raise TypeError(
            f"class_prior is a {type(class_prior).__name__} that has not been fitted (it has no class_prior_); "
            "fit it to the data first, or give a number."
        )
    if isinstance(class_prior, (tuple, list)):
        if len(class_prior) not in (2, 3):
            raise ValueError(
                f"class_prior as a tuple must be (low, high) or (value, low, high); it has {len(class_prior)} entries."
            )
        low, high = (check_share("class_prior", end) for end in class_prior[-2:])
        value = check_share("class_prior", class_prior[0]) if len(class_prior) == 3 else (low + high) / 2.0
        return Prior(value, low, high)
    return Prior.exactly(check_share("class_prior", class_prior))


def _read_estimate(estimator: Any, margin: float) -> Prior:
    name, value = type(estimator).__name__, float(estimator.class_prior_)
    low, high = map(float, getattr(estimator, "class_prior_interval_", (value, value)))
    if not np.isfinite([value, low, high]).all() or not 0.0 <= value <= 1.0:
        raise ValueError(f"class_prior_ of {name} must lie in [0, 1]; it is {value:g}.")
    known = getattr(estimator, "prior_", None)
    if not isinstance(known, Prior) or known.value != value:
        # An estimate outside its own interval (a percentile bootstrap can do that) stretches the interval.
        level = getattr(estimator, "level", INTERVAL_LEVEL)
        level = level if isinstance(level, float) and 0.0 < level < 1.0 else INTERVAL_LEVEL
        known = Prior(value, max(min(low, value), 0.0), min(max(high, value), 1.0), level)
    inside = known.within(margin)
    if inside.value != value:
        warnings.warn(
            f"{name} estimated a class prior of {value:g}, where precision and the false positive rate are not "
            f"defined; {inside.value:.3g} is used. Check the prior before you trust these numbers.",
            DegenerateDataWarning,
            stacklevel=4,
        )
    return inside
