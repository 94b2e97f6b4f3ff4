"""ijcnn1 of LIBSVM: 22 columns; the rarer class is positive."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_ijcnn1

TITLE = "ijcnn1"
TEXT = False


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_ijcnn1(return_X_y=True)
