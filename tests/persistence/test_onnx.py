"""Exported graphs score as the models do, for any number of rows."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import purely
from purely.persistence import UnsupportedModelError, export_onnx

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

SHORT = {"max_epochs": 2, "device": "cpu", "random_state": 0}
NETWORK = {"hidden": (6,), "n_ensemble": 2, **SHORT}


def encoder():
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 2))


def rows():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [60, 90])
    X = rng.normal(size=(150, 3)) * [1.0, 3.0, 0.1] + [0.0, 5.0, -1.0]
    X[:, 0] += y
    return X, y


QUICK = {
    "representation": (lambda: purely.PURL(2, **NETWORK), "float32"),
    "calibrated": (
        lambda: purely.NNPUClassifier(0.7, cross_fit=2, scenario="single-sample", **NETWORK),
        "float64",
    ),
}
SLOW = {
    "linear": (lambda: purely.PURL(2, hidden=(), **SHORT), "float32"),
    "squared": (lambda: purely.PURL(2, loss="squared", scenario="single-sample", **NETWORK), "float32"),
    "supervised": (lambda: purely.PNRL(2, **NETWORK), "float32"),
    "margin": (lambda: purely.NNPUClassifier(0.5, loss="squared", **NETWORK), "float32"),
    "plain": (lambda: purely.NNPUClassifier(0.5, **NETWORK), "float32"),
    "own encoder": (lambda: purely.NNPUClassifier(0.5, encoder=encoder(), cross_fit=2, **SHORT), "float64"),
    "recommended": (
        lambda: purely.PUClassifier(
            0.5, members=[purely.NNPUClassifier(hidden=(6,), max_epochs=2)], cv=2, device="cpu", random_state=0
        ),
        "float64",
    ),
    "pipeline": (
        lambda: make_pipeline(
            *(StandardScaler(), PCA(2, whiten=True), MinMaxScaler(), RobustScaler(), MaxAbsScaler()),
            purely.PURL(2, **NETWORK),
            purely.NNPUClassifier(0.5, **NETWORK),
        ),
        "float64",
    ),
}


def check(make, dtype, tmp_path):
    X, y = rows()
    model = make().fit(X, y)
    path = tmp_path / "model.onnx"
    names = export_onnx(model, path, dtype=dtype)
    assert os.listdir(tmp_path) == ["model.onnx"]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for n in (1, 7, 150):
        found = dict(zip(names, session.run(list(names), {"x": X[:n].astype(dtype)}), strict=True))
        same = {"rtol": 1e-5, "atol": 1e-5}
        if "features" in names:
            np.testing.assert_allclose(found["features"], model.transform(X[:n]), **same)
        if "density_ratio" in names:
            np.testing.assert_allclose(found["density_ratio"], model.density_ratio(X[:n]), **same)
        if "probabilities" in names:
            np.testing.assert_allclose(found["probabilities"], model.predict_proba(X[:n]), **same)
            assert found["score"].shape == (n,)


@pytest.mark.parametrize(("make", "dtype"), QUICK.values(), ids=QUICK.keys())
def test_graphs_score_as_models_do(make, dtype, tmp_path):
    check(make, dtype, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "dtype"), SLOW.values(), ids=SLOW.keys())
def test_more_graphs_score_as_models_do(make, dtype, tmp_path):
    check(make, dtype, tmp_path)


def test_what_is_no_network_is_refused(tmp_path):
    X, y = rows()
    for model in (
        purely.PUSMI(n_centers=10),
        purely.PUClassifier(0.5, members=["linear"], cv=2),
        make_pipeline(purely.LSDR(max_iter=2, n_starts=1, n_centers=5), purely.PURL(1, **NETWORK)),
    ):
        with pytest.raises(UnsupportedModelError, match="cannot be written as an ONNX graph"):
            export_onnx(model.fit(X, y), tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="dtype must be"):
        export_onnx(purely.PURL(), tmp_path / "model.onnx", dtype="float16")
    assert os.listdir(tmp_path) == []
