"""Nothing is lost: not a user's file, not a row, not a pipe; and nothing is left behind."""

from __future__ import annotations

import base64
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from purely.cli._data import check_output
from purely.cli._session import CommandError
from tests.cli.conftest import make_customers
from tests.cli.processes import CLOSED, ended, start

LABELLED = ("--label", "fraud", "--drop", "truth")
FAST = ("--size", "light", "--class-prior", "0.3")


def names(folder):
    return sorted(p.name for p in Path(folder).iterdir())


def sentence(text):
    """What was said, on one line; an error that nobody thought of is not among it."""
    assert "Traceback" not in text
    assert "unexpected" not in text
    return " ".join(text.split())


@pytest.fixture
def table(customers, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(customers.read_bytes())
    return path


# -- 1. outputs that are inputs, or something else --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["itself", "soft link", "hard link", "other name", "through a folder"])
def test_no_output_is_an_input(purely, model, table, tmp_path, kind):
    out = {
        "itself": table,
        "soft link": tmp_path / "soft.csv",
        "hard link": tmp_path / "hard.csv",
        "other name": tmp_path / "." / "x.csv",
        "through a folder": tmp_path / "sub" / ".." / "x.csv",
    }[kind]
    (tmp_path / "sub").mkdir()
    if kind == "soft link":
        out.symlink_to(table.name)
    elif kind == "hard link":
        os.link(table, out)
    before = table.read_bytes()
    for command in (("predict", model, table), ("represent", table, *LABELLED, "--epochs", 1)):
        found = purely(*command, "-o", out)
        assert found.status == 1
        assert "is an input of this command" in sentence(found.err)
    assert table.read_bytes() == before


def test_a_model_is_not_replaced_by_scores_nor_data_by_a_model(purely, model, table, tmp_path):
    assert purely("fit", table, *LABELLED, *FAST, "-o", table).status == 1
    text = tmp_path / "x.txt"
    text.write_bytes(table.read_bytes())
    assert purely("fit", text, *LABELLED, *FAST, "-o", text).status == 1
    own = tmp_path / "m.purely"
    own.write_bytes(model.read_bytes())
    assert purely("predict", own, table, "-o", own).status != 0
    assert own.read_bytes() == model.read_bytes()
    assert text.read_bytes() == table.read_bytes()


def test_only_what_is_of_its_kind_is_replaced_unless_forced(purely, model, table, tmp_path):
    thesis, notes = tmp_path / "thesis.purely", tmp_path / "notes.csv"
    thesis.write_text("twenty years of work")
    notes.write_bytes(b"%PDF-1.7 and so on")
    for command in (("fit", table, *LABELLED, *FAST, "-o", thesis), ("predict", model, table, "-o", notes)):
        found = purely(*command)
        assert found.status == 1
        assert "or replace it with --force" in sentence(found.err)
    assert thesis.read_text() == "twenty years of work"
    assert notes.read_bytes().startswith(b"%PDF")
    assert purely("predict", model, table, "-o", notes, "--force").status == 0
    assert purely("predict", model, table, "-o", notes).status == 0  # scores may be replaced by scores
    assert purely("fit", table, *LABELLED, *FAST, "-o", thesis, "--force").status == 0
    diary = tmp_path / "thesis.purely.resume" / "diary.txt"
    diary.parent.mkdir()
    diary.write_text("dear diary")
    assert purely("fit", table, *LABELLED, *FAST, "-o", thesis).status == 0  # and a model by a model
    assert diary.read_text() == "dear diary"  # 2. a folder of the user stays


# -- 3. streams -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_rows():
    return b"x,y\n" + b"".join(b"%07d,%07d\n" % (i, i % 7) for i in range(200_000))


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    rng = np.random.default_rng(0)
    rows = "".join(f"{rng.normal(i < 60):.4f},{i % 7},{1 if i < 60 else ''}\n" for i in range(300))
    (folder / "t.csv").write_text("x,y,label\n" + rows)
    done = ended("fit", folder / "t.csv", *FAST, "-o", folder / "m.purely", "-q")
    assert done.status == 0, done.err
    return folder / "m.purely"


@pytest.mark.parametrize("name", ["/dev/stdin", "-"])
def test_every_row_of_a_pipe_is_scored(small_model, many_rows, tmp_path, name):
    out = tmp_path / "s.parquet"
    done = ended("predict", small_model, name, "--format", "csv", "-o", out, data=many_rows)
    assert done.status == 0, done.err
    assert pq.read_metadata(out).num_rows == 200_000


def test_a_named_pipe_is_read_once(small_model, many_rows, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=[many_rows], daemon=True).start()
    done = ended("predict", small_model, pipe, "--share", "0.1")
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == 200_001


@pytest.mark.parametrize("ending", ["parquet", "csv.gz", "npz"])
def test_the_format_of_a_pipe_is_seen(tmp_path, ending):
    import gzip

    table = make_customers(30, 60)
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending == "npz":
        np.savez(path, X=np.random.default_rng(0).normal(size=(90, 3)), fraud=np.arange(90) < 30)
    else:
        pacsv.write_csv(table, tmp_path / "t.csv")
        path.write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    done = ended("inspect", "-", "--label", "fraud", "--json", data=path.read_bytes())
    assert done.status == 0, done.err
    assert b'"rows": 90' in done.out


# -- 4. outputs that are no regular files -----------------------------------------------------------------------------


def test_a_pipe_stays_a_pipe_and_gets_the_rows(model, table, tmp_path):
    pipe, received = tmp_path / "out.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = ended("predict", model, table, "-o", pipe)
    assert done.status == 0, done.err
    reader.join(20)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert len(received[0].splitlines()) == 401


def test_devices_are_written_to_and_links_are_followed(model, table, tmp_path):
    done = ended("predict", model, table, "-o", "/dev/stdout", "-q")
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == 401
    link, real = tmp_path / "link.csv", tmp_path / "elsewhere.csv"
    link.symlink_to(real)
    assert ended("predict", model, table, "-o", link).status == 0
    assert link.is_symlink()
    assert len(real.read_text().splitlines()) == 401


def test_an_input_that_the_shell_has_opened_for_writing_is_no_output(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    with table.open("r+b") as opened, pytest.raises(CommandError, match="is an input of this command"):
        check_output(Path(f"/dev/fd/{opened.fileno()}"), [table], endings=[".csv"], force=True)


# -- 5. the header ----------------------------------------------------------------------------------------------------

BODY = "".join(f"{i % 7},{i % 3},{1 if i < 20 else ''}\n" for i in range(60))


@pytest.mark.parametrize(
    "header",
    [
        "\n\n\na,b,label\n",
        '"a\nname",b,label\n',
        '"a, too",b,label\n',
        "\ufeffa,b,label\n",
        "a,b,label\r\n",
    ],
)
def test_the_header_is_never_a_row(purely, tmp_path, header):
    path = tmp_path / "t.csv"
    path.write_text(header + BODY, newline="")
    found = purely("inspect", path, "--json").json
    assert (found["rows"], found["positives"], found["unlabelled"]) == (60, 20, 40)
    assert {c["kind"] for c in found["columns"]} == {"number"}


def test_a_header_of_megabytes_is_read_whole(purely, tmp_path):
    wide = 1200
    heads = [f"{'c' * 990}{j:04d}" for j in range(wide)]
    lines = [
        ",".join([*heads, "label"]),
        *(",".join([str((i * j) % 5) for j in range(wide)] + [str(int(i < 15))]) for i in range(50)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    found = purely("inspect", tmp_path / "t.csv", "--json").json
    assert found["rows"] == 50
    assert [c["name"] for c in found["columns"]] == heads


def test_a_quotation_mark_that_is_never_closed_swallows_no_rows(purely, tmp_path):
    lines = ("a,b,label\n" + BODY).splitlines()
    lines[40] = '3,1,"'
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    found = purely("inspect", tmp_path / "t.csv")
    assert found.status == 1
    assert "never closed" in sentence(found.err)
    lines[40] = '3"5,1,'  # an inch is no quotation
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    assert purely("inspect", tmp_path / "t.csv", "--json").json["rows"] == 60


# -- 6. what is left behind -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_stopped_process_once_the_next_has_started(small_model, tmp_path, number):
    rows, out = tmp_path / "t.parquet", tmp_path / "s.csv"
    pq.write_table(pa.table({"x": np.arange(600_000.0), "y": np.arange(600_000) % 7}), rows)
    running = start("predict", small_model, rows, "-o", out)
    while names(tmp_path) == ["t.parquet"]:
        time.sleep(0.001)
    running.kill(number)
    assert running.wait().status in (143, -signal.SIGTERM, -signal.SIGKILL)
    pq.write_table(pq.read_table(rows).slice(0, 10), rows)
    assert ended("predict", small_model, rows, "-o", out).status == 0
    assert names(tmp_path) == ["s.csv", "t.parquet"]


def test_two_fits_to_one_output(table, tmp_path):
    out = tmp_path / "m.purely"
    first = start("fit", table, *LABELLED, *FAST, "-o", out)
    while names(tmp_path) == ["x.csv"]:
        time.sleep(0.001)
    second = start("fit", table, *LABELLED, *FAST, "-o", out)
    refused = second.wait()
    assert refused.status == 1
    assert "is being written by another process" in sentence(refused.err)
    assert first.wait().status == 0
    assert names(tmp_path) == ["m.purely", "x.csv"]


# -- 8. names that would act upon a terminal --------------------------------------------------------------------------

HOSTILE = "\x1b]0;title\x07\x1b[31mred"


def acts(text):
    return [c for c in text if not (c.isprintable() or c == "\n")]


def test_nothing_hostile_reaches_the_terminal(purely, tmp_path):
    path = tmp_path / f"{HOSTILE}.csv"
    path.write_text(f"{HOSTILE},b,label\n" + BODY.replace("2,", f"{HOSTILE},"))
    commands = [
        ("inspect", path),
        ("inspect", path, "--id", HOSTILE),
        ("inspect", path, "--drop", HOSTILE),
        ("inspect", path, "--label", HOSTILE),
        ("inspect", path, "--positive", HOSTILE),
        ("inspect", tmp_path / HOSTILE),
        ("information", path, "--permutations", 99),
        (HOSTILE,),
        ("inspect", path, f"--{HOSTILE}"),
        ("inspect", path, "--format", HOSTILE),
        ("predict", path, path),
    ]
    for command in commands:
        found = purely(*command)
        sentence(found.err)
        assert acts(found.out) == []
        assert acts(found.err) == []


def test_a_name_that_no_model_file_takes_is_refused_before_the_training(purely, tmp_path):
    path, out = tmp_path / "x.csv", tmp_path / "m.purely"
    path.write_text(f"{HOSTILE},b,label\n" + BODY)
    found = purely("fit", path, *FAST, "-o", out)
    assert found.status == 1
    assert "Rename the column" in sentence(found.err)
    assert names(tmp_path) == ["x.csv"]
    assert purely("fit", path, *FAST, "--drop", HOSTILE, "-o", out).status == 0


# -- 9. bombs ---------------------------------------------------------------------------------------------------------


#: Address space of a process; what it has when it starts takes about a third.
ROOM = 6 << 30


def test_an_npz_bomb_is_refused_before_it_is_unpacked(tmp_path):
    bomb = tmp_path / "bomb.npz"
    header = (
        b"\x93NUMPY\x01\x00v\x00"
        + repr({"descr": "|u1", "fortran_order": False, "shape": (350_000_000,)}).encode().ljust(117)
        + b"\n"
    )
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("y.npy", "w", force_zip64=True) as y:
        y.write(header)
        for _ in range(350):
            y.write(bytes(1_000_000))
    assert bomb.stat().st_size < 1_000_000
    done = ended("inspect", bomb, limits=ROOM)
    assert done.status == 1
    assert "--max-expansion" in sentence(done.err)


@pytest.mark.parametrize("descr", ["'<f8'", "'|S0'", "'<U0'"])
def test_a_header_that_promises_more_than_there_is(tmp_path, descr):
    lie = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1000000000000,)}"
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as archive:
        archive.writestr("y.npy", b"\x93NUMPY\x01\x00v\x00" + lie.encode().ljust(117) + b"\n" + bytes(80))
    done = ended("inspect", tmp_path / "lie.npz", limits=ROOM)
    assert done.status == 1
    assert "damaged" in sentence(done.err)


#: A Parquet file of three numbers with one bit changed: pyarrow 26 ends the process where a column's size is asked for.
ABORTS = (
    "c-jka3^EjD5Y-XY(Gg_>GT21fWF$BkAix2}`d}}{q=7|LP!LEl0WmWxObDh(ltog<ltF^6I5{IVH&K*{L6l3CNrJJ0L5xjOMp8zNK}M8IQk9KC5"
    "-27L6ck&<2t;ZeHYC|DDFbvf1JHCEO*Kh1CKjML$RIW~4j{##p-_-mR9Ko?qMKY$pqp4!lwYn;mReMtnV+X%WTt1JXDBHn1Jtqxhy#ED0RR&@BgF"
)


def test_a_parquet_file_whose_sizes_do_not_fit_does_not_end_the_process(tmp_path):
    (tmp_path / "x.parquet").write_bytes(zlib.decompress(base64.b85decode(ABORTS)))
    done = ended("inspect", tmp_path / "x.parquet", "--label", "x")
    assert done.status in (1, 2)
    assert sentence(done.err).startswith("purely: ")


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_rows_that_take_no_room_are_not_read_for_ever(tmp_path, ending):
    """A column of missing values takes no byte of an Arrow file however long it is, and few of a Parquet file."""
    path = tmp_path / f"t.{ending}"
    if ending == "arrow":
        nulls = pa.Array.from_buffers(pa.null(), 1 << 30, [None])
        nothing = pa.record_batch([nulls, nulls], names=["label", "x"])
        with pa.ipc.new_file(path, nothing.schema) as writer:
            writer.write_batch(nothing)
    else:
        rows = pa.table({"label": pa.nulls(1 << 22, pa.int8())})
        with pq.ParquetWriter(path, rows.schema) as writer:
            for _ in range(20):
                writer.write_table(rows, row_group_size=1 << 22)
    assert path.stat().st_size < 500_000
    done = ended("inspect", path, limits=ROOM, timeout=30)
    assert done.status == 1
    assert "--max-expansion" in sentence(done.err)


def test_a_libsvm_index_of_ten_million_takes_no_more_room_than_another(purely, tmp_path):
    path = tmp_path / "t.libsvm"
    path.write_text("".join(f"{int(i < 20)} {1 + i % 3}:1 10000000:{1 + i % 2}\n" for i in range(60)))
    found = purely("inspect", path, "--json")
    assert found.json["features"] == 4  # columns that occur; there are no ten million of anything


# -- 10. formulas -----------------------------------------------------------------------------------------------------


def test_formulas_are_said_and_escaped_on_request(purely, model, tmp_path):
    table = make_customers(5, 20, seed=1).to_pandas()
    table["customer"] = ["=cmd|' /C calc'!A0", "@SUM(A1)", "-5", "+49 30 1234", "plain"] * 5
    table.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "s.csv"
    found = purely("predict", model, tmp_path / "t.csv", "-o", out)
    assert "15 ids begin with =, +, - or @" in sentence(found.err)
    assert "=cmd" in pacsv.read_csv(out)["customer"][0].as_py()  # as they were, so that they can be joined
    found = purely("predict", model, tmp_path / "t.csv", "-o", out, "--escape-formulas")
    assert found.err == ""
    assert pacsv.read_csv(out)["customer"].to_pylist()[:5] == [
        "'=cmd|' /C calc'!A0", "'@SUM(A1)", "-5", "'+49 30 1234", "plain",
    ]  # fmt: skip


# -- 11. full disks, closed streams, odd names, files that grow -------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_said(model, table, tmp_path):
    for command in (
        ("predict", model, table, "-o", "/dev/full"),
        ("fit", table, *LABELLED, *FAST, "-o", "/dev/full"),
    ):
        done = ended(*command)
        assert done.status == 1
        assert "no space left" in sentence(done.err)
    for command in (("predict", model, table), ("inspect", table, *LABELLED), ("inspect", table, *LABELLED, "--json")):
        done = ended(*command, stdout="/dev/full")
        assert done.status == 1
        assert "no space left" in sentence(done.err)


def test_streams_that_are_closed(model, table, tmp_path):
    out = tmp_path / "s.csv"
    done = ended("predict", model, table, stdout=CLOSED)
    assert done.status == 1
    assert "no standard output" in sentence(done.err)
    assert ended("predict", model, table, "-o", out, stdout=CLOSED, stdin=CLOSED).status == 0
    done = subprocess.run(  # by a real shell, to see the interpreter's own words at the end
        f"{sys.executable} -m purely.cli inspect {table} --label fraud >&- <&-", shell=True, capture_output=True
    )
    assert done.returncode == 0
    assert "Note: " in sentence(done.stderr.decode())
    assert len(out.read_text().splitlines()) == 401


def test_the_reader_of_the_output_may_leave(model, many_rows, small_model, tmp_path):
    (tmp_path / "t.csv").write_bytes(many_rows)
    command = f"{sys.executable} -m purely.cli predict {small_model} {tmp_path / 't.csv'} | head -n 2"
    started = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert started.stderr == b""
    assert len(started.stdout.splitlines()) == 2


def test_names_that_are_no_text(model, table, tmp_path):
    odd = os.fsencode(tmp_path) + b"/\xff\xfe caf\xe9.csv"
    os.link(table, odd)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command in (
        ("predict", model, odd, "-o", os.fsencode(tmp_path) + b"/\xff.csv", "--json"),
        ("inspect", os.fsencode(tmp_path) + b"/\xff\xff.csv"),
    ):
        arguments = [a if isinstance(a, bytes) else os.fsencode(str(a)) for a in command]
        started = subprocess.run(
            [os.fsencode(sys.executable), b"-m", b"purely.cli", *arguments],
            env=environment,
            capture_output=True,
            check=False,
        )
        sentence(started.stderr.decode(errors="replace"))
        assert started.returncode == int(command[-1] == os.fsencode(tmp_path) + b"/\xff\xff.csv")


def test_a_file_that_grows_while_it_is_read(small_model, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "s.csv"
    path.write_bytes(b"x,y\n" + b"1,2\n" * 100_000)
    stop = threading.Event()

    def grow():
        with open(path, "ab") as stream:
            while not stop.is_set():
                stream.write(b"3,4\n" * 1000)
                stream.flush()
                time.sleep(0.01)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        done = ended("predict", small_model, path, "--recall", "0.5", "--id", "x", "-o", out)
    finally:
        stop.set()
        writer.join()
    assert done.status == 0, done.err
    ids = pacsv.read_csv(out)["x"].to_numpy()
    assert ids.size >= 100_000
    np.testing.assert_array_equal(ids, np.where(np.arange(ids.size) < 100_000, 1, 3))


@pytest.mark.parametrize("endings", [(), (".csv",), (".html",)])
def test_an_output_that_is_a_folder_is_refused_before_any_work(tmp_path, endings):
    with pytest.raises(CommandError, match=r"is a folder; name a file in it\."):
        check_output(tmp_path, [], endings=endings, force=True)


@pytest.mark.parametrize("endings", [(), (".csv",), (".png",)])
def test_an_output_in_a_folder_that_is_not_there_is_refused_before_any_work(tmp_path, endings):
    with pytest.raises(CommandError, match=r"the folder '.*no' does not exist; make it first\."):
        check_output(tmp_path / "no" / ("scores" + "".join(endings)), [], endings=endings, force=False)
