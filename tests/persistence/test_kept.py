"""Files that an earlier version wrote are read, and their models answer as they did."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import purely
from purely.persistence import ModelFileWarning
from tests.persistence.kept import FOLDER, rows_of
from tests.persistence.models import answers

KEPT = sorted(path.stem for path in FOLDER.glob("*.purely"))


def test_there_are_files():
    assert {"members", "kernel", "prior", "information", "networks", "table", "words"} <= set(KEPT)


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_file(name):
    if name == "table":
        pytest.importorskip("pyarrow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)  # another scikit-learn may have written it
        model = purely.load(FOLDER / f"{name}.purely")
    said = json.loads((FOLDER / f"{name}.json").read_text())
    found = answers(model, rows_of(name, said["rows"])) or [model.class_prior_]
    for answer, expected in zip(found, said["answers"], strict=True):
        np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=1e-12)
