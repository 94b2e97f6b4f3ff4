"""Every command, on a small table."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import purely as package
from tests.cli.conftest import make_customers

COMMON = ("--label", "fraud", "--drop", "truth", "--id", "customer")
COMMANDS = (
    *("inspect", "information", "prior", "represent", "fit", "predict", "evaluate", "audit", "report", "demo"),
    "monitor",
    "export",
    "datasets",
)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_help_lists_every_command_and_each_has_examples(purely):
    listed = purely("--help").out
    for name in COMMANDS:
        assert name in listed
        shown = purely(name, "--help").out
        assert "For example:" in shown
        assert "--json" in shown
        assert max(map(len, shown.splitlines())) <= 80
        assert not set("{}<") & set(shown.split("\n", 1)[0])  # the arguments as they are typed
    assert purely("audit", "read", "--help").out.startswith("Usage: purely audit read [OPTIONS] SHEET...\n")


def test_version(purely):
    assert purely("--version").out.strip() == f"purely {package.__version__}"


def test_the_program_runs_as_a_process_and_loads_nothing_heavy_for_help():
    code = (
        "import sys, purely.cli._app as a; a.run(['--help']); "
        "print([m for m in ('torch', 'sklearn', 'matplotlib', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("[]\n"), done.stderr
    for module in ("purely.cli", "purely"):
        done = subprocess.run([sys.executable, "-m", module, "nonsense"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "No such command" in done.stderr


def test_inspect_says_what_is_used(purely, customers):
    done = purely("inspect", customers, *COMMON)
    assert done.status == 0
    for text in ("400 rows", "'fraud', positive is '1'", "80 rows", "category", "tf-idf", "day of week"):
        assert text in done.out
    found = purely("inspect", customers, "--json", *COMMON).json
    assert (found["positives"], found["unlabelled"], found["rows"]) == (80, 320, 400)
    kinds = {c["name"]: c["kind"] for c in found["columns"]}
    assert kinds == {
        "amount": "number",
        "age": "number",
        "country": "category",
        "member": "boolean",
        "since": "date",
        "remark": "text",
    }


def test_an_identifier_is_left_out_with_a_note(purely, customers):
    done = purely("inspect", customers, "--label", "fraud", "--json")
    assert {c["name"]: c["kind"] for c in done.json["columns"]}["customer"] == "dropped"
    assert any("identifier" in note for note in done.json["warnings"])


def test_information_finds_signal_and_ranks_the_columns(purely, customers):
    found = purely("information", customers, *COMMON, "--permutations", 199, "--class-prior", 0.3, "--json").json
    assert found["p_value"] <= 0.05
    assert found["interval"][0] <= found["information"] <= found["interval"][1]
    assert {c["name"] for c in found["columns"]} == {"amount", "age", "country", "member", "since", "remark"}
    assert found["columns"][0]["name"] in ("amount", "country")
    assert found["smi"]["value"] == pytest.approx(found["information"] * 0.3 / 0.7)


@pytest.mark.slow
def test_prior_gives_an_interval_for_each_method(purely, customers):
    methods = ("--method", "recommended", "--method", "best-bin", "--scenario", "case-control")
    done = purely("prior", customers, *COMMON, *methods, "--json")
    found = done.json
    assert "single-sample" not in " ".join(found["warnings"])  # which scenario it is was said
    assert [m["method"] for m in found["methods"]] == ["recommended", "best-bin"]
    for each in found["methods"]:
        assert 0 <= each["interval"][0] <= each["class_prior"] <= each["interval"][1] <= 1
    assert purely("prior", customers, *COMMON, "--method", "guess").status == 2


def test_fit_prints_prior_information_and_estimates(purely, customers, tmp_path):
    out = tmp_path / "m.purely"
    done = purely("fit", customers, *COMMON, "--size", "light", "-o", out, "--json")
    assert done.status == 0, done.err
    found = done.json
    low, high = found["class_prior_interval"]
    assert low < found["class_prior"] < high
    assert {"precision", "recall", "roc_auc"} <= set(found["estimates"])
    assert files_in(tmp_path) == ["m.purely"]
    assert type(package.load(out).steps[1][1].prior_estimator_).__name__ == "ClassPrior"


@pytest.mark.slow
def test_fit_twice_with_one_seed_gives_one_model(purely, customers, model, tmp_path):
    options = ("--size", "light", "--class-prior", 0.3, "--seed", 0)
    assert purely("fit", customers, *COMMON, *options, "-o", tmp_path / "again.purely").status == 0
    for name, path in (("a", model), ("b", tmp_path / "again.purely")):
        assert purely("predict", path, customers, "-o", tmp_path / f"{name}.csv").status == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_predict_writes_ids_scores_probabilities_and_labels(purely, model, customers, tmp_path):
    done = purely("predict", model, customers, "-o", tmp_path / "s.parquet")
    assert done.status == 0, done.err
    rows = pq.read_table(tmp_path / "s.parquet")
    assert rows.column_names == ["customer", "score", "probability", "label"]
    assert rows["customer"].to_pylist() == [f"c{i:04d}" for i in range(400)]
    probability, label = rows["probability"].to_numpy(), rows["label"].to_numpy()
    np.testing.assert_array_equal(label, probability > 0.5)
    np.testing.assert_allclose(np.log(probability / (1 - probability)), rows["score"].to_numpy(), rtol=1e-6)
    pipeline = package.load(model)
    expected = pipeline.predict_proba(pacsv.read_csv(customers))[:, 1]
    np.testing.assert_allclose(probability, expected, atol=1e-4)
    assert "with the fast form of the model" in done.out
    done = purely("predict", model, customers, "-o", tmp_path / "s.parquet", "--exact")
    assert "distilled" not in done.out
    np.testing.assert_allclose(pq.read_table(tmp_path / "s.parquet")["probability"].to_numpy(), expected, rtol=1e-9)


def test_predict_gives_the_same_for_every_format(purely, model, customers, tmp_path):
    table = pacsv.read_csv(customers)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=37)
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write(table)
    with pa.output_stream(tmp_path / "t.csv.gz", compression="gzip") as sink:
        pacsv.write_csv(table, sink)
    pacsv.write_csv(table, tmp_path / "t.tsv", pacsv.WriteOptions(delimiter="\t"))
    results = set()
    for name in ("t.parquet", "t.arrow", "t.csv.gz", "t.tsv"):
        assert purely("predict", model, tmp_path / name, "-o", tmp_path / "out.csv").status == 0
        results.add((tmp_path / "out.csv").read_bytes())
    assert len(results) == 1


def test_predict_to_stdout_is_csv_only(model, customers, capfdbinary):
    from purely.cli._app import run

    assert run(["predict", str(model), str(customers)]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert len(out.splitlines()) == 401
    assert out.splitlines()[0].replace('"', "") == "customer,score,probability,label"


@pytest.mark.parametrize(("option", "value"), [("--precision", 0.8), ("--recall", 0.8), ("--share", 0.25)])
def test_aims_are_met(purely, model, customers, tmp_path, option, value):
    out = tmp_path / "s.parquet"
    found = purely("predict", model, customers, option, value, "-o", out, "--interval", "--json").json
    rows = pq.read_table(out)
    probability, label = rows["probability"].to_numpy(), rows["label"].to_numpy() == 1
    assert label.any()
    assert found["positive"] == label.sum()
    assert files_in(tmp_path) == ["s.parquet"]
    if option == "--share":
        assert label.mean() == pytest.approx(value, abs=0.01)
    if option == "--recall":
        assert probability[label].sum() / probability.sum() >= value - 0.1
    if option == "--precision":
        assert found["precision_at_least"] >= value - 1e-9
        assert found["expected_precision"] >= value
    low, high = (rows[f"probability_{end}"].to_numpy() for end in ("low", "high"))
    assert np.all(low <= probability + 1e-9)
    assert np.all(probability <= high + 1e-9)


def test_a_precision_that_cannot_be_promised_is_refused(purely, model, customers, tmp_path):
    found = purely("predict", model, customers, "--precision", 0.999, "-o", tmp_path / "s.csv")
    assert found.status == 1
    assert "no threshold can promise a precision of 0.999" in " ".join(found.err.split())
    assert files_in(tmp_path) == []


def test_top_writes_the_highest_scores_in_order(purely, model, customers, tmp_path):
    purely("predict", model, customers, "-o", tmp_path / "all.parquet")
    purely("predict", model, customers, "-o", tmp_path / "top.parquet", "--top", 7)
    everything = np.sort(pq.read_table(tmp_path / "all.parquet")["score"].to_numpy())[::-1]
    np.testing.assert_array_equal(pq.read_table(tmp_path / "top.parquet")["score"].to_numpy(), everything[:7])


def test_one_aim_at_a_time(purely, model, customers):
    assert purely("predict", model, customers, "--top", 3, "--share", 0.1).status == 2


def test_a_table_without_a_column_is_explained(purely, model, customers, tmp_path):
    pacsv.write_csv(
        pacsv.read_csv(customers).rename_columns(
            ["customer", "Amount", "age", "country", "member", "since", "remark", "fraud", "truth"]
        ),
        tmp_path / "t.csv",
    )
    done = purely("predict", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    assert done.status == 1
    assert "has no column 'amount'" in " ".join(done.err.split())
    assert "did you mean 'Amount'?" in " ".join(done.err.split())
    assert files_in(tmp_path) == ["t.csv"]


def test_unseen_levels_are_ignored_and_counted(purely, model, tmp_path):
    table = make_customers(5, 20, seed=3)
    place = table.column_names.index("country")
    pacsv.write_csv(table.set_column(place, "country", pa.array(["XX"] * 25)), tmp_path / "t.csv")
    done = purely("predict", model, tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    assert done.status == 0
    assert "of 25 rows: 'country' 25." in " ".join(done.err.split())


def test_evaluate_takes_two_files_that_have_the_label_column_of_the_fit(purely, model, customers, tmp_path):
    table = pd.read_csv(customers)
    files = tmp_path / "p.csv", tmp_path / "u.csv"
    for path, labelled in zip(files, (True, False), strict=True):
        table[(table["fraud"] == 1) == labelled].to_csv(path, index=False)
    done = purely("evaluate", model, *files, "--json")
    assert done.status == 0, done.err
    assert done.json["positives"] == (table["fraud"] == 1).sum()


def test_evaluate_puts_the_truth_beside_the_estimates(purely, model, tmp_path):
    pacsv.write_csv(make_customers(100, 600, seed=9), tmp_path / "later.csv")
    found = purely("evaluate", model, tmp_path / "later.csv", "--truth", "truth", "--json").json
    assert (found["positives"], found["unlabelled"]) == (100, 600)
    for name in ("accuracy", "recall", "roc_auc"):
        assert abs(found["estimates"][name]["value"] - found["truth"][name]) < 0.15
    shown = purely("evaluate", model, tmp_path / "later.csv", "--truth", "truth").out
    assert "estimate" in shown
    assert "true" in shown


@pytest.mark.slow
def test_represent_writes_components_and_a_picture(purely, customers, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    options = ("--epochs", 5, "--device", "cpu", "-o", tmp_path / "z.csv", "--plot", tmp_path / "z.png")
    done = purely("represent", customers, *COMMON, *options)
    assert done.status == 0, done.err
    rows = pacsv.read_csv(tmp_path / "z.csv")
    assert rows.column_names == ["customer", "labelled", "component_1", "component_2", "density_ratio"]
    assert rows.num_rows == 400
    assert (tmp_path / "z.png").read_bytes().startswith(b"\x89PNG")


def test_datasets_are_listed(purely):
    assert set(purely("datasets", "--json").json["datasets"]) == {
        "ijcnn1",
        "a9a",
        "mushrooms",
        "phishing",
        "mnist",
        "fashion-mnist",
        "20news",
    }
    done = purely("datasets", "fetch", "mushroms", "-o", "x.csv")
    assert done.status == 2
    assert "did you mean 'mushrooms'?" in done.err


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("PURELY_DATA"), reason="PURELY_DATA is not set")
def test_fetched_file_can_be_inspected(purely, tmp_path):
    out = tmp_path / "m.csv"
    assert purely("datasets", "fetch", "mushrooms", "--positives", 50, "--unlabelled", 150, "-o", out).status == 0
    found = purely("inspect", out, "--drop", "truth", "--json").json
    assert (found["positives"], found["unlabelled"]) == (50, 150)
    done = purely("datasets", "fetch", "mushrooms", "--positives", 9000, "-o", tmp_path / "n.csv")
    assert done.status == 1
    assert "Ask for fewer rows or another --class-prior." in " ".join(done.err.split())


def test_report_answers_the_five_questions(purely, customers, model, tmp_path):
    out = tmp_path / "r.html"
    done = purely("report", customers, *COMMON, "--model", model, "-o", out)
    assert done.status == 0, done.err
    assert done.out.count("?\n") == 7  # the five, whether PU learning helps, and what to do now
    assert done.out.endswith(f"{out}\n")
    assert max(map(len, done.out.splitlines()[:-1])) <= 80
    page = out.read_text()
    assert page.startswith("<!DOCTYPE html>")
    shown = set(re.findall(r"\bc0\d{3}\b", page))
    assert shown  # top records are told by their id,
    assert not shown & {f"c{i:04d}" for i in range(80)}  # and none of them is one that was labelled already
    assert files_in(tmp_path) == ["r.html"]


def test_quiet_prints_nothing(purely, customers):
    done = purely("inspect", customers, "--label", "fraud", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_rows_beyond_the_limit_are_drawn_at_random(purely, customers):
    found = purely("inspect", customers, *COMMON, "--max-rows", 100, "--json").json
    assert (found["rows"], found["unlabelled"], found["unlabelled_used"]) == (400, 320, 100)
    assert any("drawn at random" in note for note in found["warnings"])
