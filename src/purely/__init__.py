"""Learning purely from positive and unlabelled data.

Public names load on first use (PEP 562): ``import purely`` loads neither torch nor matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

try:
    __version__ = version("purely")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

#: Public name -> the module that defines it.
_HOME = {
    "AlphaMaxPrior": "purely.prior",
    "BaggingPUClassifier": "purely.classifiers",
    "BestBinPrior": "purely.prior",
    "CalibratedPUClassifier": "purely.calibration",
    "ClassPrior": "purely.prior",
    "ClassPriorWarning": "purely.prior",
    "ClassPriors": "purely.labels",
    "DEDPULPrior": "purely.prior",
    "DegenerateDataWarning": "purely._warnings",
    "DensityRatioPrior": "purely.prior",
    "DivergedWarning": "purely.representation",
    "ElkanNotoClassifier": "purely.classifiers",
    "ElkanNotoPrior": "purely.prior",
    "InformationRetained": "purely.representation",
    "KernelMeanPrior": "purely.prior",
    "LSDR": "purely.representation",
    "LogisticCeilingPrior": "purely.prior",
    "ModelSelection": "purely.model_selection",
    "MonotoneRatioPrior": "purely.prior",
    "NNPUClassifier": "purely.classifiers",
    "OverfittingWarning": "purely.representation",
    "PNRL": "purely.representation",
    "PNSMI": "purely.smi",
    "PUClassifier": "purely.classifiers",
    "PUEstimate": "purely.metrics",
    "PULeastSquaresClassifier": "purely.classifiers",
    "PULogisticClassifier": "purely.classifiers",
    "PURL": "purely.representation",
    "PUSMI": "purely.smi",
    "PUScorer": "purely.model_selection",
    "PUStratifiedKFold": "purely.model_selection",
    "PenL1Prior": "purely.prior",
    "PurelyWarning": "purely._warnings",
    "RankPruningPrior": "purely.prior",
    "RegroupingPrior": "purely.prior",
    "Report": "purely.report",
    "ReweightedPUClassifier": "purely.classifiers",
    "SearchBoundWarning": "purely._warnings",
    "SelfTrainingPUClassifier": "purely.classifiers",
    "TIcEPrior": "purely.prior",
    "TrivialModelWarning": "purely._warnings",
    "TwoStepPUClassifier": "purely.classifiers",
    "bootstrap_information": "purely.smi",
    "calibrate_scores": "purely.calibration",
    "check_assumptions": "purely.assumptions",
    "check_identifiability": "purely.assumptions",
    "check_sampling": "purely.assumptions",
    "check_selection": "purely.assumptions",
    "check_top": "purely.assumptions",
    "fit_classifiers": "purely.classifiers",
    "fit_together": "purely.representation",
    "independence_test": "purely.smi",
    "information_interval": "purely.smi",
    "information_retained": "purely.representation",
    "load": "purely.persistence",
    "make_pu": "purely.datasets",
    "make_report": "purely.report",
    "pu_accuracy": "purely.metrics",
    "pu_average_precision": "purely.metrics",
    "pu_balanced_accuracy": "purely.metrics",
    "pu_calibration_curve": "purely.metrics",
    "pu_calibration_error": "purely.metrics",
    "pu_f1": "purely.metrics",
    "pu_lee_liu": "purely.metrics",
    "pu_lift": "purely.metrics",
    "pu_precision": "purely.metrics",
    "pu_precision_recall_curve": "purely.metrics",
    "pu_recall": "purely.metrics",
    "pu_report": "purely.metrics",
    "pu_risk": "purely.metrics",
    "pu_roc_auc": "purely.metrics",
    "pu_roc_curve": "purely.metrics",
    "pu_scorer": "purely.model_selection",
    "pu_scorer_names": "purely.model_selection",
    "pu_specificity": "purely.metrics",
    "pu_train_test_split": "purely.model_selection",
    "rank_features": "purely.smi",
    "save": "purely.persistence",
    "select_model": "purely.model_selection",
    "stack": "purely.labels",
    "threshold_for_cost": "purely.classifiers",
    "threshold_for_precision": "purely.classifiers",
    "threshold_for_recall": "purely.classifiers",
    "threshold_for_share": "purely.classifiers",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'purely' has no attribute {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOME))
