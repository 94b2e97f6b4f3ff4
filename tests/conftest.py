"""What all tests share: tests marked `data` are skipped, with the reason, where there are no data sets."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("PURELY_DATA"):
        return
    skip = pytest.mark.skip(reason="PURELY_DATA, the folder of the data sets, is not set")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)
