"""Malformed tables from a seed, given to `inspect` and `predict`: ``python -m tests.cli.fuzz MODEL FOLDER N SEED``.

Prints one JSON line an input. A process of its own, so that a crash of the interpreter or a hang is seen as one.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
import traceback
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from tests.cli.conftest import make_customers

ENDINGS = ("csv", "csv.gz", "tsv", "parquet", "arrow", "libsvm", "npz")
HOSTILE = [
    "=cmd()",
    "\x1b[31m",
    "💥" * 50,
    "a,b",
    '"',
    "'; drop table",
    "nan",
    "1e309",
    "-0",
    "\t",
    "x" * 5000,
    "[bold]",
]


def well_formed(rng: np.random.Generator, ending: str) -> bytes:
    """A table that is in order, as bytes of a format."""
    table = make_customers(12, 40, seed=int(rng.integers(1000)))
    sink = io.BytesIO()
    if ending in ("csv", "tsv", "csv.gz"):
        pacsv.write_csv(table, sink, pacsv.WriteOptions(delimiter="\t" if ending == "tsv" else ","))
        return gzip.compress(sink.getvalue()) if ending == "csv.gz" else sink.getvalue()
    if ending == "parquet":
        pq.write_table(table, sink)
    elif ending == "arrow":
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write(table)
    elif ending == "npz":
        np.savez(sink, X=rng.normal(size=(52, 4)), y=np.arange(52) < 12)
    else:
        lines = [f"{int(i < 12)} " + " ".join(f"{j}:{rng.normal():.3f}" for j in range(1, 5)) for i in range(52)]
        return "\n".join(lines).encode()
    return sink.getvalue()


def truncated(rng, data):
    return data[: int(rng.integers(0, len(data)))]


def flipped(rng, data):
    array = np.frombuffer(data, dtype=np.uint8).copy()
    places = rng.integers(0, array.size, size=int(rng.integers(1, 20)))
    array[places] ^= (1 << rng.integers(0, 8, size=places.size)).astype(np.uint8)
    return array.tobytes()


def ragged(rng, data):
    lines = data.split(b"\n")
    for place in rng.integers(0, len(lines), size=3):
        lines[place] = lines[place] + b",extra,fields" if rng.random() < 0.5 else lines[place][: len(lines[place]) // 2]
    return b"\n".join(lines)


def other_encoding(rng, data):
    name = ("utf-16", "latin-1", "utf-32", "cp1252")[int(rng.integers(4))]
    return data.decode("latin-1").replace("FR", "Français").encode(name, errors="replace")


def hostile_values(rng, data):
    lines = data.split(b"\n")
    for place in rng.integers(0, len(lines), size=8):
        fields = lines[place].split(b",")
        fields[int(rng.integers(len(fields)))] = HOSTILE[int(rng.integers(len(HOSTILE)))].encode()
        lines[place] = b",".join(fields)
    return b"\n".join(lines)


def hostile_labels(rng, data):
    words = [b"1", b"0", b"", b"2", b"yes", b"no", b"nan", b"inf", b"None", b"-1"]
    lines = data.split(b"\n")
    return b"\n".join(
        [lines[0], *(line.replace(b",1,", b"," + words[int(rng.integers(len(words)))] + b",") for line in lines[1:])]
    )


def huge_numbers(rng, data):
    return data.replace(b".", b"9" * int(rng.integers(1, 400)) + b".", int(rng.integers(1, 30)))


def junk(rng, data):
    return rng.integers(0, 256, size=int(rng.integers(1, 3000))).astype(np.uint8).tobytes()


def doubled(rng, data):
    return data + data


def header_only(rng, data):
    return data.split(b"\n")[0] + b"\n" * int(rng.integers(0, 3))


MUTATIONS = (
    truncated,
    flipped,
    ragged,
    other_encoding,
    hostile_values,
    hostile_labels,
    huge_numbers,
    junk,
    doubled,
    header_only,
)


def attempt(arguments: list[str]) -> dict[str, object]:
    """One command: its status and what it said; an escaped exception is a traceback."""
    from purely.cli._app import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = run(arguments)
        except BaseException:
            return {"status": -1, "err": traceback.format_exc()}
    return {"status": status, "err": err.getvalue()}


def main(model: str, folder: str, n: int, seed: int) -> None:
    import purely.cli._predict as predict

    predict.load_model = lru_cache(predict.load_model)  # one model for all
    rng = np.random.default_rng(seed)
    for case in range(n):
        ending = ENDINGS[case % len(ENDINGS)]
        mutation = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
        data = mutation(rng, well_formed(rng, ending))
        if rng.random() < 0.3 and data:
            data = MUTATIONS[int(rng.integers(len(MUTATIONS)))](rng, data)
        path = Path(folder) / f"case.{ending}"
        path.write_bytes(data)
        out = Path(folder) / "out.parquet"
        label = ["--label", "fraud"] if ending not in ("npz", "libsvm") else []
        results = [attempt(["inspect", str(path), *label]), attempt(["predict", model, str(path), "-o", str(out)])]
        left = sorted(p.name for p in Path(folder).iterdir() if p != path)
        print(json.dumps({"case": case, "what": f"{mutation.__name__} {ending}", "results": results, "left": left}))
        path.unlink()
        out.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
