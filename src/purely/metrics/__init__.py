"""Evaluation without negatives: metrics from positive and unlabelled rows and a class prior.

Every metric is a function of two means, over the labelled positives and over the population, and of the prior; it
returns a :class:`PUEstimate` with a standard error, an interval that carries the prior's own interval through, and the
assumption it rests on as a sentence.

The intervals are those of a fixed model on new rows. Out-of-fold scores are not optimistic either, but every row is
scored by one model and trains the others, so the pooled value varies more than such intervals say: on a9a at a prior of
.7 (1000 positives, 2000 unlabelled rows, five folds, 40 draws) the spread was 1.16 to 1.30 times the standard error out
of fold, and .85 to 1.06 times on held-out rows. ``pu_report(..., out_of_fold=True)`` makes intervals 1.25 times as
long; over 21 cells (seven data sets, three priors) 95 % intervals then held the truth in 96 % of 672 cases, and in 92 %
without (`experiments/metrics_study.py`).

No metric takes `sample_weight`: intervals come from drawing rows anew, and one row of weight two is not the same as two
rows. If rows stand for several, draw rows in proportion to their weights first. The interval is then that of the rows
drawn; it is too short, the more so the more rows repeat.
"""

from purely.class_prior import Prior
from purely.metrics._calibration import PUCalibrationCurve, pu_calibration_curve, pu_calibration_error
from purely.metrics._gain import RankingGain, pu_ranking_gain
from purely.metrics._report import PUReport, pu_report
from purely.metrics.estimate import PUEstimate
from purely.metrics.ranking import (
    PUPrecisionRecallCurve,
    PUROCCurve,
    pu_average_precision,
    pu_precision_recall_curve,
    pu_roc_auc,
    pu_roc_curve,
)
from purely.metrics.risk import pu_risk
from purely.metrics.thresholds import (
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
    "Prior",
    "RankingGain",
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
    "pu_ranking_gain",
    "pu_recall",
    "pu_report",
    "pu_risk",
    "pu_roc_auc",
    "pu_roc_curve",
    "pu_specificity",
]
