"""What onnxruntime says of an exported classifier is what the classifier says."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from purely import PUClassifier, stack
from purely.classifiers import NNPUClassifier, PULogisticClassifier
from purely.scale import to_onnx
from purely.tables import TableEncoder

onnxruntime = pytest.importorskip("onnxruntime")
CLOSE = 1e-5
MEMBERS = ["trees", "linear", "kernel", "forest", "boosting", "logistic", "kernel-logistic"]


def draw(seed, n_p=150, n_u=400, columns=4):
    rng = np.random.default_rng(seed)
    P, U = rng.normal(1.0, 1.0, (n_p, columns)), rng.normal(0.0, 1.0, (n_u, columns))
    U[: n_u // 5] += 1.0
    far = np.arange(columns) == 1
    return (P + 1e6 * far, U + 1e6 * far)


def answers(made, X):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    score, probability = session.run(["score", "probability"], {"X": np.asarray(X, dtype=np.float64)})
    return score, probability


@pytest.mark.parametrize("member", MEMBERS)
def test_each_kind_of_member(member):
    P, U = draw(0)
    fitted = PUClassifier(0.2, members=[member], cv=2).fit(*stack(P, U))
    _, new = draw(1, n_u=2_000)
    fast = fitted.distil(U)
    score, probability = answers(to_onnx(fast), new)
    assert np.abs(probability - fast.predict_proba(new)[:, 1]).max() < CLOSE
    assert score.shape == (2_000,)


def test_a_stack_multiplied_out_and_far_rows():
    P, U = draw(2)
    fitted = PUClassifier(0.2, members=MEMBERS, weights="equal", cv=2).fit(*stack(P, U))
    new = np.concatenate([draw(3, n_u=1_000)[1], 100.0 * draw(4)[1]])
    assert np.abs(answers(to_onnx(fitted), new)[1] - fitted.distil().predict_proba(new)[:, 1]).max() < CLOSE


def test_a_network_that_imitates_a_stack():
    P, U = draw(5, n_u=3_000)
    fast = PUClassifier(0.2, members=["logistic", "kernel-logistic"], cv=2).fit(*stack(P, U)).distil(U)
    assert fast.imitation_ is not None
    assert np.abs(answers(to_onnx(fast), U)[1] - fast.predict_proba(U)[:, 1]).max() < CLOSE
    same = fast.multiplied_out()
    assert np.abs(answers(to_onnx(fast, exact=True), U)[1] - same.predict_proba(U)[:, 1]).max() < CLOSE


def test_networks_as_members():
    pytest.importorskip("torch")
    P, U = draw(6)
    network = NNPUClassifier(n_ensemble=2, hidden=(8,), max_epochs=3)
    fitted = PUClassifier(0.2, members=[network, "logistic"], weights="equal", cv=2).fit(*stack(P, U))
    fast = fitted.distil(U)
    assert np.abs(answers(to_onnx(fast), U)[1] - fast.predict_proba(U)[:, 1]).max() < CLOSE


def test_a_table_of_numbers_with_holes():
    P, U = draw(7)
    X, y = stack(P, U)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[::7, "c"] = np.nan
    frame["e"] = 1.0  # constant: left out
    frame["f"] = frame["a"] > 0.0
    model = Pipeline([("encoder", TableEncoder()), ("classifier", PUClassifier(0.2, members=["boosting", "logistic"]))])
    model.fit(frame, y)
    made = to_onnx(model)
    used = json.loads(next(prop.value for prop in made.metadata_props if prop.key == "columns"))
    assert used == ["a", "b", "c", "d", "f"]
    frame.loc[3, "a"] = np.inf
    assert np.abs(answers(made, frame[used].astype(float))[1] - model.predict_proba(frame)[:, 1]).max() < CLOSE


def test_what_cannot_be_exported_is_said():
    P, U = draw(8)
    X, y = stack(P, U)
    own = PUClassifier(0.2, members=[GaussianNB(), "logistic"], weights="equal", cv=2).fit(X, y)
    with pytest.raises(TypeError, match="a model of its own kind"):
        to_onnx(own.distil(X))
    with pytest.raises(TypeError, match="only a PUClassifier can be exported; PULogisticClassifier was given"):
        to_onnx(PULogisticClassifier(0.2).fit(X, y))
    with pytest.raises(TypeError, match="must be a TableEncoder and a classifier"):
        to_onnx(make_pipeline(StandardScaler(), PUClassifier(0.2, members=["trees"], cv=2)).fit(X, y))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(city=np.where(y == 1, "Rome", "Oslo"))
    text = make_pipeline(TableEncoder(), PUClassifier(0.2, members=["trees"], cv=2)).fit(frame, y)
    with pytest.raises(TypeError, match="column 'city' holds category values"):
        to_onnx(text)
