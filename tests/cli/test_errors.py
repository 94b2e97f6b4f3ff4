"""What is wrong is said in one sentence, with the line and a remedy; never a traceback."""

from __future__ import annotations

import sys
import zipfile

import numpy as np
import pytest

ROWS = "".join(f"{i % 7},{i % 3},{1 if i < 20 else ''}\n" for i in range(60))
GOOD = "a,b,label\n" + ROWS


def sentence(done):
    assert "Traceback" not in done.err
    return " ".join(done.err.split())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b,label\n", "has no rows below its column names"),
        (("a,b,label\n" + "1,2\n" + ROWS).encode(), "line 2 has 2 fields where 3 are expected"),
        (("a,b,label\n1,2,3,4\n" + ROWS).encode(), "line 2 has 4 fields"),
        (b"\x00\x01\x02\x03" * 50, "not plain text"),
        (GOOD.encode("utf-16"), "--encoding utf-16"),
        (("a,b\xe9,label\n" + ROWS).encode("latin-1"), "line 1 is not utf-8 text"),
        (ROWS.encode(), "line 1 holds values"),
        (GOOD.replace("a,b,", "a,a,").encode(), "has 2 columns named 'a'"),
        (GOOD.replace(",label", ",lable").encode(), "likely it is 'lable'"),
        (GOOD.replace(",1\n", ",\n").encode(), "is empty in every row"),
        (("a,b,label\n" + ROWS.replace(",\n", ",1\n")).encode(), "in every row"),
        (
            ("a,b,label\n1,2,never\n" + ROWS.replace(",\n", ",maybe\n").replace(",1\n", ",surely\n")).encode(),
            "--positive",
        ),
        (("a,b,label\n" + "1,1,1\n" * 30 + "1,1,0\n" * 30).encode(), "no column is of use"),
        (("a,b,label\n" + "1,1,1\n" * 3 + "1,2,0\n" * 30).encode(), "has 3 labelled positives; at least 10"),
        (('a,b,label\n1,"' + "x" * (17 << 20) + "\n" + ROWS).encode(), "MB"),
        (b"PAR1" + GOOD.encode(), "--format parquet"),
        (b"\x1f\x8b" + GOOD.encode(), "compressed with gzip"),
    ],
)
def test_malformed_csv(purely, tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    done = purely("inspect", path)
    assert done.status in (1, 2)
    assert expected in sentence(done)
    assert "t.csv" in done.err


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("t.parquet", b"PAR1 but no more", "damaged"),
        ("t.parquet", GOOD.encode(), "not a parquet file"),
        ("t.arrow", b"ARROW1\x00\x00 and so on", "damaged"),
        ("t.npz", b"PK\x03\x04 and so on", "damaged"),
        ("t.libsvm", b"1 1:0.5\n0 3:1 2:abc\n", "line 2"),
        ("t.libsvm", b"1:3 2:4\n", "line 1"),
        ("t.csv.gz", b"\x1f\x8b\x08 and so on", "damaged or cut off"),
        ("t.csv.xz", b"\xfd7zXZ\x00 and so on", "damaged or cut off"),
        ("t.xlsx", b"PK\x03\x04", "not an Excel file"),
        ("t.xls", b"\xd0\xcf\x11\xe0 and so on", "save it as .xlsx or CSV"),
        ("t.csv", b"PK\x03\x04 and so on", "unpack it first"),
        ("t.doc", GOOD.encode(), "--format"),
    ],
)
def test_malformed_files_of_other_formats(purely, tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    done = purely("inspect", tmp_path / name)
    assert done.status in (1, 2)
    assert expected in sentence(done)


def test_objects_in_npz_are_not_unpickled(purely, tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([{"a": 1}], dtype=object), y=np.array([1]))
    assert "can run code" in sentence(purely("inspect", tmp_path / "t.npz"))


def test_the_nearest_name_is_offered(purely, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    assert "did you mean 'label'?" in sentence(purely("inspect", tmp_path / "t.csv", "--label", "Lable"))
    assert "did you mean 't.csv'?" in sentence(purely("inspect", tmp_path / "t.cvs"))
    assert "no value '2' (--positive)" in sentence(purely("inspect", tmp_path / "t.csv", "--positive", "2"))


def test_other_delimiters_and_no_header(purely, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD.replace(",", ";"))
    assert purely("inspect", tmp_path / "t.csv").status == 0
    (tmp_path / "h.csv").write_text(ROWS)
    assert purely("inspect", tmp_path / "h.csv", "--no-header", "--label", "c3").status == 0
    (tmp_path / "l.csv").write_bytes(("a,b\xe9,label\n" + ROWS).encode("latin-1"))
    assert purely("inspect", tmp_path / "l.csv", "--encoding", "latin-1").status == 0


def test_a_number_that_is_none_counts_as_missing_and_is_said(purely, model, customers, tmp_path):
    lines = customers.read_text().splitlines()
    lines[11] = lines[11].replace(lines[11].split(",")[2], "forty", 1)
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = purely("predict", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    assert done.status == 0
    assert "count as missing; by column, of 400 rows: 'age' 1." in sentence(done)


def test_infinite_numbers_count_as_missing(purely, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD.replace("\n5,", "\ninf,", 2).replace("\n6,", "\n1e300,", 1))
    done = purely("inspect", tmp_path / "t.csv", "--json")
    assert "3 infinite or beyond 1e100" in done.json["columns"][0]["action"]


def test_what_is_no_model_is_refused(purely, customers, tmp_path):
    done = purely("predict", customers, customers)
    assert done.status == 1
    assert sentence(done).startswith("purely: ")
    assert purely("predict", tmp_path / "absent.purely", customers).status == 1


def test_outputs_are_checked_before_the_work(purely, model, customers, tmp_path):
    assert purely("predict", model, customers, "-o", tmp_path / "o.docx").status == 2
    done = purely("predict", model, customers, "-o", tmp_path / "no" / "o.csv")
    assert done.status == 1
    assert "does not exist; make it first" in sentence(done)
    assert "is named like a table" in sentence(purely("fit", customers, "--label", "fraud", "-o", tmp_path / "m.csv"))


def test_errors_are_json_too(purely, tmp_path):
    done = purely("inspect", tmp_path / "absent.csv", "--json")
    assert done.status == 1
    assert "there is no such file" in done.json["error"]


def test_debug_shows_the_traceback(purely, tmp_path):
    assert "Traceback" in purely("inspect", tmp_path / "absent.csv", "--debug").err


def test_an_interrupt_leaves_with_130(purely, customers, monkeypatch):
    import purely.cli._inspect as module

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "load_training", interrupted)
    assert purely("inspect", customers).status == 130


@pytest.mark.parametrize(("module", "extra"), [("jinja2", "report"), ("openpyxl", "excel")])
def test_a_missing_extra_gives_the_pip_command(purely, customers, tmp_path, monkeypatch, module, extra):
    for name in [n for n in sys.modules if n.split(".")[0] == module or n.startswith("purely.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    book = tmp_path / "t.xlsx"
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    file = book if module == "openpyxl" else customers
    done = purely("report", file, "--label", "fraud", "-o", tmp_path / "r.html", "--max-rows", 100)
    assert done.status == 1
    assert f"pip install 'purely[{extra}]'" in sentence(done)


def test_a_title_above_the_column_names_is_asked_about(purely, tmp_path):
    path = tmp_path / "title.csv"
    path.write_text("Report of May\n\na,b,label\n1,2,1\n1,2,0\n")
    done = purely("inspect", path)
    assert done.status == 2
    assert "it has only 'Report of May': is that a title above the column names" in " ".join(done.err.split())


def test_an_id_that_is_asked_for_twice_is_written_once(purely, model, customers, tmp_path):
    out = tmp_path / "scores.csv"
    assert purely("predict", model, customers, "--id", "customer", "--id", "customer", "-o", out).status == 0
    assert out.read_text().splitlines()[0] == '"customer","score","probability","label"'
