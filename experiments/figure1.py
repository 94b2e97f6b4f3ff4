"""Figure 1 of the paper: squared error of PU-SMI against the large-sample supervised estimate.

(a) n_P from 10 to 200 with n_U = 400; (b) n_U from 10 to 200 with n_P = 200; class prior 0.5, 50 trials, four LIBSVM
sets. ``python -m experiments.figure1`` writes the rows and the figure; the data come from ``PURELY_DATA`` or the cache.
"""

from __future__ import annotations

import argparse
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from experiments.records import RESULTS, read_rows, write_rows
from purely import PUSMI, datasets, make_pu
from purely.exceptions import SearchBoundWarning
from purely.smi import PNSMI

SETS = ("ijcnn1", "phishing", "mushrooms", "a9a")
SIZES = (10, 20, 50, 100, 150, 200)
PANELS = {"n_P": ("n_unlabelled", 400), "n_U": ("n_positive", 200)}
SYMBOLS = {"n_P": "$n_\\mathrm{P}$", "n_U": "$n_\\mathrm{U}$"}
CLASS_PRIOR = 0.5
#: Rows a class of the supervised estimate that stands for the truth.
N_REFERENCE = 3_500


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, Any]:
    return getattr(datasets, f"fetch_{name}")(return_X_y=True)


def reference(name: str) -> dict[str, Any]:
    """The supervised estimate with many rows, centres and no class imbalance."""
    X, y = load(name)
    draw = make_pu(X, y, n_positive=1, n_unlabelled=2 * N_REFERENCE, class_prior=CLASS_PRIOR, random_state=0)
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
    table = {}
    for name in SETS:
        for panel in PANELS:
            for n in SIZES:
                values = [
                    float(r[column]) for r in rows if r["dataset"] == name and r["panel"] == panel and int(r["n"]) == n
                ]
                squared = (np.array(values) - truth[name]) ** 2
                table[name, panel, n] = (squared.mean(), squared.std(ddof=1) / np.sqrt(squared.size))
    return table


def draw_figure(rows: list[dict[str, str]], truth: dict[str, float]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    table = summarise(rows, truth, "smi_in_sample")
    for ax, (panel, (_, size)) in zip(axes, PANELS.items(), strict=True):
        for name, marker in zip(SETS, "osD^", strict=True):
            mean, error = zip(*(table[name, panel, n] for n in SIZES), strict=True)
            ax.errorbar(SIZES, mean, error, marker=marker, ms=4, lw=1.2, capsize=2, label=name)
        other = "n_U" if panel == "n_P" else "n_P"
        ax.set(xlabel=SYMBOLS[panel], yscale="log", title=f"{SYMBOLS[other]} = {size}")
    axes[0].set_ylabel("mean squared error of PU-SMI")
    axes[1].legend(frameon=False)
    for suffix in ("png", "svg"):
        fig.savefig(RESULTS / f"figure1.{suffix}", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draw-only", action="store_true", help="draw from the rows that are there")
    args = parser.parse_args()
    if not args.draw_only:
        rows = []
        for name in SETS:
            write = [(name, panel, n, t) for panel in PANELS for n in SIZES for t in range(args.trials)]
            rows += Parallel(n_jobs=args.jobs)(delayed(one_trial)(*cell) for cell in write)
        write_rows("figure1", rows)
        write_rows("figure1_reference", [reference(name) for name in SETS])
    table_rows = read_rows("figure1")
    truth = {r["dataset"]: float(r["smi"]) for r in read_rows("figure1_reference")}
    for column in ("smi_in_sample", "smi_out_of_fold"):
        table = summarise(table_rows, truth, column)
        print(f"\n{column}: mean squared error (standard error)")
        for panel in PANELS:
            print(f"  {panel:10}" + "".join(f"{n:>16}" for n in SIZES))
            for name in SETS:
                cells = (f"{table[name, panel, n][0]:.4f} ({table[name, panel, n][1]:.4f})" for n in SIZES)
                print(f"  {name:10}" + "".join(f"{c:>16}" for c in cells) + f"   truth {truth[name]:.3f}")
    draw_figure(table_rows, truth)


if __name__ == "__main__":
    main()
