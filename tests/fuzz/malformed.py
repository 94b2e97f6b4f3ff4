"""Tables in every format, and what may happen to them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import scipy.sparse as sp

from tests.cli.conftest import make_customers

HOSTILE = [
    "=cmd()", "\x1b[31m", "💥" * 50, "a,b", '"', "'; drop table", "nan", "1e309", "-0", "\t", "x" * 5000, "[bold]",
    "1,5", "1.234,56", "5 %", "31.12.2023", "\ufeff", "\u202e", "0x10", "1_000", "٣", "\r",
]  # fmt: skip
ENDINGS = ("csv", "csv.gz", "tsv", "parquet", "arrow", "libsvm", "npz", "txt", "feather", "xlsx", "csv.bz2")
#: Formats whose labels are in the column "y" or "label".
OWN_LABEL = ("npz", "libsvm")


def well_formed(rng: np.random.Generator, ending: str) -> bytes:
    """A table that is in order, as bytes of a format."""
    table = make_customers(int(rng.integers(11, 20)), int(rng.integers(20, 50)), seed=int(rng.integers(1000)))
    n = table.num_rows
    sink = io.BytesIO()
    if ending in ("csv", "csv.gz", "csv.bz2", "tsv"):
        style = "all_valid" if rng.random() < 0.3 else "needed"
        options = pacsv.WriteOptions(delimiter="\t" if ending == "tsv" else ",", quoting_style=style)
        pacsv.write_csv(table, sink, options)
        pack = {"csv.gz": gzip.compress, "csv.bz2": bz2.compress}.get(ending, bytes)
        return pack(sink.getvalue())
    if ending == "txt":
        rows = ["  ".join([f"{rng.normal():.3f}", str(rng.integers(9)), str(int(i < 12))]) for i in range(n)]
        return ("a b fraud\n" + "\n".join(rows) + "\n").encode()
    if ending == "parquet":
        pq.write_table(table, sink, row_group_size=int(rng.integers(5, 100)))
    elif ending == "arrow":
        maker = pa.ipc.new_stream if rng.random() < 0.5 else pa.ipc.new_file
        with maker(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=13)
    elif ending == "feather":
        feather.write_feather(table, sink)
    elif ending == "npz" and rng.random() < 0.5:
        X = sp.random(n, 40, density=0.2, random_state=int(rng.integers(1000)), format="csr")
        np.savez(
            sink, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, format=b"csr", y=np.arange(n) < 12
        )
    elif ending == "npz":
        np.savez_compressed(sink, X=rng.normal(size=(n, 4)), y=np.arange(n) < 12)
    elif ending == "xlsx":
        book = openpyxl.Workbook()
        for row in [table.column_names, *zip(*(table[name].to_pylist() for name in table.column_names), strict=True)]:
            book.active.append(row)
        book.save(sink)
    else:
        lines = [f"{int(i < 12)} " + " ".join(f"{j}:{rng.normal():.3f}" for j in range(1, 5)) for i in range(n)]
        return "\n".join(lines).encode()
    return sink.getvalue()


def nothing(rng, data):
    return data


def truncated(rng, data):
    return data[: int(rng.integers(0, len(data)))]


def flipped(rng, data):
    array = np.frombuffer(data, dtype=np.uint8).copy()
    places = rng.integers(0, array.size, size=int(rng.integers(1, 20)))
    array[places] ^= (1 << rng.integers(0, 8, size=places.size)).astype(np.uint8)
    return array.tobytes()


def shuffled(rng, data):
    cuts = np.sort(rng.integers(0, len(data), size=3))
    parts = np.split(np.frombuffer(data, dtype=np.uint8), cuts)
    return b"".join(parts[i].tobytes() for i in rng.permutation(len(parts)))


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
    words = [b"1", b"0", b"", b"2", b"yes", b"no", b"nan", b"inf", b"None", b"-1", b"negative", b"unknown"]
    lines = data.split(b"\n")
    return b"\n".join(
        [lines[0], *(line.replace(b",1,", b"," + words[int(rng.integers(len(words)))] + b",") for line in lines[1:])]
    )


def huge_numbers(rng, data):
    return data.replace(b".", b"9" * int(rng.integers(1, 400)) + b".", int(rng.integers(1, 30)))


def decimal_commas(rng, data):
    return data.replace(b",", b";").replace(b".", b",")


def blank_lines(rng, data):
    lines = data.split(b"\n")
    for place in sorted(rng.integers(0, len(lines), size=4), reverse=True):
        lines.insert(int(place), b" " * int(rng.integers(0, 2)))
    return b"\n" * int(rng.integers(0, 4)) + b"\n".join(lines)


def carriage_returns(rng, data):
    return data.replace(b"\n", b"\r\n" if rng.random() < 0.7 else b"\r")


def junk(rng, data):
    return rng.integers(0, 256, size=int(rng.integers(1, 3000))).astype(np.uint8).tobytes()


def doubled(rng, data):
    return data + data


def header_only(rng, data):
    return data.split(b"\n")[0] + b"\n" * int(rng.integers(0, 3))


def open_quote(rng, data):
    place = int(rng.integers(0, len(data)))
    return data[:place] + b'"' + data[place:]


MUTATIONS = (
    nothing, nothing, nothing, nothing, truncated, flipped, flipped, shuffled, ragged, other_encoding, hostile_values,
    hostile_labels, huge_numbers, decimal_commas, blank_lines, carriage_returns, junk, doubled, header_only, open_quote,
)  # fmt: skip


def expected_rows(path) -> int | None:
    """The number of records by another reader than ours; None where it cannot tell."""
    name, data = path.name, path.read_bytes()
    try:
        if name.endswith(".parquet"):
            return pq.ParquetFile(path).metadata.num_rows
        if name.endswith(".libsvm"):
            return sum(bool(line.split(b"#")[0].strip()) for line in data.split(b"\n"))
        if name.endswith(".npz"):
            stored = np.load(path, allow_pickle=False)
            return len(stored["y"])
        if name.endswith(".xlsx"):
            sheet = openpyxl.load_workbook(path, read_only=True).worksheets[0]
            return sum(any(c not in (None, "") for c in row) for row in sheet.iter_rows(values_only=True)) - 1
        if name.endswith((".csv", ".csv.gz", ".csv.bz2", ".tsv")):
            data = gzip.decompress(data) if name.endswith("gz") else data
            data = bz2.decompress(data) if name.endswith("bz2") else data
            text = data.decode("utf-8").removeprefix("\ufeff")
            delimiter = "\t" if name.endswith("tsv") else max(",;", key=text.split("\n", 1)[0].count)
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
            return len(rows) - 1 if len({len(row) for row in rows}) == 1 else None
    except Exception:  # this reader gives up; ours has to judge by itself
        return None
    return None
