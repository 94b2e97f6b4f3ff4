"""Whether a pool has changed over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from purely.audit import Monitor
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, Axes, label, percent, remark, remark_height

#: Names under the axis at most; of more batches every so many is named.
MOST_NAMES = 16


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
    notes: tuple[str, ...] = ()

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
        ends = np.array([[look.share.low, look.share.high] for look in looks])
        low, high = min(float(ends.min()), reference), max(float(ends.max()), reference)
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
