"""How results look in a notebook (what they print, or a small table, everything escaped) and to programs, as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np


class Sentence:
    """Shown in a notebook as what it prints: a sentence, or lines that stay below each other."""

    def _repr_html_(self) -> str:
        text = escape(str(self))
        return f"<pre>{text}</pre>" if "\n" in text else f"<p>{text}</p>"


def as_json(value: Any) -> Any:
    """Python's own types, as JSON knows them; what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return as_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> str:
    """A table; the first column is text, the others are numbers.

    Examples
    --------
    >>> from purely.notebook import html_table
    >>> html_table(["", "value"], [["a < b", "1.0"]], ["One row."]).count("<td")
    2
    """

    def cells(row: Sequence[str], tag: str) -> str:
        sides = ["left", *["right"] * (len(row) - 1)]
        return "".join(
            f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>' for side, text in zip(sides, row, strict=True)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    said = "".join(f"<p>{escape(note)}</p>" for note in notes if note)
    return f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>{said}"
