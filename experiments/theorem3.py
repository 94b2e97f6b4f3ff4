r"""Theorem 3: the errors of beta and of PU-SMI fall as 1/sqrt(n).

The basis is fixed (centres and bandwidth), so the population's beta* and PU-SMI* are known exactly (`exact_moments`),
and no l2 term is used, as in the theorem. ``python -m experiments.theorem3`` writes the rows and the figure.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from experiments.exact_moments import exact_moments
from experiments.records import RESULTS, read_rows, write_rows
from purely import PUSMI
from purely.datasets import gaussians_problem, paper_problem

SIZES = [100 * 2**i for i in range(9)]
#: A few centres well apart, so that H is far from singular and the asymptotics show at 100 rows.
PROBLEMS = {
    "paper": (paper_problem(), np.array([[0.0, 0.0], [3.0, 0.0], [-3.0, 0.0], [1.5, 2.0], [-1.5, -2.0]]), 1.0),
    "gaussians": (gaussians_problem(shift=2.0, n_features=2), np.array([[-1.5, 0.0], [0.5, 1.0], [2.5, -1.0]]), 1.0),
}


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


def slopes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Least-squares slope of the log mean error on log n, with its standard error over trials."""
    table = []
    for name in PROBLEMS:
        for what in ("beta_error", "smi_error"):
            errors = np.array(
                [[float(r[what]) for r in rows if r["problem"] == name and int(r["n"]) == n] for n in SIZES]
            )
            log_n = np.log(SIZES)
            log_mean = np.log(errors.mean(axis=1))
            design = log_n - log_n.mean()
            slope = float(design @ log_mean / (design @ design))
            relative = errors.std(axis=1, ddof=1) / errors.mean(axis=1) / np.sqrt(errors.shape[1])
            error = float(np.sqrt(np.sum((design * relative) ** 2)) / (design @ design))
            table.append({"problem": name, "quantity": what, "slope": slope, "standard_error": error})
    return table


def draw(rows: list[dict[str, Any]]) -> None:
    """Both errors against n on log axes, with the rate of the theorem as a dashed line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    titles = {"beta_error": "‖β̂ − β*‖", "smi_error": "|PU-SMI − PU-SMI*|"}
    fitted = {(r["problem"], r["quantity"]): r for r in slopes(rows)}
    for ax, what in zip(axes, titles, strict=True):
        for name, marker in zip(PROBLEMS, "os", strict=True):
            mean, error = [], []
            for n in SIZES:
                values = np.array([float(r[what]) for r in rows if r["problem"] == name and int(r["n"]) == n])
                mean.append(values.mean())
                error.append(values.std(ddof=1) / np.sqrt(values.size))
            slope = fitted[name, what]["slope"]
            ax.errorbar(SIZES, mean, error, marker=marker, ms=4, lw=1.2, label=f"{name}: slope {slope:.3f}")
        ax.plot(SIZES, 1.3 * mean[0] * np.sqrt(SIZES[0] / np.array(SIZES)), "k--", lw=0.8, label="slope −1/2")
        ax.set(xscale="log", yscale="log", xlabel="$n_\\mathrm{P} = n_\\mathrm{U}$", title=titles[what])
        ax.legend(frameon=False, fontsize=8)
    for suffix in ("png", "svg"):
        fig.savefig(RESULTS / f"theorem3.{suffix}", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draw-only", action="store_true", help="draw from the rows that are there")
    args = parser.parse_args()
    if not args.draw_only:
        cells = [(name, n, t) for name in PROBLEMS for n in SIZES for t in range(args.trials)]
        write_rows("theorem3", Parallel(n_jobs=args.jobs)(delayed(one_trial)(*cell) for cell in cells))
    rows: list[dict[str, Any]] = list(read_rows("theorem3"))
    for row in slopes(rows):
        print(f"{row['problem']:10} {row['quantity']:11} slope {row['slope']:.3f} ({row['standard_error']:.3f})")
    draw(rows)


if __name__ == "__main__":
    main()
