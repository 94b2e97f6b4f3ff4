"""The data sets of the paper, and the two halves of each: one for choosing, one for reporting.

A data set is read once a process. This module is imported, never run, so that its cache reaches every process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from experiments.entry import DeviceOptions, option
from purely.datasets import FETCHERS

__all__ = [
    "PAPER_SETS",
    "SETS",
    "SMOKE_CELLS",
    "CellOptions",
    "PaperSet",
    "half_of",
    "load",
    "public_name",
    "share_that_fits",
]


@dataclass(frozen=True)
class PaperSet:
    """A data set as the paper's tables name it; `text` asks for the paper's settings for texts."""

    name: str
    title: str
    text: bool = False


#: In the paper's order, by the names in the rows of ``experiments.paper``.
PAPER_SETS = {
    "ijcnn1": PaperSet("ijcnn1", "ijcnn1"),
    "phishing": PaperSet("phishing", "phishing"),
    "mushrooms": PaperSet("mushrooms", "mushrooms"),
    "a9a": PaperSet("a9a", "a9a"),
    "mnist": PaperSet("mnist", "MNIST"),
    "fashion_mnist": PaperSet("fashion-mnist", "F-MNIST"),
    "news20": PaperSet("20news", "20 News", text=True),
}
#: The same, by the names of ``purely.datasets``.
SETS = tuple(entry.name for entry in PAPER_SETS.values())


@dataclass(frozen=True)
class CellOptions(DeviceOptions):
    """Options of a study of networks over data sets, class priors and draws."""

    trials: int = 20
    datasets: tuple[str, ...] = option(SETS, choices=SETS)
    priors: tuple[float, ...] = (0.3, 0.5, 0.7)
    n_positive: int = 1000
    n_unlabelled: int = 2000


SMOKE_CELLS = {"trials": 1, "datasets": ("mushrooms",), "priors": (0.5,), "n_positive": 100, "n_unlabelled": 200}


def public_name(name: str) -> str:
    """The name in ``purely.datasets`` of a set of the paper's rows."""
    return PAPER_SETS[name].name if name in PAPER_SETS else name


@cache
def load(name: str) -> tuple[Any, Any]:
    """All rows of a data set and their true classes, 0 or 1."""
    X, y = FETCHERS[public_name(name)](return_X_y=True)
    return X, np.asarray(y)


def half_of(n: int, half: Literal["choose", "report"]) -> Any:
    """Row numbers of the half of a data set of `n` rows that a study may use."""
    # This permutation is the one whose first half the default was chosen on; another would mix the two parts.
    order = np.random.default_rng(12345).permutation(n)
    return np.sort(order[: n // 2] if half == "choose" else order[n // 2 :])


def share_that_fits(truth: Any, prior: float, n_positive: int, n_unlabelled: int, reserved: int = 0) -> float:
    """The largest factor up to 1 by which both samples can be multiplied so that rows of these classes suffice.

    At prior .7 the paper's size takes 2,400 positives and half of mushrooms has about 2,100. `reserved` rows of each
    class are left over.
    """
    n_true = int(np.sum(truth))
    positives = (n_true - reserved) / (n_positive + prior * n_unlabelled)
    negatives = (len(truth) - n_true - reserved) / ((1.0 - prior) * n_unlabelled)
    return min(1.0, positives, negatives)
