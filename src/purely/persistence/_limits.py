"""How large a model file may say that things are, and the words for what goes beyond."""

from __future__ import annotations

from typing import Any

from purely.persistence._errors import ModelFileError

__all__ = ["LARGEST_DEPTH", "LARGEST_NODES", "LARGEST_WIDTH", "integer", "need", "whole"]

#: Values within values: a pipeline of an ensemble of networks has about 30.
LARGEST_DEPTH = 100
#: Values in a file, shared ones counted as often as they are used: nothing can be walked through without end.
LARGEST_NODES = 5_000_000
#: Columns of a sparse matrix, which cost no byte in the file, and of the rows a model takes.
LARGEST_WIDTH = 2**24


def need(condition: Any, words: str) -> None:
    """Refuse the file, in these words, unless the condition holds."""
    if not condition:
        error = ModelFileError(f"the file is damaged or forged: {words}. Use one that purely.save has written.")
        error.reason = words
        raise error


def integer(value: Any, low: int, high: int, what: str) -> int:
    """An integer from low to high, both included."""
    need(type(value) is int and low <= value <= high, f"{what} must be an integer from {low} to {high}")
    return int(value)


def whole(node: dict[str, Any], *names: str) -> list[Any]:
    """The entries of a node, which must have exactly these besides its kind."""
    need(set(node) == {"kind", *names}, f"a value of kind {node.get('kind')!r} must have exactly {', '.join(names)}")
    return [node[name] for name in names]
