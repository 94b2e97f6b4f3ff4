"""What a run consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from experiments.entry import Options, option
from experiments.sets import PAPER_SETS

#: The paper's data sets, in its order.
DATASETS = tuple(PAPER_SETS)
#: The paper's columns, in its order.
COLUMNS = ("none", "pca_d4", "pca_d2", "pca_3d4", "fda", "pnrl", "purl")


@dataclass(frozen=True)
class Config:
    """Sizes and settings of a run.

    Attributes
    ----------
    name : str
        Name of the folder with the run's rows.
    datasets : tuple of str
        Names of `experiments.sets.PAPER_SETS`.
    priors : tuple of float
        Class priors.
    trials : int
        Draws of each data set and prior.
    n_positive, n_unlabelled : int
        Training rows.
    n_validation_positive, n_validation_unlabelled : int
        Rows for validation.
    n_test : int
        Test rows of each class, at most.
    representation, classifier, ours : dict
        Settings of PURL and PNRL, of the paper's nnPU, and of PUClassifier that differ from the full run's.
    """

    name: str
    datasets: tuple[str, ...] = DATASETS
    priors: tuple[float, ...] = (0.3, 0.5, 0.7)
    trials: int = 20
    n_positive: int = 1000
    n_unlabelled: int = 2000
    n_validation_positive: int = 50
    n_validation_unlabelled: int = 200
    n_test: int = 1000
    representation: dict[str, Any] = field(default_factory=dict)
    classifier: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)


FULL = Config("full")
SMOKE = Config(
    "smoke",
    datasets=("mushrooms", "phishing"),
    priors=(0.5,),
    trials=1,
    n_positive=100,
    n_unlabelled=200,
    n_validation_positive=20,
    n_validation_unlabelled=40,
    n_test=200,
    representation={"max_epochs": 2},
    classifier={"max_epochs": 2, "hidden": (20,), "n_ensemble": 1},
    ours={"max_epochs": 2, "hidden": (20,), "n_ensemble": 1, "refit": False},
)
CONFIGS = {"full": FULL, "smoke": SMOKE}


@dataclass(frozen=True)
class DrawOptions(Options):
    """Options of a study that draws as a run does."""

    trials: int = 2
    datasets: tuple[str, ...] = option(DATASETS, choices=DATASETS)
    priors: tuple[float, ...] = FULL.priors
    config: str = option("full", "sizes of the draws", choices=CONFIGS)


SMOKE_DRAWS = {"trials": 1, "datasets": ("mushrooms",), "priors": (0.5,), "config": "smoke"}
