"""``purely audit``: a sheet is drawn, filled in and read, whatever a spreadsheet does to it."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow.csv as pacsv
import pytest

from purely.cli._app import run
from tests.cli.conftest import make_customers


def rows_of(path, delimiter=","):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def write_rows(path, rows, delimiter=",", encoding="utf-8"):
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def pool(tmp_path):
    path = tmp_path / "pool.csv"
    pacsv.write_csv(make_customers(n_positive=0, n_unlabelled=600, seed=5), path)
    return path


@pytest.fixture
def sheet(purely, model, pool, tmp_path):
    """A sheet as it was drawn, without the truth; whoever labels looks it up."""
    path = tmp_path / "to_label.csv"
    done = purely("audit", "draw", model, pool, "-n", 80, "-o", path)
    assert done.status == 0, done.err
    return path


def fill(path, pool, every=1):
    truth = [row["truth"] for row in rows_of(pool)]
    rows = rows_of(path)
    for k, row in enumerate(rows):
        row["label"] = ("yes" if truth[int(row["row"]) - 1] == "1" else "no") if k % every == 0 else ""
    write_rows(path, rows)
    return rows


def test_a_sheet_has_the_columns_an_empty_label_and_no_scores(purely, model, pool, sheet):
    rows = rows_of(sheet)
    assert len(rows) == 80
    assert next(iter(rows[0])) == "row"
    assert list(rows[0])[-1] == "label"
    assert {"amount", "country", "customer"} <= set(rows[0])
    assert {"probability", "score", "fraud"}.isdisjoint(rows[0])
    assert all(row["label"] == "" for row in rows)
    original = rows_of(pool)
    assert all(original[int(row["row"]) - 1]["customer"] == row["customer"] for row in rows)
    assert sheet.with_name("to_label.csv.design").is_file()
    shown = sheet.with_name("shown.csv")
    assert purely("audit", "draw", model, pool, "-n", 10, "--scores", "-o", shown).status == 0
    assert all(0.0 <= float(row["probability"]) <= 1.0 for row in rows_of(shown))


def test_labels_answer_and_the_truth_is_within(purely, pool, sheet):
    fill(sheet, pool)
    truth = np.mean([row["truth"] == "1" for row in rows_of(pool)])
    found = purely("audit", "read", sheet, "--json")
    assert found.status == 0, found.err
    share = found.json["share"]
    assert share["low"] < share["value"] < share["high"]
    assert abs(share["value"] - truth) < 0.15
    assert (found.json["labelled"], found.json["missing"]) == (80, 0)
    said = purely("audit", "read", sheet).out
    for words in (
        "How many positives are in the pool?",
        "Which ones?",
        "Can the model be trusted?",
        "with labels",
        "without",
    ):
        assert words in said


def test_a_recalibrated_model_is_written_and_scores(purely, model, pool, sheet, tmp_path):
    fill(sheet, pool)
    better, out = tmp_path / "better.purely", tmp_path / "scores.csv"
    done = purely("audit", "read", sheet, "--precision", 0.6, "-o", better, "--json")
    assert done.status == 0, done.err
    assert purely("predict", better, pool, "-o", out).status == 0
    mean = np.mean([float(row["probability"]) for row in rows_of(out)])
    assert mean == pytest.approx(done.json["share"]["value"], abs=0.03)
    called = np.mean([row["label"] == "1" for row in rows_of(out)])
    first = tmp_path / "first.csv"
    assert purely("predict", model, pool, "-o", first).status == 0
    probability = np.array([float(row["probability"]) for row in rows_of(first)])
    assert called == pytest.approx(np.mean(probability > done.json["threshold_for_precision"]), abs=0.01)


def test_a_sheet_that_was_sorted_cut_and_extended_is_read(purely, pool, sheet):
    rows = fill(sheet, pool)
    whole = purely("audit", "read", sheet, "--json").json
    rows = sorted(rows, key=lambda row: row["customer"])
    write_rows(sheet, [{**row, "remark by": "me"} for row in rows])
    assert purely("audit", "read", sheet, "--json").json["share"] == whole["share"]
    write_rows(sheet, rows[:70])
    cut = purely("audit", "read", sheet, "--json")
    assert (cut.json["labelled"], cut.json["missing"]) == (70, 10)
    assert any("10 rows that were drawn are not in the sheet" in note for note in cut.json["warnings"])
    assert cut.json["share"]["high"] - cut.json["share"]["low"] > whole["share"]["high"] - whole["share"]["low"]


def test_a_sheet_that_a_spreadsheet_has_saved_is_read(purely, pool, sheet):
    rows = fill(sheet, pool)
    whole = purely("audit", "read", sheet, "--json").json
    for row in rows:
        row["member"] = row["member"].upper()
        row["amount"] = f"{float(row['amount']):.10G}".replace(".", ",") if row["amount"] else ""
        year, month, day = row["since"].split("-")
        row["since"] = f"{day}/{month}/{year}"
    write_rows(sheet, [*rows, dict.fromkeys(rows[0], "")], delimiter=";", encoding="utf-8-sig")
    read = purely("audit", "read", sheet, "--json")
    assert read.status == 0, read.err
    assert read.json["share"] == whole["share"]


def test_an_excel_workbook_is_read(purely, pool, sheet, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    rows = fill(sheet, pool)
    whole = purely("audit", "read", sheet, "--json").json
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        cells = [float(v) if k in ("row", "amount", "age") and v else v for k, v in row.items()]
        book.active.append(cells)
    path = tmp_path / "to_label.xlsx"
    book.save(path)
    path.with_name("to_label.xlsx.design").write_bytes(sheet.with_name("to_label.csv.design").read_bytes())
    read = purely("audit", "read", path, "--json")
    assert read.status == 0, read.err
    assert read.json["share"] == whole["share"]


def test_two_rounds_are_read_together(purely, model, pool, sheet, tmp_path):
    more = tmp_path / "more.csv"
    assert purely("audit", "draw", model, pool, "-n", 40, "--after", sheet, "-o", more).status == 0
    first, second = ({row["row"] for row in rows_of(path)} for path in (sheet, more))
    assert len(second) == 40
    assert first.isdisjoint(second)
    fill(sheet, pool)
    fill(more, pool)
    read = purely("audit", "read", sheet, more, "--json")
    assert read.status == 0, read.err
    assert (read.json["rows"], read.json["labelled"]) == (120, 120)


def test_rows_that_were_changed_are_refused_by_name(purely, pool, sheet):
    rows = fill(sheet, pool)
    for change, sentence in (
        ({"age": "999"}, f"row {rows[3]['row']} of"),
        ({"row": "100000"}, "has a row '100000' in the column 'row', which was not drawn"),
        ({"row": rows[4]["row"]}, f"row {rows[4]['row']}"),
    ):
        changed = [dict(row) for row in rows]
        changed[3].update(change)
        write_rows(sheet, changed)
        done = purely("audit", "read", sheet)
        assert done.status == 1
        assert sentence in " ".join(done.err.split()), done.err


def test_bad_input_is_answered_with_a_sentence(purely, model, wrong_model, pool, sheet, tmp_path):
    done = purely("audit", "draw", model, pool, "-n", 1000, "-o", tmp_path / "x.csv")
    assert (done.status, "600 rows to draw from, fewer than asked for" in done.err) == (2, True)
    assert not (tmp_path / "x.csv").exists()
    done = purely("audit", "read", sheet)
    assert "no row of the audit has a label yet" in done.err
    rows = rows_of(sheet)
    for k, row in enumerate(rows):
        row["label"] = ("fraud", "theft", "no")[k % 3]
    write_rows(sheet, rows)
    done = purely("audit", "read", sheet)
    assert "labels must have two values; found 3" in done.err
    write_rows(sheet, [{**row, "label": "no"} for row in rows])
    assert purely("audit", "read", sheet, "--json").json["positive"] == 0
    done = purely("audit", "read", sheet, "--model", wrong_model)
    assert "was drawn by another model" in " ".join(done.err.split())
    sheet.with_name("to_label.csv.design").write_bytes(b"nonsense")
    assert "is damaged or no design" in " ".join(purely("audit", "read", sheet).err.split())
    sheet.with_name("to_label.csv.design").unlink()
    assert "design of" in purely("audit", "read", sheet).err


def test_labelled_positives_are_left_out_of_the_pool(purely, model, customers, tmp_path):
    sheet = tmp_path / "all.csv"
    assert purely("audit", "draw", model, customers, "-n", 320, "-o", sheet).status == 0
    assert all(int(row["row"]) > 80 for row in rows_of(sheet))


def predicted(purely, model, pool, path):
    assert purely("predict", model, pool, "-o", path).status == 0
    return np.array([float(row["probability"]) for row in rows_of(path)])


@pytest.fixture(scope="session")
def wrong_model(folder, customers):
    """A model that was told a class prior far too large."""
    path = folder / "wrong.purely"
    options = ("--label", "fraud", "--drop", "truth", "--id", "customer", "--size", "light", "--class-prior", "0.7")
    assert run(["fit", str(customers), *options, "--quiet", "-o", str(path)]) == 0
    return path


def test_the_error_of_a_model_that_was_wrong_falls(purely, wrong_model, pool, tmp_path):
    sheet, better = tmp_path / "to_label.csv", tmp_path / "better.purely"
    assert purely("audit", "draw", wrong_model, pool, "-n", 100, "-o", sheet).status == 0
    fill(sheet, pool)
    done = purely("audit", "read", sheet, "-o", better, "--json")
    assert (done.status, done.json["refined"]) == (0, True), done.err
    truth = np.array([row["truth"] == "1" for row in rows_of(pool)])
    other = np.setdiff1d(np.arange(truth.size), [int(row["row"]) - 1 for row in rows_of(sheet)])  # nobody labelled them
    before, after = (predicted(purely, m, pool, tmp_path / "scores.csv")[other] for m in (wrong_model, better))
    assert np.mean((after > 0.5) != truth[other]) < np.mean((before > 0.5) != truth[other])
    assert abs(after.mean() - truth[other].mean()) < 0.5 * abs(before.mean() - truth[other].mean())
    kept = purely("audit", "read", sheet, "--precision", 0.6, "-o", better, "--json")
    assert kept.json["refined"] is False  # a promise is about the ranking that was audited


def test_rows_that_the_sheet_cannot_hold_leave_the_ranking_as_it_is(purely, wrong_model, pool, tmp_path, monkeypatch):
    sheet, better = tmp_path / "to_label.csv", tmp_path / "better.purely"
    assert purely("audit", "draw", wrong_model, pool, "-n", 60, "-o", sheet).status == 0
    fill(sheet, pool)
    monkeypatch.setattr("purely.cli._audit.SAME_PROBABILITY", -1.0)
    done = purely("audit", "read", sheet, "-o", better, "--json")
    assert (done.status, done.json["refined"]) == (0, False)
    first, again = (predicted(purely, m, pool, tmp_path / "scores.csv") for m in (wrong_model, better))
    assert (np.diff(again[np.argsort(first)]) >= -1e-6).all()


def test_the_audit_is_on_the_reports_page(purely, wrong_model, model, pool, customers, tmp_path, undrawn):
    pytest.importorskip("jinja2")
    sheet, page = tmp_path / "to_label.csv", tmp_path / "report.html"
    assert purely("audit", "draw", wrong_model, pool, "-n", 80, "-o", sheet).status == 0
    fill(sheet, pool)
    options = ("--label", "fraud", "--drop", "truth", "--id", "customer", "--audit", sheet, "-o", page)
    read = purely("audit", "read", sheet, "--json").json
    done = purely("report", customers, *options, "--json")
    assert done.status == 0, done.err
    answers = done.json["answers"]
    assert {"signal", "picture", "positives", "records", "trust", "audit"} < set(answers)
    assert answers["positives"]["class_prior_low"] <= answers["positives"]["class_prior"]
    alone = purely("information", customers, *options[:6], "--no-ranking", "--permutations", 99, "--json").json
    assert answers["signal"]["information"] == pytest.approx(alone["information"], rel=1e-9)  # one number everywhere
    said = answers["audit"]
    assert said["share"] == pytest.approx(read["share"])
    assert (said["labelled"], said["verdict"]) == (80, "lower")
    html = page.read_text()
    assert 'id="audit"' in html
    assert "pool.csv" in html
    said = purely("report", customers, *options).out
    assert "\\xa0" not in said
    assert "What do the labels of the audit say?" in said
    assert max(len(line) for line in said.splitlines() if str(page) not in line) <= 80
    page.unlink()
    refused = purely("report", customers, *options, "--model", model)
    assert (refused.status, page.exists()) == (1, False)
    assert "the sheet was drawn by another model than 'fraud.purely' holds now" in " ".join(refused.err.split())
    empty = tmp_path / "empty.csv"
    empty.write_text("row,label\n1,yes\n")
    missing = purely("report", customers, *options[:-4], "--audit", empty, "-o", page)
    assert (missing.status, page.exists()) == (1, False)
    assert "the design of" in " ".join(missing.err.split())


def test_a_sheet_that_was_saved_under_another_name_is_told_its_old_one(purely, tmp_path):
    (tmp_path / "to_label.csv.design").write_bytes(b"a design")
    (tmp_path / "filled.csv").write_text("row,label\n1,yes\n")
    done = purely("audit", "read", tmp_path / "filled.csv")
    assert done.status == 1
    assert "has 'to_label.csv.design': give the sheet the name again that it had" in " ".join(done.err.split())
