"""Speed of the class priors, as ratios in one run.

    OMP_NUM_THREADS=2 PYTHONPATH=src python benchmarks/kernel_mean.py                  # all sections, about 8 minutes
    OMP_NUM_THREADS=2 PYTHONPATH=src python benchmarks/kernel_mean.py --sections authors --reference 0.5
    OMP_NUM_THREADS=1 PYTHONPATH=src python benchmarks/kernel_mean.py --clock cpu      # on a machine others use too

Sections: `authors` (KM1 + KM2 against 34 dense programmes by cvxopt, the procedure of the method's authors, and against
one float64 Gram matrix), `large` (n = 10,000: ratio to the Gram pass, and memory), `scores` (10^6 scores: prior and
interval against a NumPy sort), `default` (ClassPrior against best bin on random-forest scores).
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from purely.prior import BestBinPrior, ClassPrior
from purely.prior.kernel_mean import kernel_mean


def sample(n_p: int, n_u: int, d: int, prior: float, seed: int = 0) -> tuple[Any, Any]:
    """Two normal classes whose means are four apart."""
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_u)
    shift = 4.0 / np.sqrt(d)
    X = np.concatenate([rng.normal(size=(n_p + hidden, d)), rng.normal(size=(n_u - hidden, d)) + shift])
    return X, np.arange(n_p + n_u) < n_p


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = time.perf_counter


def seconds(*calls: Callable[[], Any], repeats: int = 3) -> list[float]:
    """The shortest time of each call; the calls take turns, so that a busy machine disturbs all of them alike."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, mine in zip(calls, taken, strict=True):
            start = clock()
            call()
            mine.append(clock() - start)
    return [min(mine) for mine in taken]


def gram(X: Any, width: float) -> Any:
    """The float64 Gram matrix, the plain NumPy way."""
    norms = (X**2).sum(axis=1)
    K = X @ X.T
    K *= -2.0
    K += norms
    K += norms[:, None]
    K *= -0.5 / width**2
    return np.exp(K, out=K)


@dataclass(frozen=True)
class Reference:
    """What the procedure of the method's authors found, by 34 dense programmes."""

    kappa: dict[str, float]
    n_programmes: int
    seconds: float


def authors_procedure(X: Any, positive: Any, width: float) -> Reference:
    """Bisection of [1, 8] with forward differences, twice; every distance by cvxopt at its default tolerance.

    The identity of the constraints is sparse, which makes cvxopt several times faster than a dense one does.
    """
    from cvxopt import matrix, solvers, spmatrix

    solvers.options["show_progress"] = False
    K = gram(X, width)
    n = len(X)
    u, p = (~positive) / np.count_nonzero(~positive), positive / np.count_nonzero(positive)
    identity, zeros = spmatrix(-1.0, range(n), range(n)), matrix(np.zeros(n))
    ones, one = matrix(np.ones((1, n))), matrix(1.0)
    quadratic = matrix(K)
    solved = 0

    def distance(t: float) -> float:
        nonlocal solved
        solved += 1
        target = t * u + (1.0 - t) * p
        v = np.array(solvers.qp(quadratic, matrix(-K @ target), identity, zeros, ones, one)["x"]).ravel()
        return float(np.sqrt(max((v - target) @ K @ (v - target), 0.0)))

    start = clock()
    mmd = float(np.sqrt((u - p) @ K @ (u - p)))
    first = (distance(1.05) - distance(1.0)) / 0.05
    thresholds = {"km1": 1.0 / np.sqrt(min(positive.sum(), (~positive).sum())), "km2": 0.8 * first + 0.2 * mmd}
    kappa = {}
    for name, threshold in thresholds.items():
        low, high = 1.0, 8.0
        while high - low > 0.04:
            middle = 0.5 * (low + high)
            slope = (distance(middle + 0.02) - distance(middle)) / 0.02
            low, high = (low, middle) if slope > threshold else (middle, high)
        kappa[name] = 1.0 - 2.0 / (low + high)
    return Reference(kappa, solved, clock() - start)


def section_authors(priors: list[float], reference: list[float]) -> None:
    print("\nn_P = 1,000, n_U = 2,000, d = 20")
    for prior in priors:
        X, positive = sample(1000, 2000, 20, prior)
        found = kernel_mean(X, positive)
        one_gram, both, km1 = seconds(
            lambda X=X, w=found.bandwidth: gram(X, w),
            lambda X=X, p=positive: kernel_mean(X, p),
            lambda X=X, p=positive: kernel_mean(X, p, variants=("km1",)),
            repeats=7,
        )
        print(
            f"prior {prior}: KM1 {found.kappa['km1']:.3f}, KM2 {found.kappa['km2']:.3f}; Gram {one_gram:.3f} s; "
            f"KM1 + KM2 {both:.3f} s = {both / one_gram:.1f} Grams; KM1 {km1:.3f} s = {km1 / one_gram:.1f} Grams",
            flush=True,
        )
        if prior in reference:
            theirs = authors_procedure(X, positive, found.bandwidth)
            print(
                f"    {theirs.n_programmes} cvxopt programmes {theirs.seconds:.1f} s "
                f"= {theirs.seconds / both:.0f} times KM1 + KM2; "
                f"KM1 {theirs.kappa['km1']:.3f}, KM2 {theirs.kappa['km2']:.3f}",
                flush=True,
            )


def section_large() -> None:
    X, positive = sample(3000, 7000, 20, 0.5)
    found = kernel_mean(X, positive)
    one_gram, both = seconds(lambda: gram(X, found.bandwidth), lambda: kernel_mean(X, positive), repeats=2)
    tracemalloc.start()
    kernel_mean(X, positive)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"\nn = 10,000, d = 20: Gram {one_gram:.2f} s; KM1 + KM2 {both:.2f} s = {both / one_gram:.1f} Grams; "
        f"peak {peak / 1e6:.0f} MB",
        flush=True,
    )


def section_scores() -> None:
    rng = np.random.default_rng(0)
    n = 10**6
    scores = rng.normal(size=n)
    y = np.zeros(n, dtype=int)
    y[: n // 3] = 1
    scores[: n // 3] += 3.0
    scores[n // 2 : n // 2 + n // 6] += 3.0
    X = scores[:, None]
    prior = BestBinPrior(ratio=None)
    sort, took = seconds(lambda: np.sort(scores), lambda: prior.fit(X, y), repeats=5)
    print(
        f"\n10^6 scores: sort {sort:.3f} s; prior {prior.class_prior_:.3f} and interval {took:.3f} s; "
        f"allowed 3 sorts + 1 s = {3 * sort + 1:.2f} s"
    )


def section_default() -> None:
    print("\nClassPrior beside best bin on random-forest scores, n_P = 1,000, n_U = 2,000")
    for d in (20, 100, 784):
        X, positive = sample(1000, 2000, d, 0.5)
        y = positive.astype(int)
        forest, ours = seconds(
            lambda X=X, y=y: ClassPrior("forest", "best-bin").fit(X, y),
            lambda X=X, y=y: ClassPrior().fit(X, y),
            repeats=2,
        )
        print(
            f"d = {d}: ClassPrior {ours:.2f} s, best bin on forest {forest:.2f} s, ratio {ours / forest:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = ("authors", "large", "scores", "default")
    parser.add_argument("--sections", nargs="*", choices=every, default=every)
    parser.add_argument("--priors", nargs="*", type=float, default=[0.3, 0.5, 0.7])
    parser.add_argument("--reference", nargs="*", type=float, default=[0.3, 0.5, 0.7], help="priors to solve by cvxopt")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: for one thread on a busy machine")
    args = parser.parse_args()
    global clock
    clock = CLOCKS[args.clock]
    warnings.simplefilter("ignore", category=UserWarning)
    print(
        f"{os.cpu_count()} cores, OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}, "
        f"numpy {np.__version__}, {args.clock} clock"
    )
    if "authors" in args.sections:
        section_authors(args.priors, args.reference)
    if "large" in args.sections:
        section_large()
    if "scores" in args.sections:
        section_scores()
    if "default" in args.sections:
        section_default()


if __name__ == "__main__":
    main()
