"""Time and memory of fits and predictions by size, in fits and predictions of one boosting, in one run.

``python -m benchmarks.size`` takes minutes; ``--full`` is 3,000 x 20, 100,000 x 50 and 1,000,000 x 50. ``--sizes``
names others, ``--parts`` chooses: "prior" is ``ClassPrior()``, "light" ``PUClassifier(members="light")``, "auto"
``PUClassifier()`` with predictions of its distilled form. ``--baseline SRC`` is the folder ``src`` of another checkout,
whose ``PUClassifier()`` takes turns with "auto" at up to 10,000 rows. ``--limit`` ends the run after so many seconds.

The unit is scikit-learn's ``HistGradientBoostingClassifier`` with 60 rounds and 15 leaves on the same rows. Every part
runs in a process of its own, whose peak memory is given. A row is written as soon as it is known; ``--add`` adds rows
to those that the file has. Where a machine is shared, ``--clock cpu --jobs 1`` counts the processor's time.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.entry import option, read_options
from experiments.records import RowLog

from benchmarks.timing import BenchmarkOptions, in_child

PARTS = ("prior", "light", "auto")
FULL = ("3000x20", "100000x50", "1000000x50")
#: Above so many rows a part is timed once, and the baseline is not.
FEW_ROWS = 10_000
SMOKE = {"sizes": ("600x5",), "repeats": 1, "new_rows": 2_000}
FIELDS = (
    *("part", "rows", "columns", "n_jobs", "clock"),
    *("boosting_seconds", "seconds", "times_boosting"),
    *("prior", "prior_low", "prior_high", "peak_gib", "worker_gib"),
    *("predict_us_boosting", "predict_distilled", "predict_stack"),
    *("single_ms_boosting", "single_ms_stack", "single_ms_distilled", "difference", "network", "stopped"),
)


@dataclass(frozen=True)
class Size(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = option(3, "how often fits of up to 10,000 rows are timed")
    sizes: tuple[str, ...] = option(("3000x20", "10000x20"), "rows x columns, a tenth of the rows positives")
    full: bool = option(False, "the sizes " + ", ".join(FULL))
    parts: tuple[str, ...] = option(PARTS, "what is measured", choices=PARTS)
    baseline: str = option("", "the folder src of another checkout")
    new_rows: int = option(100_000, "rows that are predicted")
    limit: float = option(float("inf"), "seconds that the run may take")
    add: bool = option(False, "add to the rows that the file has")


def measure(options: Size, part: str, rows: int, columns: int, left: float) -> dict[str, Any]:
    """What a process of its own has measured; "baseline" is the part "auto" of another checkout."""
    asked = {
        "part": "auto" if part == "baseline" else part,
        "rows": rows,
        "columns": columns,
        "repeats": options.repeats if rows <= FEW_ROWS else 1,
        "jobs": options.jobs,
        "clock": options.clock,
        "new_rows": options.new_rows,
    }
    row: dict[str, Any] = {"part": part, "rows": rows, "columns": columns, "n_jobs": options.jobs}
    row["clock"] = options.clock
    try:
        code = f"from benchmarks.fits import measure\nresult = measure(**{asked!r})"
        return row | in_child(code, limit=left, first=options.baseline if part == "baseline" else "")
    except subprocess.TimeoutExpired:
        return row | {"stopped": f"after {left:.0f} s"}


def plan(options: Size) -> Iterator[tuple[str, int, int]]:
    for size in FULL if options.full else options.sizes:
        rows, columns = (int(number) for number in size.split("x"))
        for part in PARTS:
            if part in options.parts:
                yield part, rows, columns
        if options.baseline and rows <= FEW_ROWS:
            yield "baseline", rows, columns


def said(row: dict[str, Any]) -> str:
    return ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())


def asked_and_got(rows: list[dict[str, Any]]) -> list[str]:
    """The figures that were asked for, where these rows have them."""
    found = {(row["part"], row["rows"]): row for row in rows if "seconds" in row}
    told = []
    for part, name in (("auto", "PUClassifier()"), ("light", 'members="light"'), ("prior", "ClassPrior()")):
        big, huge = found.get((part, 100_000)), found.get((part, 1_000_000))
        if big:
            told.append(f"{name}, 100,000 rows: {big['times_boosting']:.2f} fits of boosting")
        if big and huge:
            told.append(
                f"{name}, 1,000,000 rows: {huge['seconds'] / big['seconds']:.2f} times as long as 100,000; "
                f"{huge['peak_gib']:.2f} GiB, a worker {huge['worker_gib']:.2f} GiB"
            )
        if big and "predict_distilled" in big:
            form = "distilled to a network" if big["network"] else "multiplied out"
            told.append(
                f"{name}, {form}, 100,000 rows: {big['predict_distilled']:.2f} times boosting's time a row; "
                f"one row {big['single_ms_distilled']:.2f} ms"
            )
    told += [
        f"PUClassifier(), {rows:,} rows: {found['auto', rows]['seconds'] / row['seconds']:.3f} of the baseline's time"
        for (part, rows), row in found.items()
        if part == "baseline" and ("auto", rows) in found
    ]
    return told


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Size, __doc__, SMOKE, arguments)
    if options.clock == "cpu" and options.jobs != 1:
        raise SystemExit("--clock cpu does not see the workers of joblib: add --jobs 1.")
    begin = time.perf_counter()
    log = RowLog("size", FIELDS, options.out, resume=options.add)
    found = []
    for part, rows, columns in plan(options):
        left = options.limit - (time.perf_counter() - begin)
        if left <= 0:
            print(f"not measured, the limit is reached: {part}, {rows} x {columns}", flush=True)
            continue
        found.append(measure(options, part, rows, columns, left))
        log.add(found[-1])
        print(said(found[-1]), flush=True)
    print("\n".join(asked_and_got(found)))


if __name__ == "__main__":
    main()
