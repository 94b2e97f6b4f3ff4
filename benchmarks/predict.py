"""``purely predict`` on many rows against reading the file alone, in one run, alternating.

``python -m benchmarks.predict [--rows ROWS] [--size SIZE]``, 5 million by default: 20 columns of Parquet and a model of
the size "light", which is the recommended classifier for so few columns, in its distilled form.
Both sides run in one process that has predicted once: what interpreter, libraries and model take to load the first time
is given beside.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from experiments.entry import option, read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions, in_child
from purely.cli import main as run_command

COLUMNS, CHUNK = 20, 250_000
SMOKE = {"rows": 2_000, "repeats": 1}

CODE = """
import time
begin = time.perf_counter()
import pyarrow.parquet as pq
from purely.cli import main
def predict(rows):
    try:
        main(["predict", {model!r}, rows, "-o", {out!r}, "--quiet"])
    except SystemExit as stop:
        assert not stop.code, stop.code
predict({few!r})
started = time.perf_counter() - begin
import resource
model_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
def read():
    with pq.ParquetFile({rows!r}, pre_buffer=False) as file:  # the faster way, and the one predict takes
        for batch in file.iter_batches(batch_size=1 << 16):
            pass
def seconds(task, *arguments):
    start = time.perf_counter()
    task(*arguments)
    return time.perf_counter() - start
read()
pairs = [(seconds(read), seconds(predict, {rows!r})) for _ in range({repeats})]
result = {{"start_seconds": started, "pairs": pairs, "model_gib": model_gib}}
"""


@dataclass(frozen=True)
class Predict(BenchmarkOptions):
    """Options of this benchmark."""

    rows: int = 5_000_000
    size: str = option("light", "what purely fit trains", choices=("light", "fast"))


def draw(rng: np.random.Generator, n: int, share: float) -> Any:
    """Rows whose first columns are shifted where they are positive."""
    X = rng.normal(size=(n, COLUMNS))
    X[rng.random(n) < share, :5] += 1.0
    return X


def table_of(X: Any) -> Any:
    return pa.table({f"f{j}": X[:, j] for j in range(COLUMNS)})


def write_pool(path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    schema = table_of(draw(rng, 1, 0.0)).schema
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, CHUNK):
            writer.write_table(table_of(draw(rng, min(CHUNK, n - start), 0.05)))


def fit_model(folder: Path, size: str) -> Path:
    rng = np.random.default_rng(1)
    X = np.concatenate([draw(rng, 900, 1.0), draw(rng, 5000, 0.05)])
    labels = pa.array(np.repeat([1, 0], [900, 5000]))
    pq.write_table(table_of(X).append_column("label", labels), folder / "train.parquet")
    model = folder / "model.purely"
    words = ["--size", size, "--class-prior", "0.05", "--device", "cpu", "--quiet", "-o", str(model)]
    try:
        run_command(["fit", str(folder / "train.parquet"), *words])
    except SystemExit as stop:
        if stop.code:
            raise
    return model


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Predict, __doc__, SMOKE, arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {key: str(folder / f"{key}.parquet") for key in ("rows", "few", "out")}
        write_pool(Path(files["rows"]), options.rows)
        write_pool(Path(files["few"]), 100)
        found = in_child(CODE.format(model=str(fit_model(folder, options.size)), repeats=options.repeats, **files))
    read, predict = (float(np.median(side)) for side in zip(*found["pairs"], strict=True))
    ratios = [p / r for r, p in found["pairs"]]
    row = {
        "rows": options.rows,
        "size": options.size,
        "columns": COLUMNS,
        "read_seconds": read,
        "predict_seconds": predict,
        "ratio": float(np.median(ratios)),
        "ratio_lowest": min(ratios),
        "ratio_highest": max(ratios),
        "start_seconds": found["start_seconds"],
        "model_gib": found["model_gib"],
        "peak_gib": found["peak_gib"],
    }
    print(
        ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())
    )
    write_rows("predict", [row], options.out)


if __name__ == "__main__":
    main()
