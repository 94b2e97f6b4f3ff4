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

#: The names a newcomer needs, and the modules that define them; the rest is one import away, in the rooms.
_HOME = {
    "CalibratedPUClassifier": "purely.classifiers",
    "ClassPrior": "purely.prior",
    "ClassPriors": "purely.class_prior",
    "LSDR": "purely.representation",
    "NNPUClassifier": "purely.classifiers",
    "PNRL": "purely.representation",
    "PUClassifier": "purely.classifiers",
    "PULogisticClassifier": "purely.classifiers",
    "PURL": "purely.representation",
    "PUSMI": "purely.smi",
    "PUStratifiedKFold": "purely.model_selection",
    "Prior": "purely.class_prior",
    "PurelyWarning": "purely.exceptions",
    "check_assumptions": "purely.assumptions",
    "draw_audit": "purely.audit",
    "explain_rows": "purely.explain",
    "fit_together": "purely.nn.plan",
    "independence_test": "purely.smi",
    "information_retained": "purely.representation",
    "load": "purely.persistence",
    "make_pu": "purely.datasets",
    "make_report": "purely.report",
    "pu_precision": "purely.metrics",
    "pu_recall": "purely.metrics",
    "pu_report": "purely.metrics",
    "pu_roc_auc": "purely.metrics",
    "pu_scorer": "purely.model_selection",
    "pu_train_test_split": "purely.model_selection",
    "rank_features": "purely.smi",
    "read_audit": "purely.audit",
    "save": "purely.persistence",
    "select_model": "purely.model_selection",
    "stack": "purely.labels",
}
#: The rooms, loaded when they are first asked for.
_ROOMS = (
    "purely.classifiers",
    "purely.prior",
    "purely.metrics",
    "purely.smi",
    "purely.representation",
    "purely.calibration",
    "purely.comparison",
    "purely.model_selection",
    "purely.assumptions",
    "purely.audit",
    "purely.datasets",
    "purely.explain",
    "purely.persistence",
    "purely.plotting",
    "purely.report",
    "purely.scale",
    "purely.exceptions",
)

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if f"purely.{name}" in _ROOMS:
        return import_module(f"purely.{name}")
    if not name.startswith("_"):
        for room in _ROOMS:
            if name in getattr(import_module(room), "__all__", ()):
                raise AttributeError(f"module 'purely' has no attribute {name!r}; use: from {room} import {name}")
    raise AttributeError(f"module 'purely' has no attribute {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOME) | {room.removeprefix("purely.") for room in _ROOMS})
