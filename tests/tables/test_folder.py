"""Folders of tables: which files, what their places say, and all of them as one table."""

from __future__ import annotations

import gzip

import pytest

pa = pytest.importorskip("pyarrow")
import pyarrow.csv as pacsv  # noqa: E402
import pyarrow.feather as feather  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from purely.tables import TableError, open_table  # noqa: E402
from purely.tables.folder import FolderSource, find_files  # noqa: E402


def whole(folder, columns=None):
    source = FolderSource(folder, find_files(folder), open_table)
    return source, pa.Table.from_batches(list(source.batches(columns)))


@pytest.fixture
def folder(tmp_path):
    for day in ("01", "02"):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(pa.table({"a": [1, 2], "b": ["x", day]}), tmp_path / f"day={day}" / "part-0.parquet")
    (tmp_path / "day=__HIVE_DEFAULT_PARTITION__").mkdir()
    pq.write_table(pa.table({"a": [3], "b": ["z"]}), tmp_path / "day=__HIVE_DEFAULT_PARTITION__" / "p.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / "0.parquet").write_text("no table")
    (tmp_path / ".hidden.csv").write_text("a,b\n9,9\n")
    (tmp_path / "README.md").write_text("about")
    return tmp_path


def test_places_are_columns_and_rows_count_through(folder):
    source, rows = whole(folder)
    assert source.names == ["a", "b", "day"]
    assert rows["a"].to_pylist() == [1, 2, 1, 2, 3]
    assert rows["day"].to_pylist() == ["01", "01", "02", "02", None]
    assert source.first == 5
    assert source.done == 1.0
    assert whole(folder, ["day"])[1].num_rows == 5
    assert source.batches(["a"]) is not None
    assert pa.Table.from_batches(list(source.batches(["day", "a"]))).column_names == ["day", "a"]


def test_files_of_several_formats_are_matched_by_name(tmp_path):
    pacsv.write_csv(pa.table({"a": [1], "b": [2.5], "c": ["only here"]}), tmp_path / "one.csv")
    feather.write_feather(pa.table({"b": [3.5], "a": [4]}), tmp_path / "two.arrow")
    (tmp_path / "deep").mkdir()
    pq.write_table(pa.table({"a": [5], "b": [4.5]}), tmp_path / "deep" / "three.parquet")
    source, rows = whole(tmp_path)
    assert [str(file.place) for file in find_files(tmp_path)] == ["deep/three.parquet", "one.csv", "two.arrow"]
    assert source.names == ["a", "b"]
    assert rows["a"].to_pylist() == ["5", "1", "4"]  # CSV holds text, so all are text
    assert source.notes == [f"left out, because {tmp_path / 'deep' / 'three.parquet'} does not have them: 'c'."]


def test_a_column_of_the_file_wins_over_its_place(tmp_path):
    (tmp_path / "a=7").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a=7" / "p.parquet")
    assert whole(tmp_path)[1]["a"].to_pylist() == [1]


def test_names_in_places_are_written_as_in_addresses(tmp_path):
    (tmp_path / "a%20b=x%2Fy").mkdir()
    pq.write_table(pa.table({"c": [1]}), tmp_path / "a%20b=x%2Fy" / "p.parquet")
    assert whole(tmp_path)[1]["a b"].to_pylist() == ["x/y"]


def test_bad_folders(tmp_path):
    with pytest.raises(TableError, match="has no tables"):
        find_files(tmp_path)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "b.parquet")
    with pytest.raises(TableError, match="have no column in common"):
        whole(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableError, match=r"b\.parquet is damaged"):
        whole(tmp_path)


def test_files_that_hold_nothing_are_left_out_and_named(tmp_path):
    for name in ("a.csv", "b.csv.gz", "c.parquet"):
        (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    with pytest.raises(TableError, match="has only files that hold nothing"):
        whole(tmp_path)
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "d.parquet")
    source, rows = whole(tmp_path)
    assert rows["a"].to_pylist() == [1, 2]
    assert source.notes == ["3 files that hold nothing were left out: 'a.csv', 'b.csv.gz', 'c.parquet'."]


def test_columns_whose_types_have_nothing_in_common_are_left_out(tmp_path):
    vectors = [pa.FixedSizeListArray.from_arrays(pa.array([1.0] * width), width) for width in (2, 3)]
    for name, vector, flag in zip(("a", "b"), vectors, (True, 1), strict=True):
        pq.write_table(pa.table({"x": [1], "vector": vector, "flag": [flag]}), tmp_path / f"{name}.parquet")
    source, rows = whole(tmp_path)
    assert source.names == ["x", "flag"]
    assert rows["flag"].to_pylist() == ["true", "1"]
    assert source.notes == ["left out, because they are of another type in each file: 'vector'."]


def test_a_batch_without_rows_changes_no_types(tmp_path):
    vector = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0]), 2)
    pq.write_table(pa.table({"x": [1.5], "vector": vector}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": pa.nulls(0), "vector": pa.nulls(0)}), tmp_path / "quiet.parquet")
    source, rows = whole(tmp_path)
    assert source.notes == []
    assert rows["x"].to_pylist() == [1.5]
    assert rows["vector"].to_pylist() == [[1.0, 2.0]]
