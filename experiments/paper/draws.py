"""Rows for training, validation and testing, drawn from the half of a data set that no choice was made on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from experiments.paper.config import Config
from experiments.sets import half_of, load, share_that_fits
from purely.datasets import make_pu

#: Test rows of each class that are left at least: where a half has too few rows, all samples shrink by one factor.
RESERVED = 40


@dataclass(frozen=True)
class Key:
    """Which draw."""

    dataset: str
    prior: float
    trial: int

    @property
    def seed(self) -> int:
        """Seed of the draw and of everything that is random about its methods."""
        return 1_000_000 + 10_000 * round(100 * self.prior) + self.trial


@dataclass(frozen=True)
class Draw:
    """One trial: positives and unlabelled rows with their true classes, and test rows.

    Attributes
    ----------
    X, y, truth : rows, labels (1 labelled positive, 0 unlabelled) and true classes of the training sample
    X_validation, y_validation : the same of the validation sample
    X_test, y_test : test rows and their true classes
    share : float
        Share of positives among the unlabelled training rows.
    rows : dict of ndarray
        Row numbers in the data set of "train", "validation" and "test".
    """

    key: Key
    X: Any
    y: Any
    truth: Any
    X_validation: Any
    y_validation: Any
    X_test: Any
    y_test: Any
    share: float
    rows: dict[str, Any]


def load_all(config: Config) -> None:
    """Read all data sets of a run, so that processes forked from here share them."""
    for name in config.datasets:
        load(name)


def draw(config: Config, key: Key, half_name: Literal["choose", "report"] = "report") -> Draw:
    """Draw the samples of one trial; the same key gives the same rows. Studies draw from the half "choose"."""
    X, y = load(key.dataset)
    half = half_of(y.size, half_name)
    truth = y[half]
    need = config.n_positive + config.n_validation_positive, config.n_unlabelled + config.n_validation_unlabelled
    fit = share_that_fits(truth, key.prior, *need, RESERVED)

    def sample(left: Any, n_positive: int, n_unlabelled: int, seed: int) -> tuple[Any, Any]:
        made = make_pu(
            left[:, None],
            truth[left],
            n_positive=int(n_positive * fit),
            n_unlabelled=int(n_unlabelled * fit),
            class_prior=key.prior,
            random_state=seed,
        )
        return made, np.asarray(made.X, dtype=np.intp)[:, 0]

    left = np.arange(truth.size)
    train, train_rows = sample(left, config.n_positive, config.n_unlabelled, key.seed)
    left = np.setdiff1d(left, train_rows)
    validation, validation_rows = sample(
        left, config.n_validation_positive, config.n_validation_unlabelled, key.seed + 500
    )
    left = np.random.default_rng(key.seed).permutation(np.setdiff1d(left, validation_rows))
    test_rows = np.concatenate([left[truth[left] == c][: config.n_test] for c in (1, 0)])
    return Draw(
        key=key,
        X=X[half[train_rows]],
        y=np.asarray(train.y),
        truth=truth[train_rows].astype(int),
        X_validation=X[half[validation_rows]],
        y_validation=np.asarray(validation.y),
        X_test=X[half[test_rows]],
        y_test=truth[test_rows].astype(int),
        share=float(truth[train_rows][np.asarray(train.y) == 0].mean()),
        rows={"train": half[train_rows], "validation": half[validation_rows], "test": half[test_rows]},
    )
