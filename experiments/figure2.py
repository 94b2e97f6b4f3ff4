"""Figure 2 of the paper: one-dimensional subspaces of the artificial data, over 20 draws.

n_P = 400, n_U = 1000, prior 0.7; positives lie in the middle along the horizontal axis, negatives on either side, and
both spread vertically. Angles between the direction that each method finds and the horizontal axis are written as
rows, and both panels are drawn for the first draw. ``python -m experiments.figure2 --device cpu``

PNRL is given the paper's network, a single rectified unit on the projection, and its training: one start and plain
SGD. With our training and a flexible g, PNRL finds the axis too (row "PNRL, flexible g"): the information about "P or
U" lies along it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from experiments.entry import DeviceOptions, option, read_options, save_figure
from experiments.records import write_rows
from purely.datasets import make_paper_data
from purely.representation import LSDR, PNRL, PURL, fit_together

N_POSITIVE, N_UNLABELLED, CLASS_PRIOR = 400, 1000, 0.7
#: Section 5.2: two layers, one rectified unit between them, SGD at 0.001, weight decay, gradient noise, 4:1 updates.
PAPER_LINEAR: dict[str, Any] = {
    "n_components": 1,
    "hidden": (),
    "head_hidden": (1,),
    "n_starts": 1,
    "optimizer": "sgd",
    "learning_rate": 0.001,
    "weight_decay": 0.0005,
    "gradient_noise": 0.01,
    "update": "alternating",
    "standardize": False,
    "patience": 200,
}
SMOKE = {"seeds": 1, "max_epochs": 2}
STYLES = {
    "PURL": ("tab:red", "-"),
    "LSDR-PU": ("tab:orange", "-"),
    "PCA": ("black", "--"),
    "FDA": ("tab:blue", "-."),
    "PNRL": ("tab:green", ":"),
}


@dataclass(frozen=True)
class Figure2(DeviceOptions):
    """Options of this figure."""

    seeds: int = 20
    first_seed: int = 0
    max_epochs: int = option(0, "of the networks; 0 leaves the models' own")
    name: str = option("figure2", "name of the rows; figures are drawn for figure2 alone")


def angle(direction: NDArray[np.float64]) -> float:
    """Degrees between a direction and the horizontal axis, 0 to 90."""
    return float(np.degrees(np.arctan2(abs(direction[1]), abs(direction[0]))))


def directions(samples: list[Any], seeds: range, options: Figure2) -> dict[str, list[NDArray[np.float64]]]:
    """The direction that each method finds in each sample; networks are trained as one stack."""
    data = [(s.X, s.y) for s in samples]
    common: dict[str, Any] = {"device": options.device}
    if options.max_epochs:
        common["max_epochs"] = options.max_epochs
    purl = [PURL(n_components=1, hidden=(), random_state=seed, **common) for seed in seeds]
    pnrl = [PNRL(**PAPER_LINEAR, random_state=seed, **common) for seed in seeds]
    flexible = [PNRL(n_components=1, hidden=(), random_state=seed, **common) for seed in seeds]
    for name, models in (("PURL", purl), ("PNRL", pnrl), ("PNRL, flexible g", flexible)):
        start = time.perf_counter()
        fit_together(models, data)
        print(f"{name}: {len(models)} fits in one stack, {time.perf_counter() - start:.1f} s", flush=True)
    start = time.perf_counter()
    lsdr = [LSDR(random_state=seed).fit(X, y) for seed, (X, y) in zip(seeds, data, strict=True)]
    print(f"LSDR-PU: {len(lsdr)} fits, {time.perf_counter() - start:.1f} s", flush=True)
    return {
        "PURL": [m.components_[0] for m in purl],
        "LSDR-PU": [m.components_[0] for m in lsdr],
        "PCA": [PCA(1).fit(X).components_[0] for X, _ in data],
        "FDA": [LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, 0] for X, y in data],
        "PNRL": [m.components_[0] for m in pnrl],
        "PNRL, flexible g": [m.components_[0] for m in flexible],
    }


def draw_panels(sample: Any, found: dict[str, NDArray[np.float64]], folder: Path) -> None:
    """Panel (a): the data and the subspaces; panel (b): unlabelled rows projected, with their true labels."""
    positive = sample.y == 1
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.scatter(*sample.X[~positive].T, s=6, c="0.7", label="unlabelled")
    axes.scatter(*sample.X[positive].T, s=8, c="tab:purple", marker="+", label="positive")
    for name, (color, line) in STYLES.items():
        unit = found[name] / np.linalg.norm(found[name])
        axes.plot(*(8.0 * np.outer([-1, 1], unit).T), color=color, linestyle=line, label=f"{name} ({angle(unit):.0f}°)")
    axes.set(xlim=(-7, 7), ylim=(-7, 7), xlabel="$x_1$", ylabel="$x_2$", title="Data and subspaces")
    axes.legend(loc="upper right", fontsize="small")
    save_figure(figure, folder, "figure2a", ["png"])
    figure = Figure(figsize=(5, 6), layout="constrained")
    rows = figure.subplots(len(STYLES), 1, sharey=True)
    truth = sample.y_true[~positive] == 1
    for axes, name in zip(rows, STYLES, strict=True):
        z = sample.X[~positive] @ (found[name] / np.linalg.norm(found[name]))
        edges = np.linspace(z.min(), z.max(), 41)
        axes.hist([z[truth], z[~truth]], edges, stacked=True, color=["tab:purple", "tab:gray"])
        axes.set_title(name, fontsize="small", loc="left")
        axes.set_yticks([])
    rows[0].legend(["positive", "negative"], fontsize="small", loc="upper right")
    figure.suptitle("Unlabelled rows, projected, with their true classes", fontsize="medium")
    save_figure(figure, folder, "figure2b", ["png"])


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Figure2, __doc__, SMOKE, arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    samples = [make_paper_data(N_POSITIVE, N_UNLABELLED, class_prior=CLASS_PRIOR, random_state=seed) for seed in seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = directions(samples, seeds, options)
    rows = [
        {
            "method": name,
            "seed": seed,
            "angle": f"{angle(direction):.3f}",
            "x1": f"{direction[0]:.6g}",
            "x2": f"{direction[1]:.6g}",
        }
        for name, several in found.items()
        for seed, direction in zip(seeds, several, strict=True)
    ]
    for name, several in found.items():
        angles = np.array([angle(direction) for direction in several])
        spread = f"{angles.min():.1f} to {angles.max():.1f}"
        print(f"{name:18s} median {np.median(angles):5.1f} degrees, {spread}")
    print(write_rows(options.name, rows, options.out))
    if options.name == "figure2":
        draw_panels(samples[0], {name: several[0] for name, several in found.items()}, options.out)


if __name__ == "__main__":
    main()
