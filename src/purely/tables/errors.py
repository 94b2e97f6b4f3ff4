"""What is wrong with a table, in one sentence."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from purely.files import shown

#: How much a name must resemble another to be offered for it: one letter of five may differ, or two be swapped.
RESEMBLANCE = 0.75


class TableError(ValueError):
    """A file or table that cannot be used; the message says which, where, and what to do about it."""


class EmptyTableError(TableError):
    """A file that holds nothing at all; in a folder of files it is passed over."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} is empty; a table with column names in its first line is needed.")
        self.file = file


def listed(names: Iterable[str], most: int = 5, width: int = 30) -> str:
    """The first few names, for a sentence."""
    found = list(names)
    rest = f" and {len(found) - most:,} more" if len(found) > most else ""
    return ", ".join(repr(shown(name, width)) for name in found[:most]) + rest


def said_of_empty(files: Sequence[str]) -> list[str]:
    """A sentence about the files of a folder that hold nothing, where there are any."""
    what = "file that holds nothing was" if len(files) == 1 else "files that hold nothing were"
    return [f"{len(files):,} {what} left out: {listed(files, 3, 60)}."] if files else []


def similar(name: str, known: Iterable[str]) -> str:
    """A half-sentence that offers the known name that resembles most; empty where none does."""
    by_fold = {n.casefold(): n for n in reversed(list(known))}
    close = difflib.get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=RESEMBLANCE)
    return f"did you mean {shown(by_fold[close[0]])!r}?" if close else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """A half-sentence that offers the known name that resembles most, or lists some of them."""
    names = list(known)
    return similar(name, names) or f"it has: {listed(names, 8) or 'nothing'}."


def refuse_absent(needed: Sequence[str], known: Collection[str], file: str, tell: Callable[[str], str]) -> None:
    """Refuse a table without a column that a model needs; `tell` offers another for it."""
    if absent := [name for name in needed if name not in known]:
        lost = repr(shown(absent[0])) + (f" and {len(absent) - 1} more" if len(absent) > 1 else "")
        of = f"which the model was trained on ({len(needed)} columns)"
        raise TableError(f"{file} has no column {lost}, {of}; {tell(absent[0])}")


def refuse_twins(names: Sequence[str], file: str) -> None:
    """Refuse a table in which two columns have the same name."""
    for name, n in Counter(names).most_common(1):
        if n > 1:
            raise TableError(f"{file} has {n} columns named {shown(name)!r}; give each a name of its own.")
