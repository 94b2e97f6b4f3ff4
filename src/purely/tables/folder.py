"""A folder of tables: its files in order, what their places say, and all of them as one table.

Files lie in a folder or below it. A place such as ``date=2024-01-01/part-0.parquet`` says that the column *date* of
every row of the file is 2024-01-01. Names that begin with a dot or an underscore (``_SUCCESS``) are notes of the tools
that wrote the folder, not tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from purely.files import shown
from purely.tables.errors import TableError
from purely.tables.formats import FORMATS, named_format
from purely.tables.source import Joined, PlacedSource, TableSource

#: What stands for a missing value in a place.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
#: Formats of files that a folder may hold.
IN_FOLDERS = ("csv", "tsv", "parquet", "arrow")


@dataclass(frozen=True)
class PlacedFile:
    """A file of a folder.

    Attributes
    ----------
    path : Path
    place : Path
        The path below the folder.
    keys : tuple of (str, str or None)
        Columns that the place says, with their values.
    """

    path: Path
    place: Path
    keys: tuple[tuple[str, str | None], ...]


def find_files(folder: str | os.PathLike[str], *, any_name: bool = False) -> list[PlacedFile]:
    """The tables of a folder and of the folders in it, by name.

    Parameters
    ----------
    folder : path
    any_name : bool, default=False
        Take files whatever their ending, because their format is known from elsewhere.

    Returns
    -------
    list of PlacedFile

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purely.tables.folder import find_files
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "year=2024").mkdir()
    >>> for name in ("year=2024/a.csv", "b.csv", "_SUCCESS", "notes.md"):
    ...     _ = (folder / name).write_text("x")
    >>> [(file.place.as_posix(), file.keys) for file in find_files(folder)]
    [('b.csv', ()), ('year=2024/a.csv', (('year', '2024'),))]
    """
    root = Path(folder)
    found = []
    try:
        for path in root.rglob("*"):
            place = path.relative_to(root)
            noted = any(part.startswith((".", "_")) for part in place.parts)
            if not noted and path.is_file() and (any_name or named_format(path)[0] in IN_FOLDERS):
                found.append(PlacedFile(path, place, tuple(_key(part) for part in place.parts[:-1] if "=" in part)))
    except OSError as error:
        raise TableError(f"the folder {shown(root, 120)!r} cannot be read: {error.strerror or error}.") from error
    if not found:
        endings = ", ".join(ending for name in IN_FOLDERS for ending in FORMATS[name])
        raise TableError(f"the folder {shown(root, 120)!r} has no tables (files that end in {endings}).")
    return sorted(found, key=lambda file: file.place.parts)


def _key(part: str) -> tuple[str, str | None]:
    name, _, value = part.partition("=")
    return unquote(name), None if value == NO_VALUE else unquote(value)


class FolderSource(Joined):
    """All files of a folder as one table of the columns that each of them has; records count through.

    Parameters
    ----------
    folder : path
    files : sequence of PlacedFile
    open_file : function of a path
        Gives the table of a file.
    """

    def __init__(
        self, folder: str | os.PathLike[str], files: Sequence[PlacedFile], open_file: Callable[[Path], TableSource]
    ) -> None:
        super().__init__(shown(os.fspath(folder), 120), [partial(_opened, open_file, file) for file in files])


def _opened(open_file: Callable[[Path], TableSource], file: PlacedFile) -> AbstractContextManager[TableSource]:
    return closing(PlacedSource(open_file(file.path), file.keys))
