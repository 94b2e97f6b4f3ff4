"""mushrooms of LIBSVM: 112 columns. Half of it has fewer rows than the largest draws ask for; see draws.py."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_mushrooms

TITLE = "mushrooms"
TEXT = False


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_mushrooms(return_X_y=True)
