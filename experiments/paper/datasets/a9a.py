"""a9a of LIBSVM: 123 columns; the classes overlap everywhere."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_a9a

TITLE = "a9a"
TEXT = False


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_a9a(return_X_y=True)
