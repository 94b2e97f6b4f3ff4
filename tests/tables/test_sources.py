"""Readers: one table in every format."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import scipy.sparse as sp

from purely.tables import TableEncoder, TableError, find_label_rule, open_table, read_table


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table({"x": rng.normal(size=300), "k": rng.choice(["a", "b"], 300), "n": np.arange(300) % 13})


def encoded(path, **options):
    found = read_table(path, **options)
    return TableEncoder().fit(found).transform(found)


def test_every_format_gives_the_same_matrix(table, tmp_path):
    expected = TableEncoder().fit(table).transform(table)
    pacsv.write_csv(table, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_bytes()
    pacsv.write_csv(table, tmp_path / "t.tsv", pacsv.WriteOptions(delimiter="\t"))
    for ending, module in (("gz", gzip), ("bz2", bz2), ("xz", lzma)):
        (tmp_path / f"t.csv.{ending}").write_bytes(module.compress(text))
    with pa.output_stream(tmp_path / "t.csv.zst", compression="zstd") as sink:
        sink.write(text)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=50)
    feather.write_feather(table, tmp_path / "t.feather")
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write(table)
    (tmp_path / "semicolon.csv").write_bytes(text.replace(b",", b";"))
    (tmp_path / "other.dat").write_bytes(text)
    paths = [p for p in tmp_path.iterdir() if p.suffix != ".dat"]
    assert len(paths) == 10
    for path in paths:
        np.testing.assert_allclose(encoded(path), expected, err_msg=path.name)
    np.testing.assert_allclose(encoded(tmp_path / "other.dat", format="csv"), expected)


def test_only_the_columns_asked_for_are_read(table, tmp_path):
    pq.write_table(table, tmp_path / "t.parquet")
    batches = list(open_table(tmp_path / "t.parquet").batches(["n", "x"]))
    assert batches[0].schema.names == ["n", "x"]
    with pytest.raises(TableError, match="there is no column 'm' in"):
        next(open_table(tmp_path / "t.parquet").batches(["m"]))


def test_libsvm_is_read_as_scikit_learn_reads_it(tmp_path):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    X = sp.random(60, 9, density=0.4, random_state=0, format="csr")
    X[59, 8] = 1.0  # the last column is used, so that both know the width
    y = np.arange(60) % 2
    dump_svmlight_file(X, y, str(tmp_path / "t.libsvm"), zero_based=False)
    found = read_table(tmp_path / "t.libsvm")
    expected, labels = load_svmlight_file(str(tmp_path / "t.libsvm"))
    matrix = TableEncoder(sparse=True).fit(found.select(["features"])).transform(found)
    np.testing.assert_allclose(matrix.toarray(), expected.toarray())
    rule = find_label_rule("label", {"1": 30, "0": 30})
    np.testing.assert_array_equal(rule.of(found["label"].combine_chunks()), labels)


def test_npz_dense_and_sparse(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    np.savez(tmp_path / "d.npz", X=X, y=np.arange(40) % 2, name=np.array([f"r{i}" for i in range(40)]))
    source = open_table(tmp_path / "d.npz")
    assert source.names == ["x0", "x1", "x2", "y", "name"]
    assert sum(batch.num_rows for batch in source.batches()) == 40
    S = sp.random(40, 300, density=0.05, random_state=1, format="csr")
    sp.save_npz(tmp_path / "s.npz", S)
    found = read_table(tmp_path / "s.npz")
    matrix = TableEncoder(sparse=True).fit(found).transform(found)
    np.testing.assert_allclose(matrix.toarray(), S.toarray()[:, np.unique(S.indices)])  # the columns that occur


def test_a_stream_of_any_length_is_read_in_batches(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1.5,text\n" * 2_500_000)
    sizes = [batch.num_rows for batch in open_table(path).batches(["a"])]
    assert sum(sizes) == 2_500_000
    assert max(sizes) < 2_500_000
