"""What is wrong with a table, in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from purely.files import shown

__all__ = ["TableError", "nearest", "shown"]

#: How much a name must resemble another to be offered for it: one letter of five may differ, or two be swapped.
RESEMBLANCE = 0.75


class TableError(ValueError):
    """A file or table that cannot be used; the message says which, where, and what to do about it."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A half-sentence that offers the known name that resembles most, or lists some of them."""
    names = list(known)
    by_fold = {n.casefold(): n for n in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=RESEMBLANCE)
    if close:
        return f"did you mean {shown(by_fold[close[0]])!r}?"
    listed = ", ".join(repr(shown(n, 30)) for n in names[:8]) + (", ..." if len(names) > 8 else "")
    return f"it has: {listed or 'nothing'}."
