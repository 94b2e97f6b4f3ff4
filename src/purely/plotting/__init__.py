"""Pictures of positive and unlabelled data: displays in scikit-learn's manner, and functions that draw them.

A display holds what is drawn; its ``from_estimator`` and ``from_predictions`` compute it, ``plot(ax=None)`` draws it
and sets ``ax_`` and ``figure_``. Rows without a finite score are left out, and the picture says so in a sentence; where
there is nothing to draw, the sentence says why. Importing this module does not load matplotlib.
"""

from purely.plotting._audit import AuditDisplay
from purely.plotting._curves import PUCalibrationDisplay, PUPrecisionRecallDisplay, PUROCDisplay
from purely.plotting._features import FeatureDisplay
from purely.plotting._functions import (
    plot_audit,
    plot_calibration,
    plot_class_prior,
    plot_density_ratio,
    plot_features,
    plot_history,
    plot_information,
    plot_monitor,
    plot_precision_recall,
    plot_representation,
    plot_roc,
    plot_scores,
    plot_sensitivity,
    plot_thresholds,
)
from purely.plotting._history import HistoryDisplay
from purely.plotting._information import InformationDisplay
from purely.plotting._monitor import MonitorDisplay
from purely.plotting._prior import ClassPriorDisplay, PriorReading, read_priors
from purely.plotting._representation import RepresentationDisplay
from purely.plotting._scores import DensityRatioDisplay, ScoreDisplay
from purely.plotting._sensitivity import SensitivityDisplay
from purely.plotting.thresholds import ThresholdDisplay, ThresholdTable, threshold_table

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
