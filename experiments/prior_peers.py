"""Class priors of other packages on PyPI, on the draws of the reported table.

The peers are optional and live in an environment of their own:

    python -m venv peers
    peers/bin/pip install numpy scipy scikit-learn joblib threadpoolctl pandas torch pulearn pu-toolbox
    OMP_NUM_THREADS=1 PYTHONPATH=src:. peers/bin/python experiments/prior_peers.py --trials 2 --out prior_peers.csv
    python experiments/prior_peers.py --summarise experiments/results/prior_peers.csv

Draws are those of `experiments/paper` (data sets, priors and seeds), so errors compare with its rows
(`experiments/results/paper/full.jsonl`). Every estimator has its defaults and `--limit` CPU seconds a fit; a fit that
fails or takes longer is a row without an estimate, and `failure` says why. Ours are fitted on the first `--ours-trials`
draws of each cell, for times on the same machine. A trial takes about 15 minutes on one core; a run that was cut short
goes on where it stopped (`--resume`).

A peer that reports the prior of the pooled rows rather than the share among the unlabelled ones is given the benefit of
the doubt: both readings are compared with the truth and the better one counts (`reading` says which).
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

FIELDS = ["dataset", "prior", "trial", "method", "estimate", "error", "reading", "failure", "seconds", "seed"]
Call = Callable[[Any, Any], float]


def ours() -> Iterator[tuple[str, Call]]:
    from purely.prior import ClassPrior, DensityRatioPrior, KernelMeanPrior

    made = {
        "purely ClassPrior": ClassPrior,
        "purely KernelMeanPrior": KernelMeanPrior,
        "purely best bin on forest": lambda: DensityRatioPrior("forest", "best-bin"),
    }
    for name, m in made.items():
        yield name, lambda X, y, m=m: float(m().fit(X, y).unlabelled_prior_)


def peers() -> Iterator[tuple[str, Call]]:
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


def timed(call: Call, X: Any, y: Any, limit: int) -> dict[str, Any]:
    """The estimate of one fit and its CPU seconds, in a process of its own that ends at the limit."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def work() -> None:
        warnings.simplefilter("ignore")
        spent = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, spent + limit + 1))
        start = time.process_time()
        try:
            answer = {"estimate": call(X, y), "failure": ""}
        except Exception as error:  # a peer may fail in ways of its own; the row says so
            answer = {"estimate": None, "failure": f"{type(error).__name__}: {error}"[:200]}
        send.send(answer | {"seconds": round(time.process_time() - start, 3)})

    process = context.Process(target=work)
    process.start()
    send.close()
    try:
        answer = receive.recv()
    except EOFError:
        process.join()
        out_of_time = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        answer = {"estimate": None, "failure": f"more than {limit} s" if out_of_time else "the process died"}
        answer["seconds"] = limit if out_of_time else ""
    process.join()
    return answer


def readings(value: float, n_p: int, n_u: int) -> dict[str, float]:
    """The value as the share among the unlabelled rows, and as the prior of the pooled rows."""
    return {"share": value, "pooled": float(np.clip((value * (n_p + n_u) - n_p) / n_u, 0.0, 1.0))}


def rows_of_draw(drawn: Any, methods: dict[str, Call], limit: int) -> Iterator[dict[str, Any]]:
    X, y = drawn.X, np.asarray(drawn.y)
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)
    for method, call in methods.items():
        is_ours = method.startswith("purely")
        answer = timed(call, X if is_ours else dense, y, limit)
        value = answer["estimate"]
        row = {"dataset": drawn.key.dataset, "prior": drawn.key.prior, "trial": drawn.key.trial, "method": method}
        row |= {"seed": drawn.key.seed, "failure": answer["failure"], "seconds": answer["seconds"]}
        if value is not None:
            read = {"share": value} if is_ours else readings(value, int(y.sum()), int((1 - y).sum()))
            best = min(read, key=lambda k: abs(read[k] - drawn.share))
            row |= {"estimate": round(value, 5), "error": round(read[best] - drawn.share, 5), "reading": best}
        yield row


def summarise(path: Path) -> None:
    """Mean absolute error by data set, failures and median time of every estimator in a CSV file."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(r["dataset"] for r in rows))
    print(f"{'method':40s} {'mean':>6s} {'failed':>7s} {'s':>7s} " + " ".join(n[:9].rjust(9) for n in names))
    for method in dict.fromkeys(r["method"] for r in rows):
        mine = [r for r in rows if r["method"] == method]
        by = {n: [abs(float(r["error"])) for r in mine if r["dataset"] == n and r["error"]] for n in names}
        mean = np.mean([e for errors in by.values() for e in errors]) if any(by.values()) else float("nan")
        took = np.median([float(r["seconds"]) for r in mine if r["seconds"]])
        failed = sum(not r["error"] for r in mine)
        columns = " ".join((f"{np.mean(by[n]):.3f}" if by[n] else "-").rjust(9) for n in names)
        print(f"{method:40s} {mean:6.3f} {failed:3d}/{len(mine):3d} {took:7.2f} {columns}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--ours-trials", type=int, default=1)
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds a fit")
    parser.add_argument("--resume", action="store_true", help="keep the rows that --out has")
    parser.add_argument("--datasets", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("prior_peers.csv"))
    parser.add_argument("--summarise", type=Path)
    args = parser.parse_args()
    if args.summarise:
        summarise(args.summarise)
        return
    from experiments.paper.config import FULL
    from experiments.paper.draws import Key, draw
    from experiments.prior_study import provenance

    foreign, own, made = dict(peers()), dict(ours()), provenance()
    old = []
    if args.resume and args.out.exists():
        with args.out.open() as file:
            old = list(csv.DictReader(file))
    done = {(r["dataset"], float(r["prior"]), int(r["trial"]), r["method"]) for r in old}
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*FIELDS, *made])
        writer.writeheader()
        writer.writerows(old)
        for trial in range(args.trials):  # whole trials first: a run that is cut short has all cells
            for name in args.datasets or FULL.datasets:
                for prior in FULL.priors:
                    wanted = foreign | (own if trial < args.ours_trials else {})
                    methods = {m: c for m, c in wanted.items() if (name, prior, trial, m) not in done}
                    if not methods:
                        continue
                    for row in rows_of_draw(draw(FULL, Key(name, prior, trial)), methods, args.limit):
                        writer.writerow(row | made)
                        file.flush()
    summarise(args.out)


if __name__ == "__main__":
    main()
