"""Files that are damaged, foreign or forged are refused in one sentence; nothing in them is run."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import purely
from purely.classifiers import PULeastSquaresClassifier
from purely.persistence import ModelFileError, ModelFileWarning, describe
from purely.persistence._limits import LARGEST_DEPTH
from tests.persistence.files import get, nodes, put, put_together, take_apart
from tests.persistence.models import numbers, texts


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    path = tmp_path_factory.mktemp("forest") / "forest.purely"
    purely.save(RandomForestClassifier(2, max_depth=3, random_state=0).fit(*numbers()), path)
    return path


@pytest.fixture(scope="module")
def prior(tmp_path_factory):
    path = tmp_path_factory.mktemp("prior") / "prior.purely"
    purely.save(purely.prior.KernelMeanPrior(random_state=np.random.RandomState(0)).fit(*numbers()), path)
    return path


def refused(path, match):
    for read in (purely.load, describe) if "damaged or forged" not in match else (purely.load,):
        with pytest.raises(ModelFileError, match=match) as caught:
            read(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert str(path) in sentence


class Trap:
    """Leaves a trace where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def foreign(kind, folder):
    path = folder / "model.purely"
    if kind == "folder":
        path.mkdir()
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("hello, this is no model at all\n")
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Trap(folder / "trace")))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", "b")
    elif kind == "array":
        with path.open("wb") as file:
            np.save(file, np.arange(3))
    elif kind == "tensors":
        from safetensors.numpy import save_file

        save_file({"a": np.arange(3.0)}, path)
    elif kind == "zeros":
        path.write_bytes(bytes(1000))
    elif kind == "pipe":
        os.mkfifo(path)
    return path


FOREIGN = {
    "missing": "does not exist",
    "folder": "is a folder",
    "empty": "is empty",
    "text": "no model file",
    "pickle": "looks like a pickle",
    "zip": "looks like a zip archive",
    "array": "looks like a NumPy array file",
    "tensors": "holds no model of purely",
    "zeros": "no model file",
    "pipe": "no ordinary file",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files(kind, tmp_path):
    refused(foreign(kind, tmp_path), FOREIGN[kind])
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read(prior, tmp_path):
    path = tmp_path / "model.purely"
    path.write_bytes(prior.read_bytes())
    path.chmod(0)
    refused(path, "cannot be read")


def test_every_truncation_is_seen(prior, tmp_path):
    data, path = prior.read_bytes(), tmp_path / "model.purely"
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        refused(path, "empty|no model file|cut short|damaged")
    path.write_bytes(data + b"\0")
    refused(path, "longer than it says")


def test_every_flipped_bit_is_seen(prior, tmp_path):
    data, path = bytearray(prior.read_bytes()), tmp_path / "model.purely"
    expected = purely.load(prior).class_prior_
    size = int.from_bytes(data[:8], "little")
    for at in range(0, len(data), 53):
        data[at] ^= 4
        path.write_bytes(data)
        try:
            assert purely.load(path).class_prior_ == expected  # a name that is not part of the contents
            assert at < 8 + size
        except ModelFileError:
            pass
        data[at] ^= 4


def test_an_altered_value_is_seen_by_the_checksum(prior, tmp_path):
    document, tensors = take_apart(prior)
    document["model"]["state"]["class_prior_"] = 0.123
    refused(put_together(tmp_path / "model.purely", document, tensors, forge=False), "checksum does not match")


def test_a_newer_schema_is_refused(prior, tmp_path):
    document, tensors = take_apart(prior)
    refused(put_together(tmp_path / "a", {**document, "schema": 2}, tensors), "install a newer purely")
    for wrong in (0, -1, True, "1", None, 1.0):
        refused(put_together(tmp_path / "a", {**document, "schema": wrong}, tensors), "not a count")


def test_another_scikit_learn_warns(prior, tmp_path):
    document, tensors = take_apart(prior)
    document["versions"]["scikit-learn"] = "1.2.3"
    del document["model"]["state"]["approximation"]  # a parameter that this version did not have yet
    with pytest.warns(ModelFileWarning, match=r"written with scikit-learn 1\.2\.3"):
        loaded = purely.load(put_together(tmp_path / "a", document, tensors))
    assert loaded.approximation == purely.prior.KernelMeanPrior().approximation


def test_a_name_that_occurs_twice_is_refused(prior, tmp_path):
    document, tensors = take_apart(prior)
    text = json.dumps(document)
    from safetensors.numpy import save

    path = tmp_path / "model.purely"
    path.write_bytes(save(tensors, metadata={"purely": '{"schema": 1, ' + text[1:]}))
    refused(path, "occurs twice")
    path.write_bytes(save(tensors, metadata={"purely": text.replace("0.", "NaN, 0.", 1)}))
    refused(path, "NaN|not JSON")


def forged(source, target, change):
    document, tensors = take_apart(source)
    change(document["model"], tensors)
    return put_together(target, document, tensors)


def set_state(name, value):
    def change(model, _):
        model["state"][name] = value

    return change


def set_class(name):
    def change(model, _):
        model["class"] = name

    return change


def deep(kind):
    value = 1
    for _ in range(LARGEST_DEPTH + 5):
        value = [value] if kind == "list" else {"kind": "tuple", "items": [value]}
    return value


def laughs():
    """A list of references to a list of references, and so on: 2 ** 60 values in a small file."""
    first = {"kind": "objects", "shape": [2], "items": [1, 1], "id": 0}
    nested = [first]
    for i in range(60):
        items = [{"kind": "ref", "id": i}] * 2
        nested.append({"kind": "objects", "shape": [2], "items": items, "id": i + 1})
    return nested


FORGERIES = {
    "a function for a class": (set_class("os.system"), "not one that models are made of"),
    "code of purely for a class": (set_class("purely.demo.main"), "not one that models are made of"),
    "a module that runs": (set_class("purely.__main__.main"), "not one that models are made of"),
    "a way out": (set_class("purely.prior..os.system"), "not one that models are made of"),
    "a class that is not listed": (set_class("sklearn.svm.SVC"), "not one that models are made of"),
    "a list for a class": (set_class(["os"]), "not one that models are made of"),
    "another class": (set_class("purely.smi.analytic.PUSMI"), "is not an attribute that PUSMI sets"),
    "a method": (set_state("fit", 1), "method or property"),
    "a magic name": (set_state("__class__", 1), "is not a name"),
    "an unknown name": (set_state("whatever", 1), "is not an attribute"),
    "a function": (set_state("kernel_", {"kind": "function", "name": "os.system"}), "not one that models use"),
    "a type": (set_state("kernel_", {"kind": "type", "name": "subprocess.Popen"}), "not one that models use"),
    "a kind": (set_state("x_", {"kind": "pickle", "value": "..."}), "unknown kind"),
    "a deep list": (set_state("x_", deep("list")), "nested more than"),
    "a deep tuple": (set_state("x_", deep("tuple")), "nested more than"),
    "a reference ahead": (set_state("x_", {"kind": "ref", "id": 10**6}), "comes before it"),
    "a reference back": (set_state("x_", {"kind": "ref", "id": -1}), "comes before it"),
    "a huge array": (
        set_state("x_", {"kind": "objects", "shape": [10**9, 10**9], "items": []}),
        "larger than any file",
    ),
    "a large array of nothing": (set_state("x_", {"kind": "objects", "shape": [10**9], "items": []}), "as many items"),
    "an array twice": (set_state("x_", {"kind": "array", "tensor": "0"}), "missing, or used twice"),
    "many jobs": (set_state("n_jobs", 10**6), "n_jobs"),
    "a cache": (set_state("memory", "/tmp"), "is not an attribute|must be None"),
    "a number that is text": (set_state("x_", {"kind": "scalar", "dtype": "<i8", "value": "1"}), "not of the type"),
    "a number too large": (set_state("x_", {"kind": "scalar", "dtype": "|i1", "value": 300}), "integer from"),
    "an object type": (set_state("x_", {"kind": "scalar", "dtype": "|O", "value": 1}), "no type"),
}


@pytest.mark.parametrize(("change", "match"), FORGERIES.values(), ids=FORGERIES.keys())
def test_forged_files(change, match, prior, tmp_path):
    refused(forged(prior, tmp_path / "model.purely", change), f"damaged or forged.*({match})")


def test_a_small_file_cannot_stand_for_a_large_model(tmp_path):
    purely.save(purely.prior.KernelMeanPrior(), tmp_path / "a")
    refused(forged(tmp_path / "a", tmp_path / "b", set_state("x_", laughs())), "damaged or forged.*more than .* values")


def sparse(shape, indices, indptr, values=(1.0,)):
    def change(model, tensors):
        parts = []
        for array in (np.array(values), np.array(indices, np.int32), np.array(indptr, np.int32)):
            name = str(len(tensors))
            tensors[name] = array
            parts.append({"kind": "array", "tensor": name})
        node = {"kind": "sparse", "format": "csr", "array": True, "shape": shape, "parts": parts}
        model["state"] = {**model["state"], "z_": node}

    return change


SPARSE = {
    "too wide": (sparse([1, 10**14], [0], [0, 1]), "too wide|integer from"),
    "an index out of range": (sparse([1, 2], [5], [0, 1]), "out of range"),
    "a negative index": (sparse([1, 2], [-1], [0, 1]), "out of range"),
    "a pointer beyond the end": (sparse([1, 2], [0], [0, 9]), "pointers must rise"),
    "pointers that fall": (sparse([2, 2], [0], [0, 5, 1]), "pointers must rise"),
    "too few pointers": (sparse([1000, 2], [0], [0, 1]), "one pointer a row"),
    "too few indices": (sparse([1, 2], [], [0, 1]), "as many indices"),
}


@pytest.mark.parametrize(("change", "match"), SPARSE.values(), ids=SPARSE.keys())
def test_forged_sparse_matrices(change, match, prior, tmp_path):
    refused(forged(prior, tmp_path / "model.purely", change), f"damaged or forged.*({match})")


def trees_of(model):
    return [p for p in nodes(model) if p[-1] == "class" and get(model, p) == "sklearn.tree._tree.Tree"]


def in_tree(field, at, value):
    def change(model, tensors):
        state = get(model, trees_of(model)[0][:-1])["state"]
        pairs = dict(state["nodes"]["items"])
        name = pairs[field]["tensor"]
        tensors[name] = tensors[name].copy()
        tensors[name][at] = value

    return change


def in_tree_state(name, value):
    def change(model, _):
        get(model, trees_of(model)[0][:-1])["state"][name] = value

    return change


TREES = {
    "a child far away": (in_tree("left_child", 0, 10**6), "out of range"),
    "a child that is negative": (in_tree("right_child", 0, -5), "out of range"),
    "a loop": (in_tree("left_child", 0, 0), "out of range"),
    "one child": (in_tree("left_child", 0, -1), "one child"),
    "a child of two": (in_tree("left_child", 0, 2), "not a tree|out of range"),
    "a column out of range": (in_tree("feature", 0, 3), "column out of range"),
    "a negative column": (in_tree("feature", 0, -7), "column out of range"),
    "a count below zero": (in_tree("n_node_samples", 0, -1), "count of rows"),
    "a weight that is no number": (in_tree("weighted_n_node_samples", 0, np.nan), "finite weight"),
    "neither left nor right": (in_tree("missing_go_to_left", 0, 7), "left or right"),
    "another depth": (in_tree_state("max_depth", 10**6), "depth"),
    "more columns": (in_tree_state("n_features", 10**5), "other columns"),
    "more outputs": (in_tree_state("n_outputs", 3), "classes of a tree"),
    "many columns": (in_tree_state("n_features", 2**60), "integer from"),
}


@pytest.mark.parametrize(("change", "match"), TREES.values(), ids=TREES.keys())
def test_forged_trees(change, match, forest, tmp_path):
    refused(forged(forest, tmp_path / "model.purely", change), f"damaged or forged.*({match})")


def test_a_forest_of_other_columns_than_its_trees(forest, tmp_path):
    change = set_state("n_features_in_", 2)
    refused(forged(forest, tmp_path / "model.purely", change), "damaged or forged.*differ in n_features_in_")


def test_a_generator_at_a_place_out_of_range(prior, tmp_path):
    def change(model, _):
        place = next(p for p in nodes(model) if p[-1] == "kind" and get(model, p) == "random_state")
        pairs = get(model, place[:-1])["state"]["items"]
        inner = dict(pairs)["state"]["items"]
        next(pair for pair in inner if pair[0] == "pos")[1] = 10**6

    refused(forged(prior, tmp_path / "model.purely", change), "damaged or forged.*position of a generator")


def test_words_at_columns_out_of_range(tmp_path):
    purely.save(CountVectorizer().fit(texts()[0]), tmp_path / "words.purely")

    def change(model, _):
        place = next(p for p in nodes(model) if p == ("state", "vocabulary_", "items", 0, 1))
        old = get(model, place)
        put(model, place, {**old, "value": 10**9} if isinstance(old, dict) else 10**9)

    refused(forged(tmp_path / "words.purely", tmp_path / "a", change), "damaged or forged.*out of range")


def test_truth_values_that_are_neither(tmp_path):
    model = purely.prior.KernelMeanPrior()
    model.mask_ = np.array([True, False] * 8)
    purely.save(model, tmp_path / "model.purely")
    data = (tmp_path / "model.purely").read_bytes()
    at = data.rindex(bytes([1, 0] * 8))
    (tmp_path / "model.purely").write_bytes(data[:at] + bytes([7]) + data[at + 1 :])
    refused(tmp_path / "model.purely", "truth values")


def test_two_hundred_corrupted_and_forged_files():
    """Refused, or a model that answers or says in an ordinary error why not; the process lives to tell."""
    pytest.importorskip("resource")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.persistence.fuzz", "0", "200"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=root)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    changes = [line for line in lines if "change" in line]
    ends = [line for line in lines if "became" in line]
    assert done.returncode == 0, (changes[-1:], done.stderr[-2000:])
    assert len(ends) == 200
    for change, end in zip(changes, ends, strict=True):
        assert end["became"] != "ESCAPED", (change, end)
        assert not end["trespasses"], (change, end)
    assert sum(end["became"] == "refused" for end in ends) > 100
    for end in ends:
        if end["became"] == "refused":
            assert "\n" not in end["why"]


def test_a_pipeline_that_does_not_fit_together(tmp_path):
    X, y = numbers()
    model = make_pipeline(StandardScaler(), PULeastSquaresClassifier(0.5, n_centers=10, random_state=0))
    purely.save(model.fit(X, y), tmp_path / "a")

    def change(model, tensors):
        name = get(model, ("state", "steps", 0, "items", 1, "state", "mean_"))["tensor"]
        tensors[name] = tensors[name][:2].copy()

    refused(forged(tmp_path / "a", tmp_path / "b", change), "damaged or forged.*cannot answer")
