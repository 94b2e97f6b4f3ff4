"""Model files that every later version has to read, and what their models answered when they were written.

``python -m tests.persistence.kept`` writes those that are not there yet; a file that is there is never written again.
"""

from __future__ import annotations

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import purely
from purely.classifiers import NNPUClassifier, PULogisticClassifier
from tests.persistence.models import answers, numbers, table, texts

FOLDER = Path(__file__).parent / "kept"


def kept_models() -> dict[str, tuple[Any, Any]]:
    """Models to be fitted, and rows for each."""
    X, T, frame = numbers()[0], texts()[0], table()[0]
    trees = ExtraTreesClassifier(2, max_depth=2)
    members = [trees, HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4), "logistic"]
    models = {
        "members": (purely.PUClassifier(0.5, members=members, cv=2), X),
        "kernel": (make_pipeline(StandardScaler(), PULogisticClassifier(0.5, basis="gaussian", n_components=5)), X),
        "prior": (purely.ClassPrior("linear", cv=2), X),
        "information": (purely.PUSMI(n_centers=3, bandwidth=1.0, alpha=0.1, cv=2), X),
        "words": (make_pipeline(TfidfVectorizer(), PULogisticClassifier(0.5)), T),
    }
    if find_spec("torch") is not None:
        settings: dict[str, Any] = {"hidden": (4,), "max_epochs": 2, "n_ensemble": 1, "device": "cpu"}
        models["networks"] = NNPUClassifier(0.5, **settings), X
    if find_spec("pyarrow") is not None:
        from purely.tables import TableEncoder

        models["table"] = Pipeline([("table", TableEncoder()), ("classifier", PULogisticClassifier(0.5))]), frame
    return models


def rows_of(kind: str, listed: Any) -> Any:
    """Rows from JSON."""
    if kind == "table":
        return pd.DataFrame(listed).assign(d=lambda frame: pd.to_datetime(frame["d"]))
    return listed


def as_json(rows: Any) -> Any:
    """Rows as JSON."""
    return json.loads(rows.to_json(orient="records", date_format="iso")) if hasattr(rows, "to_json") else list(rows)


def main() -> None:
    """Write what is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    y = numbers()[1]
    for name, (model, data) in kept_models().items():
        path = FOLDER / f"{name}.purely"
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            purely.save(model.fit(data, y), path)
        rows = [row.tolist() for row in data[:5]] if name not in ("table", "words") else as_json(data[:5])
        said = [answer.tolist() for answer in answers(model, rows_of(name, rows))] or [model.class_prior_]
        path.with_suffix(".json").write_text(json.dumps({"rows": rows, "answers": said}))
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
