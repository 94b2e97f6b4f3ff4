"""Coverage of the interval of PU-SMI, and size and power of the independence test.

``python -m experiments.coverage`` writes the rows. 'Captured' is the information that the fitted ratios hold in the
population (exact, `exact_moments`); 'true' is that of the true ratio (quadrature).
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed

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


def report() -> None:
    print(f"{LEVEL:.0%} interval, n_P = {N_POSITIVE}, n_U = {N_UNLABELLED}")
    for name in PROBLEMS:
        rows = _columns("coverage", name)
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
        rejected = _columns("independence_test", name)["p_value"] <= 0.05
        print(f"  {name:12} information {problem.information().value:.4f}: {_share(rejected)}, {rejected.size} draws")


def _columns(table: str, name: str) -> dict[str, Any]:
    rows = [r for r in read_rows(table) if r["problem"] == name]
    numbers = [c for c in rows[0] if c not in ("problem", "commit", "versions", "hardware")]
    return {c: np.array([float(r[c]) for r in rows]) for c in numbers}


def _share(hits: Any) -> str:
    share = float(np.mean(hits))
    return f"{share:.3f} ({np.sqrt(share * (1 - share) / len(hits)):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report-only", action="store_true")
    args = parser.parse_args()
    if not args.report_only:
        run = Parallel(n_jobs=args.jobs)
        write_rows("coverage", run(delayed(one_interval)(n, d) for n in PROBLEMS for d in range(args.draws)))
        draws = {name: 4 * args.draws if name == "independent" else args.draws for name in SIGNALS}
        write_rows("independence_test", run(delayed(one_test)(n, d) for n in SIGNALS for d in range(draws[n])))
    report()


if __name__ == "__main__":
    main()
