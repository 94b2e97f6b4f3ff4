"""Class priors of other packages on PyPI, on the draws of the reported table.

The peers are optional and live in an environment of their own:

    python -m venv peers
    peers/bin/pip install numpy scipy scikit-learn joblib threadpoolctl pandas torch pulearn pu-toolbox
    OMP_NUM_THREADS=1 PYTHONPATH=src:. peers/bin/python -m experiments.prior_peers --trials 2 --out somewhere
    python -m experiments.prior_peers --summarise

Draws are those of `experiments/paper` (data sets, priors and seeds), so errors compare with its rows
(`experiments/results/paper/full.jsonl`). Every estimator has its defaults and `--limit` CPU seconds a fit; a fit that
fails or takes longer is a row without an estimate, and `failure` says why. Ours are fitted on the first `--ours-trials`
draws of each cell, for times on the same machine. A trial takes about 15 minutes on one core; a run that was cut short
goes on where it stopped (`--resume`).

A peer that reports the prior of the pooled rows rather than the share among the unlabelled ones is given the benefit of
the doubt: both readings are compared with the truth and the better one counts (`reading` says which).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.entry import option, read_options
from experiments.limits import limited
from experiments.paper.config import CONFIGS, SMOKE_DRAWS, DrawOptions
from experiments.paper.draws import Draw, Key, draw
from experiments.paper.methods import dense
from experiments.records import RowLog, read_rows
from purely.prior import ClassPrior, KernelMeanPrior

NAME = "prior_peers"
FIELDS = ["dataset", "prior", "trial", "method", "estimate", "error", "reading", "failure", "seconds", "seed"]
Call = Callable[[Any, Any], float]


@dataclass(frozen=True)
class PriorPeers(DrawOptions):
    """Options of this comparison."""

    ours_trials: int = option(1, "draws of each cell that ours are fitted on")
    limit: int = option(60, "the processor's seconds that a fit may take")
    resume: bool = option(False, "keep the rows that are there")
    summarise: bool = option(False, "only print the means of the rows that are there")


def ours() -> Iterator[tuple[str, Call]]:
    made = {
        "purely ClassPrior": ClassPrior,
        "purely KernelMeanPrior": KernelMeanPrior,
        "purely best bin on forest": lambda: ClassPrior("forest", "best-bin"),
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


def readings(value: float, n_p: int, n_u: int) -> dict[str, float]:
    """The value as the share among the unlabelled rows, and as the prior of the pooled rows."""
    return {"share": value, "pooled": float(np.clip((value * (n_p + n_u) - n_p) / n_u, 0.0, 1.0))}


def rows_of_draw(drawn: Draw, methods: dict[str, Call], limit: int) -> Iterator[dict[str, Any]]:
    key, y, plain = drawn.key, np.asarray(drawn.y), dense(drawn.X)
    for method, call in methods.items():
        is_ours = method.startswith("purely")
        outcome = limited(lambda call=call, X=drawn.X if is_ours else plain: call(X, y), limit)
        row = {"dataset": key.dataset, "prior": key.prior, "trial": key.trial, "method": method, "seed": key.seed}
        row |= {"failure": outcome.failure, "seconds": outcome.seconds}
        if (value := outcome.value) is not None:
            read = {"share": value} if is_ours else readings(value, int(y.sum()), int((1 - y).sum()))
            best = min(read, key=lambda k: abs(read[k] - drawn.share))
            row |= {"estimate": round(value, 5), "error": round(read[best] - drawn.share, 5), "reading": best}
        yield row


def summarise(folder: Path) -> None:
    """Mean absolute error by data set, failures and median time of every estimator."""
    rows = read_rows(NAME, folder)
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


def run(options: PriorPeers) -> None:
    foreign, own = dict(peers()), dict(ours())
    log = RowLog(NAME, FIELDS, options.out, resume=options.resume)
    done = {(r["dataset"], float(r["prior"]), int(r["trial"]), r["method"]) for r in log.rows}
    for trial in range(options.trials):  # whole trials first: a run that is cut short has all cells
        wanted = foreign | (own if trial < options.ours_trials else {})
        for key in (Key(name, prior, trial) for name in options.datasets for prior in options.priors):
            methods = {m: c for m, c in wanted.items() if (key.dataset, key.prior, trial, m) not in done}
            if methods:
                for row in rows_of_draw(draw(CONFIGS[options.config], key), methods, options.limit):
                    log.add(row)


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(PriorPeers, __doc__, SMOKE_DRAWS, arguments)
    if not options.summarise:
        run(options)
    summarise(options.out)


if __name__ == "__main__":
    main()
