"""Figure 3 (appendix D): KM with and without dimension reduction, error and time against the number of rows.

The paper's artificial data at prior .5, n_P = n_U = 500 to 5,000: KM1 on both columns, and on the first column alone,
which is the right projection.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.entry import mean_and_error, save_figure
from experiments.records import read_rows, write_rows
from purely import PurelyWarning
from purely.datasets import make_paper_data
from purely.prior import KernelMeanPrior

SIZES = (500, 1000, 2000, 3000, 4000, 5000)
CLASS_PRIOR = 0.5
WAYS = {"with dimension reduction": 1, "without": 2}


def run_figure3(folder: Path, trials: int, sizes: tuple[int, ...] = SIZES) -> None:
    """Measure, store the rows and draw."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        for trial in range(trials):
            data = make_paper_data(n_positive=n, n_unlabelled=n, class_prior=CLASS_PRIOR, random_state=trial)
            for way, columns in WAYS.items():
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", PurelyWarning)
                    found = KernelMeanPrior("km1").fit(data.X[:, :columns], data.y).class_prior_
                seconds = time.perf_counter() - start
                rows.append(
                    {
                        "n": n,
                        "trial": trial,
                        "seed": trial,
                        "method": way,
                        "estimate": round(found, 6),
                        "error": round(abs(found - CLASS_PRIOR), 6),
                        "seconds": round(seconds, 4),
                    }
                )
        print(f"n = {n} done", flush=True)
    write_rows("figure3", rows, folder)
    draw_figure3(folder)


def draw_figure3(folder: Path) -> None:
    """Draw both panels from the rows."""
    rows = read_rows("figure3", folder)
    sizes = sorted({int(r["n"]) for r in rows})
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    axes = figure.subplots(1, 2)
    labels = {"error": "absolute error of the class prior", "seconds": "seconds"}
    for axis, field in zip(axes, labels, strict=True):
        for way, marker in zip(WAYS, "os", strict=True):
            told = [[float(r[field]) for r in rows if int(r["n"]) == n and r["method"] == way] for n in sizes]
            means, errors = zip(*map(mean_and_error, told), strict=True)
            axis.errorbar(sizes, means, np.nan_to_num(errors), marker=marker, markersize=4, capsize=2, label=way)
        axis.set(xlabel="positives, and unlabelled rows", ylabel=labels[field])
        axis.set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    save_figure(figure, folder, "figure3")
