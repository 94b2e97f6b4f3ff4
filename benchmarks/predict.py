"""``purely predict`` on many rows against reading the file alone, in one run, alternating.

``python -m benchmarks.predict [ROWS]``, 5 million by default: 20 columns of Parquet, a model of the size "fast". Both
sides run in one process that has already started: what the interpreter and the libraries take to load is given beside.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from experiments.records import write_rows

from benchmarks.timing import RESULTS, in_child

COLUMNS, CHUNK, REPEATS = 20, 250_000, 5

CODE = """
import time
begin = time.perf_counter()
import pyarrow.parquet as pq
from pathlib import Path
from purely.cli._predict import _write_all
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import Session
from purely.tables import open_table
model = Scorer(load_model({model!r}))
started = time.perf_counter() - begin
import resource
model_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
def read():
    with pq.ParquetFile({rows!r}, pre_buffer=False) as file:  # the faster way, and the one predict takes
        for batch in file.iter_batches(batch_size=1 << 16):
            pass
def predict():
    with Session(quiet=True).step("") as step:
        _write_all(model, open_table({rows!r}), [], Path({out!r}), 0.5, step)
def seconds(task):
    start = time.perf_counter()
    task()
    return time.perf_counter() - start
read()
pairs = [(seconds(read), seconds(predict)) for _ in range({repeats})]
result = {{"start_seconds": started, "pairs": pairs, "model_gib": model_gib}}
"""


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


def fit_model(folder: Path) -> Path:
    from purely.cli._app import run

    rng = np.random.default_rng(1)
    X = np.concatenate([draw(rng, 900, 1.0), draw(rng, 5000, 0.05)])
    labels = pa.array(np.repeat([1, 0], [900, 5000]))
    pq.write_table(table_of(X).append_column("label", labels), folder / "train.parquet")
    model = folder / "fast.purely"
    options = ["--size", "fast", "--class-prior", "0.05", "--device", "cpu", "--quiet", "-o", str(model)]
    if run(["fit", str(folder / "train.parquet"), *options]):
        raise SystemExit("the model could not be fitted.")
    return model


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 5_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, rows = fit_model(folder), folder / "pool.parquet"
        write_pool(rows, n)
        time.sleep(1.0)
        code = CODE.format(model=str(model), rows=str(rows), out=str(folder / "out.parquet"), repeats=REPEATS)
        found = in_child(code)
    read, predict = (float(np.median(side)) for side in zip(*found["pairs"], strict=True))
    ratios = [p / r for r, p in found["pairs"]]
    row = {
        "rows": n,
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
    print(", ".join(f"{key} {value:.3g}" for key, value in row.items()))
    write_rows("predict", [row], folder=RESULTS)


if __name__ == "__main__":
    main()
