"""Evaluation without negatives: metrics from positive and unlabelled rows and a class prior.

Every metric is a function of two means, over the labelled positives and over the population, and of the prior; it
returns a :class:`PUEstimate` with a standard error, an interval that carries the prior's own interval through, and the
assumption it rests on as a sentence.
"""

from purely._prior_value import PriorValue
from purely.metrics._calibration import PUCalibrationCurve, pu_calibration_curve, pu_calibration_error
from purely.metrics._estimate import PUEstimate
from purely.metrics._ranking import (
    PUPrecisionRecallCurve,
    PUROCCurve,
    pu_average_precision,
    pu_precision_recall_curve,
    pu_roc_auc,
    pu_roc_curve,
)
from purely.metrics._report import PUReport, pu_report
from purely.metrics._risk import pu_risk
from purely.metrics._threshold import (
    pu_accuracy,
    pu_balanced_accuracy,
    pu_f1,
    pu_lee_liu,
    pu_lift,
    pu_precision,
    pu_recall,
    pu_specificity,
)

__all__ = [
    "PUCalibrationCurve",
    "PUEstimate",
    "PUPrecisionRecallCurve",
    "PUROCCurve",
    "PUReport",
    "PriorValue",
    "pu_accuracy",
    "pu_average_precision",
    "pu_balanced_accuracy",
    "pu_calibration_curve",
    "pu_calibration_error",
    "pu_f1",
    "pu_lee_liu",
    "pu_lift",
    "pu_precision",
    "pu_precision_recall_curve",
    "pu_recall",
    "pu_report",
    "pu_risk",
    "pu_roc_auc",
    "pu_roc_curve",
    "pu_specificity",
]
