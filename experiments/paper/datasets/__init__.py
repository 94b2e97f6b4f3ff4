"""One module a data set: its TITLE as the paper prints it, whether it is TEXT, and ``load()``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["dataset"]


def dataset(name: str) -> Any:
    """The module of a data set."""
    return import_module(f"experiments.paper.datasets.{name}")
