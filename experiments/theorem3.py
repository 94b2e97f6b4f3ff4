r"""Theorem 3: the errors of beta and of PU-SMI fall as 1/sqrt(n).

The basis is fixed (centres and bandwidth), so the population's beta* and PU-SMI* are known exactly (`exact_moments`),
and no l2 term is used, as in the theorem. ``python -m experiments.theorem3`` writes the rows and the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.entry import Options, in_parallel, mean_and_error, option, read_options, save_figure
from experiments.exact_moments import exact_moments
from experiments.records import read_rows, write_rows
from purely import PUSMI
from purely.datasets import gaussians_problem, paper_problem

SIZES = tuple(100 * 2**i for i in range(9))
SMOKE = {"trials": 2, "sizes": (100, 200)}
#: A few centres well apart, so that H is far from singular and the asymptotics show at 100 rows.
PROBLEMS = {
    "paper": (paper_problem(), np.array([[0.0, 0.0], [3.0, 0.0], [-3.0, 0.0], [1.5, 2.0], [-1.5, -2.0]]), 1.0),
    "gaussians": (gaussians_problem(shift=2.0, n_features=2), np.array([[-1.5, 0.0], [0.5, 1.0], [2.5, -1.0]]), 1.0),
}


@dataclass(frozen=True)
class Theorem3(Options):
    """Options of this study."""

    trials: int = 100
    sizes: tuple[int, ...] = option(SIZES, choices=SIZES)
    draw_only: bool = option(False, "draw from the rows that are there")


def one_trial(name: str, n: int, trial: int) -> dict[str, Any]:
    """Errors of one draw of n positives and n unlabelled rows."""
    problem, centers, bandwidth = PROBLEMS[name]
    H, h = exact_moments(problem, centers, bandwidth, intercept=False)
    best = np.linalg.solve(H, h)
    odds = problem.class_prior / (1.0 - problem.class_prior)
    target = odds * (best @ h - 0.5 * best @ H @ best - 0.5)
    seed = 1_000_000 * list(PROBLEMS).index(name) + 1_000 * SIZES.index(n) + trial
    sample = problem.sample(n, n, random_state=seed)
    model = PUSMI(centers=centers, bandwidth=bandwidth, alpha=0.0, intercept=False, cv=2, random_state=seed)
    model.fit(sample.X, sample.y)
    return {
        "problem": name,
        "n": n,
        "trial": trial,
        "seed": seed,
        "beta_error": float(np.linalg.norm(model.coef_ - best)),
        "smi_error": abs(odds * model.information_in_sample_ - target),
        "smi_target": target,
    }


def errors_by_size(rows: list[dict[str, str]], name: str, what: str) -> dict[int, list[float]]:
    """Errors of one problem, in the order of n."""
    errors: dict[int, list[float]] = {}
    for r in rows:
        if r["problem"] == name:
            errors.setdefault(int(r["n"]), []).append(float(r[what]))
    return dict(sorted(errors.items()))


def slope(errors: dict[int, list[float]]) -> tuple[float, float]:
    """Least-squares slope of the log mean error on log n, with its standard error over trials."""
    mean, error = np.array([mean_and_error(values) for values in errors.values()]).T
    design = np.log(list(errors)) - np.log(list(errors)).mean()
    spread = np.sqrt(np.sum((design * error / mean) ** 2))
    return float(design @ np.log(mean) / (design @ design)), float(spread / (design @ design))


def draw(rows: list[dict[str, str]], folder: Path) -> None:
    """Both errors against n on log axes, with the rate of the theorem as a dashed line."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    titles = {"beta_error": "‖β̂ − β*‖", "smi_error": "|PU-SMI − PU-SMI*|"}
    for ax, (what, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        for name, marker in zip(PROBLEMS, "os", strict=True):
            errors = errors_by_size(rows, name, what)
            value, error = slope(errors)
            print(f"{name:10} {what:11} slope {value:.3f} ({error:.3f})")
            mean, spread = zip(*map(mean_and_error, errors.values()), strict=True)
            sizes = np.array(list(errors))
            ax.errorbar(sizes, mean, spread, marker=marker, ms=4, lw=1.2, label=f"{name}: slope {value:.3f}")
        ax.plot(sizes, 1.3 * mean[0] * np.sqrt(sizes[0] / sizes), "k--", lw=0.8, label="slope −1/2")
        ax.set(xscale="log", yscale="log", xlabel="$n_\\mathrm{P} = n_\\mathrm{U}$", title=title)
        ax.legend(frameon=False, fontsize=8)
    save_figure(figure, folder, "theorem3")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Theorem3, __doc__, SMOKE, arguments)
    if not options.draw_only:
        cells = [(name, n, t) for name in PROBLEMS for n in options.sizes for t in range(options.trials)]
        write_rows("theorem3", in_parallel(one_trial, cells, options.jobs), options.out)
    draw(read_rows("theorem3", options.out), options.out)


if __name__ == "__main__":
    main()
