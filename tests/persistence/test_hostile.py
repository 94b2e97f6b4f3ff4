"""Files that are damaged, foreign or forged are refused in one sentence; nothing in them is run."""

from __future__ import annotations

import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import purely
from purely.persistence import ModelFileError, ModelFileWarning, describe
from tests.persistence.files import forge, held_by, put_together, take_apart, write_raw
from tests.persistence.models import numbers, texts

pytest.importorskip("pyarrow")
X, Y = numbers()


@pytest.fixture(scope="module")
def prior(files):
    return files["KernelMeanPrior"]


def refused(path, match, *, described=False):
    """Both readers refuse the file; `describe` does where it can know."""
    for read in (purely.load, describe) if described else (purely.load,):
        with pytest.raises(ModelFileError, match=match) as caught:
            read(path)
        sentence = str(caught.value)
        assert sentence.isprintable()
        assert sentence.endswith(".")
        assert sentence.startswith(str(path))


# -- files that are no models ------------------------------------------------------------------------------------------


class Trap:
    """Leaves a trace where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "b")


def saved_array(path):
    with path.open("wb") as file:
        np.save(file, np.arange(3))


FOREIGN = {
    "missing": (lambda path: None, "does not exist"),
    "folder": (lambda path: path.mkdir(), "is a folder"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "text": (lambda path: path.write_text("hello, this is no model at all\n"), "no model file"),
    "pickle": (lambda path: path.write_bytes(pickle.dumps(Trap(path.parent / "trace"))), "looks like a pickle"),
    "zip": (zipped, "looks like a zip archive"),
    "array": (saved_array, "looks like a NumPy array"),
    "tensors": (lambda path: write_raw(path, '{"a":{}}'), "holds no model of purely"),
    "zeros": (lambda path: path.write_bytes(bytes(1000)), "no model file"),
    "pipe": (os.mkfifo, "no ordinary file"),
    "a list": (lambda path: write_raw(path, '{"__metadata__":[]}'), "holds no model of purely"),
    "a long header": (lambda path: path.write_bytes(b"\xff" * 7 + b"\0{"), "no model file"),
}


@pytest.mark.parametrize(("make", "match"), FOREIGN.values(), ids=FOREIGN.keys())
def test_foreign_files(make, match, tmp_path):
    make(tmp_path / "model.purely")
    refused(tmp_path / "model.purely", match, described=True)
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read(prior, tmp_path):
    path = tmp_path / "model.purely"
    path.write_bytes(prior.read_bytes())
    path.chmod(0)
    refused(path, "cannot be read", described=True)


def test_a_name_that_cannot_be_shown(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[2Jx")
    with pytest.raises(ModelFileError, match="does not exist") as caught:
        purely.load(path)
    assert str(caught.value).isprintable()


def test_every_truncation_is_seen(prior, tmp_path):
    data, path = prior.read_bytes(), tmp_path / "model.purely"
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        refused(path, "empty|no model file|cut short|damaged", described=True)
    path.write_bytes(data + b"\0")
    refused(path, "longer than it says", described=True)


def test_every_flipped_bit_is_seen(prior, tmp_path):
    data, path = bytearray(prior.read_bytes()), tmp_path / "model.purely"
    for at in range(0, len(data), 37):
        data[at] ^= 4
        path.write_bytes(data)
        refused(path, ".")
        data[at] ^= 4


def test_an_altered_value_is_seen_by_the_checksum(prior, tmp_path):
    document, arrays = take_apart(prior)
    document["model"]["class_prior_"] = 0.123
    refused(put_together(tmp_path / "m", document, arrays, forge=False), "checksum does not match", described=True)


# -- versions ----------------------------------------------------------------------------------------------------------


def test_other_formats_are_refused(prior, tmp_path):
    document, arrays = take_apart(prior)
    refused(put_together(tmp_path / "a", {**document, "format": 3}, arrays), "version 3.*newer purely", described=True)
    first = {"schema": 1, "versions": {}, "model": {"kind": "object"}}
    refused(put_together(tmp_path / "a", first, {}), "version 1 .*fit the model again and save it", described=True)
    for wrong in (0, -1, True, "2", None, 2.0, []):
        refused(put_together(tmp_path / "a", {**document, "format": wrong}, arrays), "does not say", described=True)


def test_another_scikit_learn_warns(prior, tmp_path):
    document, arrays = take_apart(prior)
    document["versions"]["dict"]["scikit-learn"] = "1.2.3"
    del document["model"]["approximation"]  # a parameter that this version did not have yet
    with pytest.warns(ModelFileWarning, match=r"written with scikit-learn 1\.2\.3"):
        loaded = purely.load(put_together(tmp_path / "a", document, arrays))
    assert loaded.approximation == purely.prior.KernelMeanPrior().approximation


def test_a_name_that_occurs_twice_is_refused(prior, tmp_path):
    text = json.dumps(take_apart(prior)[0])
    for twice in ('{"format": 2, ' + text[1:], text.replace('"scenario":', '"level": 0.9, "scenario":')):
        header = {"__metadata__": {"purely": twice, "sha256": ""}}
        refused(write_raw(tmp_path / "m", json.dumps(header)), "occurs twice", described=True)


# -- forged values -----------------------------------------------------------------------------------------------------


def set_value(**values):
    def change(document, arrays):
        document["model"].update(values)

    return change


def foreign(name, how="call", args=("true",)):
    return {"foreign": name, "how": how, "args": list(args), "state": None, "listed": None, "paired": None}


DEEP = 0
for _ in range(100):
    DEEP = [DEEP]
FORGED = {
    "a function for a class": (set_value(**{"class": "os.system"}), "must be"),
    "a class that is not declared": (set_value(**{"class": "SVC"}), "must be"),
    "a part for a model": (set_value(**{"class": "Prior"}), "must be"),
    "a list for a class": (set_value(**{"class": ["os"]}), "must be"),
    "another class": (set_value(**{"class": "PUSMI"}), "not declared|lacks"),
    "a method": (set_value(fit=1), "'fit', which is not declared"),
    "a magic name": (set_value(__class__=1), "'__class__', which is not declared"),
    "a name for a terminal": (set_value(**{"\x1b[2J": 1}), r"holds '\\+x1b"),
    "a share above one": (set_value(class_prior_=1.5), "class_prior_ must be a number from 0 to 1"),
    "a share that is text": (set_value(class_prior_="0.5"), "class_prior_ must be a number"),
    "no share": (set_value(class_prior_=None), "class_prior_ must be a number"),
    "a count below zero": (set_value(n_positive_=-1), "n_positive_ must be a whole number"),
    "a count that is a flag": (set_value(n_positive_=True), "n_positive_ must be a whole number"),
    "columns without end": (set_value(n_features_in_=10**9), "n_features_in_ must be a whole number"),
    "a deep list": (set_value(search=DEEP), "search.* must be"),
    "an array that is not there": (set_value(search={"array": "F64"}), "must be"),
    "an array of another's": (lambda d, a: d["model"]["result_"].update(gaps={"array": "I64"}), "gaps must be"),
    "an array too many": (lambda d, a: a.update(more=np.zeros(3)), "1 arrays of it belong to nothing"),
    "an array too few": (lambda d, a: a.pop("diagnostics_.curve"), "curve must be"),
    "an array too short": (lambda d, a: a.update({"diagnostics_.curve": np.zeros(2)}), "has the length 2"),
    "an array with more to say": (lambda d, a: d["model"]["result_"]["gaps"].update(more=1), "gaps must be"),
    "prior out of order": (lambda d, a: d["model"]["prior_"].update(low=0.9, value=0.1), "low <= value <= high"),
}


@pytest.mark.parametrize(("change", "match"), FORGED.values(), ids=FORGED.keys())
def test_forged_values(change, match, prior, tmp_path):
    refused(forge(prior, tmp_path / "model.purely", change), f"damaged or forged.*({match})")


@pytest.mark.parametrize("how", ["call", "new", "name"])
@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "builtins.set", "numpy.dtype", "purely.cli.main"])
def test_nothing_is_named_without_trust(name, how, files, tmp_path):
    def change(document, arrays):
        document["model"]["steps"][0]["tuple"][1] = foreign(name, how)

    refused(forge(files["pipeline"], tmp_path / "m", change), "If you know who wrote it, load it with trusted=")


def test_nothing_of_ours_is_called(files, tmp_path):
    def change(document, arrays):
        document["model"]["steps"][0]["tuple"][1] = foreign("densify", "call", [[1]])

    refused(forge(files["pipeline"], tmp_path / "m", change), "trusted=")


def test_trust_in_one_class_is_no_trust_in_another(files, tmp_path):
    from sklearn.svm import SVC

    def change(document, arrays):
        document["model"]["steps"][0]["tuple"][1] = foreign("os.system")

    path = forge(files["pipeline"], tmp_path / "m", change)
    with pytest.raises(ModelFileError, match=r"trusted=\['os.system'\]"):
        purely.load(path, trusted=[SVC])


# -- trees -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    path = tmp_path_factory.mktemp("forest") / "forest.purely"
    purely.save(RandomForestClassifier(2, max_depth=3, random_state=0).fit(X, Y), path)
    return path


@pytest.fixture(scope="module")
def boosting(tmp_path_factory):
    path = tmp_path_factory.mktemp("boosting") / "boosting.purely"
    purely.save(HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, Y), path)
    return path


def in_array(name, at, value):
    def change(document, arrays):
        found = next(n for n in arrays if n.endswith(name))
        array = arrays[found].astype(f"<{arrays[found].dtype.kind}8")
        array[at] = value
        arrays[found] = array

    return change


NODES = "estimators_.nodes"
TREES = {
    "a child far away": (in_array(f"{NODES}.left_child", 0, 10**6), "outside its tree"),
    "a child of another tree": (in_array(f"{NODES}.right_child", 0, 14), "outside its tree|with two"),
    "a child that is negative": (in_array(f"{NODES}.right_child", 0, -5), "numbers from -1"),
    "a loop": (in_array(f"{NODES}.left_child", 0, 0), "outside its tree"),
    "one child": (in_array(f"{NODES}.left_child", 0, -1), "one child"),
    "a child of two": (in_array(f"{NODES}.left_child", 0, 2), "with two|outside its tree"),
    "a column out of range": (in_array(f"{NODES}.feature", 0, 3), "column out of range"),
    "a negative column": (in_array(f"{NODES}.feature", 0, -2), "column out of range"),
    "a count below zero": (in_array(f"{NODES}.n_node_samples", 0, -1), "numbers from 0"),
    "a weight that is no number": (in_array(f"{NODES}.weighted_n_node_samples", 0, np.nan), "numbers from 0"),
    "a threshold that is no number": (in_array(f"{NODES}.threshold", 0, np.nan), "threshold that is no number"),
    "neither left nor right": (in_array(f"{NODES}.missing_go_to_left", 0, 7), "numbers from 0 to 1"),
    "a share above one": (in_array(f"{NODES}.shares", (0, 0), 1e9), "numbers from 0 to 1"),
    "a share that is no number": (in_array(f"{NODES}.shares", (0, 0), np.nan), "numbers from 0 to 1"),
    "trees that overlap": (in_array(f"{NODES}.starts", 1, 1), "child outside its tree"),
    "a tree without nodes": (in_array(f"{NODES}.starts", 1, 0), "without nodes"),
    "trees beyond the end": (in_array(f"{NODES}.starts", 2, 10**6), "make up the whole"),
    "a seed below zero": (in_array("estimators_.seeds", 0, -1), "numbers from 0"),
    "a seed too few": (lambda d, a: a.update({"estimators_.seeds": a["estimators_.seeds"][:1]}), "length 2 where 1"),
    "more columns": (set_value(n_features_in_=2), "has the length 3 where 2 belongs|column out of range"),
    "more classes": (set_value(n_classes_=3), "has the length"),
    "more outputs": (set_value(n_outputs_=2), "whole number from 1 to 1"),
}


SUMS = "score"
DISTILLED = {
    "a child far away": (in_array(f"{SUMS}.left", 0, 10**6), "outside its tree"),
    "a loop": (in_array(f"{SUMS}.right", 0, 0), "outside its tree"),
    "one child": (in_array(f"{SUMS}.left", 0, -1), "one child"),
    "a column out of range": (in_array(f"{SUMS}.feature", 0, 3), "beyond the length 'd'"),
    "a negative column": (in_array(f"{SUMS}.feature", 0, -2), "column out of range"),
    "a leaf that is no number": (in_array(f"{SUMS}.value", 0, np.nan), "must hold numbers"),
    "trees that overlap": (in_array(f"{SUMS}.starts", 1, 1), "child outside its tree"),
    "a tree without nodes": (in_array(f"{SUMS}.starts", 1, 0), "without nodes"),
    "trees beyond the end": (in_array(f"{SUMS}.starts", -1, 10**6), "make up the whole"),
}


@pytest.mark.parametrize(("change", "match"), DISTILLED.values(), ids=DISTILLED.keys())
def test_forged_trees_of_a_distilled_classifier(change, match, files, tmp_path):
    refused(forge(files["distilled"], tmp_path / "m", change), f"damaged or forged.*({match})")


@pytest.mark.parametrize(("change", "match"), TREES.values(), ids=TREES.keys())
def test_forged_trees(change, match, forest, tmp_path):
    refused(forge(forest, tmp_path / "m", change), f"damaged or forged.*({match})")


ROUNDS = {
    "a child far away": (in_array("_predictors.left", 0, 10**6), "outside its tree"),
    "a loop": (in_array("_predictors.right", 0, 0), "outside its tree"),
    "a column out of range": (in_array("_predictors.feature_idx", 0, 3), "beyond the length 'd'"),
    "a category": (in_array("_predictors.is_categorical", 0, 1), "numbers from 0 to 0"),
    "a bitset": (in_array("_predictors.bitset_idx", 0, 4), "numbers from 0 to 0"),
    "a value that is no number": (in_array("_predictors.value", 0, np.nan), "numbers from"),
    "a threshold that is no number": (in_array("_predictors.num_threshold", 0, np.nan), "threshold that is no number"),
    "a bin too large": (in_array("_predictors.bin_threshold", 0, 256), "bin_threshold must be"),
    "another baseline": (lambda d, a: a.update(_baseline_prediction=np.zeros((1, 2))), "has the length 2 where 1"),
    "more trees a round": (set_value(n_trees_per_iteration_=7), "not declared"),
}


@pytest.mark.parametrize(("change", "match"), ROUNDS.values(), ids=ROUNDS.keys())
def test_forged_rounds(change, match, boosting, tmp_path):
    refused(forge(boosting, tmp_path / "m", change), f"damaged or forged.*({match})")


# -- parts that do not fit together ------------------------------------------------------------------------------------


def shorter(name):
    def change(document, arrays):
        found = next(n for n in arrays if n.endswith(name))
        arrays[found] = arrays[found][:-1].copy()

    return change


def to_word(name, value):
    def change(document, arrays):
        held_by(document, name).update(value)

    return change


def to_column(place, **values):
    def change(document, arrays):
        held_by(document, "EncodingReport")["columns"]["tuple"][place].update(values)

    return change


SPARSE = "members_[0].model.steps[1][1].components_"
TORN = {
    "a scaler before other columns": ("pipeline", shorter("mean_"), "has the length"),
    "columns of the pipeline": ("pipeline", to_word("StandardScaler", {"n_features_in_": 4}), "has the length"),
    "layers": ("networks", shorter("encoder[0][0]"), "do not fit|has the length"),
    "constants": ("networks", shorter("encoder[0][1]"), "do not fit"),
    "knots": ("members", shorter("knots"), "has the length"),
    "members and weights": ("members", shorter("member_weights_"), "has the length"),
    "kernel and coefficients": ("kernel logistic", shorter("_model.coef"), "has the length"),
    "bandwidths": ("information", to_word("PUSMI", {"_chosen": 99}), "below the length"),
    "half a solution": ("information", lambda d, a: d["model"].pop("_chosen"), "half a solution"),
    "sparse indices": ("sparse rows", in_array(f"{SPARSE}.indices", 0, 3), "points beyond"),
    "sparse rows": ("sparse rows", in_array(f"{SPARSE}.starts", 1, 10**6), "must not fall|make up the whole"),
    "words beyond the columns": (
        "counts",
        lambda d, a: held_by(d, "CountVectorizer")["vocabulary_"]["dict"].update(price=10**6),
        "make up its columns",
    ),
    "weights of words": ("words", shorter("idf_"), "has the length"),
    "features of a table": ("table", to_word("EncodingReport", {"n_features": 99}), "another number of features"),
    "columns of a table": (
        "table",
        to_word("TableEncoder", {"n_features_in_": 99}),
        "number of columns|the length",
    ),
    "levels twice": ("table", to_column(2, levels={"tuple": ["a", "a", "b"]}), "a level or a word twice"),
    "words and weights": ("table", to_column(5, levels={"tuple": ["loan"]}), "another number of words"),
    "a format of dates": ("table", to_column(4, form="%Y" * 9), "written in a way"),
    "a part of a date": ("table", in_array("columns[4].places", -1, 7), "parts that its kind has not"),
    "a number with levels": ("table", to_column(0, levels={"tuple": ["a"]}), "which its kind has not"),
    "a column of no kind": ("table", to_column(0, kind="formula"), "kind must be one of"),
    "a scale of nothing": ("table", in_array("columns[0].scale", 0, 0.0), "must hold numbers from"),
    "rows of one kind": ("members", in_array("oof_table_.count_p", slice(None), 0.0), "rows of both kinds"),
    "a generator out of range": ("members", to_word("RandomState", {"pos": 10**6}), "pos must be"),
}


@pytest.mark.parametrize(("model", "change", "match"), TORN.values(), ids=TORN.keys())
def test_parts_that_do_not_fit_together(model, change, match, files, tmp_path):
    if model == "networks":
        pytest.importorskip("torch")
    refused(forge(files[model], tmp_path / "m", change), f"damaged or forged.*({match})")


def test_truth_values_that_are_neither(files, tmp_path):
    document, arrays = take_apart(files["two-step"])
    name = next(n for n, a in arrays.items() if a.dtype == np.bool_)
    arrays[name].view(np.uint8)[0] = 7
    refused(put_together(tmp_path / "m", document, arrays), "truth values")


def test_every_array_must_be_finite_but_what_is_reported(files, tmp_path):
    """A weight that is no number is never loaded; a curve of the training may have ended early."""
    reports = ("history_", "diagnostics_", "result_", "cv_results_", "objective", "gain", "score_", "class_prior_path_")
    for path in files.values():
        document, arrays = take_apart(path)
        for name in [n for n, a in arrays.items() if a.dtype.kind == "f" and a.size]:
            if not any(report in name for report in reports):
                changed = {**arrays, name: np.full_like(arrays[name], np.nan)}
                refused(
                    put_together(tmp_path / "m", document, changed), "must hold numbers|threshold that is no number"
                )


def test_names_of_columns_that_are_a_number(files, tmp_path):
    """What `describe` says without a schema is refused too, not met by an error of Python's."""
    change = to_word("TableEncoder", {"feature_names_in_": {"items": 2**31, "dtype": "|O"}})
    path = forge(files["table"], tmp_path / "m", change)
    refused(path, "array of text or objects")
    with pytest.raises(ModelFileError, match="holds no model"):
        describe(path)


# -- bombs -------------------------------------------------------------------------------------------------------------

children = pytest.importorskip("tests.persistence.children")
ROOM = 6 * 2**20 - 12_000
BOMBS = {
    "empty lists": "[],",
    "empty objects": "{},",
    "small objects": r"{\"\":0},",
    "numbers": "0,",
    "floats": "1.5,",
    "words": r"\"ab\",",
    "empty words": r"\"\",",
}


@pytest.mark.parametrize("at", ["model", "stop_words"])
@pytest.mark.parametrize("item", BOMBS.values(), ids=BOMBS.keys())
def test_headers_that_grow_in_memory(item, at, files, tmp_path):
    document = take_apart(files["counts"])[0]
    (document if at == "model" else held_by(document, "CountVectorizer"))[at] = "HERE"
    header = {"__metadata__": {"purely": json.dumps(document), "sha256": ""}}
    listed = "[" + (item * (ROOM // len(item)))[:-1] + "]"
    text = json.dumps(header).replace(r"\"HERE\"", listed)
    assert len(text) < 6 * 2**20
    became, why = children.in_a_child(write_raw(tmp_path / "m", text))
    assert became == "refused", (became, why)


def test_many_arrays_of_nothing(prior, tmp_path):
    entry = '"%d":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},'
    text = json.dumps({"__metadata__": {"purely": json.dumps(take_apart(prior)[0]), "sha256": ""}})
    many = "".join(entry % i for i in range(60_000))
    became, why = children.in_a_child(write_raw(tmp_path / "m", "{" + many + text[1:]))
    assert became == "refused", (became, why)


def test_the_largest_lists_are_checked_in_time(files, tmp_path):
    """As many words as a file may hold: read or refused within the seconds and the memory of the child."""

    def change(document, arrays):
        held_by(document, "CountVectorizer")["stop_words"] = [""] * 900_000

    assert children.in_a_child(forge(files["counts"], tmp_path / "m", change), texts()[0])[0] == "answered"
