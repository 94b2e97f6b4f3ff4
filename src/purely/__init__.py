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

#: The names a newcomer needs, by the modules that define them; the rest is one import away, in the rooms.
_NAMES = {
    "assumptions": "check_assumptions",
    "audit": "draw_audit read_audit",
    "class_prior": "ClassPriors Prior",
    "classifiers": "CalibratedPUClassifier NNPUClassifier PUClassifier PULogisticClassifier",
    "datasets": "make_pu",
    "exceptions": "PurelyWarning",
    "explain": "explain_rows",
    "labels": "stack",
    "metrics": "pu_precision pu_recall pu_report pu_roc_auc",
    "model_selection": "PUStratifiedKFold pu_scorer pu_train_test_split select_model",
    "nn.plan": "fit_together",
    "persistence": "load save",
    "prior": "ClassPrior",
    "report": "make_report",
    "representation": "LSDR PNRL PURL information_retained",
    "smi": "PUSMI independence_test rank_features",
}
_HOME = {name: f"purely.{room}" for room, names in _NAMES.items() for name in names.split()}
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
