"""What is written by hand in ``purely.tables``, beside the library that could do it: processor time and memory.

``python -m benchmarks.libraries``. The table encoder takes turns with scikit-learn's ``ColumnTransformer``, the LIBSVM
reader with scikit-learn's own reader of a whole file; Parquet and Arrow files are read in processes of their own, by
``open_table`` and by ``pyarrow.dataset``, and the peaks of Arrow's memory are compared. ``CONTRIBUTING.md`` says what
follows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import scipy.sparse as sp
from experiments.entry import option, read_options
from experiments.records import write_rows
from sklearn.compose import ColumnTransformer
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.timing import BenchmarkOptions, in_child, in_turn
from purely.tables import TableEncoder, open_table

SMOKE = {"rows": 2_000, "long": 20_000, "repeats": 1}

READ = """
import time
import pyarrow as pa, pyarrow.dataset as ds
from purely.tables import open_table
begin = time.process_time()
if {way!r} == "by hand":
    batches = open_table({path!r}).batches()
else:
    format = ds.ParquetFileFormat() if {path!r}.endswith("parquet") else ds.IpcFileFormat()
    source = pa.PythonFile(open({path!r}, "rb"), "r")
    ahead = dict(batch_readahead=1, fragment_readahead=1)  # the least that it keeps in memory
    batches = format.make_fragment(source).to_batches(batch_size=1 << 16, use_threads=False, **ahead)
rows = sum(batch.num_rows for batch in batches)
peak = pa.default_memory_pool().max_memory() / 2**20
result = {{"seconds": time.process_time() - begin, "peak_mb": peak, "rows": rows}}
"""


@dataclass(frozen=True)
class Libraries(BenchmarkOptions):
    """Options of this benchmark."""

    clock: str = option("cpu", "cpu: the processor's time of all threads", choices=("cpu", "wall"))
    rows: int = option(100_000, "rows of the table that is encoded")
    long: int = option(2_000_000, "rows of the Parquet and Arrow files")


def table(n: int) -> pa.Table:
    """Numbers, some of them missing, a category and a text."""
    rng = np.random.default_rng(0)
    words = rng.choice(["apple", "pear", "fig", "nut", "oat"], (n, 5))
    return pa.table(
        {
            **{f"x{j}": rng.normal(size=n) for j in range(20)},
            "gaps": pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1),
            "level": rng.choice([f"level {j}" for j in range(40)], n),
            "text": [" ".join(row) for row in words],
        }
    )


def column_transformer(names: Sequence[str]) -> ColumnTransformer:
    """What the encoder makes of such a table, by scikit-learn's parts."""
    numbers = [name for name in names if name not in ("level", "text")]
    levels = OneHotEncoder(min_frequency=10, max_categories=50, handle_unknown="infrequent_if_exist")
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
            ("level", levels, ["level"]),
            ("text", TfidfVectorizer(max_features=2000, min_df=2), "text"),
        ],
        sparse_threshold=0.0,
    )


def encoders(n: int) -> dict[str, dict[str, Callable[[], Any]]]:
    """Tasks of the encoder by hand and by library."""
    rows = table(n)
    one, encoder = rows.slice(0, 1), TableEncoder().fit(rows)
    by_library = column_transformer(rows.column_names).fit(rows.to_pandas())
    return {
        "fit of the encoder": {
            "by hand": lambda: TableEncoder().fit(rows),
            "by library": lambda: column_transformer(rows.column_names).fit(rows.to_pandas()),
        },
        "rows encoded": {
            "by hand": lambda: encoder.transform(rows),
            "by library": lambda: by_library.transform(rows.to_pandas()),
        },
        "100 times one row encoded": {
            "by hand": lambda: [encoder.transform(one) for _ in range(100)],
            "by library": lambda: [by_library.transform(one.to_pandas()) for _ in range(100)],
        },
    }


def libsvm(n: int, folder: Path) -> dict[str, dict[str, Callable[[], Any]]]:
    """Tasks of the LIBSVM reader."""
    X, path = sp.random(n, 500, density=0.05, format="csr", random_state=0), folder / "t.libsvm"
    dump_svmlight_file(X, np.arange(n) % 2, str(path), zero_based=False)
    return {
        "LIBSVM file read": {
            "by hand": lambda: sum(batch.num_rows for batch in open_table(path).batches()),
            "by library": lambda: load_svmlight_file(str(path)),
        }
    }


def files(n: int, folder: Path) -> list[dict[str, Any]]:
    """Parquet and Arrow files, read in batches: a row for each."""
    rows = table(min(n, 100_000))
    rows = pa.concat_tables([rows.drop_columns(["text"])] * max(1, n // rows.num_rows))
    pq.write_table(rows, folder / "t.parquet", row_group_size=100_000)
    feather.write_feather(rows, folder / "t.arrow", compression="zstd", chunksize=100_000)
    found = []
    for name in ("t.parquet", "t.arrow"):
        ways = {way: in_child(READ.format(way=way, path=str(folder / name))) for way in ("by hand", "by library")}
        peaks = {f"mb_{way.replace(' ', '_')}": w["peak_mb"] for way, w in ways.items()}
        found.append({"task": f"{name} read", **_seconds({way: [w["seconds"]] for way, w in ways.items()}), **peaks})
    return found


def _seconds(times: dict[str, list[float]]) -> dict[str, float | None]:
    hand, library = min(times["by hand"]), min(times["by library"])
    nothing = dict.fromkeys(("mb_by_hand", "mb_by_library"))
    return {"seconds_by_hand": hand, "seconds_by_library": library, "ratio": library / hand, **nothing}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    options = read_options(Libraries, __doc__, SMOKE, arguments)
    with tempfile.TemporaryDirectory() as name:
        tasks = encoders(options.rows) | libsvm(max(1, options.rows // 2), Path(name))
        found = [
            {"task": task, **_seconds(in_turn(ways, options.repeats, options.clock))} for task, ways in tasks.items()
        ]
        found += files(options.long, Path(name))
    for row in found:
        memory = f", {row['mb_by_hand']:.0f} and {row['mb_by_library']:.0f} MB" if row["mb_by_hand"] is not None else ""
        print(
            f"{row['task']:27} by hand {row['seconds_by_hand']:6.2f} s, by library {row['seconds_by_library']:6.2f} s "
            f"({row['ratio']:.2f} times){memory}"
        )
    write_rows("libraries", found, options.out)


if __name__ == "__main__":
    main()
