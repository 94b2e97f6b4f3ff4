"""Speed of the class priors, as ratios in one run.

    OMP_NUM_THREADS=2 python -m benchmarks.kernel_mean                  # all sections, about 8 minutes
    OMP_NUM_THREADS=2 python -m benchmarks.kernel_mean --sections authors --reference 0.5
    OMP_NUM_THREADS=1 python -m benchmarks.kernel_mean --clock cpu      # on a machine others use too

Sections: `authors` (KM1 + KM2 against 34 dense programmes by cvxopt, the procedure of the method's authors, and against
one float64 Gram matrix), `large` (n = 10,000: ratio to the Gram pass, and memory), `scores` (10^6 scores: prior and
interval against a NumPy sort), `default` (ClassPrior against best bin on random-forest scores).
"""

from __future__ import annotations

import os
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cvxopt import matrix, solvers, spmatrix
from experiments.entry import option, read_options

from benchmarks.timing import CLOCKS, BenchmarkOptions, in_turn
from purely.prior import BestBinPrior, ClassPrior
from purely.prior.kernel_mean import kernel_mean

SMOKE = {"n_positive": 60, "n_unlabelled": 120, "priors": (0.5,), "reference": (0.5,), "columns": (5,)}
SMOKE |= {"n_large": 400, "n_scores": 10_000, "repeats": 1}


@dataclass(frozen=True)
class KernelMean(BenchmarkOptions):
    """Options of this benchmark."""

    sections: tuple[str, ...] = option(("authors", "large", "scores", "default"), "all by default")
    priors: tuple[float, ...] = (0.3, 0.5, 0.7)
    reference: tuple[float, ...] = option((0.3, 0.5, 0.7), "priors to solve by cvxopt")
    n_positive: int = 1000
    n_unlabelled: int = 2000
    n_large: int = option(10_000, "rows of the section large, three in ten of them positive")
    n_scores: int = 10**6
    columns: tuple[int, ...] = option((20, 100, 784), "of the section default")


def sample(n_p: int, n_u: int, d: int, prior: float, seed: int = 0) -> tuple[Any, Any]:
    """Two normal classes whose means are four apart."""
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_u)
    shift = 4.0 / np.sqrt(d)
    X = np.concatenate([rng.normal(size=(n_p + hidden, d)), rng.normal(size=(n_u - hidden, d)) + shift])
    return X, np.arange(n_p + n_u) < n_p


def shortest(options: KernelMean, *calls: Callable[[], Any]) -> list[float]:
    """The shortest time of each call."""
    times = in_turn({str(i): call for i, call in enumerate(calls)}, options.repeats, options.clock)
    return [min(values) for values in times.values()]


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


def authors_procedure(X: Any, positive: Any, width: float, clock: Callable[[], float]) -> Reference:
    """Bisection of [1, 8] with forward differences, twice; every distance by cvxopt at its default tolerance.

    The identity of the constraints is sparse, which makes cvxopt several times faster than a dense one does.
    """
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


def section_authors(options: KernelMean) -> Iterator[str]:
    n_p, n_u = options.n_positive, options.n_unlabelled
    yield f"\nn_P = {n_p:,}, n_U = {n_u:,}, d = 20"
    for prior in options.priors:
        X, positive = sample(n_p, n_u, 20, prior)
        found = kernel_mean(X, positive)
        one_gram, both, km1 = shortest(
            options,
            lambda X=X, w=found.bandwidth: gram(X, w),
            lambda X=X, p=positive: kernel_mean(X, p),
            lambda X=X, p=positive: kernel_mean(X, p, variants=("km1",)),
        )
        yield (
            f"prior {prior}: KM1 {found.kappa['km1']:.3f}, KM2 {found.kappa['km2']:.3f}; Gram {one_gram:.3f} s; "
            f"KM1 + KM2 {both:.3f} s = {both / one_gram:.1f} Grams; KM1 {km1:.3f} s = {km1 / one_gram:.1f} Grams"
        )
        if prior in options.reference:
            theirs = authors_procedure(X, positive, found.bandwidth, CLOCKS[options.clock])
            yield (
                f"    {theirs.n_programmes} cvxopt programmes {theirs.seconds:.1f} s "
                f"= {theirs.seconds / both:.0f} times KM1 + KM2; "
                f"KM1 {theirs.kappa['km1']:.3f}, KM2 {theirs.kappa['km2']:.3f}"
            )


def section_large(options: KernelMean) -> Iterator[str]:
    n_p = 3 * options.n_large // 10
    X, positive = sample(n_p, options.n_large - n_p, 20, 0.5)
    found = kernel_mean(X, positive)
    one_gram, both = shortest(options, lambda: gram(X, found.bandwidth), lambda: kernel_mean(X, positive))
    tracemalloc.start()
    kernel_mean(X, positive)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield (
        f"\nn = {options.n_large:,}, d = 20: Gram {one_gram:.2f} s; KM1 + KM2 {both:.2f} s = {both / one_gram:.1f} "
        f"Grams; peak {peak / 1e6:.0f} MB"
    )


def section_scores(options: KernelMean) -> Iterator[str]:
    n = options.n_scores
    scores, y = np.random.default_rng(0).normal(size=n), np.zeros(n, dtype=int)
    y[: n // 3] = 1
    scores[: n // 3] += 3.0
    scores[n // 2 : n // 2 + n // 6] += 3.0
    prior = BestBinPrior(ratio=None)
    sort, took = shortest(options, lambda: np.sort(scores), lambda: prior.fit(scores[:, None], y))
    yield (
        f"\n{n:,} scores: sort {sort:.3f} s; prior {prior.class_prior_:.3f} and interval {took:.3f} s; "
        f"allowed 3 sorts + 1 s = {3 * sort + 1:.2f} s"
    )


def section_default(options: KernelMean) -> Iterator[str]:
    n_p, n_u = options.n_positive, options.n_unlabelled
    yield f"\nClassPrior beside best bin on random-forest scores, n_P = {n_p:,}, n_U = {n_u:,}"
    for d in options.columns:
        X, positive = sample(n_p, n_u, d, 0.5)
        y = positive.astype(int)
        forest, ours = shortest(
            options,
            lambda X=X, y=y: ClassPrior("forest", "best-bin").fit(X, y),
            lambda X=X, y=y: ClassPrior().fit(X, y),
        )
        yield f"d = {d}: ClassPrior {ours:.2f} s, best bin on forest {forest:.2f} s, ratio {ours / forest:.2f}"


SECTIONS = {"authors": section_authors, "large": section_large, "scores": section_scores, "default": section_default}


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(KernelMean, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore", category=UserWarning)
    threads = os.environ.get("OMP_NUM_THREADS", "unset")
    said = [f"{os.cpu_count()} cores, OMP_NUM_THREADS={threads}, numpy {np.__version__}, {options.clock} clock"]
    print(said[0])
    for section in options.sections:
        for line in SECTIONS[section](options):
            print(line, flush=True)
            said.append(line)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "kernel_mean.txt").write_text("\n".join(said) + "\n")


if __name__ == "__main__":
    main()
