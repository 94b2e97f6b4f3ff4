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
    "ClassPriors": "purely.labels",
    "DegenerateDataWarning": "purely._warnings",
    "PNSMI": "purely.smi",
    "PUSMI": "purely.smi",
    "PurelyWarning": "purely._warnings",
    "SearchBoundWarning": "purely._warnings",
    "bootstrap_information": "purely.smi",
    "independence_test": "purely.smi",
    "information_interval": "purely.smi",
    "make_pu": "purely.datasets",
    "rank_features": "purely.smi",
    "stack": "purely.labels",
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
