"""What audits say: of a model's probabilities, of a pool over time, and of labels that were not chosen at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypedDict, Unpack

import numpy as np
from sklearn.pipeline import Pipeline

from purely.audit import AuditResult, Monitor, Sensitivity, sensitivity
from purely.checks import check_number, check_share
from purely.crossfit import last_step
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, UNLABELLED, Axes, label, number, percent, remark, remark_height
from purely.typing import Estimator, Matrix

#: Names under the axis at most; of more batches every so many is named.
MOST_NAMES = 16
#: Marks of the axis, of which those up to the largest gamma are drawn.
_MARKS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass
class AuditDisplay(Display):
    """Predicted probabilities against the shares of positives that an audit found, with intervals, in groups of rows.

    Parameters
    ----------
    result : AuditResult
    n_groups : int
        Number of groups by score; the audit draws from each with about the same probability.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> from purely.plotting import AuditDisplay
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(4000) < 200
    >>> probability = 1 / (1 + np.exp(-rng.normal(2.0 * truth - 2.0)))  # says far too many positives
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> display = AuditDisplay.from_result(read_audit(sample, truth[sample.index], probability)).plot()
    >>> display.ax_.get_xlabel()
    'predicted probability, mean of a group of rows'
    """

    result: AuditResult
    n_groups: int = 6

    @classmethod
    def from_result(cls, result: AuditResult, n_groups: int = 6) -> Self:
        """From the result of an audit."""
        missing = (f"{result.n_missing} rows could not be told and are left out.",) if result.n_missing else ()
        return cls(result, check_number("n_groups", n_groups, 1, integer=True), notes=missing)

    def _draw(self, ax: Axes) -> None:
        curve, result = self.result.calibration_curve(self.n_groups), self.result
        told = np.isfinite(result.labels)
        rows, found = result.probability[result.sample.index[told]], result.labels[told] == 1.0
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=0.9)
        arms = np.abs(np.stack([curve.low, curve.high]) - curve.share)
        ax.errorbar(curve.predicted, curve.share, yerr=arms, fmt="o-", color=ESTIMATE, capsize=4, markersize=5)
        n_found, n_other = int(found.sum()), int((~found).sum())
        ax.plot(rows[found], np.full(n_found, 1.05), "|", color=POSITIVE, markersize=7)
        ax.plot(rows[~found], np.full(n_other, -0.05), "|", color=UNLABELLED, markersize=7)
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.1, 1.1))
        remark(ax, f"{n_found} found positive", (0.0, 1.05), (2, -12), color="0.35")
        remark(ax, f"{n_other} found negative", (1.0, -0.05), (-2, 6), color="0.35", ha="right")
        value, low, high = map(percent, result.share.numbers.values())
        believed = percent(float(result.probability.mean()))
        title = f"Positive by the labels {value} [{low}, {high}], by the model {believed}"
        y = f"share of positives, {percent(result.level)} interval"
        label(ax, title, "predicted probability, mean of a group of rows", y, self.notes)


def plot_audit(result: AuditResult, *, n_groups: int = 6, ax: Axes | None = None) -> AuditDisplay:
    """Predicted probabilities against the shares that an audit found: :class:`AuditDisplay`.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.beta(0.3, 3.0, 5000)
    >>> truth = rng.random(5000) < probability
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> from purely.plotting import plot_audit
    >>> plot_audit(read_audit(sample, truth[sample.index], probability)).ax_.get_xlabel()
    'predicted probability, mean of a group of rows'
    """
    return AuditDisplay.from_result(result, n_groups=n_groups).plot(ax)


@dataclass
class MonitorDisplay(Display):
    """Shares of positives of batches in the order of time; those that have changed are red and say in what.

    Parameters
    ----------
    monitor : Monitor
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Batch, Monitor
    >>> from purely.plotting import MonitorDisplay
    >>> rng = np.random.default_rng(0)
    >>> monitor = Monitor(Batch("reference", rng.beta(1, 9, 2000)))
    >>> for week in (1, 2, 3):
    ...     look = monitor.look(Batch(f"week {week}", rng.beta(1 if week < 3 else 2, 9, 500)))
    >>> MonitorDisplay.from_monitor(monitor).plot().ax_.get_title(loc="left")
    '1 of 3 batches has changed'
    """

    _title: ClassVar[str] = "Has the pool changed?"

    monitor: Monitor

    @classmethod
    def from_monitor(cls, monitor: Monitor) -> Self:
        """From a monitor that has looked at some batches."""
        return cls(monitor)

    def _size(self) -> tuple[float, float]:
        return min(12.0, max(5.6, 1.5 + 0.45 * len(self.monitor.looks))), 3.7

    def _missing(self) -> str:
        return "" if self.monitor.looks else "The monitor has not looked at a batch yet."

    def _draw(self, ax: Axes) -> None:
        looks = self.monitor.looks
        reference = float(self.monitor.reference.probability.mean())
        ax.axhline(reference, color="0.5", linestyle="--", linewidth=1.0)
        remark_height(ax, f"{self.monitor.reference.name} {percent(reference)}", reference)
        for k, look in enumerate(looks):
            colour = POSITIVE if look.changed else ESTIMATE
            ax.plot([k, k], [look.share.low, look.share.high], color=colour)
            ax.plot(k, look.share.value, "s" if look.changed else "o", color=colour, markersize=6)
            if look.changed:
                remark(ax, "\n".join(look.changed), (k, look.share.high), (0, 4), ha="center")
        named = range(0, len(looks), -(-len(looks) // MOST_NAMES))
        ax.set_xticks(list(named), [looks[k].name for k in named], rotation=30 if len(looks) > 4 else 0)
        low, high = min(reference, *(s.share.low for s in looks)), max(reference, *(s.share.high for s in looks))
        margin = max(0.25 * (high - low), 0.005)
        ax.set(xlim=(-0.7, len(looks) - 0.3), ylim=(max(0.0, low - margin), min(1.0, high + 1.6 * margin)))
        n = sum(bool(look.changed) for look in looks)
        title = f"{n} of {len(looks)} batches {'has' if n == 1 else 'have'} changed" if n else "Nothing has changed"
        label(ax, title, "", f"share of positives, {percent(looks[0].share.level)} intervals", self.notes)


def plot_monitor(monitor: Monitor, *, ax: Axes | None = None) -> MonitorDisplay:
    """Shares of positives of batches over time: :class:`MonitorDisplay`.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Batch, Monitor
    >>> from purely.plotting import plot_monitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = Monitor(Batch("reference", rng.beta(1, 9, 2000)))
    >>> look = monitor.look(Batch("week 1", rng.beta(1, 9, 500)))
    >>> plot_monitor(monitor).ax_.get_title(loc="left")
    'Nothing has changed'
    """
    return MonitorDisplay.from_monitor(monitor).plot(ax)


class Claim(TypedDict, total=False):
    """What is concluded, and how far it is drawn; see :meth:`SensitivityDisplay.from_ranges`."""

    share: float | None
    largest: float


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

    @classmethod
    def from_ranges(cls, ranges: Sensitivity, *, share: float | None = None, largest: float = 10.0) -> Self:
        """From ranges at any gamma; the conclusion is that there are at most twice as many positives as estimated.

        If more than a third is estimated to be positive, the conclusion is that at least half of the estimated
        negatives are negative. With `share` the conclusion is that the share of positives is at most that.
        """
        value = ranges.share.value
        most = min(2.0 * value, (1.0 + value) / 2.0) if share is None else check_share("share", share)
        return cls(ranges, most, check_number("largest", largest, 1.1))

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Matrix | None = None, **options: Unpack[Claim]) -> Self:
        """From a fitted classifier, and a pool of its own where one is given, see :func:`purely.audit.sensitivity`."""
        if X is not None and isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X)
        return cls.from_ranges(sensitivity(last_step(estimator), 1.0, X), **options)

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
        ax.plot(gamma, ends, color=ESTIMATE, linewidth=1.0)
        ax.axhline(value, color=ESTIMATE)
        ax.axhline(self.most, color=POSITIVE, linestyle="--", linewidth=1.0)
        top = min(1.0, 1.15 * max(float(high.max()), self.most))
        ax.set(xscale="log", xlim=(1.0, self.largest), ylim=(0.0, top))
        marks = [mark for mark in _MARKS if mark <= self.largest]
        ax.set_xticks(marks, [f"{mark:g}" for mark in marks])
        ax.set_xticks([], minor=True)
        remark_height(ax, f"estimate {percent(value)}", value, below=True)
        remark_height(ax, percent(self.most), self.most)
        if 1.0 < tips <= self.largest:
            ax.plot([tips, tips], [0.0, self.most], color=POSITIVE, linestyle=":")
            ax.plot(tips, self.most, "o", color=POSITIVE, markersize=6)
            early = tips < self.largest / 2.0
            shift = (4 if early else -4), 5
            remark(ax, f"tips at {number(tips, 2)}", (tips, 0.0), shift, "left" if early else "right")
        x = "gamma: factor by which the odds of being labelled may vary"
        label(ax, self._conclusion(tips), x, "share of positives in the pool", self.notes)

    def _conclusion(self, tips: float) -> str:
        if tips == 1.0:
            return f"More than {percent(self.most)} positives are possible even if labels are random"
        if tips > self.largest:
            return f"At most {percent(self.most)} are positive, even at gamma {self.largest:g}"
        return f"At most {percent(self.most)} are positive, up to gamma {number(tips, 2)}"


def plot_sensitivity(ranges: Sensitivity, *, ax: Axes | None = None, **options: Unpack[Claim]) -> SensitivityDisplay:
    """Ranges of the share of positives against gamma: :class:`SensitivityDisplay`.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Sensitivity
    >>> from purely.plotting import plot_sensitivity
    >>> ranges = Sensitivity(1.0, 0.5, np.linspace(0.0, 1.0, 500) ** 3, np.ones(500), (0.9, 1.1), 0.9)
    >>> plot_sensitivity(ranges, share=0.5).ax_.get_ylabel()
    'share of positives in the pool'
    """
    return SensitivityDisplay.from_ranges(ranges, **options).plot(ax)
