"""Class priors of other packages on PyPI, on the same draws as ours.

The peers are optional and live in an environment of their own:

    python -m venv peers
    peers/bin/pip install numpy scipy scikit-learn joblib threadpoolctl pandas pulearn pu-toolbox
    PYTHONPATH=src:experiments peers/bin/python experiments/prior_peers.py --trials 2 --out peers.csv

A peer that reports the prior of the pooled rows rather than the share among the unlabelled ones is given the benefit of
the doubt: both readings are compared with the truth and the better one counts (`reading` says which).
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from prior_study import DATASETS, Cell, draw, half_of, provenance
from purely.prior import ClassPrior, DensityRatioPrior, KernelMeanPrior


def ours() -> dict[str, Callable[[Any, Any], float]]:
    made = {
        "purely ClassPrior": ClassPrior,
        "purely KernelMeanPrior": KernelMeanPrior,
        "purely best bin on forest": lambda: DensityRatioPrior("forest", "best-bin"),
    }
    return {name: (lambda X, y, m=m: m().fit(X, y).unlabelled_prior_) for name, m in made.items()}


def peers() -> Iterator[tuple[str, Callable[[Any, Any], float]]]:
    """Estimators of the peers that are installed."""
    try:
        from pulearn import priors
    except ImportError:
        print("pulearn is not installed; skipped")
    else:
        for name in ("LabelFrequencyPriorEstimator", "HistogramMatchPriorEstimator", "ScarEMPriorEstimator"):
            made = getattr(priors, name)
            yield f"pulearn {name}", lambda X, y, m=made: float(m().fit(X, y).result_.pi)
    try:
        from pu_toolbox import prior
    except ImportError:
        print("pu-toolbox is not installed; skipped")
    else:
        for name in prior.__all__:
            made = getattr(prior, name)
            yield f"pu-toolbox {name}", lambda X, y, m=made: float(m().fit(X, y).estimate())


def readings(value: float, n_p: int, n_u: int) -> dict[str, float]:
    """The value as the share among the unlabelled rows, and as the prior of the pooled rows."""
    return {"share": value, "pooled": float(np.clip((value * (n_p + n_u) - n_p) / n_u, 0.0, 1.0))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--out", type=Path, default=Path("prior_peers.csv"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = dict(ours())
    foreign = dict(peers())
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    taken: dict[str, list[float]] = defaultdict(list)
    made = provenance()
    fields = ["dataset", "prior", "trial", "method", "estimate", "error", "reading", "seconds", "seed", *made]
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        for name in args.datasets:
            X, y = DATASETS[name](return_X_y=True)
            data = (X, y, half_of(y, "report"))
            for prior in (0.3, 0.5, 0.7):
                for trial in range(args.trials):
                    cell = Cell("paper", name, prior, 1000, 2000, "report", trial)
                    rows, positive, truth = draw(cell, data)
                    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=float)
                    labels = positive.astype(int)
                    for method, call in (methods | foreign).items():
                        start = time.perf_counter()
                        try:
                            value = call(rows, labels)
                        except Exception as error:  # a peer may fail in ways of its own; the table says so
                            print(f"{method} on {name}, prior {prior}: {type(error).__name__}: {error}")
                            continue
                        took = time.perf_counter() - start
                        read = (
                            readings(value, int(labels.sum()), int((1 - labels).sum()))
                            if method in foreign
                            else {"share": value}
                        )
                        best = min(read, key=lambda k: abs(read[k] - truth))
                        errors[method][name].append(abs(read[best] - truth))
                        taken[method].append(took)
                        row = {"dataset": name, "prior": prior, "trial": trial, "method": method}
                        row |= {"estimate": round(value, 5), "error": round(read[best] - truth, 5), "reading": best}
                        writer.writerow(row | {"seconds": round(took, 3), "seed": cell.seed} | made)
                        file.flush()
    print(f"{'method':45s} {'mean':>6s} {'s':>7s} " + " ".join(n[:9].rjust(9) for n in args.datasets))
    for method, by in errors.items():
        mean = np.mean([np.mean(v) for v in by.values()])
        columns = " ".join((f"{np.mean(by[n]):.3f}" if by[n] else "-").rjust(9) for n in args.datasets)
        print(f"{method:45s} {mean:6.3f} {np.median(taken[method]):7.2f} {columns}")


if __name__ == "__main__":
    main()
