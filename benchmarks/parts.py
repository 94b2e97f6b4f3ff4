"""Where the time of a fit goes: each model of the stack, trained on one fold's sample, scoring another fold.

``python -m benchmarks.parts [--rows 10000 100000] [--columns 50]``; processor seconds. Models see at most 20,000 rows;
all rows are scored, by the model as it is and multiplied out (``purely.collapsed``).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from experiments.entry import option, read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions
from purely.classifiers import PULogisticClassifier
from purely.collapsed import collapsed_ratio
from purely.crossfit import MOST_ROWS, log_ratio
from purely.folds import deal_folds
from purely.prior.ratio import MODEL_NAMES, built_in

SMOKE = {"rows": (500,), "columns": 5}


@dataclass(frozen=True)
class Parts(BenchmarkOptions):
    """Options of this benchmark."""

    rows: tuple[int, ...] = option((10_000, 100_000), "rows, a tenth of them positives")
    columns: int = 50


def prototypes(n: int, columns: int) -> dict[str, Any]:
    made = {name: built_in(name, n, columns, sparse=False, seed=0) for name in MODEL_NAMES}
    for name, basis in (("logistic", "linear"), ("kernel-logistic", "gaussian")):
        made[name] = PULogisticClassifier(basis=basis).settings(0.2, 0)
    return made


def seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    made = task()
    return time.process_time() - start, made


def measure(n: int, columns: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n, columns)), np.arange(n) < n // 10
    X[positive | (rng.random(n) < 0.2), : min(4, columns)] += 0.9
    taken, folds = seconds(lambda: deal_folds(X, positive, 5, 0))
    train, test = folds.sample(0, positive, MOST_ROWS), folds.test(0)
    counts = int(positive[train].sum()), int((~positive[train]).sum())
    found = [{"rows": n, "columns": columns, "part": "folds", "fit": taken, "score": 0.0, "collapsed": 0.0}]
    for name, prototype in prototypes(n - n // 5, columns).items():
        fit, model = seconds(lambda prototype=prototype: prototype.fit(X[train], positive[train].astype(int)))
        score, _ = seconds(lambda model=model: log_ratio(model, X[test], *counts))
        collapsed, _ = seconds(lambda model=model: collapsed_ratio(model, X[test], *counts))
        found.append({"rows": n, "columns": columns, "part": name, "fit": fit, "score": score, "collapsed": collapsed})
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Parts, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore")
    rows = [row for n in options.rows for row in measure(n, options.columns)]
    for row in rows:
        print(", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)
    write_rows("parts", rows, options.out)


if __name__ == "__main__":
    main()
