"""Coverage of the interval of PU-SMI, and size and power of the independence test.

``python -m experiments.coverage`` writes the rows. 'Captured' is the information that the fitted ratios hold in the
population (exact, `exact_moments`); 'true' is that of the true ratio (quadrature).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.entry import Options, in_parallel, option, read_options
from experiments.exact_moments import captured_information
from experiments.records import read_rows, write_rows
from purely import PUSMI, independence_test
from purely.datasets import gaussians_problem, independent_problem, paper_problem
from purely.exceptions import SearchBoundWarning
from purely.smi import bootstrap_information

N_POSITIVE, N_UNLABELLED, LEVEL = 400, 1000, 0.95
PROBLEMS = {"paper": paper_problem(), "gaussians": gaussians_problem(shift=1.0, n_features=2)}
TRUTH = {name: problem.information().value for name, problem in PROBLEMS.items()}
SIGNALS = {
    "independent": independent_problem(),
    "shift 0.1": gaussians_problem(shift=0.1, n_features=2),
    "shift 0.25": gaussians_problem(shift=0.25, n_features=2),
    "shift 0.5": gaussians_problem(shift=0.5, n_features=2),
}


SMOKE = {"draws": 1}


@dataclass(frozen=True)
class Coverage(Options):
    """Options of this study."""

    draws: int = option(500, "of each problem; four times as many where there is no information")
    report_only: bool = False


def one_interval(name: str, draw: int) -> dict[str, Any]:
    problem = PROBLEMS[name]
    seed = 10_000 * list(PROBLEMS).index(name) + draw
    sample = problem.sample(N_POSITIVE, N_UNLABELLED, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchBoundWarning)
        model = PUSMI(random_state=seed).fit(sample.X, sample.y)
    interval = model.information_interval(level=LEVEL)
    boot = bootstrap_information(
        model.oof_density_ratio_, sample.y == 1, level=LEVEL, n_resamples=200, random_state=seed
    )
    return {
        "problem": name,
        "draw": draw,
        "seed": seed,
        "information": interval.information,
        "standard_error": interval.standard_error,
        "low": interval.low,
        "high": interval.high,
        "bootstrap_error": boot.standard_error,
        "captured": captured_information(problem, model),
        "true": TRUTH[name],
        "in_sample": model.information_in_sample_,
    }


def one_test(name: str, draw: int) -> dict[str, Any]:
    seed = 50_000 + 10_000 * list(SIGNALS).index(name) + draw
    sample = SIGNALS[name].sample(N_POSITIVE, N_UNLABELLED, random_state=seed)
    outcome = independence_test(sample.X, sample.y, n_permutations=199, random_state=seed)
    return {"problem": name, "draw": draw, "seed": seed, "p_value": outcome.p_value}


def report(folder: Path) -> None:
    print(f"{LEVEL:.0%} interval, n_P = {N_POSITIVE}, n_U = {N_UNLABELLED}")
    for name in PROBLEMS:
        rows = _columns("coverage", name, folder)
        covered = (rows["low"] <= rows["captured"]) & (rows["captured"] <= rows["high"])
        covered_true = (rows["low"] <= rows["true"]) & (rows["true"] <= rows["high"])
        print(f"  {name}, {covered.size} draws")
        print(f"    captured information covered: {_share(covered)}; mean {rows['captured'].mean():.4f}")
        print(f"    true information covered: {_share(covered_true)}; value {rows['true'][0]:.4f}")
        bias = (rows["information"] - rows["true"]).mean()
        print(f"    estimate: mean {rows['information'].mean():.4f}, bias to the truth {bias:+.4f}")
        print(f"    in-sample estimate: mean {rows['in_sample'].mean():.4f}")
        errors = rows["standard_error"].mean(), rows["bootstrap_error"].mean()
        print(f"    mean standard error {errors[0]:.4f}; by bootstrap of the rows alone {errors[1]:.4f}")
    print("independence test, share of p <= 0.05")
    for name, problem in SIGNALS.items():
        rejected = _columns("independence_test", name, folder)["p_value"] <= 0.05
        print(f"  {name:12} information {problem.information().value:.4f}: {_share(rejected)}, {rejected.size} draws")


def _columns(table: str, name: str, folder: Path) -> dict[str, Any]:
    rows = [r for r in read_rows(table, folder) if r["problem"] == name]
    numbers = [c for c in rows[0] if c not in ("problem", "commit", "versions", "hardware")]
    return {c: np.array([float(r[c]) for r in rows]) for c in numbers}


def _share(hits: Any) -> str:
    share = float(np.mean(hits))
    return f"{share:.3f} ({np.sqrt(share * (1 - share) / len(hits)):.3f})"


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Coverage, __doc__, SMOKE, arguments)
    if not options.report_only:
        cells = [(name, draw) for name in PROBLEMS for draw in range(options.draws)]
        write_rows("coverage", in_parallel(one_interval, cells, options.jobs), options.out)
        draws = {name: 4 * options.draws if name == "independent" else options.draws for name in SIGNALS}
        cells = [(name, draw) for name in SIGNALS for draw in range(draws[name])]
        write_rows("independence_test", in_parallel(one_test, cells, options.jobs), options.out)
    report(options.out)


if __name__ == "__main__":
    main()
