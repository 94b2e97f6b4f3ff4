"""The attacks that got through the first format: each file is refused, in time, within its memory, with no crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.decomposition import NMF
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import purely
from purely.classifiers import NNPUClassifier, PULogisticClassifier
from tests.persistence.files import forge, held_by, take_apart
from tests.persistence.models import numbers, texts

children = pytest.importorskip("tests.persistence.children")

X, Y = numbers()


def attack(model, tmp_path, change, rows=None):
    """Save, forge, load in a child; the sentence with which the file was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        purely.save(model, tmp_path / "model.purely")
    forge(tmp_path / "model.purely", tmp_path / "forged.purely", change)
    became, why = children.in_a_child(tmp_path / "forged.purely", rows)
    assert became == "refused", (became, why)
    assert "MemoryError" not in why
    return why


def setting(name, **values):
    def change(document, arrays):
        held_by(document, name).update(values)

    return change


def test_boosting_with_fewer_trees_a_round_than_it_holds(tmp_path):
    model = GradientBoostingClassifier(n_estimators=2, max_depth=1, random_state=0).fit(X, np.arange(len(X)) % 50)
    attack(model, tmp_path, setting("GradientBoostingClassifier", n_trees_per_iteration_=1), X)


def test_boosting_by_histograms_with_more_trees_a_round(tmp_path):
    def change(document, arrays):
        held = held_by(document, "HistGradientBoostingClassifier")
        held["n_trees_per_iteration_"] = 3
        if "_loss" in held:  # the first format: three trees a round, and the loss of three classes
            held["_predictors"] = [[r[0], *[{"kind": "ref", "id": r[0]["id"]}] * 2] for r in held["_predictors"]]
            arrays[held["_baseline_prediction"]["tensor"]] = np.zeros((1, 3))
            held["_loss"].update({"class": "sklearn._loss.loss.HalfMultinomialLoss", "state": {"n_classes": 3}})

    attack(HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, Y), tmp_path, change, X)


def test_a_regressor_whose_trees_have_other_columns_of_values(tmp_path):
    def change(document, arrays):
        for name in [n for n, a in arrays.items() if a.ndim == 3]:
            arrays[name] = np.repeat(arrays[name], 3, axis=2)
        for name in [n for n, a in arrays.items() if a.shape == (1,) and a.dtype.kind == "i"]:
            arrays[name] = np.array([3])

    attack(RandomForestRegressor(2, max_depth=3, random_state=0).fit(X, Y), tmp_path, change, X)


@pytest.mark.parametrize("value", [[10**6], [-5], []])
def test_an_encoder_of_other_columns_than_categories(value, tmp_path):
    model = OneHotEncoder(handle_unknown="ignore").fit(X.round())
    attack(model, tmp_path, setting("OneHotEncoder", _n_features_outs=value))


def test_an_encoder_with_infrequent_categories_out_of_range(tmp_path):
    def change(document, arrays):
        largest = [n for n, a in arrays.items() if a.dtype.kind == "i" and a.size > 2 and a.min() >= 0]
        for name in largest:
            arrays[name] = np.full(arrays[name].shape, 100).astype(arrays[name].dtype)

    model = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist").fit(X.round())
    attack(model, tmp_path, change, X.round())


def test_hashing_into_no_columns(tmp_path):
    model = make_pipeline(HashingVectorizer(n_features=64), PULogisticClassifier(0.5)).fit(*texts())
    attack(model, tmp_path, setting("HashingVectorizer", n_features=0), texts()[0])


def test_a_small_file_with_many_outputs(tmp_path):
    attack(DummyRegressor().fit(X, Y), tmp_path, setting("DummyRegressor", n_outputs_=2 * 10**9))


def test_iterations_without_end(tmp_path):
    model = NMF(2, random_state=0, max_iter=5, tol=0.5).fit(np.abs(X))
    attack(model, tmp_path, setting("NMF", max_iter=10**12, tol=0.0))


@pytest.mark.parametrize("largest", [10**7, 2**31, 11])
def test_n_grams_without_end(largest, tmp_path):
    value = {"tuple": [1, largest]}
    if "schema" in take_apart(saved_words(tmp_path))[0]:
        value = {"kind": "tuple", "items": [1, largest]}
    attack(CountVectorizer().fit(texts()[0]), tmp_path, setting("CountVectorizer", ngram_range=value))


def test_an_expression_of_sixty_optional_groups(tmp_path):
    pattern = r"(?:\w?\w?\w?)" * 60 + "!"
    attack(CountVectorizer().fit(texts()[0]), tmp_path, setting("CountVectorizer", token_pattern=pattern))


@pytest.mark.parametrize("jobs", [1000, -1000, 10**6, 2**80])
def test_a_thousand_jobs(jobs, tmp_path):
    attack(purely.PUSMI(n_centers=10).fit(X, Y), tmp_path, setting("PUSMI", n_jobs=jobs))


def test_three_gigabytes_that_are_no_model(tmp_path):
    path = tmp_path / "large.purely"
    with path.open("wb") as file:
        file.write(b"hello, this is no model\n")
        file.truncate(3 * 2**30)
    limit, children.TIMES = children.TIMES, 0
    try:
        became, why = children.in_a_child(path)
    finally:
        children.TIMES = limit
    assert became == "refused"
    assert "no model file" in why


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(value, tmp_path):
    pytest.importorskip("torch")

    def change(document, arrays):
        for name in [n for n, a in arrays.items() if a.dtype.kind == "f" and a.shape in ((3, 6), (6, 3))]:
            arrays[name] = np.full(arrays[name].shape, value)

    model = NNPUClassifier(0.5, hidden=(6,), max_epochs=2, n_ensemble=1, device="cpu", random_state=0).fit(X, Y)
    attack(model, tmp_path, change, X)


def saved_words(tmp_path):
    purely.save(CountVectorizer().fit(texts()[0]), tmp_path / "words.purely")
    return tmp_path / "words.purely"


@pytest.mark.parametrize("name", ["\ud800", "a\x1b[2Jb", "bell\x07", "\x9b31m"], ids=ascii)
def test_names_that_a_terminal_obeys_or_cannot_show(name, tmp_path):
    import pandas as pd

    def change(document, arrays):
        held_by(document, "PULogisticClassifier")["feature_names_in_"]["items"][0] = name

    model = PULogisticClassifier(0.5).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert ascii(name)[1:-1] in attack(model, tmp_path, change)


@pytest.mark.parametrize("raw", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5000], ids=lambda raw: raw[:9])
def test_numbers_that_are_none(raw, tmp_path):
    from tests.persistence.files import put_together, write_raw

    path = tmp_path / "model.purely"
    purely.save(purely.prior.KernelMeanPrior(level=0.123), path)
    document, arrays = take_apart(path)
    put_together(path, document, arrays)
    text = path.read_bytes()[8:].decode().rstrip()
    write_raw(path, text.replace("0.123", raw))
    became, why = children.in_a_child(path)
    assert became == "refused", why
