"""ROC, precision-recall and reliability curves of positives against negatives, without a negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from purely.class_prior import KnownPrior
from purely.metrics import (
    PUCalibrationCurve,
    PUEstimate,
    PUPrecisionRecallCurve,
    PUROCCurve,
    pu_average_precision,
    pu_calibration_curve,
    pu_calibration_error,
    pu_precision_recall_curve,
    pu_roc_auc,
    pu_roc_curve,
)
from purely.plotting.common import PredictionDisplay, Rows
from purely.plotting.style import ESTIMATE, INK, UNLABELLED, Axes, label, percent
from purely.typing import Indices

#: More points of a curve than this cannot be seen and make a vector picture heavy.
_MAX_POINTS = 500


def _seen(n: int) -> Indices:
    """Points of a curve that are drawn: evenly spread, and dense where it starts, at the highest scores."""
    if n <= _MAX_POINTS:
        return np.arange(n)
    half = _MAX_POINTS // 2
    places = np.concatenate([np.linspace(0, n - 1, half), np.geomspace(1, n, half) - 1])
    return np.unique(places.round().astype(np.intp))


@dataclass
class _CurveDisplay(PredictionDisplay):
    """A curve and its summary, from predictions or from a model."""

    curve: Any
    summary: PUEstimate | None = None
    notes: tuple[str, ...] = ()
    reason: str = ""

    def _size(self) -> tuple[float, float]:
        return 4.8, 4.3

    def _interval(self) -> str:
        found = self.summary
        if found is None:
            return ""
        return f"{found.value:.2f}" + (f" [{found.low:.2f}, {found.high:.2f}]" if np.isfinite(found.low) else "")


class PUROCDisplay(_CurveDisplay):
    """ROC curve of positives against negatives, from positive and unlabelled rows.

    Parameters
    ----------
    curve : PUROCCurve
    summary : PUEstimate
        The area under it.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import PUROCDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = PUROCDisplay.from_predictions(data.y, data.posterior, class_prior=0.5).plot()
    >>> display.ax_.get_xlabel()
    'false positive rate: share of the negatives taken'
    """

    _title: ClassVar[str] = "ROC curve without negatives"

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Any) -> tuple[PUROCCurve, PUEstimate]:
        return (
            pu_roc_curve(rows.positive, rows.score, class_prior, **options),
            pu_roc_auc(rows.positive, rows.score, class_prior, **options),
        )

    def _draw(self, ax: Axes) -> None:
        c, k = self.curve, _seen(self.curve.thresholds.size)
        band = c.true_positive_rate[k], c.false_positive_rate_low[k], c.false_positive_rate_high[k]
        ax.plot([0, 1], [0, 1], color=UNLABELLED, linewidth=1.0, label="chance")
        ax.fill_betweenx(*band, color=ESTIMATE, alpha=0.2, linewidth=0, label=f"{percent(c.level)} interval")
        ax.plot(c.false_positive_rate[k], c.true_positive_rate[k], color=ESTIMATE, label="estimated")
        ax.legend(loc="lower right")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        x, y = "false positive rate: share of the negatives taken", "recall: share of the positives taken"
        label(ax, f"Area under the ROC curve {self._interval()}", x, y, self.notes)


class PUPrecisionRecallDisplay(_CurveDisplay):
    """Precision against recall, from positive and unlabelled rows.

    Parameters
    ----------
    curve : PUPrecisionRecallCurve
    summary : PUEstimate
        The average precision.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import PUPrecisionRecallDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = PUPrecisionRecallDisplay.from_predictions(data.y, data.posterior, class_prior=0.5).plot()
    >>> display.ax_.get_ylabel()
    'precision: share of those taken that are positive'
    """

    _title: ClassVar[str] = "Precision and recall without negatives"

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Any) -> tuple[PUPrecisionRecallCurve, PUEstimate]:
        return (
            pu_precision_recall_curve(rows.positive, rows.score, class_prior, **options),
            pu_average_precision(rows.positive, rows.score, class_prior, **options),
        )

    def _draw(self, ax: Axes) -> None:
        c, k = self.curve, _seen(self.curve.thresholds.size)
        band = c.recall[k], c.precision_low[k], c.precision_high[k]
        ax.fill_between(*band, color=ESTIMATE, alpha=0.2, linewidth=0, label=f"{percent(c.level)} interval")
        ax.plot(c.recall[k], c.precision[k], color=ESTIMATE, label="estimated")
        ax.legend(loc="lower left")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
        x, y = "recall: share of the positives taken", "precision: share of those taken that are positive"
        label(ax, f"Average precision {self._interval()}", x, y, self.notes)


class PUCalibrationDisplay(_CurveDisplay):
    """Predicted probabilities against the share of positives there, from positive and unlabelled rows.

    Parameters
    ----------
    curve : PUCalibrationCurve
    summary : PUEstimate
        The calibration error.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import PUCalibrationDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = PUCalibrationDisplay.from_predictions(data.y, data.posterior, class_prior=0.5).plot()
    >>> display.ax_.get_xlabel()
    'predicted probability'
    """

    _title: ClassVar[str] = "Are the probabilities honest?"
    _score: ClassVar[str] = "probability"
    _fewest: ClassVar[int] = 2

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Any) -> tuple[PUCalibrationCurve, PUEstimate]:
        return (
            pu_calibration_curve(rows.positive, rows.score, class_prior, scenario=options["scenario"]),
            pu_calibration_error(rows.positive, rows.score, class_prior, **options),
        )

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        ax.plot([0, 1], [0, 1], color=UNLABELLED, linewidth=1.0, label="calibrated")
        arms = np.minimum(1.96 * c.standard_error, c.observed), 1.96 * c.standard_error
        look: dict[str, Any] = {"fmt": "o-", "color": ESTIMATE, "ecolor": INK, "elinewidth": 1.0, "markersize": 4.5}
        ax.errorbar(c.predicted, c.observed, yerr=arms, label="estimated, 95 % intervals", **look)
        ax.legend(loc="upper left")
        top = float(np.clip(np.max(c.observed + arms[1]), 1.02, 1.5))
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, top))
        title = f"Calibration error {self._interval()}"
        label(ax, title, "predicted probability", "share of positives there", self.notes)
