"""Problems that the tests of class priors share."""

from __future__ import annotations

import numpy as np
import pytest

from purely.prior import (
    AlphaMaxPrior,
    BestBinPrior,
    ClassPrior,
    DEDPULPrior,
    DensityRatioPrior,
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
    AlphaMaxPrior(ratio="linear", n_resamples=3),
    BestBinPrior(ratio="linear", n_resamples=10),
    DEDPULPrior(ratio="linear", n_resamples=5),
    ElkanNotoPrior(ratio="linear", n_resamples=10),
    LogisticCeilingPrior(ratio="linear", n_resamples=3),
    MonotoneRatioPrior(ratio="linear", n_resamples=5),
    RankPruningPrior(ratio="linear", n_resamples=10),
]
EVERY = [
    *ONE_DIMENSIONAL,
    DensityRatioPrior("linear", "kernel-mean", cv=2, n_resamples=0),
    DensityRatioPrior("linear", "combined", n_resamples=3),
    KernelMeanPrior(),
    KernelMeanPrior("km2"),
    PenL1Prior(n_resamples=3),
    RegroupingPrior(ratio="linear"),
    TIcEPrior(),
]
DEFAULT = [ClassPrior(n_resamples=2, n_estimators=3, cv=2)]


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
