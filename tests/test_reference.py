"""Every public name is in the reference, with an example that is run."""

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
    "purely.audit",
    "purely.datasets",
    "purely.exceptions",
    "purely.persistence",
    "purely.plotting",
    "purely.report",
    "purely.scale",
    "purely.tables",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_in_the_reference(package):
    listed = {line.strip() for line in PAGE.read_text(encoding="utf-8").splitlines()}
    assert set(import_module(package).__all__) <= listed


@pytest.mark.parametrize("package", PACKAGES)
def test_public_classes_and_functions_have_an_example(package):
    room = import_module(package)
    public = {name: getattr(room, name) for name in room.__all__}
    shown = {name: value for name, value in public.items() if isinstance(value, type) or callable(value)}
    errors = {name for name, value in shown.items() if isinstance(value, type) and issubclass(value, Exception)}
    assert [name for name in shown if name not in errors and ">>> " not in (shown[name].__doc__ or "")] == []
