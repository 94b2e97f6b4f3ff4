"""One small report, made once: hostile names and values in it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from purely import PUClassifier, make_report
from purely.datasets import make_gaussians

HOSTILE = "<script>document.title='owned'</script>"
ATTRIBUTE = "\" onmouseover=\"document.title='owned'"


@pytest.fixture(scope="session")
def rows():
    data = make_gaussians(150, 350, n_features=3, class_prior=0.4, random_state=3)
    records = [
        {"name": f"record {i}", HOSTILE: "</script><img src=x onerror=document.title='owned'>", "value": ATTRIBUTE}
        for i in range(data.y.size)
    ]
    return data, records


@pytest.fixture(scope="session")
def model(rows):
    data, _ = rows
    return PUClassifier(members=["linear"], random_state=0).fit(data.X, data.y)


@pytest.fixture(scope="session")
def stages():
    return []


@pytest.fixture(scope="session")
def report(rows, model, stages):
    data, records = rows
    return make_report(
        data.X,
        data.y,
        model=model,
        feature_names=[HOSTILE, ATTRIBUTE, "$\\frac{broken$"],
        records=records,
        title="A title </title><script>document.title='owned'</script>",
        settings={HOSTILE: ATTRIBUTE},
        progress=lambda stage, done, total: stages.append((stage, done, total)),
    )


@pytest.fixture(scope="session")
def truth(rows):
    data, _ = rows
    return int(np.sum(data.y_true[data.y == 0]))
