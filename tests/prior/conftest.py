"""Problems that the tests of class priors share."""

from __future__ import annotations

import numpy as np
import pytest

from purely.prior import (
    AlphaMaxPrior,
    BestBinPrior,
    ClassPrior,
    DEDPULPrior,
    ElkanNotoPrior,
    KernelMeanPrior,
    LogisticCeilingPrior,
    MonotoneRatioPrior,
    PenL1Prior,
    RankPruningPrior,
    RegroupingPrior,
    TIcEPrior,
)

#: Estimators that read one score; a cheap model stands in for the default ones where there are several columns.
ONE_DIMENSIONAL = [
    AlphaMaxPrior(ratio="linear"),
    BestBinPrior(ratio="linear"),
    DEDPULPrior(ratio="linear"),
    ElkanNotoPrior(ratio="linear"),
    LogisticCeilingPrior(ratio="linear"),
    MonotoneRatioPrior(ratio="linear"),
    RankPruningPrior(ratio="linear"),
]
EVERY = [
    *ONE_DIMENSIONAL,
    ClassPrior("linear", "kernel-mean", cv=2),
    ClassPrior("linear"),
    KernelMeanPrior(ratio="linear"),
    KernelMeanPrior("km2", ratio="linear"),
    PenL1Prior(ratio="linear"),
    RegroupingPrior(ratio="linear"),
    TIcEPrior(ratio="linear"),
]
DEFAULT = [ClassPrior(cv=2)]


def name_of(estimator: object) -> str:
    return repr(estimator).replace("\n", "").replace(" ", "")[:60]


def make_separable(prior: float, seed: int, *, n_p: int = 600, n_u: int = 1200, d: int = 2, gap: float = 6.0):
    """Two normal classes so far apart that every method's assumption holds."""
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_u)
    positives = rng.normal(size=(n_p + hidden, d)) + gap / np.sqrt(d)
    X = np.concatenate([positives, rng.normal(size=(n_u - hidden, d))])
    return X, (np.arange(n_p + n_u) < n_p).astype(int)


@pytest.fixture
def separable():
    return make_separable(0.4, 0)
