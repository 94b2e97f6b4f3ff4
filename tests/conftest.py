"""What all tests share: which are skipped, which wait for the full size, and reports without pictures."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


@pytest.hookimpl(tryfirst=True)  # before the marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # its twin for sparse arrays always runs: the same formats and the same fits
        if "check_estimator_sparse_matrix" in item.name:
            item.add_marker(pytest.mark.full)
    if os.environ.get("PURELY_DATA"):
        return
    skip = pytest.mark.skip(reason="PURELY_DATA, the folder of the data sets, is not set")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)


def leave_out_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reports without pictures: they take most of a report's time, and tests of the report look at them."""
    if find_spec("jinja2") is not None:
        from purely.report._figures import Figure

        monkeypatch.setattr("purely.report._page.draw", lambda display, name: Figure("<svg></svg>", 0, 1, 0, 1, 0, 1))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of this test have no pictures."""
    leave_out_pictures(monkeypatch)
