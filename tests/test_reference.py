"""Every public name is in the reference."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "api" / "index.rst"
PACKAGES = [
    "purely",
    "purely.smi",
    "purely.representation",
    "purely.prior",
    "purely.classifiers",
    "purely.calibration",
    "purely.comparison",
    "purely.explain",
    "purely.metrics",
    "purely.model_selection",
    "purely.assumptions",
    "purely.datasets",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_in_the_reference(package):
    listed = {line.strip() for line in PAGE.read_text(encoding="utf-8").splitlines()}
    assert set(import_module(package).__all__) <= listed
