"""The class prior and its interval, and how each method sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.checks import level_to_z
from purely.class_prior import ClassPriors
from purely.labels import Scenario
from purely.plotting.common import Display, nothing_to_show, read_rows
from purely.plotting.style import ESTIMATE, POSITIVE, Axes, label, percent
from purely.prior.auto import METHODS, ClassPrior
from purely.prior.base import read_scores
from purely.typing import Matrix

#: Methods by what readers know them as.
_WORDS = {name: name.replace("-", " ") for name in METHODS} | {"dedpul": "DEDPUL", "monotone": "monotone ratio"}


class PriorEstimate(Protocol):
    """A fitted prior estimator."""

    class_prior_: float
    class_prior_interval_: tuple[float, float]
    scenario: Scenario


@dataclass(frozen=True)
class PriorReading:
    """What one method says about the class prior.

    Attributes
    ----------
    name : str
    value, low, high : float
        The population's class prior and its interval.

    Examples
    --------
    >>> from purely.plotting import PriorReading
    >>> reading = PriorReading("best bin", 0.42, 0.38, 0.46)
    >>> reading.low < reading.value < reading.high
    True
    """

    name: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, estimator: PriorEstimate) -> Self:
        """What a fitted prior estimator says."""
        check_is_fitted(estimator, "class_prior_")
        return cls(name, estimator.class_prior_, *estimator.class_prior_interval_)


def read_priors(
    y: ArrayLike, score: ArrayLike, *, scenario: Scenario = "case-control", level: float = 0.9
) -> list[PriorReading]:
    """Read the class prior off one score by every one-dimensional method.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    score : array-like of shape (n,)
        Out-of-fold scores, the greater the more positive; rows without a finite one are left out.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
        Level of the intervals.

    Returns
    -------
    list of PriorReading

    Examples
    --------
    >>> from purely.datasets import make_paper_data
    >>> from purely.plotting import read_priors
    >>> data = make_paper_data(class_prior=0.7, random_state=0)
    >>> readings = read_priors(data.y, data.posterior)
    >>> len(readings), all(0.5 < reading.value < 0.9 for reading in readings)
    (5, True)
    """
    rows = read_rows(y, score)
    level_to_z(level)
    if reason := nothing_to_show(rows):
        raise ValueError(f"{reason} No class prior can be read off such scores.")
    n_u, n_p = np.bincount(rows.positive).tolist()

    def convert(share: float) -> float:
        share = float(np.clip(share, 0.0, 1.0))
        return ClassPriors.from_unlabelled(share, n_positive=n_p, n_unlabelled=n_u, scenario=scenario).population

    readings = []
    for name, reader in METHODS.items():
        found = read_scores(rows.score, rows.positive, reader)
        low, high = found.posterior.interval(level) if found.posterior else (0.0, 1.0)
        ends = found.share, min(low, found.share), max(high, found.share)
        readings.append(PriorReading(_WORDS[name], *map(convert, ends)))
    return readings


@dataclass
class ClassPriorDisplay(Display):
    """An estimate of the class prior with its interval, and what other methods say.

    Parameters
    ----------
    readings : list of PriorReading
        One row each.
    chosen : PriorReading or None
        The estimate that is used; drawn first, with its interval over the whole height.
    level : float
        Level of the intervals.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.plotting import ClassPriorDisplay, PriorReading
    >>> display = ClassPriorDisplay([PriorReading("best bin", 0.42, 0.38, 0.46)]).plot()
    >>> display.ax_.get_xlabel()
    'share of positives in the population, 90 % intervals'
    """

    _title: ClassVar[str] = "How each method sees the class prior"

    readings: list[PriorReading]
    chosen: PriorReading | None = None
    level: float = 0.9

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, score: ArrayLike, *, scenario: Scenario = "case-control", level: float = 0.9
    ) -> Self:
        """From one out-of-fold score, read by every one-dimensional method; no reading is marked as the one in use."""
        rows = read_rows(y, score)
        if reason := nothing_to_show(rows):
            return cls([], None, level, notes=(reason,))
        return cls(read_priors(y, score, scenario=scenario, level=level), None, level, notes=rows.notes)

    @classmethod
    def from_estimator(cls, estimator: PriorEstimate, X: Matrix, y: ArrayLike) -> Self:
        """From a fitted prior estimator; its scores, where it has any, are read by the other methods too."""
        chosen, level = PriorReading.of(type(estimator).__name__, estimator), float(getattr(estimator, "level", 0.9))
        scores = getattr(estimator, "scores_", None)
        readings = [] if scores is None else read_priors(y, scores, scenario=estimator.scenario, level=level)
        if isinstance(estimator, ClassPrior) and isinstance(estimator.method, str):  # its own reading is shown already
            readings = [reading for reading in readings if reading.name != _WORDS[estimator.method]]
        return cls(readings, chosen, level)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, PriorEstimate]) -> Self:
        """From several fitted prior estimators, by name."""
        readings = [PriorReading.of(str(name), estimator) for name, estimator in estimators.items()]
        levels = [0.9, *(float(e.level) for e in estimators.values() if hasattr(e, "level"))]
        return cls(readings, None, levels[-1])

    def _size(self) -> tuple[float, float]:
        return 5.6, 1.5 + 0.34 * (len(self.readings) + 1)

    @property
    def _rows(self) -> list[PriorReading]:
        return [*([] if self.chosen is None else [self.chosen]), *self.readings]

    def _missing(self) -> str:
        return "" if self._rows else " ".join(self.notes) or "No method was asked."

    def _draw(self, ax: Axes) -> None:
        rows, title = self._rows, self._title
        if self.chosen is not None:
            title = f"Class prior {percent(self.chosen.value)}"
            if self.chosen.high > self.chosen.low:
                title += f" [{percent(self.chosen.low)}, {percent(self.chosen.high)}]"
                ax.axvspan(self.chosen.low, self.chosen.high, color=POSITIVE, alpha=0.15, linewidth=0)
        heights = np.arange(len(rows), dtype=np.float64)[::-1]
        for height, row in zip(heights, rows, strict=True):
            colour = POSITIVE if row is self.chosen else ESTIMATE
            ax.plot([row.low, row.high], [height, height], color=colour, linewidth=2.0, solid_capstyle="butt")
            ax.plot(row.value, height, "o", color=colour, markersize=6)
        ax.set_yticks(heights, [row.name for row in rows])
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=5)
        low, high = min(row.low for row in rows), max(row.high for row in rows)
        margin = max(0.03, 0.12 * (high - low))
        ax.set(xlim=(max(-0.01, low - margin), min(1.01, high + margin)), ylim=(-0.6, len(rows) - 0.4))
        x = f"share of positives in the population, {percent(self.level)} intervals"
        label(ax, title, x, "", self.notes)


def plot_class_prior(
    y: ArrayLike, score: ArrayLike, *, scenario: Scenario = "case-control", level: float = 0.9, ax: Axes | None = None
) -> ClassPriorDisplay:
    """What each method reads off one score: :class:`ClassPriorDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_class_prior
    >>> plot_class_prior(data.y, data.posterior).ax_.get_xlabel()
    'share of positives in the population, 90 % intervals'
    """
    return ClassPriorDisplay.from_predictions(y, score, scenario=scenario, level=level).plot(ax)
