"""Time of fits and predictions by size, in fits and predictions of one boosting, in one run.

``python -m benchmarks.size`` takes a minute; ``--full`` is 3,000 x 20 and 100,000 x 50, ``--rows`` any other size. The
unit is scikit-learn's ``HistGradientBoostingClassifier`` with 60 rounds and 15 leaves on the same rows. Every size
runs in a process of its own, whose peak memory is given. Where a machine is shared, ``--clock cpu`` counts the
processor's time of all threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.entry import option, read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions, in_child

FULL = ((3_000, 20), (100_000, 50))
SMOKE = {"rows": (600,), "columns": 5, "repeats": 1, "new_rows": 2_000}

CODE = """
import time, warnings
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from purely import ClassPrior, PUClassifier
warnings.simplefilter("ignore")
now = {{"wall": time.perf_counter, "cpu": time.process_time}}[{clock!r}]
rng = np.random.default_rng(0)

def draw(n, share):
    X = rng.normal(size=(n, {columns}))
    X[rng.random(n) < share, :5] += 1.0
    return X

n_p = {rows} // 10
X = np.concatenate([draw(n_p, 1.0), draw({rows} - n_p, 0.23)])
y = (np.arange(len(X)) < n_p).astype(int)
new = draw({new_rows}, 0.23)
result = {{"rows": {rows}, "columns": {columns}, "n_jobs": {jobs}}}

def seconds(task):
    start = now()
    made = task()
    return now() - start, made

def least(task, repeats):
    found = [seconds(task) for _ in range(repeats)]
    return min(t for t, _ in found), found[0][1]

unit, boosting = least(
    lambda: HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, early_stopping=False).fit(X, y), {repeats})
result["boosting_seconds"] = unit
for name, model in (
    ("prior", ClassPrior(n_jobs={jobs})),
    ("light", PUClassifier(members="light", n_jobs={jobs})),
    ("auto", PUClassifier(n_jobs={jobs})),
):
    taken, fitted = least(lambda: model.fit(X, y), 1 if {rows} > 10_000 else {repeats})
    result[name] = taken / unit
result["prior_interval"] = fitted.class_prior_interval_
fast = fitted.distil(new).set_params(n_jobs={jobs})
result["difference"] = fast.difference_.mean
for rows in (new[:100], new):  # the first time is not counted
    a, _ = least(lambda: boosting.predict_proba(rows), {repeats})
    b, _ = least(lambda: fast.predict_proba(rows), {repeats})
    c, _ = least(lambda: fitted.predict_proba(rows[:20_000]), 1)
result["predict_microseconds"] = 1e6 * a / len(new)
result["predict_distilled"] = b / a
result["predict_stack"] = c / min(len(new), 20_000) / (a / len(new))
for name, model in (("boosting", boosting), ("stack", fitted), ("distilled", fast)):
    result["single_ms_" + name] = 1e3 * least(lambda: model.predict_proba(new[:1]), 50)[0]
"""


@dataclass(frozen=True)
class Size(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 3
    rows: tuple[int, ...] = option((3_000, 10_000), "rows of the fits, a tenth of them positives")
    columns: int = 20
    new_rows: int = option(100_000, "rows that are predicted")
    full: bool = option(False, "3,000 x 20 and 100,000 x 50")


def measure(options: Size, rows: int, columns: int) -> dict[str, Any]:
    found = in_child(
        CODE.format(
            rows=rows,
            columns=columns,
            new_rows=options.new_rows,
            repeats=options.repeats,
            jobs=options.jobs,
            clock=options.clock,
        )
    )
    low, high = found.pop("prior_interval")
    return {**found, "prior_low": low, "prior_high": high, "clock": options.clock}


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Size, __doc__, SMOKE, arguments)
    sizes = FULL if options.full else tuple((n, options.columns) for n in options.rows)
    found = []
    for rows, columns in sizes:
        found.append(measure(options, rows, columns))
        print(
            ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in found[-1].items()), flush=True
        )
    write_rows("size", found, Path(options.out))


if __name__ == "__main__":
    main()
