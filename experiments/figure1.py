"""Figure 1 of the paper: squared error of PU-SMI against the large-sample supervised estimate.

(a) n_P from 10 to 200 with n_U = 400; (b) n_U from 10 to 200 with n_P = 200; class prior 0.5, 50 trials, four LIBSVM
sets. ``python -m experiments.figure1`` writes the rows and the figure; the data come from ``PURELY_DATA`` or the cache.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from experiments.entry import Options, in_parallel, mean_and_error, option, read_options, save_figure
from experiments.records import read_rows, write_rows
from experiments.sets import load
from purely import PUSMI, make_pu
from purely.exceptions import SearchBoundWarning
from purely.smi import PNSMI

SETS = ("ijcnn1", "phishing", "mushrooms", "a9a")
SIZES = (10, 20, 50, 100, 150, 200)
PANELS = {"n_P": ("n_unlabelled", 400), "n_U": ("n_positive", 200)}
SYMBOLS = {"n_P": "$n_\\mathrm{P}$", "n_U": "$n_\\mathrm{U}$"}
CLASS_PRIOR = 0.5
SMOKE = {"trials": 2, "sets": ("mushrooms",), "sizes": (10, 20), "n_reference": 200}


@dataclass(frozen=True)
class Figure1(Options):
    """Options of this figure."""

    trials: int = 50
    sets: tuple[str, ...] = option(SETS, choices=SETS)
    sizes: tuple[int, ...] = option(SIZES, choices=SIZES)
    n_reference: int = option(3_500, "rows a class of the supervised estimate that stands for the truth")
    draw_only: bool = option(False, "draw from the rows that are there")


def reference(name: str, n_class: int) -> dict[str, Any]:
    """The supervised estimate with many rows, centres and no class imbalance."""
    X, y = load(name)
    draw = make_pu(X, y, n_positive=1, n_unlabelled=2 * n_class, class_prior=CLASS_PRIOR, random_state=0)
    X, y = draw.X[draw.y == 0], draw.y_true[draw.y == 0]
    model = PNSMI(n_centers=500, class_prior=CLASS_PRIOR, n_jobs=2, random_state=0).fit(X, y)
    return {"dataset": name, "smi": model.smi(), "smi_in_sample": model.smi_in_sample_}


def one_trial(name: str, panel: str, n: int, trial: int) -> dict[str, Any]:
    X, y = load(name)
    fixed, size = PANELS[panel]
    counts = {"n_positive": n, "n_unlabelled": n, fixed: size}
    seed = 100_000 * SETS.index(name) + 10_000 * list(PANELS).index(panel) + 100 * SIZES.index(n) + trial
    draw = make_pu(X, y, **counts, class_prior=CLASS_PRIOR, counts="binomial", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchBoundWarning)
        model = PUSMI(random_state=seed).fit(draw.X, draw.y)
    odds = CLASS_PRIOR / (1.0 - CLASS_PRIOR)
    return {
        "dataset": name,
        "panel": panel,
        "n": n,
        "trial": trial,
        "seed": seed,
        "smi_in_sample": odds * model.information_in_sample_,
        "smi_out_of_fold": model.smi(CLASS_PRIOR),
    }


def summarise(rows: list[dict[str, str]], truth: dict[str, float], column: str) -> dict[tuple[str, str, int], Any]:
    """Mean squared error and its standard error, by set, panel and size."""
    errors: dict[tuple[str, str, int], list[float]] = {}
    for r in rows:
        error = (float(r[column]) - truth[r["dataset"]]) ** 2
        errors.setdefault((r["dataset"], r["panel"], int(r["n"])), []).append(error)
    return {cell: mean_and_error(values) for cell, values in errors.items()}


def draw_figure(table: dict[tuple[str, str, int], Any], options: Figure1, folder: Path) -> None:
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (panel, (_, size)) in zip(axes, PANELS.items(), strict=True):
        for name, marker in zip(options.sets, "osD^", strict=False):
            mean, error = zip(*(table[name, panel, n] for n in options.sizes), strict=True)
            ax.errorbar(options.sizes, mean, error, marker=marker, ms=4, lw=1.2, capsize=2, label=name)
        other = "n_U" if panel == "n_P" else "n_P"
        ax.set(xlabel=SYMBOLS[panel], yscale="log", title=f"{SYMBOLS[other]} = {size}")
    axes[0].set_ylabel("mean squared error of PU-SMI")
    axes[1].legend(frameon=False)
    save_figure(figure, folder, "figure1")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Figure1, __doc__, SMOKE, arguments)
    if not options.draw_only:
        cells = [
            (s, p, n, t) for s in options.sets for p in PANELS for n in options.sizes for t in range(options.trials)
        ]
        write_rows("figure1", in_parallel(one_trial, cells, options.jobs), options.out)
        write_rows("figure1_reference", [reference(s, options.n_reference) for s in options.sets], options.out)
    rows = read_rows("figure1", options.out)
    truth = {r["dataset"]: float(r["smi"]) for r in read_rows("figure1_reference", options.out)}
    for column in ("smi_in_sample", "smi_out_of_fold"):
        table = summarise(rows, truth, column)
        print(f"\n{column}: mean squared error (standard error)")
        for panel in PANELS:
            print(f"  {panel:10}" + "".join(f"{n:>16}" for n in options.sizes))
            for name in options.sets:
                cells_of_row = ("{:.4f} ({:.4f})".format(*table[name, panel, n]) for n in options.sizes)
                print(f"  {name:10}" + "".join(f"{c:>16}" for c in cells_of_row) + f"   truth {truth[name]:.3f}")
    draw_figure(summarise(rows, truth, "smi_in_sample"), options, options.out)


if __name__ == "__main__":
    main()
