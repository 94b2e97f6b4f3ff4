"""PU-SMI: one model grid against densratio's uLSIF, against a plain loop over cells, and against its own floor.

100 centres, 9 bandwidths, 9 l2 values, 5 folds; n_P = 1,000, n_U = 2,000, d = 20. Then growth in n_U.
``python -m benchmarks.smi``; densratio comes with the extra ``bench``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from experiments.records import write_rows

from benchmarks.timing import RESULTS, in_child, seconds
from purely import PUSMI, stack
from purely.exceptions import SearchBoundWarning
from purely.folds import fold_of_rows
from purely.smi.basis import GaussianBases, row_blocks

N_POSITIVE, N_UNLABELLED, N_COLUMNS, N_CENTERS, N_FOLDS = 1_000, 2_000, 20, 100, 5
BANDWIDTHS = np.logspace(0.0, 1.5, 9)
ALPHAS = np.logspace(-3.0, 1.0, 9)


def data(n_unlabelled: int = N_UNLABELLED) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    P = rng.normal(size=(N_POSITIVE, N_COLUMNS))
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
    from densratio import densratio

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
X, y = data({n})
start = time.perf_counter()
ours().set_params(n_jobs={jobs}).fit(X, y)
result = {{"seconds": time.perf_counter() - start}}
"""


def main() -> None:
    warnings.simplefilter("ignore", SearchBoundWarning)
    X, y = data()
    positive = y == 1
    fitted = ours().fit(X, y)
    # the same folds for the loop: the estimator deals them out by the rows' content and its seed
    folds = fold_of_rows(X, positive, N_FOLDS, fitted._seed)
    same = plain_loop(X, positive, fitted.centers_, folds) == (fitted.bandwidth_, fitted.alpha_)
    times = {
        "floor: basis alone": seconds(lambda: floor(X, fitted.centers_), 9),
        "purely": seconds(lambda: ours().fit(X, y), 9),
        "plain loop": seconds(lambda: plain_loop(X, positive, fitted.centers_, folds), 1),
        "densratio": seconds(lambda: peer(X, positive), 1),
    }
    mine = min(times["purely"])
    rows = []
    for name, values in times.items():
        rows.append({"what": name, "n_unlabelled": N_UNLABELLED, "seconds": min(values), "ratio": min(values) / mine})
        print(f"{name:20} {min(values):8.4f} s   {min(values) / mine:7.2f} times purely")
    print(f"purely is {mine / min(times['floor: basis alone']):.2f} floors; the loop chooses the same cell: {same}")
    for n in (10_000, 100_000, 1_000_000):
        grown = in_child(GROWTH.format(n=n, jobs=2))
        taken, peak = grown["seconds"], grown["peak_gib"]
        what = f"growth, peak {peak:.2f} GiB"
        rows.append({"what": what, "n_unlabelled": n, "seconds": taken, "ratio": taken / mine})
        print(f"n_U = {n:>9,}: {taken:7.2f} s, {1e6 * taken / n:.2f} s a million rows, peak {peak:.2f} GiB")
    write_rows("smi", rows, folder=RESULTS)


if __name__ == "__main__":
    main()
