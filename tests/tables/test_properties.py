"""What is written is what is read, whatever is in it; and bytes of any kind are a table or a sentence."""

from __future__ import annotations

import csv
import gzip
import io
import os

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from purely.files import open_input, replacing
from purely.tables import TableError, open_table, read_table, writing_table
from purely.tables.cells import read

#: `PURELY_EXAMPLES` sets how many are tried.
N = int(os.environ.get("PURELY_EXAMPLES", "60"))
quick = settings(max_examples=N, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

#: Any text that can be stored as UTF-8; a zero byte is what tells text from other files.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
cells = st.one_of(
    st.none(), texts, st.sampled_from(["", " ", '"', '""', ",", "\n", "\r\n", "=1+1", "NA", "1,5", "\ufeff"])
)


def rows_of(width):
    return st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=20)


tables = st.integers(2, 5).flatmap(rows_of)


def written(folder, name, rows):
    names = [f"column {chr(97 + j)}" for j in range(len(rows[0]))]
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    with writing_table(folder / name) as writer:
        batch = pa.record_batch(columns, names=names)
        for start in range(0, len(rows), 7):
            writer.write(batch.slice(start, 7))
    assert writer.n_rows == len(rows)
    return folder / name


@quick
@given(rows=tables, ending=st.sampled_from(["csv", "tsv", "parquet"]))
def test_what_is_written_is_what_is_read(tmp_path, rows, ending):
    found = read_table(written(tmp_path, f"t.{ending}", rows))
    # an empty text and nothing are told apart
    assert [list(row.values()) for row in found.to_pylist()] == rows


@quick
@given(rows=tables, delimiter=st.sampled_from(",;\t|"), end=st.sampled_from(["\n", "\r\n"]), blank=st.integers(0, 3))
def test_what_python_writes_is_what_is_read(tmp_path, rows, delimiter, end, blank):
    """Two routes: the standard library's writer, our reader; blank lines at the top, any delimiter, any line end."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow([f"c {j}" for j in range(len(rows[0]))])
    writer.writerows([["" if c is None else c for c in row] for row in rows])
    (tmp_path / "t.csv").write_text(end * blank + text.getvalue(), encoding="utf-8", newline="")
    found = read_table(tmp_path / "t.csv", delimiter=delimiter)
    assert [[c or "" for c in row.values()] for row in found.to_pylist()] == [[c or "" for c in row] for row in rows]


@quick
@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=30), st.sampled_from(["plain", "marks", "comma", "comma%"])
)
def test_numbers_in_any_writing_are_read_back(values, form):
    def write(value):
        plain = f"{value:,.3f}" if form != "plain" else repr(value)
        return plain.translate(str.maketrans(",.", ".,")) + " %" * form.endswith("%") if "comma" in form else plain

    found = read(pa.array([write(v) for v in values]), "number", form).values[:, 0]
    expected = np.array(values) if form == "plain" else np.round(values, 3)
    np.testing.assert_allclose(found * (100 if form.endswith("%") else 1), expected, rtol=1e-9, atol=1e-3)


@quick
@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_sparse_matrices_are_read_back(tmp_path, n, width, seed):
    rng = np.random.default_rng(seed)
    X = sp.random(n, width, density=0.3, random_state=rng, format="csr")
    y = rng.integers(0, 2, n)
    dump_svmlight_file(X, y, str(tmp_path / "t.libsvm"), zero_based=False)
    sp.save_npz(tmp_path / "t.npz", X)
    for name in ("t.libsvm", "t.npz"):
        rows = read(read_table(tmp_path / name)["features"].combine_chunks(), "sparse", "").values
        found = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=X.shape)
        np.testing.assert_allclose(found.toarray(), X.toarray())


workbook_texts = st.text(st.characters(categories=["L", "N", "P", "Zs", "S"]), min_size=1, max_size=12)


@settings(quick, max_examples=N // 3)
@given(st.lists(st.tuples(workbook_texts, st.floats(-1e9, 1e9), st.booleans()), min_size=1, max_size=12))
def test_workbooks_are_read_back(tmp_path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("text", "number", "flag"), *rows]:
        book.active.append([f"_{row[0]}", *row[1:]] if row[0] != "text" else list(row))
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx").to_pylist()
    assert [row["text"] for row in found] == [f"_{text}" for text, _, _ in rows]
    np.testing.assert_allclose([float(row["number"]) for row in found], [v for _, v, _ in rows], rtol=1e-12)
    assert [row["flag"] == "true" for row in found] == [flag for _, _, flag in rows]


ENDINGS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "libsvm", "npz", "xlsx")
MAGIC = st.sampled_from(
    [b"", b"PAR1", b"ARROW1\x00\x00", b"FEA1", b"PK\x03\x04", b"\x1f\x8b\x08", b"a,b\n1,2\n", b"1 1:2\n"]
)


@settings(quick, max_examples=2 * N)
@given(MAGIC, st.binary(max_size=300), st.sampled_from(ENDINGS))
def test_bytes_of_any_kind_are_a_table_or_a_sentence(tmp_path, start, rest, ending):
    data = start + rest
    (tmp_path / f"t.{ending}").write_bytes(gzip.compress(data) if ending == "csv.gz" and start == b"" else data)
    try:
        source = open_table(tmp_path / f"t.{ending}")
        n = sum(batch.num_rows for batch in source.batches())
    except TableError as error:
        said = str(error)
    else:
        said = ""
        assert n >= 0
        assert len(set(source.names)) == len(source.names)
    assert said.isprintable()


@quick
@given(st.binary(max_size=2000))
def test_bytes_that_are_written_are_read(tmp_path, data):
    with replacing(tmp_path / "t.bin") as partial:
        partial.write_bytes(data)
    with open_input(tmp_path / "t.bin") as stream:
        assert stream.read() == data
