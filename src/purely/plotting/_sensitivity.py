"""How far the share of positives could be off if labels were not chosen at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from purely.audit import Sensitivity, sensitivity
from purely.checks import check_number
from purely.class_prior import check_class_prior
from purely.crossfit import last_step
from purely.plotting.common import Display
from purely.plotting.style import AT_THE_RIGHT, ESTIMATE, POSITIVE, Axes, label, number, percent, remark
from purely.typing import Matrix

#: Marks of the axis, of which those up to the largest gamma are drawn.
_MARKS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass
class SensitivityDisplay(Display):
    """Ranges of the share of positives against gamma, and the gamma from which on a conclusion may be wrong.

    Gamma is the factor by which the odds of being labelled may vary over the positives; 1 is labelling at random. The
    conclusion is that the share of positives is at most `most`.

    Parameters
    ----------
    ranges : Sensitivity
    most : float
        The largest share that the conclusion allows.
    largest : float
        The largest gamma that is drawn.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Sensitivity
    >>> from purely.plotting import SensitivityDisplay
    >>> probability = np.linspace(0.0, 1.0, 500) ** 3  # a quarter of the pool is positive, by the model
    >>> ranges = Sensitivity(1.0, 0.5, probability, np.ones(500), (0.9, 1.1), 0.9)
    >>> display = SensitivityDisplay.from_ranges(ranges, share=0.5).plot()
    >>> round(display.tips, 1)  # labelling may be so uneven before half of the pool could be positive
    3.1
    """

    ranges: Sensitivity
    most: float
    largest: float = 10.0
    notes: tuple[str, ...] = ()

    @classmethod
    def from_ranges(cls, ranges: Sensitivity, *, share: float | None = None, largest: float = 10.0) -> Self:
        """From ranges at any gamma; the conclusion is that there are at most twice as many positives as estimated.

        If more than a third is estimated to be positive, the conclusion is that at least half of the estimated
        negatives are negative. With `share` the conclusion is that the share of positives is at most that.
        """
        value = ranges.share.value
        most = min(2.0 * value, (1.0 + value) / 2.0) if share is None else check_class_prior(share, "share")
        return cls(ranges, most, check_number("largest", largest, 1.1))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix | None = None, **options: Any) -> Self:
        """From a fitted classifier, and a pool of its own where one is given, see :func:`purely.audit.sensitivity`."""
        model = last_step(estimator)
        if X is not None and model is not estimator:
            X = estimator[:-1].transform(X)
        return cls.from_ranges(sensitivity(model, 1.0, X), **options)

    @property
    def tips(self) -> float:
        """The gamma from which on the share may exceed `most`."""
        return self.ranges.tips(share=self.most)

    def _draw(self, ax: Axes) -> None:
        gamma = np.geomspace(1.0, self.largest, 200)
        ends = [(e.low, e.high) for e in (self.ranges.at(float(g)).share for g in gamma)]
        low, high = np.array(ends).T
        value, tips = self.ranges.share.value, self.tips
        ax.fill_between(gamma, low, high, color=ESTIMATE, alpha=0.2, linewidth=0)
        ax.plot(gamma, low, color=ESTIMATE, linewidth=1.0)
        ax.plot(gamma, high, color=ESTIMATE, linewidth=1.0)
        ax.axhline(value, color=ESTIMATE)
        ax.axhline(self.most, color=POSITIVE, linestyle="--", linewidth=1.0)
        top = min(1.0, 1.15 * max(float(high.max()), self.most))
        ax.set(xscale="log", xlim=(1.0, self.largest), ylim=(0.0, top))
        marks = [mark for mark in _MARKS if mark <= self.largest]
        ax.set_xticks(marks, [f"{mark:g}" for mark in marks])
        ax.set_xticks([], minor=True)
        remark(ax, f"estimate {percent(value)}", (1.0, value), (-2, 3), **AT_THE_RIGHT)
        remark(ax, percent(self.most), (1.0, self.most), (-2, 3), **AT_THE_RIGHT)
        if 1.0 < tips <= self.largest:
            ax.plot([tips, tips], [0.0, self.most], color=POSITIVE, linestyle=":")
            ax.plot(tips, self.most, "o", color=POSITIVE, markersize=6)
            side, shift = ("left", 4) if tips < self.largest / 2.0 else ("right", -4)
            remark(ax, f"tips at {number(tips, 2)}", (tips, 0.0), (shift, 5), ha=side)
        x = "gamma: factor by which the odds of being labelled may vary"
        label(ax, self._conclusion(tips), x, "share of positives in the pool", self.notes)

    def _conclusion(self, tips: float) -> str:
        if tips == 1.0:
            return f"More than {percent(self.most)} positives are possible even if labels are random"
        if tips > self.largest:
            return f"At most {percent(self.most)} are positive, even at gamma {self.largest:g}"
        return f"At most {percent(self.most)} are positive, up to gamma {number(tips, 2)}"
