"""Speed of the class priors, as ratios in one run.

    OMP_NUM_THREADS=2 PYTHONPATH=src python benchmarks/kernel_mean.py                  # all sections, about 8 minutes
    OMP_NUM_THREADS=2 PYTHONPATH=src python benchmarks/kernel_mean.py --sections authors --reference-qps 4

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
from typing import Any

import numpy as np

from purely.prior import BestBinPrior, ClassPrior, DensityRatioPrior
from purely.prior.kernel_mean import kernel_mean


def sample(n_p: int, n_u: int, d: int, prior: float, seed: int = 0) -> tuple[Any, Any]:
    """Two normal classes whose means are four apart."""
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_u)
    shift = 4.0 / np.sqrt(d)
    X = np.concatenate([rng.normal(size=(n_p + hidden, d)), rng.normal(size=(n_u - hidden, d)) + shift])
    return X, np.arange(n_p + n_u) < n_p


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def gram(X: Any, width: float) -> Any:
    """The float64 Gram matrix, the plain NumPy way."""
    norms = (X**2).sum(axis=1)
    K = X @ X.T
    K *= -2.0
    K += norms
    K += norms[:, None]
    K *= -0.5 / width**2
    return np.exp(K, out=K)


def authors_qps(X: Any, positive: Any, width: float, n_qps: int) -> float:
    """Seconds a dense programme by cvxopt, over the lambdas of the authors' bisection."""
    from cvxopt import matrix, solvers

    solvers.options["show_progress"] = False
    K = gram(X, width)
    n = len(X)
    u, p = (~positive) / np.count_nonzero(~positive), positive / np.count_nonzero(positive)
    identity, zeros = matrix(-np.eye(n)), matrix(np.zeros(n))
    ones, one = matrix(np.ones((1, n))), matrix(1.0)
    quadratic = matrix(K)
    lambdas = np.linspace(1.2, 4.5, n_qps)
    start = time.perf_counter()
    for t in lambdas:
        target = t * u + (1.0 - t) * p
        solvers.qp(quadratic, matrix(-K @ target), identity, zeros, ones, one)
    return (time.perf_counter() - start) / n_qps


def section_authors(n_qps: int) -> None:
    print("\nn_P = 1,000, n_U = 2,000, d = 20")
    for prior in (0.3, 0.5, 0.7):
        X, positive = sample(1000, 2000, 20, prior)
        found = kernel_mean(X, positive)
        one_gram = seconds(lambda X=X, w=found.width: gram(X, w))
        both = seconds(lambda X=X, p=positive: kernel_mean(X, p))
        km1 = seconds(lambda X=X, p=positive: kernel_mean(X, p, variants=("km1",)))
        line = (
            f"prior {prior}: KM1 {found.kappa['km1']:.3f}, KM2 {found.kappa['km2']:.3f}; Gram {one_gram:.3f} s; "
            f"KM1 + KM2 {both:.3f} s = {both / one_gram:.1f} Grams; KM1 {km1:.3f} s = {km1 / one_gram:.1f} Grams"
        )
        if n_qps:
            each = authors_qps(X, positive, found.width, n_qps)
            note = "" if n_qps >= 34 else f" ({n_qps} solved)"
            line += f"; 34 cvxopt programmes {34 * each:.1f} s{note} = {34 * each / both:.0f} times KM1 + KM2"
        print(line, flush=True)


def section_large() -> None:
    X, positive = sample(3000, 7000, 20, 0.5)
    found = kernel_mean(X, positive)
    one_gram = seconds(lambda: gram(X, found.width), 1)
    both = seconds(lambda: kernel_mean(X, positive), 1)
    tracemalloc.start()
    kernel_mean(X, positive)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"\nn = 10,000, d = 20: Gram {one_gram:.2f} s; KM1 + KM2 {both:.2f} s = {both / one_gram:.1f} Grams; "
        f"peak {peak / 1e6:.0f} MB"
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
    sort = seconds(lambda: np.sort(scores))
    prior = BestBinPrior(ratio=None)
    took = seconds(lambda: prior.fit(X, y))
    print(
        f"\n10^6 scores: sort {sort:.3f} s; prior {prior.class_prior_:.3f} and interval {took:.3f} s; "
        f"allowed 3 sorts + 1 s = {3 * sort + 1:.2f} s"
    )


def section_default() -> None:
    print("\nClassPrior beside best bin on random-forest scores, n_P = 1,000, n_U = 2,000")
    for d in (20, 100, 784):
        X, positive = sample(1000, 2000, d, 0.5)
        y = positive.astype(int)
        forest = seconds(lambda X=X, y=y: DensityRatioPrior("forest", "best-bin").fit(X, y), 1)
        ours = seconds(lambda X=X, y=y: ClassPrior().fit(X, y), 1)
        print(f"d = {d}: ClassPrior {ours:.2f} s, best bin on forest {forest:.2f} s, ratio {ours / forest:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = ("authors", "large", "scores", "default")
    parser.add_argument("--sections", nargs="*", choices=every, default=every)
    parser.add_argument("--reference-qps", type=int, default=34, help="cvxopt programmes to solve; 0 for none")
    args = parser.parse_args()
    warnings.simplefilter("ignore", category=UserWarning)
    print(
        f"{os.cpu_count()} cores, OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}, numpy {np.__version__}"
    )
    if "authors" in args.sections:
        section_authors(args.reference_qps)
    if "large" in args.sections:
        section_large()
    if "scores" in args.sections:
        section_scores()
    if "default" in args.sections:
        section_default()


if __name__ == "__main__":
    main()
