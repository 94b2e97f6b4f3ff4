"""MNIST: even digits against odd ones, 784 columns; the paper does not say which classes it groups."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_mnist

TITLE = "MNIST"
TEXT = False


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_mnist(return_X_y=True)
