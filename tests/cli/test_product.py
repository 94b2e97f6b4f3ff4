"""What people meet: two files, known negatives, leaks, messy columns, one numbering, the small print."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import purely as package
from purely.tables import TableEncoder, read_table
from tests.cli.conftest import make_customers

LABELLED = ("--label", "fraud", "--drop", "truth", "--id", "customer")
LIGHT = ("--size", "light", "--class-prior", 0.3)
#: Said where a single file may be one sample or two, and nobody has said which.
SCENARIO = "add --scenario single-sample"


def said(text):
    return " ".join(text.split())


@pytest.fixture
def frame():
    return make_customers().to_pandas()


@pytest.fixture
def two_files(frame, tmp_path):
    positive = frame["fraud"] == 1
    frame[positive].drop(columns=["fraud", "truth"]).assign(officer="Bob").to_csv(tmp_path / "p.csv", index=False)
    columns = ["since", "remark", "member", "country", "age", "amount", "customer"]
    frame.loc[~positive, columns].assign(region="N").to_parquet(tmp_path / "u.parquet", index=False)
    return tmp_path / "p.csv", tmp_path / "u.parquet"


# -- two files --------------------------------------------------------------------------------------------------------


def test_positives_and_pool_in_two_files_are_one_table(purely, customers, two_files):
    one = purely("inspect", customers, *LABELLED, "--json").json
    two = purely("inspect", *two_files, "--id", "customer", "--json").json
    for key in ("rows", "positives", "unlabelled", "features", "copies", "leaks"):
        assert two[key] == one[key], key
    assert {c["name"]: c["action"] for c in two["columns"]} == {c["name"]: c["action"] for c in one["columns"]}
    notes = " ".join(two["warnings"])
    assert "only" in notes
    assert "'officer'" in notes
    assert "'region'" in notes


@pytest.mark.parametrize(
    "command",
    [
        ("information", "--permutations", 99),
        ("prior", "--method", "best-bin"),
        ("represent", "--epochs", 2, "-o", "map.csv"),
    ],
)
def test_every_command_takes_two_files(purely, two_files, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    done = purely(name, *two_files, *options, "--id", "customer")
    assert done.status == 0, done.err
    assert "80 labelled positives, 320 unlabelled rows" in done.out
    assert SCENARIO not in said(done.err)  # two files are two samples
    if name == "represent":
        pytest.importorskip("torch")
        rows = pd.read_csv("map.csv")
        assert rows["labelled"].tolist() == [1] * 80 + [0] * 320


def test_a_model_of_two_files_scores_and_is_judged(purely, two_files, tmp_path, undrawn, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = purely("fit", *two_files, *LIGHT, "-o", "m.purely", "--id", "customer", "--json")
    assert done.status == 0, done.err
    fitted = done.json
    assert (fitted["positives"], fitted["unlabelled"]) == (80, 320)
    assert purely("predict", "m.purely", two_files[1], "-o", "s.csv").status == 0
    assert len(pd.read_csv("s.csv")) == 320
    done = purely("evaluate", "m.purely", *two_files)
    assert done.status == 0, done.err
    assert "each row was scored by models that have not seen it" in said(done.err)
    assert "that of a plain forest of positives against the pool" in said(done.out)
    found = purely("evaluate", "m.purely", *two_files, "--json").json
    assert found["estimates"]["roc_auc"] == fitted["estimates"]["roc_auc"]
    gain = found["gain"]
    assert gain["area"] - gain["plain_area"] == pytest.approx(gain["difference"]["value"], abs=1e-9)
    done = purely("report", *two_files, "-m", "m.purely", "-o", "r.html")
    assert done.status == 0, done.err
    assert "--id carries it" not in said(done.err)  # the model knows its ids
    assert "xa0" not in done.out
    assert "Does PU learning help here?" in done.out
    assert "(file)" not in (tmp_path / "r.html").read_text()


def test_empty_rows_are_counted(purely, two_files, tmp_path):
    pool = pd.read_parquet(two_files[1])
    assert purely("inspect", *two_files, "--json").json["empty"] == 0
    pd.concat([pool, pd.DataFrame([{}])]).to_csv(tmp_path / "u.csv", index=False)
    done = purely("inspect", two_files[0], tmp_path / "u.csv")
    assert "1 row has no value in any column" in said(done.out)


def test_two_files_that_do_not_go_together(purely, two_files, tmp_path):
    (tmp_path / "other.csv").write_text("u,v\n1,2\n")
    assert "no column in common" in said(purely("inspect", two_files[0], tmp_path / "other.csv").err)
    done = purely("inspect", *two_files, "--label", "fraud")
    assert done.status == 2
    assert "leave out --label" in said(done.err)
    wrong = said(purely("inspect", *two_files, "--id", "Customer").err)
    assert "there is no id column 'Customer' in" in wrong
    assert "did you mean 'customer'?" in wrong


# -- known negatives --------------------------------------------------------------------------------------------------


@pytest.fixture
def with_negatives(frame, tmp_path):
    known = (frame["truth"] == 0) & (np.arange(len(frame)) % 4 == 0)
    frame["fraud"] = np.where(frame["fraud"] == 1, "yes", np.where(known, "No", ""))
    frame.to_csv(tmp_path / "n.csv", index=False)
    return tmp_path / "n.csv", int(known.sum())


def labelled(path):
    """Places of the labelled positives among the rows that are no known negatives."""
    label = pd.read_csv(path)["fraud"]
    return np.flatnonzero((label[label != "No"] == "yes").to_numpy())


def test_known_negatives_are_counted_set_aside_and_tested_on(purely, with_negatives, tmp_path):
    path, n = with_negatives
    found = purely("inspect", path, *LABELLED, "--json").json
    assert (found["positives"], found["negatives"], found["unlabelled"]) == (80, n, 320 - n)
    assert found["unlabelled_used"] == 320 - n
    assert any(f"{n} rows are known negatives" in note for note in found["warnings"])
    assert purely("inspect", path, *LABELLED, "--negative", "none", "--json").json["unlabelled"] == 320
    model = tmp_path / "m.purely"
    assert purely("fit", path, *LABELLED, *LIGHT, "-o", model, "-q").status == 0
    own = package.load(model)[-1].oof_probability_  # of the training file, scores out of fold are taken
    of_training = purely("evaluate", model, path, "--json").json
    assert of_training["known_negatives"]["recall"] == pytest.approx(np.mean(own[labelled(path)] > 0.5))
    found = purely("evaluate", model, path.rename(tmp_path / "later.csv"), "--json").json
    path = tmp_path / "later.csv"
    scores = package.load(model).predict_proba(pd.read_csv(path))[:, 1]
    label = pd.read_csv(path)["fraud"]
    negative, positive = (label == "No").to_numpy(), (label == "yes").to_numpy()
    known = found["known_negatives"]
    assert known["specificity"] == pytest.approx(np.mean(scores[negative] <= 0.5))
    assert known["recall"] == pytest.approx(np.mean(scores[positive] > 0.5))
    hit, alarm = 0.3 * known["recall"], 0.7 * (1.0 - known["specificity"])
    assert known["precision"] == pytest.approx(hit / (hit + alarm))
    order = np.concatenate([scores[positive], scores[negative]])
    area = np.mean(order[:80, None] > order[None, 80:]) + 0.5 * np.mean(order[:80, None] == order[None, 80:])
    assert known["roc_auc"] == pytest.approx(area)
    printed = purely("evaluate", model, path)
    assert f"{n} known negatives" in printed.out
    assert re.search(r"estimate +90% interval +known", printed.out)


# -- leaks and messy columns ------------------------------------------------------------------------------------------


def test_leaks_are_named_early_and_in_one_line_later(purely, frame, tmp_path):
    positive = (frame["fraud"] == 1).to_numpy()
    frame["case number"] = np.where(positive, "C1", "")
    frame["score"] = np.where(positive, 100.0, np.arange(400.0) % 13)
    path = tmp_path / "t.csv"
    pd.concat([frame, frame[:3]]).to_csv(path, index=False)
    found = purely("inspect", path, *LABELLED, "--json").json
    assert set(found["leaks"]) == {"case number", "score"}
    assert found["copies"] == {"positive": 3, "unlabelled": 0, "shared": 0}
    assert any("--drop 'case number'" in note for note in found["warnings"])
    line = "2 columns may give the label away: 'case number', 'score'"
    out = tmp_path / "m.purely"
    for command in (("information", path, "--permutations", 99), ("prior", path), ("fit", path, *LIGHT, "-o", out)):
        assert line in said(purely(*command, *LABELLED).err)


def test_messy_numbers_give_what_clean_ones_give(purely, tmp_path):
    rng = np.random.default_rng(0)
    n = 300
    clean = pd.DataFrame(
        {
            "amount": np.round(rng.lognormal(7, 1, n), 2),
            "rate": np.round(rng.uniform(0, 60, n), 1),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
            "label": np.where(np.arange(n) < 60, 1.0, np.nan),
        }
    )
    german = pd.DataFrame(
        {
            "amount": [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in clean["amount"]],
            "rate": [f"{v:.1f} %".replace(".", ",") for v in clean["rate"]],
            "born": clean["born"].dt.strftime("%d.%m.%Y"),
            "label": np.where(np.arange(n) < 60, "Positive", "n/a"),
        }
    )
    clean.to_csv(tmp_path / "clean.csv", index=False)
    german.to_csv(tmp_path / "german.csv", index=False, sep=";")
    clean.assign(born=clean["born"].dt.strftime("%Y-%m-%d")).to_csv(
        tmp_path / "blanks.txt", index=False, sep=" ", na_rep="NA"
    )
    german.to_excel(tmp_path / "book.xlsx", index=False)
    paths = sorted(tmp_path.iterdir())
    assert [p.name for p in paths] == ["blanks.txt", "book.xlsx", "clean.csv", "german.csv"]
    expected = TableEncoder().fit_transform(read_table(tmp_path / "clean.csv").drop(["label"]))
    for path in paths:
        np.testing.assert_allclose(TableEncoder().fit_transform(read_table(path).drop(["label"])), expected, atol=1e-9)
        found = purely("inspect", path, "--json").json
        assert (found["positives"], found["unlabelled"], found["features"]) == (60, 240, 6)


def test_an_encoding_that_does_not_fit_is_said_and_two_files_may_have_two(purely, frame, tmp_path):
    one, other = tmp_path / "positives.csv", tmp_path / "pool.csv"
    frame = frame.drop(columns="fraud").assign(paid=["Überweisung", "Karte"] * (len(frame) // 2))
    frame[:100].to_csv(one, index=False, encoding="cp1252")
    frame[100:].to_csv(other, index=False, encoding="utf-8")
    assert "is not utf-8 text" in said(purely("inspect", one, other).err)
    for names, levels, notes in (("latin-1", 3, 1), ("latin-1,utf-8", 2, 0), (" latin-1 , utf-8", 2, 0)):
        done = purely("inspect", one, other, "--encoding", names, "--json")
        paid = next(column for column in done.json["columns"] if column["name"] == "paid")
        assert paid["action"].startswith(f"{levels} levels")
        assert sum("looks like utf-8 but is read as latin-1" in note for note in done.json["warnings"]) == notes
    assert "'latin-1,utf-8' is not known" in said(purely("inspect", one, "--encoding", "latin-1,utf-8").err)


def test_known_positives_in_the_pool_are_said(purely, two_files, frame, tmp_path):
    positives, pool = two_files
    assert "also among the unlabelled" not in said(purely("inspect", positives, pool).out)
    some = frame[frame["fraud"] == 1][:3].drop(columns=["fraud", "truth"])
    both = tmp_path / "both.parquet"
    pd.concat([pd.read_parquet(pool), some.assign(region="N")]).to_parquet(both, index=False)
    done = purely("inspect", positives, both)
    assert "3 labelled rows are also among the unlabelled ones" in said(done.out)
    assert "will be on the list of 'purely predict'" in said(done.err)


def test_every_command_says_where_files_look_exchanged(purely, two_files, frame, tmp_path):
    pool, positives = two_files
    sentence = "The first file, which holds the positives, has 320 rows, and the second, the pool, only 80"
    commands = [("inspect",), ("prior", "--method", "best-bin"), ("information", "--no-ranking", "--permutations", 99)]
    for name, *options in commands:
        assert sentence in said(purely(name, positives, pool, *options).err)
        assert "the wrong way round" not in said(purely(name, pool, positives, *options).err)
    some = frame[frame["fraud"] == 1][:3].drop(columns=["fraud", "truth"]).assign(region="N")
    pd.concat([pd.read_parquet(positives), some]).to_parquet(tmp_path / "both.parquet", index=False)
    for name, *options in commands:
        assert "3 of 80 labelled rows equal unlabelled ones" in said(
            purely(name, pool, tmp_path / "both.parquet", *options).err
        )


def test_columns_that_differ_in_case_are_matched_and_said(purely, two_files, tmp_path):
    renamed = pd.read_csv(two_files[0]).rename(columns={"amount": "Amount", "since": "SINCE "})
    renamed.to_csv(tmp_path / "p.csv", index=False)
    done = purely("inspect", tmp_path / "p.csv", two_files[1], "--json")
    assert {"amount", "since"} <= {c["name"] for c in done.json["columns"]}
    assert any("'Amount' as 'amount', 'SINCE' as 'since'" in note for note in done.json["warnings"])


# -- one numbering -----------------------------------------------------------------------------------------------------


def test_rows_have_one_numbering(purely, customers, model, frame, tmp_path, undrawn):
    """The report of some rows names the records that `purely predict` names."""
    options = (*LABELLED, "--max-rows", 150)
    found = purely("report", customers, *options, "-m", model, "-o", tmp_path / "r.html", "--json").json
    assert found["unlabelled_used"] == 150
    assert not any(SCENARIO in note for note in found["warnings"])  # the model knows it
    frame.drop(columns="customer").to_csv(tmp_path / "without.csv", index=False)
    purely("predict", model, tmp_path / "without.csv", "-o", tmp_path / "s.csv")
    scores = pd.read_csv(tmp_path / "s.csv").set_index("row")["probability"]
    assert scores.index[0] == 1
    top = found["answers"]["records"]["top"]
    for entry in top:
        assert scores[entry["row"]] == pytest.approx(entry["probability"])
        assert frame["fraud"][entry["row"] - 1] != 1
    assert f">{frame['customer'][top[0]['row'] - 1]}<" in (tmp_path / "r.html").read_text()


# -- the small print --------------------------------------------------------------------------------------------------


def test_outputs_are_named_and_counted(purely, customers, model, tmp_path):
    out = tmp_path / "o.csv"
    assert f"The 5 rows of highest score are in {out}" in said(
        purely("predict", model, customers, "--top", 5, "-o", out).out
    )
    assert f"400 rows are in {out}" in said(purely("predict", model, customers, "-o", out).out)
    done = purely("fit", customers, *LABELLED, *LIGHT, "-o", tmp_path / "m.purely")
    assert "information" not in done.out  # that is another number
    assert f"The model is in {tmp_path / 'm.purely'}" in said(done.out)


def test_nothing_is_wider_than_eighty_columns_or_broken_within_a_word(purely, frame, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame["a column with quite a long name indeed, longer than most"] = frame["amount"]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    monkeypatch.chdir(tmp_path)
    for command in (("inspect", "t.csv", *LABELLED), ("information", "t.csv", *LABELLED, "--permutations", 99)):
        done = purely(*command)
        text = done.out + done.err
        assert max(map(len, text.splitlines())) <= 80
        for word in ("indeed", "permutations", "features", "missing", "median"):
            assert text.count(word[:-2]) == text.count(word)


def test_advice_is_for_the_command_line(purely, customers, tmp_path):
    pytest.importorskip("torch")
    commands = [
        ("prior", customers, "--method", "best-bin"),
        ("represent", customers, "--epochs", 60, "-o", tmp_path / "map.csv"),
        ("information", customers, "--drop", "amount", "--drop", "country", "--permutations", 99),
    ]
    for command in commands:
        notes = said(purely(*command, *LABELLED).err)
        assert command[0] != "prior" or SCENARIO in notes
        assert not re.search(r"\w=\S|class_prior|cv=|oof_|weight_decay|prior_min|\[\.\.\.\]", notes)


def test_a_likely_label_is_offered_and_a_name_only_where_it_resembles(purely, frame, tmp_path):
    frame.drop(columns="truth").to_csv(tmp_path / "t.csv", index=False)
    done = purely("inspect", tmp_path / "t.csv")
    assert done.status == 2
    assert "likely it is 'fraud'" in said(done.err)
    assert "did you mean" not in said(purely("inspect", tmp_path / "t.csv", "--label", "outcome").err)
    assert "did you mean 'fraud'?" in said(purely("inspect", tmp_path / "t.csv", "--label", "fruad").err)


@pytest.mark.parametrize(
    ("columns", "offered"),
    [
        (
            {"Status": ["fraud", "open", "under review"]},
            "perhaps it is 'Status' (with 'fraud', 'open', 'under review')",
        ),
        ({"kind": ["red", "blue"]}, "perhaps it is 'kind' (with 'red', 'blue')"),
        ({"kind": ["red", "blue"], "target": [1, 2, 3]}, "perhaps it is 'target' (with '1', '2', '3'); say with"),
        ({"member": ["yes", *["no"] * 5], "is_fraud": [1, *[0] * 5]}, "likely it is 'is_fraud'."),
        ({"town": list("abcdefgh"), "classic": [1, 2]}, "it has: 'amount', 'town', 'classic'."),
    ],
)
def test_columns_that_may_be_labels_are_offered_with_as_much_doubt_as_there_is(purely, tmp_path, columns, offered):
    rows = {"amount": np.random.default_rng(0).normal(size=240)}
    pd.DataFrame(rows | {k: v * (240 // len(v)) for k, v in columns.items()}).to_csv(tmp_path / "t.csv", index=False)
    assert offered in said(purely("inspect", tmp_path / "t.csv").err)


def test_a_table_stays_readable_where_the_terminal_is_narrow(purely, customers, monkeypatch):
    monkeypatch.chdir(customers.parent)
    monkeypatch.setenv("COLUMNS", "40")
    done = purely("inspect", customers.name, *LABELLED)
    assert "\ncountry\n  kind: category\n  what becomes of it: 4 levels\n  features: 4\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 40
    assert "\nunlabelled        320 rows (320 with an\n                  empty label)\n" in done.out


def test_a_model_is_named_by_its_place_or_with_an_option(purely, customers, model, tmp_path):
    first = purely("predict", model, customers, "--top", 2).out
    assert first
    for named in (["-m", model, customers], [customers, "--model", model], [f"--model={model}", customers]):
        assert purely("predict", *named, "--top", 2).out == first
    assert purely("report", model, customers, customers, customers, "-o", tmp_path / "r.html").status == 2
    assert purely("report", customers, customers, customers, "-o", tmp_path / "r.html").status == 2


def test_a_guess_is_said_and_can_be_turned(purely, frame, tmp_path):
    frame["fraud"] = np.where(frame["fraud"] == 1, "red", "blue")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = purely("inspect", tmp_path / "t.csv", *LABELLED)
    assert "80 rows (20.0%)" in done.out
    assert "'red', the greater, is taken as positive" in said(done.err)
    found = purely("inspect", tmp_path / "t.csv", *LABELLED, "--positive", "blue", "--json").json
    assert found["positives"] == 320
