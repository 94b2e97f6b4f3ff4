"""ROC, precision-recall and reliability curves of positives against negatives, without a negative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

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
from purely.metrics.estimate import Resampling
from purely.plotting.common import Predicting, PredictionDisplay, Rows
from purely.plotting.style import ESTIMATE, INK, UNLABELLED, Axes, label, percent
from purely.typing import Indices

#: More points of a curve than this cannot be seen and make a vector picture heavy.
_MAX_POINTS = 500
Corner = Literal["lower right", "lower left", "upper left"]
Curve = TypeVar("Curve", PUROCCurve, PUPrecisionRecallCurve, PUCalibrationCurve)


def _seen(n: int) -> Indices:
    """Points of a curve that are drawn: evenly spread, and dense where it starts, at the highest scores."""
    if n <= _MAX_POINTS:
        return np.arange(n)
    half = _MAX_POINTS // 2
    places = np.concatenate([np.linspace(0, n - 1, half), np.geomspace(1, n, half) - 1])
    return np.unique(places.round().astype(np.intp))


@dataclass
class _CurveDisplay(PredictionDisplay, Generic[Curve]):
    """A curve and its summary, from predictions or from a model; `_measures` computes both."""

    _measures: ClassVar[tuple[Callable[..., object], Callable[..., PUEstimate]]]
    _shape: ClassVar[tuple[float, float]] = (4.8, 4.3)

    curve: Curve
    summary: PUEstimate | None = None

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Unpack[Resampling]) -> tuple[object, ...]:
        return tuple(measure(rows.positive, rows.score, class_prior, **options) for measure in cls._measures)

    def _name(self, ax: Axes, what: str, x: str, y: str, legend: Corner, top: float = 1.02) -> None:
        """Say what is drawn, with its summary in the title, and where the axes end."""
        if (found := self.summary) is not None:
            what += f" {found.value:.2f}" + (f" [{found.low:.2f}, {found.high:.2f}]" if np.isfinite(found.low) else "")
        ax.legend(loc=legend)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, top))
        label(ax, what, x, y, self.notes)


class PUROCDisplay(_CurveDisplay[PUROCCurve]):
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
    _measures = pu_roc_curve, pu_roc_auc

    def _draw(self, ax: Axes) -> None:
        c, k = self.curve, _seen(self.curve.thresholds.size)
        band = c.true_positive_rate[k], c.false_positive_rate_low[k], c.false_positive_rate_high[k]
        ax.plot([0, 1], [0, 1], color=UNLABELLED, linewidth=1.0, label="chance")
        ax.fill_betweenx(*band, color=ESTIMATE, alpha=0.2, linewidth=0, label=f"{percent(c.level)} interval")
        ax.plot(c.false_positive_rate[k], c.true_positive_rate[k], color=ESTIMATE, label="estimated")
        x, y = "false positive rate: share of the negatives taken", "recall: share of the positives taken"
        self._name(ax, "Area under the ROC curve", x, y, "lower right")


class PUPrecisionRecallDisplay(_CurveDisplay[PUPrecisionRecallCurve]):
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
    _measures = pu_precision_recall_curve, pu_average_precision

    def _draw(self, ax: Axes) -> None:
        c, k = self.curve, _seen(self.curve.thresholds.size)
        band = c.recall[k], c.precision_low[k], c.precision_high[k]
        ax.fill_between(*band, color=ESTIMATE, alpha=0.2, linewidth=0, label=f"{percent(c.level)} interval")
        ax.plot(c.recall[k], c.precision[k], color=ESTIMATE, label="estimated")
        x, y = "recall: share of the positives taken", "precision: share of those taken that are positive"
        self._name(ax, "Average precision", x, y, "lower left", 1.05)


def _calibration_curve(
    y: ArrayLike, probability: ArrayLike, class_prior: KnownPrior, **options: Unpack[Resampling]
) -> PUCalibrationCurve:
    return pu_calibration_curve(y, probability, class_prior, scenario=options.get("scenario", "case-control"))


class PUCalibrationDisplay(_CurveDisplay[PUCalibrationCurve]):
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
    _measures = _calibration_curve, pu_calibration_error

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        ax.plot([0, 1], [0, 1], color=UNLABELLED, linewidth=1.0, label="calibrated")
        arms = np.minimum(1.96 * c.standard_error, c.observed), 1.96 * c.standard_error
        look: dict[str, Any] = {"color": ESTIMATE, "ecolor": INK, "markersize": 4.5, "elinewidth": 1}
        ax.errorbar(c.predicted, c.observed, arms, fmt="o-", label="estimated, 95 % intervals", **look)
        top = float(np.clip(np.max(c.observed + arms[1]), 1.02, 1.5))
        self._name(ax, "Calibration error", "predicted probability", "share of positives there", "upper left", top)


def plot_calibration(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Unpack[Predicting]
) -> PUCalibrationDisplay:
    """Predicted probabilities against shares of positives: :class:`PUCalibrationDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_calibration
    >>> plot_calibration(data.y, data.posterior, class_prior=0.5).ax_.get_xlabel()
    'predicted probability'
    """
    return PUCalibrationDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_roc(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Unpack[Predicting]
) -> PUROCDisplay:
    """ROC curve without negatives: :class:`PUROCDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_roc
    >>> plot_roc(data.y, data.posterior, class_prior=0.5).ax_.get_ylabel()
    'recall: share of the positives taken'
    """
    return PUROCDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_precision_recall(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Unpack[Predicting]
) -> PUPrecisionRecallDisplay:
    """Precision against recall without negatives: :class:`PUPrecisionRecallDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_precision_recall
    >>> plot_precision_recall(data.y, data.posterior, class_prior=0.5).ax_.get_ylabel()
    'precision: share of those taken that are positive'
    """
    return PUPrecisionRecallDisplay.from_predictions(y, score, class_prior, **options).plot(ax)
