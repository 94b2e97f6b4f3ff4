"""What is wrong with a table, in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["TableError", "nearest", "shown"]


class TableError(ValueError):
    """A file or table that cannot be used; the message says which, where, and what to do about it."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A half-sentence that offers the nearest of the known names, or lists some of them."""
    names = list(known)
    by_fold = {n.casefold(): n for n in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_fold[close[0]]!r}?"
    listed = ", ".join(repr(shown(n, 30)) for n in names[:8]) + (", ..." if len(names) > 8 else "")
    return f"it has: {listed or 'nothing'}."


def shown(value: object, width: int = 40) -> str:
    """A value for a message: on one line, not longer than `width`, nothing that a terminal would act upon."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value)[: width + 1])
    return text if len(text) <= width else text[: width - 3] + "..."
