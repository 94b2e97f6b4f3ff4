"""Pictures of positive and unlabelled data: displays in scikit-learn's manner, and functions that draw them.

A display holds what is drawn; its ``from_estimator`` and ``from_predictions`` compute it, ``plot(ax=None)`` draws it
and sets ``ax_`` and ``figure_``. Rows without a finite score are left out, and the picture says so in a sentence; where
there is nothing to draw, the sentence says why. Importing this module does not load matplotlib.
"""

from purely.plotting._audit import (
    AuditDisplay,
    MonitorDisplay,
    SensitivityDisplay,
    plot_audit,
    plot_monitor,
    plot_sensitivity,
)
from purely.plotting._curves import (
    PUCalibrationDisplay,
    PUPrecisionRecallDisplay,
    PUROCDisplay,
    plot_calibration,
    plot_precision_recall,
    plot_roc,
)
from purely.plotting._information import FeatureDisplay, InformationDisplay, plot_features, plot_information
from purely.plotting._prior import ClassPriorDisplay, PriorReading, plot_class_prior, read_priors
from purely.plotting._representation import HistoryDisplay, RepresentationDisplay, plot_history, plot_representation
from purely.plotting._scores import DensityRatioDisplay, ScoreDisplay, plot_density_ratio, plot_scores
from purely.plotting.thresholds import ThresholdDisplay, ThresholdTable, plot_thresholds, threshold_table

__all__ = [
    "AuditDisplay",
    "ClassPriorDisplay",
    "DensityRatioDisplay",
    "FeatureDisplay",
    "HistoryDisplay",
    "InformationDisplay",
    "MonitorDisplay",
    "PUCalibrationDisplay",
    "PUPrecisionRecallDisplay",
    "PUROCDisplay",
    "PriorReading",
    "RepresentationDisplay",
    "ScoreDisplay",
    "SensitivityDisplay",
    "ThresholdDisplay",
    "ThresholdTable",
    "plot_audit",
    "plot_calibration",
    "plot_class_prior",
    "plot_density_ratio",
    "plot_features",
    "plot_history",
    "plot_information",
    "plot_monitor",
    "plot_precision_recall",
    "plot_representation",
    "plot_roc",
    "plot_scores",
    "plot_sensitivity",
    "plot_thresholds",
    "read_priors",
    "threshold_table",
]
