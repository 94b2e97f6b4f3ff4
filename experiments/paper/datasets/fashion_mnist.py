"""Fashion-MNIST in two groups, 784 columns; the paper does not print its grouping, see purely.datasets."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_fashion_mnist

TITLE = "F-MNIST"
TEXT = False


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_fashion_mnist(return_X_y=True)
