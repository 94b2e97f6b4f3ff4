"""Classifiers from positive and unlabelled rows."""

from purely.classifiers.auto import PUClassifier
from purely.classifiers.bagging import BaggingPUClassifier
from purely.classifiers.calibrated import CalibratedPUClassifier
from purely.classifiers.distilled import DistilledPUClassifier
from purely.classifiers.elkan_noto import ElkanNotoClassifier
from purely.classifiers.least_squares import PULeastSquaresClassifier
from purely.classifiers.logistic import PULogisticClassifier
from purely.classifiers.nnpu import NNPUClassifier
from purely.classifiers.reweighted import ReweightedPUClassifier
from purely.classifiers.selection_aware import SelectionAwareClassifier
from purely.classifiers.self_training import SelfTrainingPUClassifier
from purely.classifiers.thresholds import (
    threshold_for_cost,
    threshold_for_precision,
    threshold_for_recall,
    threshold_for_share,
)
from purely.classifiers.two_step import TwoStepPUClassifier

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
