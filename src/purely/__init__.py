"""Learning purely from positive and unlabelled data.

Public names load on first use (PEP 562): ``import purely`` loads neither torch nor matplotlib.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules
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
__all__ = sorted(_HOME)


@cache
def _rooms() -> tuple[str, ...]:
    """Names of the sub-modules; each is loaded when it is first asked for."""
    return tuple(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))


def _room_of(name: str) -> str | None:
    """The sub-module whose ``__all__`` has a name; one that needs an absent package is passed over."""
    for room in _rooms():
        with suppress(ImportError):
            if name in getattr(import_module(f"purely.{room}"), "__all__", ()):
                return f"purely.{room}"
    return None


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _rooms():
        return import_module(f"purely.{name}")
    room = None if name.startswith("_") else _room_of(name)
    if room is None:
        raise AttributeError(f"module 'purely' has no attribute {name!r}; it has: {', '.join(__all__)}")
    hint = f"module 'purely' has no attribute {name!r}; use: from {room} import {name}"
    # `from purely import name` drops the words of an AttributeError and passes on those of an ImportError;
    # `hasattr` needs the former
    if sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
        raise ImportError(hint, name="purely")
    raise AttributeError(hint)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOME) | set(_rooms()))
