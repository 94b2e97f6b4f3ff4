"""The least time that the largest parts of the full run could take.

On the cores that is what comes before the networks of PUClassifier, its class prior and its other members. It cannot
do without the models' fits: those of the class prior in each fold, those of the members in each fold and on all rows;
the trees in the folds serve both. These are timed bare, beside the whole, on one draw of each data set.

On the GPU it is the paper's nnPU on all columns. What cannot be done without: the products of the forward and backward
passes (two operations forward and four backward for each weight and row), and moving the rows of a step, the
parameters, their gradient and Adam's two moments through the GPU's memory once each way. Peaks are those of the
vendor's data sheet: TF32 without sparsity, and the memory's.
"""

from __future__ import annotations

import time
import warnings
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from experiments.paper.config import COLUMNS, Config
from experiments.paper.draws import Draw, Key, draw
from experiments.paper.methods import nnpu, ours
from experiments.sets import PAPER_SETS
from purely.classifiers.members import TABLE_MEMBERS, make_members
from purely.classifiers.nnpu import PRESETS
from purely.prior.ratio import AUTO_MODELS, resolve_models

#: Operations and bytes a second.
PEAKS = {"NVIDIA H200": (494e12, 4.8e12)}
#: Times that a number of each parameter is moved a step: gradient, weight and two moments, each read and written.
MOVED = 8


def inputs(column: str, d: int, text: bool) -> int:
    """Columns of a representation of d features."""
    shares = {"none": 1.0, "pca_d4": 0.25, "pca_d2": 0.5, "pca_3d4": 0.75}
    if column in shares:
        return int(shares[column] * d)
    return 1 if column == "fda" else (10 if text else 20)


def work_of(config: Config) -> tuple[float, float]:
    """Operations and bytes of the paper's nnPU on all columns of all draws."""
    operations = moved = 0.0
    for name in config.datasets:
        text = PAPER_SETS[name].text
        settings = nnpu.paper_settings(text)
        preset, batch = PRESETS[settings["preset"]], settings["batch_size"]
        for prior in config.priors:
            n, d = draw(config, Key(name, prior, 0)).X.shape
            steps = preset["max_epochs"] * config.trials * round(n / batch)
            for column in COLUMNS:
                widths = (inputs(column, d, text), *preset["hidden"], 1)
                weights = sum(a * b for a, b in pairwise(widths))
                operations += steps * 6.0 * batch * weights
                moved += steps * 4.0 * (MOVED * weights + batch * widths[0])
    return operations, moved


def bare_fits(d: Draw, n_folds: int = 5) -> float:
    """Seconds of the models' fits alone."""
    ratios = resolve_models(AUTO_MODELS, *d.X.shape, sparse=sp.issparse(d.X), seed=d.key.seed)
    members = [member.prototype for member in make_members(TABLE_MEMBERS, d.X, d.share, d.key.seed)]
    fold = np.random.default_rng(0).integers(n_folds, size=d.y.size)
    start = time.perf_counter()
    for j in range(n_folds):
        rows = fold != j
        for model in (*ratios, *members[1:]):  # the trees of the ratios serve as the first member, too
            clone(model, safe=False).fit(d.X[rows], d.y[rows])
    for model in members:
        clone(model, safe=False).fit(d.X, d.y)
    return time.perf_counter() - start


def print_core_floor(config: Config) -> None:
    bare = whole = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in config.datasets:
            d = draw(config, Key(name, 0.5, 0))
            bare += bare_fits(d)
            start = time.perf_counter()
            ours.begin(d, "cpu", config.ours)
            whole += time.perf_counter() - start
    print(
        f"class priors, members without networks: {whole:.1f} s of a core for a draw of each set, "
        f"bare fits {bare:.1f} s"
    )


def print_floor(config: Config) -> None:
    print_core_floor(config)
    operations, moved = work_of(config)
    print(f"nnPU on all columns: {operations / 1e12:.0f} Tflop, {moved / 1e12:.1f} TB")
    for name, (rate, bandwidth) in PEAKS.items():
        print(f"{name}: {operations / rate:.1f} s of arithmetic, {moved / bandwidth:.1f} s of memory traffic")
