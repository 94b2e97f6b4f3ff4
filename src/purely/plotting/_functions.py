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
from purely.typing import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scores(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior | None = None, *, ax: Axes | None = None, **options: Any
) -> ScoreDisplay:
    """Histograms of scores, divided by the class prior: :class:`ScoreDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_scores
    >>> plot_scores(data.y, data.posterior, class_prior=0.5).ax_.get_ylabel()
    'unlabelled rows'
    """
    return ScoreDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_density_ratio(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior | None = None, *, ax: Axes | None = None, **options: Any
) -> DensityRatioDisplay:
    """The curve that the class prior is read from: :class:`DensityRatioDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_density_ratio
    >>> plot_density_ratio(data.y, data.posterior, class_prior=0.5).ax_.get_ylabel()
    'share of the pool / share of the positives'
    """
    return DensityRatioDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_class_prior(y: ArrayLike, score: ArrayLike, *, ax: Axes | None = None, **options: Any) -> ClassPriorDisplay:
    """What each method reads off one score: :class:`ClassPriorDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_class_prior
    >>> plot_class_prior(data.y, data.posterior).ax_.get_xlabel()
    'share of positives in the population, 90 % intervals'
    """
    return ClassPriorDisplay.from_predictions(y, score, **options).plot(ax)


def plot_representation(
    Z: Any, y: ArrayLike, ratio: ArrayLike | None = None, *, ax: Axes | None = None, **options: Any
) -> RepresentationDisplay:
    """Rows in the plane of a representation: :class:`RepresentationDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_representation
    >>> plot_representation(data.X[:, :2], data.y, data.density_ratio).ax_.get_xlabel()
    'first direction'
    """
    return RepresentationDisplay.from_representation(Z, y, ratio, **options).plot(ax)


def plot_calibration(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
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


def plot_thresholds(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
) -> ThresholdDisplay:
    """Precision and recall against the threshold: :class:`ThresholdDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_thresholds
    >>> plot_thresholds(data.y, data.posterior, class_prior=0.5).ax_.get_title(loc="left")
    'A higher threshold: a purer list that misses more'
    """
    return ThresholdDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_roc(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
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
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Any
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


def plot_features(X: Matrix, y: ArrayLike, *, ax: Axes | None = None, **options: Any) -> FeatureDisplay:
    """Information of each column: :class:`FeatureDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_features
    >>> data = make_gaussians(100, 200, n_features=2, random_state=0)
    >>> plot_features(data.X, data.y).ax_.get_xlabel()
    'information (0: none), 90 % intervals'
    """
    return FeatureDisplay.from_data(X, y, **options).plot(ax)


def plot_information(X: Matrix, y: ArrayLike, *, ax: Axes | None = None, **options: Any) -> InformationDisplay:
    """Information by the number of rows: :class:`InformationDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_information
    >>> data = make_gaussians(100, 200, n_features=2, random_state=0)
    >>> plot_information(data.X, data.y).ax_.get_ylabel()
    'information, 90 % interval'
    """
    return InformationDisplay.from_data(X, y, **options).plot(ax)


def plot_history(estimator: Any, *, ax: Axes | None = None, **options: Any) -> HistoryDisplay:
    """Training of a fitted network: :class:`HistoryDisplay`.

    Examples
    --------
    >>> from purely.classifiers import NNPUClassifier
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_history
    >>> data = make_gaussians(50, 100, n_features=2, random_state=0)
    >>> model = NNPUClassifier(0.5, hidden=(4,), max_epochs=3, n_ensemble=1, device="cpu").fit(data.X, data.y)
    >>> plot_history(model).ax_.get_title(loc="left")
    'How the network learnt'
    """
    return HistoryDisplay.from_estimator(estimator, **options).plot(ax)


def plot_audit(result: AuditResult, *, ax: Axes | None = None, **options: Any) -> AuditDisplay:
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
