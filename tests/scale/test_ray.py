"""The recipe for Ray Data in `docs/scale.rst`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from purely.scale import BatchScorer
from tests.scale.test_local import NAMES, draw, model  # noqa: F401

#: Most of a minute goes into starting Ray; `tests/scale/test_local.py` calls the scorer as Ray does.
pytestmark = [pytest.mark.slow, pytest.mark.full]


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:  # a machine that lets no process listen
        pytest.skip(f"ray does not start here: {error}")
    yield ray
    ray.shutdown()


def test_rows_are_scored_in_batches(ray, model):  # noqa: F811
    rows = pd.DataFrame(draw(4)[1], columns=NAMES).assign(name=np.arange(1500))
    scorer = BatchScorer(model[1], keep=("name",))
    scored = ray.data.from_pandas(rows).map_batches(scorer, batch_size=400).to_pandas()
    expected = scorer(rows)
    found = scored.sort_values("name")
    assert list(found.columns) == ["name", "score", "probability", "label"]
    np.testing.assert_allclose(found["score"], expected["score"])
