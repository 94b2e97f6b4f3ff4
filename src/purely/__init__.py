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
    "BestBinPrior": "purely.prior",
    "ClassPrior": "purely.prior",
    "ClassPriorWarning": "purely.prior",
    "ClassPriors": "purely.labels",
    "DEDPULPrior": "purely.prior",
    "DegenerateDataWarning": "purely._warnings",
    "DensityRatioPrior": "purely.prior",
    "DivergedWarning": "purely.representation",
    "ElkanNotoPrior": "purely.prior",
    "KernelMeanPrior": "purely.prior",
    "LSDR": "purely.representation",
    "LogisticCeilingPrior": "purely.prior",
    "MonotoneRatioPrior": "purely.prior",
    "OverfittingWarning": "purely.representation",
    "PNRL": "purely.representation",
    "PNSMI": "purely.smi",
    "PURL": "purely.representation",
    "PUSMI": "purely.smi",
    "PenL1Prior": "purely.prior",
    "PurelyWarning": "purely._warnings",
    "RankPruningPrior": "purely.prior",
    "RegroupingPrior": "purely.prior",
    "SearchBoundWarning": "purely._warnings",
    "TIcEPrior": "purely.prior",
    "bootstrap_information": "purely.smi",
    "fit_together": "purely.representation",
    "independence_test": "purely.smi",
    "information_interval": "purely.smi",
    "information_retained": "purely.representation",
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
