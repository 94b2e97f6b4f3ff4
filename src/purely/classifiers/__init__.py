"""Classifiers from positive and unlabelled rows."""

from purely.classifiers.auto import PUClassifier
from purely.classifiers.bagging import BaggingPUClassifier
from purely.classifiers.distilled import DistilledPUClassifier
from purely.classifiers.elkan_noto import ElkanNotoClassifier
from purely.classifiers.least_squares import PULeastSquaresClassifier
from purely.classifiers.logistic import PULogisticClassifier
from purely.classifiers.nnpu import NNPUClassifier
from purely.classifiers.reliable_negatives import SelfTrainingPUClassifier, TwoStepPUClassifier
from purely.classifiers.reweighted import CalibratedPUClassifier, ReweightedPUClassifier
from purely.classifiers.selection_aware import SelectionAwareClassifier
from purely.classifiers.thresholds import (
    threshold_for_cost,
    threshold_for_precision,
    threshold_for_recall,
    threshold_for_share,
)

__all__ = [
    "BaggingPUClassifier",
    "CalibratedPUClassifier",
    "DistilledPUClassifier",
    "ElkanNotoClassifier",
    "NNPUClassifier",
    "PUClassifier",
    "PULeastSquaresClassifier",
    "PULogisticClassifier",
    "ReweightedPUClassifier",
    "SelectionAwareClassifier",
    "SelfTrainingPUClassifier",
    "TwoStepPUClassifier",
    "threshold_for_cost",
    "threshold_for_precision",
    "threshold_for_recall",
    "threshold_for_share",
]
