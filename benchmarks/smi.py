"""PU-SMI: one model grid against densratio's uLSIF, against a plain loop over cells, and against its own floor.

100 centres, 9 bandwidths, 9 l2 values, 5 folds; n_P = 1,000, n_U = 2,000, d = 20. Then growth in n_U.
``python -m benchmarks.smi``; densratio comes with the extra ``bench``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from densratio import densratio
from experiments.entry import option, read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions, in_child, in_turn
from purely import PUSMI, stack
from purely.exceptions import SearchBoundWarning
from purely.smi.basis import GaussianBases, row_blocks

N_COLUMNS, N_CENTERS, N_FOLDS = 20, 100, 5
BANDWIDTHS = np.logspace(0.0, 1.5, 9)
ALPHAS = np.logspace(-3.0, 1.0, 9)
SMOKE = {"repeats": 1, "n_positive": 100, "n_unlabelled": 200, "growth": (500,)}


@dataclass(frozen=True)
class SMI(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 9
    n_positive: int = 1_000
    n_unlabelled: int = 2_000
    growth: tuple[int, ...] = option((10_000, 100_000, 1_000_000), "numbers of unlabelled rows to time in turn")


def data(n_positive: int, n_unlabelled: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    P = rng.normal(size=(n_positive, N_COLUMNS))
    U = rng.normal(size=(n_unlabelled, N_COLUMNS))
    P[:, :2] += 1.0
    U[: n_unlabelled // 2, :2] += 1.0
    return stack(P, U)


def ours() -> PUSMI:
    return PUSMI(n_centers=N_CENTERS, bandwidth=BANDWIDTHS, alpha=ALPHAS, cv=N_FOLDS, n_jobs=2, random_state=0)


def plain_loop(X: Any, positive: Any, centers: Any, folds: Any) -> tuple[float, float]:
    """The same grid, each cell of each fold solved on its own; returns the chosen bandwidth and l2 value."""
    P, U, fold_p, fold_u = X[positive], X[~positive], folds[positive], folds[~positive]
    score = np.zeros((BANDWIDTHS.size, ALPHAS.size))
    for s, bandwidth in enumerate(BANDWIDTHS):
        phi_p, phi_u = (
            np.exp(-((A[:, None, :] - centers[None]) ** 2).sum(axis=2) / (2.0 * bandwidth**2)) for A in (P, U)
        )
        phi_p, phi_u = (np.column_stack([phi, np.ones(len(phi))]) for phi in (phi_p, phi_u))
        for a, alpha in enumerate(ALPHAS):
            for k in range(N_FOLDS):
                train_u, train_p = phi_u[fold_u != k], phi_p[fold_p != k]
                H = train_u.T @ train_u / len(train_u)
                beta = np.linalg.solve(H + alpha * np.eye(len(H)), train_p.mean(axis=0))
                w_p, w_u = phi_p[fold_p == k] @ beta, phi_u[fold_u == k] @ beta
                score[s, a] += w_p.sum() / len(P) - 0.5 * np.sum(w_u**2) / len(U)
    s, a = np.unravel_index(int(np.argmax(score)), score.shape)
    return float(BANDWIDTHS[s]), float(ALPHAS[a])


def floor(X: Any, centers: Any) -> None:
    """Nothing but the basis: distances and exponentials at every row and bandwidth."""
    origin = centers.mean(axis=0)
    bases = GaussianBases(centers - origin, origin, BANDWIDTHS, intercept=True)
    for block in row_blocks(np.arange(len(X)), bases.n_functions, X.shape[1]):
        for _ in bases(X[block]):
            pass


def peer(X: Any, positive: Any) -> Any:
    return densratio(
        X[positive],
        X[~positive],
        method="uLSIF",
        sigma=list(BANDWIDTHS),
        lambda_=list(ALPHAS),
        kernel_num=N_CENTERS,
        fold=N_FOLDS,
        verbose=False,
    )


GROWTH = """
import time, warnings
warnings.simplefilter("ignore")
from benchmarks.smi import data, ours
X, y = data({n_positive}, {n})
start = time.perf_counter()
ours().set_params(n_jobs={jobs}).fit(X, y)
result = {{"seconds": time.perf_counter() - start}}
"""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(SMI, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore", SearchBoundWarning)
    X, y = data(options.n_positive, options.n_unlabelled)
    positive = y == 1
    fitted = ours().fit(X, y)
    folds = fitted.folds_
    same = plain_loop(X, positive, fitted.centers_, folds) == (fitted.bandwidth_, fitted.alpha_)
    often: dict[str, Callable[[], Any]] = {
        "floor: basis alone": lambda: floor(X, fitted.centers_),
        "purely": lambda: ours().fit(X, y),
    }
    once: dict[str, Callable[[], Any]] = {
        "plain loop": lambda: plain_loop(X, positive, fitted.centers_, folds),
        "densratio": lambda: peer(X, positive),
    }
    times = in_turn(often, options.repeats, options.clock) | in_turn(once, 1, options.clock)
    mine = min(times["purely"])
    rows = []
    for name, values in times.items():
        ratio = min(values) / mine
        rows.append({"what": name, "n_unlabelled": options.n_unlabelled, "seconds": min(values), "ratio": ratio})
        print(f"{name:20} {min(values):8.4f} s   {ratio:7.2f} times purely")
    print(f"purely is {mine / min(times['floor: basis alone']):.2f} floors; the loop chooses the same cell: {same}")
    for n in options.growth:
        grown = in_child(GROWTH.format(n_positive=options.n_positive, n=n, jobs=2))
        taken, peak = grown["seconds"], grown["peak_gib"]
        what = f"growth, peak {peak:.2f} GiB"
        rows.append({"what": what, "n_unlabelled": n, "seconds": taken, "ratio": taken / mine})
        print(f"n_U = {n:>9,}: {taken:7.2f} s, {1e6 * taken / n:.2f} s a million rows, peak {peak:.2f} GiB")
    write_rows("smi", rows, options.out)


if __name__ == "__main__":
    main()
