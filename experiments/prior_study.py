r"""Study of class priors: which ratio model and which one-dimensional method go best together.

Every draw is scored once by each ratio model, out of fold; every method reads the same scores. Rows come from one part
of each data set for choosing (`--half choose`) and from the rest for reporting (`--half report`). Rows of the CSV are
tidy: one estimate each.

    python -m experiments.prior_study --suite paper --half choose --trials 20 --jobs 16 --name choose
    python -m experiments.prior_study --suite paper --half report --trials 20 --jobs 16 --name prior_report
    python -m experiments.prior_study --suite generators --trials 20 --jobs 16 --name prior_generators
    python -m experiments.prior_study --suite generators --priors 0.3 0.5 0.7 --n-positive 1000 \
        --models --whole class-prior --trials 5 --jobs 1 --name coverage  # ClassPrior alone, 8 s a draw on a core
    python -m experiments.prior_study --suite hard --half report --trials 5 --jobs 16 --name hard
    python -m experiments.prior_study --summarise --name prior_report

The data are read from the folder in PURELY_DATA. Twenty trials of the paper's suite take about 6 minutes on 16 cores.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from experiments.entry import Options, in_parallel, option, read_options
from experiments.records import RowLog, read_rows
from experiments.sets import SETS, half_of, load, share_that_fits
from purely import datasets
from purely.exceptions import ClassPriorWarning
from purely.prior import ClassPrior, KernelMeanPrior, PenL1Prior, RegroupingPrior, TIcEPrior
from purely.prior.alphamax import alphamax
from purely.prior.auto import METHODS
from purely.prior.ceiling import ceiling_profile
from purely.prior.elkan_noto import elkan_noto
from purely.prior.one_dimensional import rank_pruning
from purely.prior.ratio import AUTO_MODELS, ratio_scores, stack_ratios
from purely.prior.scores import ScoreTable

READERS: dict[str, Any] = {
    **METHODS,
    "best-bin-half": lambda table: METHODS["best-bin"](table, confidence=0.5),
    "kernel-mean-2": lambda table: METHODS["kernel-mean"](table, variant="km2"),
    "alphamax": alphamax,
    "elkan-noto-e1": elkan_noto,
    "elkan-noto-e2": lambda table: elkan_noto(table, "e2"),
    "elkan-noto-e3": lambda table: elkan_noto(table, "e3"),
    "rank-pruning": rank_pruning,
}
#: Estimators that are fitted as a user would; all but the first do not read a score.
WHOLE = {
    "class-prior": lambda: ClassPrior(),
    "km1": lambda: KernelMeanPrior("km1"),
    "km2": lambda: KernelMeanPrior("km2"),
    "penl1": lambda: PenL1Prior(),
    "tice": lambda: TIcEPrior(),
    "regrouping-km1": lambda: RegroupingPrior(ratio="linear"),
}
FIELDS = (
    "suite", "dataset", "prior", "n_positive", "n_unlabelled", "half", "trial", "ratio", "method", "estimate", "error",
    "low", "high", "covered", "warned", "details", "seconds", "ratio_seconds", "seed",
)  # fmt: skip
SMOKE = {"suite": "generators", "trials": 1, "datasets": ("gaussians-2",), "priors": (0.5,), "n_positive": (100,)}
SMOKE |= {"n_unlabelled": 200, "models": ("linear",), "whole": ("class-prior",), "name": "prior_study"}


@dataclass(frozen=True)
class PriorStudy(Options):
    """Options of this study."""

    suite: str = option("paper", choices=("paper", "hard", "generators"))
    half: Literal["choose", "report"] = option("choose", choices=("choose", "report"))
    name: str = option("prior_study", "name of the rows")
    trials: int = 2
    first_trial: int = 0
    datasets: tuple[str, ...] = option((), "all of the suite where none is named")
    priors: tuple[float, ...] = option((0.1, 0.3, 0.5, 0.7, 0.9), "of the generators")
    n_positive: tuple[int, ...] = option((1000, 200), "of the generators")
    n_unlabelled: int = option(2000, "of the generators")
    models: tuple[str, ...] = ("forest", *AUTO_MODELS)
    whole: tuple[str, ...] = option(("km1", "km2", "penl1", "tice", "regrouping-km1"), choices=WHOLE)
    summarise: bool = option(False, "only print the means of the rows that are there")


@dataclass(frozen=True)
class Cell:
    """One draw of one problem."""

    suite: str
    dataset: str
    prior: float
    n_positive: int
    n_unlabelled: int
    half: str
    trial: int

    @property
    def seed(self) -> int:
        """Seed of the draw, of the folds and of the models."""
        return 100_000 * (self.half == "report") + 1_000 * round(100 * self.prior) + self.trial


def draw(cell: Cell, data: Any) -> tuple[Any, Any, float] | None:
    """Rows, labels and the share of positives among the unlabelled rows.

    Where a half has too few rows both samples shrink by one factor in the paper's suite; the others leave the draw out.
    """
    if cell.suite == "generators":
        sample = data(cell.prior).sample(
            n_positive=cell.n_positive, n_unlabelled=cell.n_unlabelled, random_state=cell.seed
        )
        return sample.X, np.asarray(sample.y) == 1, cell.prior
    X, truth = data
    fit = share_that_fits(truth, cell.prior, cell.n_positive, cell.n_unlabelled)
    if fit < 1.0 and cell.suite != "paper":
        return None
    n_p, n_u = int(cell.n_positive * fit), int(cell.n_unlabelled * fit)
    made = datasets.make_pu(X, truth, n_positive=n_p, n_unlabelled=n_u, class_prior=cell.prior, random_state=cell.seed)
    return made.X, np.asarray(made.y) == 1, made.unlabelled_prior


def run_cell(
    cell: Cell, X: Any, positive: Any, truth: float, models: tuple[str, ...], whole: tuple[str, ...]
) -> list[dict]:
    warnings.simplefilter("ignore", category=UserWarning)
    rows: list[dict] = []
    scores, seconds = {}, {}
    for model in models:
        start = time.perf_counter()
        scores[model] = ratio_scores(model, X, positive, seed=cell.seed)
        seconds[model] = time.perf_counter() - start
    groups = {m: [m] for m in models}
    if set(AUTO_MODELS) <= set(models):
        groups["auto"] = list(AUTO_MODELS)
    for group, members in groups.items():
        score = stack_ratios(np.concatenate([scores[m].by_model for m in members]), positive).score
        table = ScoreTable.from_scores(score[positive], score[~positive])
        interval = ceiling_profile(table).posterior().interval(0.9)  # whatever the method
        spent = sum(seconds[m] for m in members)
        for name, reader in READERS.items():
            start = time.perf_counter()
            reading = reader(table)
            took = time.perf_counter() - start
            shown = {k: round(v, 4) for k, v in reading.details.items() if isinstance(v, float)}
            rows.append(
                row_of(cell, positive, truth, group, name, reading.share, interval, warned=False)
                | {"seconds": round(spent + took, 3), "ratio_seconds": round(spent, 3), "details": shown}
            )
    for name in whole:
        dense = X.toarray() if name == "tice" and hasattr(X, "toarray") else X
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = WHOLE[name]().fit(dense, positive.astype(int))
        warned = any(issubclass(w.category, ClassPriorWarning) for w in caught)
        took = time.perf_counter() - start
        rows.append(
            row_of(cell, positive, truth, "none", name, fitted.class_prior_, fitted.class_prior_interval_, warned)
            | {"seconds": round(took, 3), "ratio_seconds": 0.0, "details": ""}
        )
    return rows


def row_of(
    cell: Cell, positive: Any, truth: float, ratio: str, method: str, share: float, interval: Any, warned: bool
) -> dict:
    low, high = interval
    return {
        "suite": cell.suite,
        "dataset": cell.dataset,
        "prior": cell.prior,
        "n_positive": int(np.count_nonzero(positive)),
        "n_unlabelled": int(np.count_nonzero(~positive)),
        "half": cell.half,
        "trial": cell.trial,
        "ratio": ratio,
        "method": method,
        "estimate": round(share, 5),
        "error": round(share - truth, 5),
        "low": round(low, 5),
        "high": round(high, 5),
        "covered": int(low <= truth <= high),
        "warned": int(warned),
        "seed": cell.seed,
    }


def generator_problems() -> dict[str, Any]:
    return {
        "gaussians-2": lambda p: datasets.gaussians_problem(shift=2.0, class_prior=p, n_features=3),
        "gaussians-4": lambda p: datasets.gaussians_problem(shift=4.0, class_prior=p, n_features=10),
        "paper": lambda p: datasets.paper_problem(class_prior=p),
        "overlapping": lambda p: datasets.overlapping_problem(class_prior=p),
        "high-dimensional": lambda p: datasets.high_dimensional_problem(class_prior=p),
        "heavy-tailed": lambda p: datasets.heavy_tailed_problem(class_prior=p),
        "label-biased": lambda p: datasets.label_biased_problem(class_prior=p),
        "independent": lambda p: datasets.independent_problem(class_prior=p),
    }


def cells_of(options: PriorStudy) -> Iterator[tuple[Cell, Any]]:
    """Cells with their data, one data set in memory at a time."""
    trials = range(options.first_trial, options.first_trial + options.trials)
    if options.suite == "generators":
        settings = [(p, n_p, options.n_unlabelled) for n_p in options.n_positive for p in options.priors]
    elif options.suite == "paper":
        settings = [(p, 1000, 2000) for p in (0.3, 0.5, 0.7)]
    else:
        settings = [(p, 1000, 2000) for p in (0.05, 0.1, 0.9)]
        settings += [(0.5, 50, 2000), (0.5, 200, 2000), (0.2, 1000, 20000)]
    generated = options.suite == "generators"
    problems = generator_problems()
    for name in options.datasets or (problems if generated else SETS):
        if generated:
            data, half = problems[name], "all"
        else:
            X, y = load(name)
            rows, half = half_of(y.size, options.half), options.half
            data = (X[rows], y[rows])
        for prior, n_p, n_u in settings:
            for trial in trials:
                yield Cell(options.suite, name, prior, n_p, n_u, half, trial), data


def jobs_of(options: PriorStudy) -> Iterator[Any]:
    for cell, data in cells_of(options):
        drawn = draw(cell, data)
        if drawn is not None:
            yield cell, *drawn, options.models, options.whole


def summarise(name: str, folder: Path) -> None:
    """Mean absolute error by data set, coverage, warnings and time of every pair."""
    cells: dict[tuple[str, str], dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(name, folder):
        cells[row["ratio"], row["method"]][row["dataset"]].append(row)
    names = list(dict.fromkeys(n for by in cells.values() for n in by))
    head = " ".join(n[:13].rjust(13) for n in names)
    print(f"{'ratio':14s} {'method':17s} {'mean':>6s} {'cover':>6s} {'warn':>5s} {'s':>6s} {head}")
    lines = []
    for (ratio, method), by in cells.items():
        errors = {n: np.array([float(r["error"]) for r in by[n]]) for n in names if by[n]}
        every = [r for rows in by.values() for r in rows]
        mean = float(np.mean([np.abs(e).mean() for e in errors.values()]))
        cover, warned, took = (np.mean([float(r[k]) for r in every]) for k in ("covered", "warned", "seconds"))
        text = " ".join(f"{np.abs(e).mean():.3f}({e.mean():+.3f})" for e in errors.values())
        lines.append((mean, f"{ratio:14s} {method:17s} {mean:6.4f} {cover:6.3f} {warned:5.2f} {took:6.2f} {text}"))
        if method in ("logistic-ceiling", "class-prior"):
            by_name = [tuple(np.mean([int(r[k]) for r in by[n]]) for k in ("covered", "warned")) for n in errors]
            lines.append((mean, " " * 53 + " ".join(f"c {c:.2f} w {w:.2f}".rjust(13) for c, w in by_name)))
    for _, line in sorted(lines, key=lambda x: x[0]):
        print(line)


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(PriorStudy, __doc__, SMOKE, arguments)
    if not options.summarise:
        start = time.perf_counter()
        log = RowLog(options.name, FIELDS, options.out, resume=False)
        for rows in in_parallel(run_cell, jobs_of(options), options.jobs):
            log.add(*rows)
        print(f"{options.name}: {time.perf_counter() - start:.0f} s")
    summarise(options.name, options.out)


if __name__ == "__main__":
    main()
