"""Classifiers from positive and unlabelled rows."""

from purely.classifiers._thresholds import (
    threshold_for_cost,
    threshold_for_precision,
    threshold_for_recall,
    threshold_for_share,
)
from purely.classifiers.nnpu import NNPUClassifier, fit_classifiers

__all__ = [
    "NNPUClassifier",
    "fit_classifiers",
    "threshold_for_cost",
    "threshold_for_precision",
    "threshold_for_recall",
    "threshold_for_share",
]
