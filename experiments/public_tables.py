"""Cells of public tables that others have published, with the class prior estimated and the known one beside it.

PU-Bench, case-control: a tenth of the training positives are labelled, the pool is the whole training set, accuracy is
that of the test set. TEDn: as many positives as unlabelled rows, half of which are positive.

    PURELY_DATA=folder python -m experiments.public_tables --seeds 10 --device cuda
    python -m experiments.public_tables --summarise

Images have a convolutional encoder: one that tells positives from unlabelled rows for the prior, and one with the
non-negative risk for the class. Mushrooms have PUClassifier's defaults.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.entry import DeviceOptions, mean_and_error, option, read_options
from experiments.records import RowLog, read_rows
from purely import ClassPrior, NNPUClassifier, PUClassifier, stack
from purely.datasets import fetch_fashion_mnist, fetch_mnist, fetch_mushrooms

NAME = "public_tables"
FIELDS = ("cell", "seed", "n_positive", "n_unlabelled", "prior", "estimate", "low", "high", "accuracy", "seconds")


@dataclass(frozen=True)
class Cell:
    """One cell of a public table.

    Attributes
    ----------
    fetch : function
        Of a data set in two parts.
    positive, among : tuple of int
        Classes that are positive, and all that are used.
    n_positive, n_unlabelled : int
        Rows of each kind; 0 for a tenth of the positives, and for the whole training set.
    published : str
        What others report, in per cent.
    """

    fetch: Any
    positive: tuple[int, ...]
    among: tuple[int, ...] = tuple(range(10))
    n_positive: int = 0
    n_unlabelled: int = 0
    published: str = ""


CELLS = {
    "mnist": Cell(fetch_mnist, (0, 2, 4, 6, 8), published="nnPU 94.85, Dist-PU 95.70, LBE 97.23"),
    "fashion-mnist": Cell(fetch_fashion_mnist, (0, 2, 3, 4, 6), published="nnPU 96.67, Dist-PU 95.31, LBE 98.42"),
    "tedn-digits": Cell(fetch_mnist, (0, 1, 2, 3, 4), (), 15_000, 15_000, "TEDn 95.5, prior off by .026"),
    "tedn-1-7": Cell(fetch_mnist, (1,), (1, 7), 3_000, 3_000, "TEDn 98.7, prior off by .002"),
}
TABLES = (*CELLS, "mushrooms")
SMOKE: dict[str, Any] = {"cells": ("tedn-1-7",), "seeds": 1, "most_rows": 400, "epochs": 1}


@dataclass(frozen=True)
class PublicTables(DeviceOptions):
    """Options of this comparison."""

    cells: tuple[str, ...] = option(TABLES, choices=TABLES)
    seeds: int = 10
    first_seed: int = 0
    epochs: int = option(15, "of the classifier's networks; those of the prior have a third as many")
    most_rows: int = option(10**9, "rows of a training set at most")
    summarise: bool = option(False, "only print the means of the rows that are there")


@dataclass(frozen=True)
class Drawn:
    """A draw: labelled positives, unlabelled rows and their share of positives, test rows and their classes."""

    P: Any
    U: Any
    prior: float
    X_test: Any
    y_test: Any


def draw(name: str, seed: int, most_rows: int) -> Drawn:
    rng = np.random.default_rng(seed)
    if name == "mushrooms":  # no test set of its own: a fifth of the rows
        data = fetch_mushrooms()
        X, y = data.data, np.asarray(data.target) == 1
        order = rng.permutation(y.size)
        train, test = order[: int(0.8 * y.size)][:most_rows], order[int(0.8 * y.size) :]
        kept = rng.permutation(train[y[train]])[: max(20, round(0.1 * y[train].sum()))]
        return Drawn(X[kept], X[train], float(y[train].mean()), X[test], y[test])
    cell = CELLS[name]
    parts = [cell.fetch(subset=part, positive_classes=cell.positive) for part in ("train", "test")]
    used = [np.flatnonzero(np.isin(p.original_target, cell.among or range(10))) for p in parts]
    (X, y), (X_test, y_test) = (
        (p.data[rows], np.asarray(p.target)[rows] == 1) for p, rows in zip(parts, used, strict=True)
    )
    own, rest = rng.permutation(np.flatnonzero(y)), rng.permutation(np.flatnonzero(~y))
    if not cell.n_unlabelled:
        pool = rng.permutation(y.size)[:most_rows]
        n_p = max(20, round(0.1 * np.count_nonzero(y[pool])))
        return Drawn(X[own[:n_p]], X[pool], float(y[pool].mean()), X_test, y_test)
    n_p, n_u = min(cell.n_positive, most_rows // 2), min(cell.n_unlabelled, most_rows // 2)
    pool = np.concatenate([own[n_p : n_p + n_u // 2], rest[: n_u - n_u // 2]])
    even = np.concatenate([np.flatnonzero(y_test), np.flatnonzero(~y_test)])
    return Drawn(X[own[:n_p]], X[pool], float(y[pool].mean()), X_test[even], y_test[even])


def convolutions() -> Any:
    """Images of 28 x 28 pixels to 128 numbers."""
    from torch import nn

    def block(n_in: int, n_out: int) -> list[Any]:
        return [nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU()]

    layers = [*block(1, 16), *block(16, 32), nn.MaxPool2d(2), *block(32, 64), nn.MaxPool2d(2)]
    dense = [nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.BatchNorm1d(128), nn.ReLU()]
    return nn.Sequential(nn.Unflatten(1, (1, 28, 28)), *layers, *dense)


def image_classifier(epochs: int, device: str, seed: int) -> Any:
    """The recipe for images: a prior from a network's density ratio, a class from networks with the PU risk."""
    shared: dict[str, Any] = {"encoder": convolutions(), "n_ensemble": 1, "batch_size": 500, "device": device}
    shared |= {"standardize": False, "dropout": 0.0, "random_state": seed}
    ratio = NNPUClassifier(0.5, risk="pn", loss="logistic", max_epochs=max(1, epochs // 3), **shared)
    prior = ClassPrior(ratio, cv=3, random_state=seed)
    return NNPUClassifier(prior, max_epochs=epochs, cv=2, refit=False, **shared)


def judge(name: str, seed: int, options: PublicTables) -> dict[str, Any]:
    drawn = draw(name, seed, options.most_rows)
    start = time.perf_counter()
    model: Any = PUClassifier(random_state=seed, device=options.device)
    if name != "mushrooms":
        model = image_classifier(options.epochs, options.device, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = stack(drawn.P, drawn.U)
        model.fit(X, y)
    called = model.predict(drawn.X_test) == 1
    low, high = model.class_prior_interval_
    return {
        "cell": name,
        "seed": seed,
        "n_positive": drawn.P.shape[0],
        "n_unlabelled": drawn.U.shape[0],
        "prior": drawn.prior,
        "estimate": model.class_prior_,
        "low": low,
        "high": high,
        "accuracy": float(np.mean(called == drawn.y_test)),
        "seconds": time.perf_counter() - start,
    }


def summarise(rows: list[dict[str, Any]]) -> None:
    for name in dict.fromkeys(row["cell"] for row in rows):
        own = [row for row in rows if row["cell"] == name]
        accuracy, error = mean_and_error(100.0 * float(row["accuracy"]) for row in own)
        off = float(np.mean([abs(float(row["estimate"]) - float(row["prior"])) for row in own]))
        known = CELLS[name].published if name in CELLS else ""
        print(f"{name:14s} {len(own):2d} seeds: {accuracy:.2f} ± {error:.2f}, prior off by {off:.4f}   ({known})")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(PublicTables, __doc__, SMOKE, arguments)
    if not options.summarise:
        log = RowLog(NAME, FIELDS, options.out, resume=False)
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for name in options.cells:
                log.add(judge(name, seed, options))
    summarise(read_rows(NAME, options.out))


if __name__ == "__main__":
    main()
