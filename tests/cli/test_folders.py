"""Folders on the command line: every file once, whatever happens in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from purely.cli import _folders
from purely.cli._folders import JOURNAL
from tests.cli.conftest import make_customers

KILLS = int(os.environ.get("PURELY_KILLS", "1"))


def make_pool(folder, n_files=6, rows=40):
    """Files of several formats in partitions, and what is in them by their places."""
    made = {}
    for i in range(n_files):
        table = make_customers(5, rows - 5, seed=10 + i)
        place = folder / f"day={i % 3}"
        place.mkdir(parents=True, exist_ok=True)
        name = f"part-{i}" + (".parquet", ".csv", ".arrow")[i % 3]
        {0: pq.write_table, 1: pacsv.write_csv, 2: feather.write_feather}[i % 3](table, place / name)
        made[f"day={i % 3}/{name}"] = table
    (folder / "_SUCCESS").touch()
    return made


def scores_of(folder, place):
    path = folder / (place + ".parquet" if place.endswith(".arrow") else place)
    return pacsv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)


def lines(out):
    return [json.loads(line) for line in (out / JOURNAL).read_text().splitlines() if line]


def test_every_file_is_scored_in_its_place(purely, model, tmp_path):
    made = make_pool(tmp_path / "pool")
    done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "scores", "--json")
    assert done.status == 0, done.err
    assert done.json["rows"] == 240
    assert done.json["files"] == 6
    for place, table in made.items():
        found = scores_of(tmp_path / "scores", place)
        assert found["customer"].to_pylist() == table["customer"].to_pylist()
        alone = tmp_path / "alone.parquet"
        assert purely("predict", model, tmp_path / "pool" / place, "-o", alone).status == 0
        np.testing.assert_allclose(found["score"].to_numpy(), pq.read_table(alone)["score"].to_numpy(), rtol=1e-6)


def test_a_second_run_does_nothing_and_a_new_file_is_added(purely, model, tmp_path):
    make_pool(tmp_path / "pool")
    first = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "scores", "--json")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "scores").rglob("*.parquet")}
    again = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "scores", "--json")
    assert again.json["files_before"] == 6
    assert again.json["rows"] == first.json["rows"]
    assert again.json["mean_probability"] == pytest.approx(first.json["mean_probability"])
    assert {path: path.stat().st_mtime_ns for path in before} == before
    pq.write_table(make_customers(5, 20, seed=99), tmp_path / "pool" / "new.parquet")
    more = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "scores", "--json")
    assert (more.json["files_before"], more.json["rows"]) == (6, 265)
    assert len(lines(tmp_path / "scores")) == 7


def test_what_has_changed_is_done_again(purely, model, tmp_path):
    make_pool(tmp_path / "pool", 3)
    out = tmp_path / "scores"
    assert purely("predict", model, tmp_path / "pool", "-o", out).status == 0
    (out / "day=0" / "part-0.parquet").unlink()  # lost
    pacsv.write_csv(make_customers(5, 70, seed=3), tmp_path / "pool" / "day=1" / "part-1.csv")  # written anew
    again = purely("predict", model, tmp_path / "pool", "-o", out, "--json")
    assert (again.json["files_before"], again.json["rows"]) == (1, 155)
    other = purely("predict", model, tmp_path / "pool", "-o", out, "--threshold", 0.9, "--json")
    assert (other.json["files_before"], other.json["threshold"]) == (0, 0.9)


def test_jobs_give_the_same_scores(purely, model, tmp_path):
    made = make_pool(tmp_path / "pool", 3)
    for jobs in (1, 2):
        done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / f"s{jobs}", "--jobs", jobs)
        assert done.status == 0, done.err
    for place in made:
        assert scores_of(tmp_path / "s1", place).equals(scores_of(tmp_path / "s2", place))


def test_a_damaged_file_is_named_and_the_others_are_scored(purely, model, tmp_path):
    make_pool(tmp_path / "pool", 3)
    damaged = tmp_path / "pool" / "day=0" / "part-0.parquet"
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "scores")
    assert done.status == 1
    text = " ".join(done.err.split())
    assert "1 of 3 files could not be scored" in text
    assert "part-0.parquet is damaged" in text
    assert (tmp_path / "scores" / "day=1" / "part-1.csv").exists()
    damaged.write_bytes(content)
    mended = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "scores", "--json")
    assert mended.json["files_before"] == 2


def test_a_file_that_holds_nothing_is_passed_over(purely, model, tmp_path):
    made = make_pool(tmp_path / "pool", 2)
    nothing = tmp_path / "pool" / "day=1" / "part-9.csv"
    nothing.touch()
    command = ("predict", model, tmp_path / "pool", "-o", tmp_path / "scores", "--json")
    for before in (0, 2):
        done = purely(*command)
        assert done.status == 0, done.err
        assert (done.json["files"], done.json["files_before"]) == (2, before)
        assert f"1 file that holds nothing was left out: '{nothing.relative_to(tmp_path / 'pool')}'." in done.out
        assert not (tmp_path / "scores" / "day=1" / "part-9.csv").exists()
    pacsv.write_csv(make_customers(5, 5), nothing)
    assert purely(*command).json["files"] == 3
    nothing.write_bytes(b"")
    assert "part-9.csv is empty now, and" in purely(*command).json["error"]  # scores of other rows are there
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "a.csv").touch()
    assert "only files that hold nothing" in purely("predict", model, tmp_path / "bare", "-o", tmp_path / "s").err
    assert len(made) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-o", "{pool}/scores"], "lies in the folder that is read"),
        (["-o", "{pool}"], "lies in the folder that is read"),
        ([], "is scored into another one: add --out"),
        (["-o", "{tmp}/s", "--top", "5"], "without --share, --top and --reasons"),
        (["-o", "{tmp}/a.txt"], "is a file; the scores of a folder need a folder"),
        (["-o", "{tmp}/s", "--id", "nobody"], "there is no id column 'nobody' in"),
    ],
)
def test_bad_requests(purely, model, tmp_path, arguments, sentence):
    make_pool(tmp_path / "pool", 1)
    (tmp_path / "a.txt").write_text("mine")
    given = [a.format(pool=tmp_path / "pool", tmp=tmp_path) for a in arguments]
    done = purely("predict", model, tmp_path / "pool", *given)
    assert done.status != 0
    assert sentence in " ".join(done.err.split())


def test_two_files_of_one_name(purely, model, tmp_path):
    (tmp_path / "pool").mkdir()
    pacsv.write_csv(make_customers(5, 20), tmp_path / "pool" / "a.csv")
    with pa.CompressedOutputStream(str(tmp_path / "pool" / "a.csv.gz"), "gzip") as stream:
        pacsv.write_csv(make_customers(5, 20), stream)
    done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s")
    assert "would have the same name" in " ".join(done.err.split())


@pytest.mark.parametrize("moment", ["before the line", "after the line"])
def test_a_death_at_the_worst_moments(purely, model, tmp_path, monkeypatch, moment):
    """Between the journal's line and the file's name, on either side, nothing is lost and nothing counted twice."""
    make_pool(tmp_path / "pool", 3)
    add = _folders.Journal.add

    def dying(self, scores, file, partial):
        if "part-1" in scores.place:
            if moment == "after the line":
                add(self, scores, file, partial)
            raise KeyboardInterrupt
        add(self, scores, file, partial)

    monkeypatch.setattr(_folders.Journal, "add", dying)
    assert purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s").status == 130
    monkeypatch.setattr(_folders.Journal, "add", add)
    with (tmp_path / "s" / JOURNAL).open("a") as journal:
        journal.write('{"fingerprint": "half a li')  # a line that was cut off
    done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s", "--json")
    assert done.status == 0, done.err
    assert (done.json["files_before"], done.json["rows"]) == (1, 120)
    again = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s", "--json")
    assert (again.json["files_before"], again.json["rows"]) == (3, 120)


@pytest.mark.full
def test_kills_lose_nothing_and_do_nothing_twice(model, tmp_path):
    made = make_pool(tmp_path / "pool", 9, rows=2000)
    out = tmp_path / "scores"
    command = [sys.executable, "-m", "purely.cli", "predict", model, tmp_path / "pool", "-o", out, "--jobs", 2]
    command = list(map(str, command))
    begin = time.monotonic()
    subprocess.run([*command[:-3], str(tmp_path / "other"), *command[-2:]], check=True, capture_output=True)
    whole = time.monotonic() - begin
    rng = np.random.default_rng()
    written = {}
    for _ in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0.3, 1.0) * whole)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        stamps = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.suffix in (".parquet", ".csv")}
        assert {path: stamps[path] for path in written} == written, "a file was done twice"
        written = stamps
    time.sleep(1.0)  # processes whose parent was killed notice it
    subprocess.run(command, check=True, capture_output=True)
    for path, stamp in written.items():
        assert path.stat().st_mtime_ns == stamp, "a file was done twice"
    for place, table in made.items():
        assert scores_of(out, place)["customer"].to_pylist() == table["customer"].to_pylist()
        assert scores_of(out, place).equals(scores_of(tmp_path / "other", place))
    assert not list(out.rglob("*.purely-part"))


@pytest.mark.slow
def test_fit_and_prior_of_a_folder_equal_those_of_one_file(purely, tmp_path):
    table = make_customers(100, 500, seed=1)
    positives, pool = table.slice(0, 100), table.slice(100)
    pq.write_table(positives, tmp_path / "positives.parquet")
    pq.write_table(pool, tmp_path / "pool.parquet")
    (tmp_path / "pool").mkdir()
    for i in range(5):
        pq.write_table(pool.slice(100 * i, 100), tmp_path / "pool" / f"part-{i}.parquet")
    drop = ["--drop", "truth", "--drop", "fraud", "--id", "customer", "--json"]
    one, many = (
        purely("prior", tmp_path / "positives.parquet", tmp_path / name, *drop) for name in ("pool.parquet", "pool")
    )
    assert many.status == 0, many.err
    assert many.json["class_prior"] == one.json["class_prior"]
    fit = ["--size", "light", "--class-prior", 0.3, "-o", tmp_path / "m.purely"]
    done = purely("fit", tmp_path / "positives.parquet", tmp_path / "pool", *drop, *fit)
    assert done.status == 0, done.err
    assert done.json["unlabelled"] == 500
    scored = purely("predict", tmp_path / "m.purely", tmp_path / "pool", "-o", tmp_path / "s", "--json")
    assert scored.json["rows"] == 500


@pytest.mark.parametrize("options", [(), ("--interval", "--id", "customer", "--id", "age")])
def test_a_batch_without_rows_has_scores_without_rows(purely, model, tmp_path, options):
    made = make_pool(tmp_path / "pool", 3)
    pacsv.write_csv(make_customers(5, 20).slice(0, 0), tmp_path / "pool" / "quiet.csv")
    pq.write_table(make_customers(5, 20).slice(0, 0), tmp_path / "pool" / "quiet.parquet")
    done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s", "--json", *options)
    assert done.status == 0, done.err
    assert (done.json["files"], done.json["rows"]) == (5, 120)
    assert "2 files have no rows" in " ".join(done.json["warnings"])
    full = scores_of(tmp_path / "s", next(iter(made)))
    for name in ("quiet.csv", "quiet.parquet"):
        assert scores_of(tmp_path / "s", name).column_names == full.column_names
        assert scores_of(tmp_path / "s", name).num_rows == 0
    again = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s", "--json", *options)
    assert again.json["files_before"] == 5


def test_what_a_killed_process_has_left_is_removed_where_nothing_is_to_be_done(purely, model, tmp_path):
    make_pool(tmp_path / "pool", 2)
    assert purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s").status == 0
    left = [tmp_path / "s" / ".gone.csv.purely-part", tmp_path / "s" / "day=1" / ".part-1.csv.purely-part"]
    for path in left:
        path.write_text("half a file")
    again = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s", "--json")
    assert (again.status, again.json["files_before"]) == (0, 2)
    assert not [path for path in left if path.exists()]


def test_a_folder_of_which_nothing_can_be_scored(purely, model, tmp_path):
    (tmp_path / "pool").mkdir()
    for i in range(5):
        (tmp_path / "pool" / f"{i}.csv").write_text("a,b\n1,2\n")
    done = purely("predict", model, tmp_path / "pool", "-o", tmp_path / "s")
    text = " ".join(done.err.split())
    assert "5 of 5 files could not be scored; the same command does the rest" in text
    assert text.endswith("And 2 more.")
