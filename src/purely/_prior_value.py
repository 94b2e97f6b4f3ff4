"""A class prior with its uncertainty, read from whatever carries one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely._base import level_to_z
from purely._warnings import DegenerateDataWarning
from purely.labels import check_class_prior

#: Level of an interval that comes without one.
INTERVAL_LEVEL = 0.95

_SMALLEST_DRAW = 1e-6


@dataclass(frozen=True)
class PriorValue:
    """A class prior and the interval it is believed to lie in.

    Attributes
    ----------
    value, low, high : float
        The population's p(y=1) and its interval; all equal where the prior is taken as known.
    level : float
        Level of the interval.
    """

    value: float
    low: float
    high: float
    level: float = INTERVAL_LEVEL

    @property
    def known(self) -> bool:
        """True where the prior has no uncertainty."""
        return self.low == self.high

    def draw(self, n_draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Priors from a normal law in two pieces: the interval's lower arm below the value, the upper arm above.

        Each arm is `z` standard deviations long, so the interval keeps its level and may be lopsided.
        """
        if self.known:
            return np.full(n_draws, self.value)
        z = level_to_z(self.level)
        steps = rng.standard_normal(n_draws)
        arms = np.where(steps < 0.0, self.value - self.low, self.high - self.value) / z
        return np.clip(self.value + steps * arms, _SMALLEST_DRAW, 1.0 - _SMALLEST_DRAW)

    def __str__(self) -> str:
        return f"{self.value:g}" if self.known else f"{self.value:g} [{self.low:g}, {self.high:g}]"


def read_prior(class_prior: Any, *, n_unlabelled: int = 1_000_000) -> PriorValue:
    """Read a class prior: a number, an interval, or an object that estimated one.

    Parameters
    ----------
    class_prior : float, (low, high), (value, low, high), PriorValue, or object with ``class_prior_``
        The middle of ``(low, high)`` is the value. An object may also have ``class_prior_interval_`` and ``level``;
        without the latter the interval is taken at 95 %.
    n_unlabelled : int
        An estimate at 0 or 1 is moved inwards by half a row of that many, with a warning.

    Returns
    -------
    PriorValue

    Examples
    --------
    >>> from purely._prior_value import read_prior
    >>> print(read_prior(0.3), "|", read_prior((0.2, 0.4)), "|", read_prior((0.25, 0.2, 0.4)))
    0.3 | 0.3 [0.2, 0.4] | 0.25 [0.2, 0.4]
    """
    if isinstance(class_prior, PriorValue):
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
        low, high = (check_class_prior(end) for end in class_prior[-2:])
        value = check_class_prior(class_prior[0]) if len(class_prior) == 3 else (low + high) / 2.0
        return _ordered(value, low, high, INTERVAL_LEVEL)
    value = check_class_prior(class_prior)
    return PriorValue(value, value, value)


def _read_estimate(estimator: Any, margin: float) -> PriorValue:
    value = float(estimator.class_prior_)
    interval = getattr(estimator, "class_prior_interval_", None)
    low, high = (value, value) if interval is None else (float(interval[0]), float(interval[1]))
    if not np.isfinite([value, low, high]).all() or not 0.0 <= value <= 1.0:
        raise ValueError(f"class_prior_ of {type(estimator).__name__} must lie in [0, 1]; it is {value:g}.")
    inside = float(np.clip(value, margin, 1.0 - margin))
    if inside != value:
        warnings.warn(
            f"{type(estimator).__name__} estimated a class prior of {value:g}, where precision and the false positive "
            f"rate are not defined; {inside:.3g} is used. Check the prior before you trust these numbers.",
            DegenerateDataWarning,
            stacklevel=4,
        )
    # an estimate outside its own interval (a percentile bootstrap can do that) stretches the interval
    low, high = min(max(low, margin), inside), max(min(high, 1.0 - margin), inside)
    level = getattr(estimator, "level", INTERVAL_LEVEL)
    return PriorValue(inside, low, high, level if isinstance(level, float) and 0 < level < 1 else INTERVAL_LEVEL)


def _ordered(value: float, low: float, high: float, level: float) -> PriorValue:
    if not low <= value <= high:
        raise ValueError(f"class_prior must have low <= value <= high; ({value:g}, {low:g}, {high:g}) was given.")
    return PriorValue(value, low, high, level)
