"""The pictures as functions: each makes a display, draws it, and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from purely.audit import AuditResult, Monitor, Sensitivity
from purely.class_prior import KnownPrior
from purely.plotting._audit import AuditDisplay
from purely.plotting._curves import PUCalibrationDisplay, PUPrecisionRecallDisplay, PUROCDisplay
from purely.plotting._features import FeatureDisplay
from purely.plotting._history import HistoryDisplay
from purely.plotting._information import InformationDisplay
from purely.plotting._monitor import MonitorDisplay
from purely.plotting._prior import ClassPriorDisplay
from purely.plotting._representation import RepresentationDisplay
from purely.plotting._scores import DensityRatioDisplay, ScoreDisplay
from purely.plotting._sensitivity import SensitivityDisplay
from purely.plotting.thresholds import ThresholdDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scores(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior | None = None, *, ax: Axes | None = None, **options: Any
) -> ScoreDisplay:
    """Histograms of scores, divided by the class prior: :class:`ScoreDisplay`."""
    return ScoreDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_density_ratio(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior | None = None, *, ax: Axes | None = None, **options: Any
) -> DensityRatioDisplay:
    """The curve that the class prior is read from: :class:`DensityRatioDisplay`."""
    return DensityRatioDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_class_prior(y: ArrayLike, score: ArrayLike, *, ax: Axes | None = None, **options: Any) -> ClassPriorDisplay:
    """What each method reads off one score: :class:`ClassPriorDisplay`."""
    return ClassPriorDisplay.from_predictions(y, score, **options).plot(ax)


def plot_representation(
    Z: Any, y: ArrayLike, ratio: ArrayLike | None = None, *, ax: Axes | None = None, **options: Any
) -> RepresentationDisplay:
    """Rows in the plane of a representation: :class:`RepresentationDisplay`."""
    return RepresentationDisplay.from_representation(Z, y, ratio, **options).plot(ax)


def plot_calibration(
    y: ArrayLike, probability: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
) -> PUCalibrationDisplay:
    """Predicted probabilities against shares of positives: :class:`PUCalibrationDisplay`."""
    return PUCalibrationDisplay.from_predictions(y, probability, class_prior, **options).plot(ax)


def plot_thresholds(
    y: ArrayLike, probability: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
) -> ThresholdDisplay:
    """Precision and recall against the threshold: :class:`ThresholdDisplay`."""
    return ThresholdDisplay.from_predictions(y, probability, class_prior, **options).plot(ax)


def plot_roc(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
) -> PUROCDisplay:
    """ROC curve without negatives: :class:`PUROCDisplay`."""
    return PUROCDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_precision_recall(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
) -> PUPrecisionRecallDisplay:
    """Precision against recall without negatives: :class:`PUPrecisionRecallDisplay`."""
    return PUPrecisionRecallDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_features(X: Any, y: ArrayLike, *, ax: Axes | None = None, **options: Any) -> FeatureDisplay:
    """Information of each column: :class:`FeatureDisplay`."""
    return FeatureDisplay.from_data(X, y, **options).plot(ax)


def plot_information(X: Any, y: ArrayLike, *, ax: Axes | None = None, **options: Any) -> InformationDisplay:
    """Information by the number of rows: :class:`InformationDisplay`."""
    return InformationDisplay.from_data(X, y, **options).plot(ax)


def plot_history(estimator: Any, *, ax: Axes | None = None, **options: Any) -> HistoryDisplay:
    """Training of a fitted network: :class:`HistoryDisplay`."""
    return HistoryDisplay.from_estimator(estimator, **options).plot(ax)


def plot_audit(result: AuditResult, *, ax: Axes | None = None, **options: Any) -> AuditDisplay:
    """Predicted probabilities against the shares that an audit found: :class:`AuditDisplay`."""
    return AuditDisplay.from_result(result, **options).plot(ax)


def plot_sensitivity(ranges: Sensitivity, *, ax: Axes | None = None, **options: Any) -> SensitivityDisplay:
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


def plot_monitor(monitor: Monitor, *, ax: Any = None) -> MonitorDisplay:
    """Shares of positives of batches over time: :class:`MonitorDisplay`."""
    return MonitorDisplay.from_monitor(monitor).plot(ax)
