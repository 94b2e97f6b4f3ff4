"""What the labels of an audit say of a model's probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from purely.audit import AuditResult
from purely.checks import check_number
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, UNLABELLED, Axes, label, percent, remark


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
    notes: tuple[str, ...] = ()

    @classmethod
    def from_result(cls, result: AuditResult, n_groups: int = 6) -> Self:
        """From the result of an audit."""
        missing = (f"{result.n_missing} rows could not be told and are left out.",) if result.n_missing else ()
        return cls(result, check_number("n_groups", n_groups, 1, integer=True), missing)

    def _draw(self, ax: Axes) -> None:
        curve, result = self.result.calibration_curve(self.n_groups), self.result
        told = np.isfinite(result.labels)
        rows, found = result.probability[result.sample.index[told]], result.labels[told] == 1.0
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=0.9)
        arms = np.abs(np.stack([curve.low, curve.high]) - curve.share)
        ax.errorbar(curve.predicted, curve.share, yerr=arms, fmt="o-", color=ESTIMATE, capsize=4, markersize=5)
        ax.plot(rows[found], np.full(int(found.sum()), 1.05), "|", color=POSITIVE, markersize=7)
        ax.plot(rows[~found], np.full(int((~found).sum()), -0.05), "|", color=UNLABELLED, markersize=7)
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.1, 1.1))
        remark(ax, f"{int(found.sum())} found positive", (0.0, 1.05), (2, -12), color="0.35")
        remark(ax, f"{int((~found).sum())} found negative", (1.0, -0.05), (-2, 6), color="0.35", ha="right")
        share = result.share
        title = f"Positive by the labels {percent(share.value)} [{percent(share.low)}, {percent(share.high)}], "
        title += f"by the model {percent(float(result.probability.mean()))}"
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
