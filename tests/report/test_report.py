"""The report's numbers agree with the library's, its text is inert, and its file is written whole or not at all."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from purely import PUSMI, PUClassifier, draw_audit, make_report, pu_precision, read_audit
from purely.audit import Sensitivity
from purely.datasets import make_gaussians
from purely.explain import explain_rows
from purely.plotting import InformationDisplay
from purely.report import Report
from purely.report._answers import answer_next, answer_picture, answer_signal, answer_trust
from purely.report._checks import Check, _leak, _signal
from purely.report._data import MAX_ROWS, read_table
from purely.report._stages import Picture, Signal, score_rows
from purely.representation import InformationRetained
from purely.smi import InformationInterval

FIVE = ("signal", "picture", "positives", "records", "trust")


class Elements(HTMLParser):
    """Names and attributes of all elements."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_answers_are_json_and_hold_the_five_questions(report):
    text = json.dumps(report.answers, allow_nan=False)
    answers = json.loads(text)
    assert [name for name in answers if name in FIVE] == list(FIVE)
    for name in FIVE:
        assert answers[name]["question"].endswith("?")
        assert answers[name]["answer"]
        assert answers[name]["answer"] in str(report)


def test_answers_agree_with_the_library(report, rows, model, truth):
    data, _ = rows
    positives = report.answers["positives"]
    assert positives["class_prior"] == model.class_prior_
    assert positives["count_low"] <= positives["count"] <= positives["count_high"]
    assert abs(positives["count"] - truth) < 0.35 * data.y.size  # far from 0 and from all
    from sklearn.preprocessing import StandardScaler

    own = PUSMI(random_state=0).fit(StandardScaler().fit_transform(data.X), data.y)
    assert report.answers["signal"]["information"] == pytest.approx(own.information_, abs=0.1)
    records = report.answers["records"]
    listed = model.oof_probability_ >= records["threshold"]
    assert records["list_size"] == np.count_nonzero(listed[data.y == 0])
    assert records["recall"] == pytest.approx(listed[data.y == 1].mean())
    precision = pu_precision(data.y, listed, model.class_prior_, n_resamples=0)
    assert records["precision"] >= precision.value - 1e-9  # the curve's promises can only raise it
    assert records["expected_found"] == pytest.approx(records["precision"] * records["list_size"])


def test_top_records_are_the_most_probable_unlabelled_ones(report, rows, model):
    data, _ = rows
    top = report.answers["records"]["top"]
    assert all(data.y[entry["row"]] == 0 for entry in top)
    best = np.sort(model.oof_probability_[data.y == 0])[::-1][: len(top)]
    np.testing.assert_allclose([entry["probability"] for entry in top], best)
    assert f"record {top[0]['row']}<" in report.html


def test_progress_tells_every_stage_once(report, stages):
    assert report
    done = [k for _, k, _ in stages]
    assert done == list(range(stages[0][2] + 1))
    assert stages[-1][0] == "done"


def test_the_page_loads_nothing_and_runs_one_script(report):
    elements = Elements(report.html).found
    for tag, attributes in elements:
        for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, name, value)
    scripts = [attributes.get("type") for tag, attributes in elements if tag == "script"]
    assert scripts == ["application/json", None]
    assert not re.search(r"url\((?!#)", report.html)
    policy = next(a["content"] for t, a in elements if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_hostile_names_and_values_are_text(report):
    elements = Elements(report.html).found
    assert not [tag for tag, attributes in elements if any(name.startswith("on") for name in attributes)]
    assert not [tag for tag, _ in elements if tag in ("img", "iframe", "object", "embed", "form", "base")]
    assert "&lt;script&gt;document.title" in report.html


def test_identifiers_are_unique(report):
    ids = [attributes["id"] for _, attributes in Elements(report.html).found if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = re.findall(r'href="#([^"]+)"', report.html) + re.findall(r"url\(#([^)]+)\)", report.html)
    assert set(targets) <= set(ids)


def test_write_is_atomic(report, tmp_path, monkeypatch):
    path = report.write(tmp_path / "new" / "report.html")
    assert path.read_text("utf-8") == report.html
    path.write_text("old")

    def fail(*arguments):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        report.write(path)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["report.html"]


@pytest.mark.parametrize(
    ("information", "p_value", "short", "light"),
    [(0.4, 0.001, "Yes", "green"), (0.05, 0.03, "A little", "amber"), (0.05, 0.4, "None seen", "red")],
)
def test_signal_in_words_and_as_a_light(information, p_value, short, light):
    interval = InformationInterval(information, 0.05, information - 0.1, information + 0.1, 0.95)
    signal = Signal(InformationDisplay([100], [interval]), interval, interval.smi(0.5), p_value, 999)
    answer = answer_signal(signal, "")
    assert (answer["short"], answer["found"]) == (short, p_value <= 0.05)
    assert _signal(signal).status == light


def test_a_leaking_column_is_red_and_named():
    data = make_gaussians(60, 140, n_features=2, random_state=0)
    X = np.column_stack([data.X, data.y * 2.0 + 0.001 * data.X[:, 0]])
    for rows in (X, sp.csr_matrix(np.column_stack([data.X, data.y]))):
        leak = _leak(read_table(rows, data.y, ["a", "b", "flag"], None, "case-control", 0))
        assert leak.status == "red"
        assert "“flag”" in leak.reason
    X[np.flatnonzero(data.y == 0)[0], 2] += 3.0  # one unlabelled row that looks labelled
    assert _leak(read_table(X, data.y, None, None, "case-control", 0)).status == "amber"
    assert _leak(read_table(data.X, data.y, None, None, "case-control", 0)).status == "green"


def test_sparse_rows_few_positives_and_a_model_without_folds():
    """A page comes out of rows that hardly carry one, and says what could not be done."""
    data = make_gaussians(3, 60, n_features=4, scenario="single-sample", random_state=0)

    class Plain:
        def fit(self):
            return self

        def predict_proba(self, X):
            p = np.clip(np.asarray(X[:, [0]].todense()).ravel() / 6.0 + 0.4, 0.01, 0.99)
            return np.column_stack([1.0 - p, p])

    report = make_report(sp.csr_matrix(data.X), data.y, model=Plain(), scenario="single-sample")
    assert report.answers["picture"]["retained"] is None
    assert "at least 10 labelled positives" in report.answers["picture"]["answer"]
    lights = {check["name"]: check["status"] for check in report.answers["trust"]["checks"]}
    assert lights["amount"] == "red"
    assert lights["out_of_fold"] == "amber"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"feature_names": ["a"]}, "feature_names must name each of the 2 columns of X; 1 names were given"),
        ({"records": [{}]}, "records must have one entry for each of the 100 rows of X; it has 1"),
        ({"records": ["x"] * 100}, "records must be a data frame or a list of dictionaries"),
        ({"model": object()}, "model must be a fitted classifier with predict_proba"),
        ({"scenario": "other"}, "scenario"),
    ],
)
def test_bad_arguments_get_a_sentence(change, words):
    data = make_gaussians(40, 60, n_features=2, random_state=0)
    with pytest.raises((ValueError, TypeError), match=words):
        make_report(data.X, data.y, **change)
    frame = pd.DataFrame(data.X, columns=["a", "b"]).assign(land="DE")
    with pytest.raises(ValueError, match="X has a column that is not numbers: 'land'"):
        make_report(frame, data.y)


def test_thinning_keeps_positives_of_two_samples_and_the_proportion_of_one():
    n = 4 * MAX_ROWS["columns"]
    y = np.arange(n) < 900
    X = np.zeros((n, 1))
    two = read_table(X, y, None, None, "case-control", 0).thin("columns")
    assert (two.size, np.count_nonzero(y[two])) == (MAX_ROWS["columns"], 900)
    one = read_table(X, y, None, None, "single-sample", 0).thin("columns")
    assert np.count_nonzero(y[one]) / one.size == pytest.approx(y.mean(), rel=0.01)
    assert np.count_nonzero(y[one]) == 500


def test_the_model_is_compared_with_a_plain_forest(report, rows, model):
    """The model of the fixture may have no forest; one is then fitted to the other folds."""
    gain = report.answers["gain"]
    assert gain["question"] in report.html
    assert gain["difference_low"] <= gain["difference"] <= gain["difference_high"]
    assert 0.5 < gain["plain_area"] <= 1.0


def test_a_report_says_its_answers(report):
    assert isinstance(report, Report)
    assert str(report).startswith("1. Is there signal at all")


# -- what a reader sees first -----------------------------------------------------------------------------------------


def check(status, name="amount"):
    return Check(name, status, "Because of this.")


def test_amber_checks_are_counted_beside_red_ones():
    answer = answer_trust([check("green"), check("red", "leak"), check("amber", "top"), check("amber", "prior")])
    assert answer["answer"] == (
        "Of 4 checks, 1 is red and 2 are amber: look at “No single column gives the label away”; "
        "“The highest scores hold labelled positives”; “The share of positives is known well enough”."
    )
    assert answer["counts"] == {"green": 1, "amber": 2, "red": 1}


@pytest.mark.parametrize(("retained", "low", "high"), [(99.38, 12.0, 400.0), (2.67, 0.4, 5.0), (1.0, 0.9, 1.1)])
def test_no_more_than_everything_is_kept(retained, low, high):
    kept = InformationRetained(retained, 0.1, low, high, 0.95, 0.5, 0.4)
    answer = answer_picture(Picture(None, kept, "PURL", 2, 100), "")
    assert answer["short"] == "All information kept"
    assert "%" not in answer["answer"]
    assert (answer["retained"], answer["retained_high"]) == (1.0, 1.0)
    kept = InformationRetained(0.8, 0.1, -0.1, 1.3, 0.95, 0.5, 0.4)
    answer = answer_picture(Picture(None, kept, "PURL", 1, 100), "")
    assert "1 dimension keeps about 80 % [0 %, 100 %]" in answer["answer"]


def test_what_to_do_now(report):
    card = report.answers["next"]
    assert card["question"] == "What should I do now?"
    assert card["answer"] in report.html.replace("&#39;", "'").replace("\N{NO-BREAK SPACE}", " ")
    red = answer_next([check("red")], report.answers["records"])
    assert red["short"] == "Mend this first"
    assert "“There are enough labelled positives” does not hold" in red["answer"]


def test_reasons_stand_beside_the_records(report, model, rows):
    data, _ = rows
    for entry in report.answers["records"]["top"]:
        assert len(entry["reasons"]) == 3
        assert all(re.search(r": (raises|lowers|changes nothing)", reason) for reason in entry["reasons"])
    first = report.answers["records"]["top"][0]
    largest = np.abs(explain_rows(model, data.X[[first["row"]]], data.X, random_state=0).contributions).max()
    assert first["reasons"][0].endswith(f": raises (+{largest:.2f})")


def test_card_and_table_have_one_precision(report):
    precision = report.answers["records"]["precision"]
    shown = re.search(r"<td>precision</td><td class=.n.>([\d.]+)</td>", report.html)
    assert float(shown[1]) == pytest.approx(precision, abs=0.00051)


def test_a_pipeline_with_an_encoder_reports_on_a_frame_of_any_columns(rows, tmp_path):
    pytest.importorskip("pyarrow")
    from purely.tables import TableEncoder

    data, _ = rows
    frame = pd.DataFrame({"size": data.X[:, 0] * 1000.0, "kind": np.where(data.X[:, 1] > 0, "tall", "short")})
    model = make_pipeline(TableEncoder(), PUClassifier(0.4, members=["linear"], random_state=0)).fit(frame, data.y)
    found = make_report(frame, data.y, model=model)
    assert found.answers["rows"]["n_features"] == 3
    assert found.answers["records"]["out_of_fold"]
    top = found.answers["records"]["top"][0]
    assert any(reason.startswith("kind = ") for reason in top["reasons"])
    size = next(reason for reason in top["reasons"] if reason.startswith("size = "))
    assert f"<td>{size.split(' = ')[1].split(':')[0]}</td>" in found.html  # reason and cell have the same digits


def test_out_of_fold_scores_of_other_rows_are_not_taken(rows, model):
    data, _ = rows
    assert score_rows(read_table(data.X, data.y, None, None, "case-control", 0), model).honest
    other = make_gaussians(*np.bincount(data.y)[::-1], n_features=data.X.shape[1], random_state=7)
    order = np.random.default_rng(0).permutation(other.y.size)
    found = score_rows(read_table(other.X[order], other.y[order], None, None, "case-control", 0), model)
    assert not found.honest
    np.testing.assert_array_equal(found.probability, model.predict_proba(other.X[order])[:, 1])


def test_the_command_is_whole_and_letters_of_any_script_are_letters(rows, model):
    data, _ = rows
    command = "purely report " + " ".join(f"--drop column{i}" for i in range(40))
    names = ["größe", "数量", "כמות"]
    report = make_report(data.X, data.y, model=model, feature_names=names, settings={"command": command})
    assert command in report.html
    drawing = report.html.split('id="figure-columns"')[1].split("</figure>")[0]
    assert "数量" in drawing.split("figcaption")[0]  # as text, which the reader's own fonts draw


@pytest.fixture(scope="module")
def audited(rows, model):
    """An audit of the unlabelled rows with the truth as labels, and one whose labels are all no."""
    data, _ = rows
    pool = data.y == 0
    probability = model.predict_proba(data.X[pool])[:, 1]
    sample = draw_audit(probability, 80, random_state=0)
    truth = data.y_true[pool][sample.index]
    return read_audit(sample, truth, probability), read_audit(sample, np.zeros(80), probability)


def test_an_audit_is_on_the_page_with_what_it_changed(rows, model, audited):
    data, _ = rows
    found = make_report(data.X, data.y, model=model, audit=audited[0])
    said, result = found.answers["audit"], audited[0]
    assert json.loads(json.dumps(found.answers, allow_nan=False)) == found.answers
    assert said["share"]["value"] == result.share.value
    assert said["share"]["without_labels"] == pytest.approx(result.probability.mean())
    assert said["precision"]["low"] == result.precision(0.5).low
    assert said["verdict"] == "same"
    assert {"audit", "labelling"} <= {check["name"] for check in found.answers["trust"]["checks"]}
    assert found.answers["next"]["short"] == "Work down the list"
    for piece in ('id="audit"', 'id="figure-audit"', "the model alone", "audit=audit"):
        assert piece in found.html
    assert "6. What do the labels of the audit say?" in str(found)


def test_an_audit_that_contradicts_the_model_says_so(rows, model, audited, undrawn):
    data, _ = rows
    found = make_report(data.X, data.y, model=model, audit=audited[1]).answers
    assert found["audit"]["verdict"] == "lower"
    assert "which is too many" in found["audit"]["answer"]
    check = next(check for check in found["trust"]["checks"] if check["name"] == "audit")
    assert check["status"] == "red"
    assert found["next"]["short"] == "Use the recalibrated model"


def test_an_audit_needs_its_model_and_must_be_one(rows, model, audited):
    data, _ = rows
    with pytest.raises(ValueError, match="an audit is of one model: give it too"):
        make_report(data.X, data.y, audit=audited[0])
    with pytest.raises(TypeError, match=r"audit must be what .*read_audit returns; a dict was given"):
        make_report(data.X, data.y, model=model, audit={})


def test_without_an_audit_the_page_says_how_uneven_labelling_may_be(report, rows, model):
    data, _ = rows
    said = report.answers["ranges"]
    assert "audit" not in report.answers
    assert 'id="audit"' not in report.html
    assert 'id="figure-ranges"' in report.html
    pool = model.oof_probability_[data.y == 0]
    low, high = model.class_prior_interval_
    ranges = Sensitivity(
        1.0, 0.5, pool, np.ones(pool.size), (low / model.class_prior_, high / model.class_prior_), model.prior_.level
    )
    assert said["gamma_share"] == pytest.approx(ranges.tips(share=said["at_most"]))
    assert said["gamma_precision"] == pytest.approx(ranges.tips(precision=0.5))
    assert "An audit of 50 to 200 rows" in said["answer"]
