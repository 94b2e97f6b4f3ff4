"""``purely export`` says of rows what ``purely predict`` does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture
def numbers(tmp_path, purely):
    """A table of numbers with holes and a model of it."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(1.0, 1.0, (150, 3)), rng.normal(0.0, 1.0, (450, 3))])
    X[::11, 1] = np.nan
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": np.repeat([1, 0], [150, 450])})
    pq.write_table(table, tmp_path / "rows.parquet")
    model = tmp_path / "model.purely"
    done = purely("fit", tmp_path / "rows.parquet", "--size", "light", "--class-prior", "0.2", "-o", model)
    assert done.status == 0, done.err
    return tmp_path, model, X


def test_the_graph_says_what_predict_says(numbers, purely):
    folder, model, X = numbers
    found = purely("export", model, "-o", folder / "model.onnx", "--json")
    assert found.json["columns"] == ["a", "b", "c"]
    assert purely("predict", model, folder / "rows.parquet", "-o", folder / "scores.parquet").status == 0
    expected = pq.read_table(folder / "scores.parquet").column("probability").to_numpy()
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    assert np.abs(session.run(["probability"], {"X": X})[0] - expected).max() < 1e-5
    assert purely("export", model, "-o", folder / "model.onnx", "--exact").status == 0  # its own file is replaced


def test_what_is_refused(numbers, purely, model, tmp_path):
    folder, own, _ = numbers
    done = purely("export", model, "-o", tmp_path / "m.onnx")
    assert done.status == 1
    assert "the model is not exported: column" in " ".join(done.err.split())
    assert not (tmp_path / "m.onnx").exists()
    assert purely("export", own, "-o", folder / "m.bin").status == 2
    (folder / "note.onnx").write_text("mine")
    assert purely("export", own, "-o", folder / "note.onnx").status == 1
    assert (folder / "note.onnx").read_text() == "mine"
