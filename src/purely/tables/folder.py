"""A folder of tables: its files in order, what their places say, and all of them as one table.

Files lie in a folder or below it. A place such as ``date=2024-01-01/part-0.parquet`` says that the column *date* of
every row of the file is 2024-01-01. Names that begin with a dot or an underscore (``_SUCCESS``) are notes of the tools
that wrote the folder, not tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from purely.tables.errors import TableError, shown
from purely.tables.formats import COMPRESSIONS, FORMATS
from purely.tables.source import TableSource

__all__ = ["FolderSource", "PlacedFile", "PlacedSource", "find_files"]

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
            if not noted and path.is_file() and (any_name or _is_table(path)):
                found.append(PlacedFile(path, place, tuple(_key(part) for part in place.parts[:-1] if "=" in part)))
    except OSError as error:
        raise TableError(f"the folder {shown(root, 120)!r} cannot be read: {error.strerror or error}.") from error
    if not found:
        endings = ", ".join(ending for name in IN_FOLDERS for ending in FORMATS[name])
        raise TableError(f"the folder {shown(root, 120)!r} has no tables (files that end in {endings}).")
    return sorted(found, key=lambda file: file.place.parts)


def _is_table(path: Path) -> bool:
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in COMPRESSIONS:
        endings.pop()
    return bool(endings) and any(endings[-1] in FORMATS[name] for name in IN_FOLDERS)


def _key(part: str) -> tuple[str, str | None]:
    name, _, value = part.partition("=")
    return unquote(name), None if value == NO_VALUE else unquote(value)


class PlacedSource(TableSource):
    """A file of a folder with the columns that its place says."""

    def __init__(self, file: PlacedFile, below: TableSource) -> None:
        self.below, self.name, self.notes = below, below.name, below.notes
        self.keys = {name: value for name, value in file.keys if name not in below.names}
        self.done, self.first = 0.0, 1
        self._set_schema(pa.schema([*below.schema, *((name, pa.string()) for name in self.keys)]))

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        own = [name for name in columns if name not in self.keys]
        if not own:  # rows are counted by some column
            own = self.below.names[:1]
        for batch in self.below.batches(own):
            self.done = self.below.done
            parts = [
                pa.repeat(pa.scalar(self.keys[name], pa.string()), batch.num_rows)
                if name in self.keys
                else batch.column(name)
                for name in columns
            ]
            yield pa.record_batch(parts, names=columns)


class FolderSource(TableSource):
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
        self.name, self.done, self.first = shown(os.fspath(folder), 120), 0.0, 1
        self._files, self._open = list(files), open_file
        self._sizes = [file.path.stat().st_size for file in self._files]
        schemas = []
        notes: dict[str, None] = {}
        for file in self._files:  # one after another: a folder may have more files than a process may open
            source = self._opened(file)
            schemas.append(source.schema)
            notes.update(dict.fromkeys(source.notes))
            close(source)
        self.notes = list(notes)
        self._set_schema(self._shared(schemas))

    def _opened(self, file: PlacedFile) -> PlacedSource:
        return PlacedSource(file, self._open(file.path))

    def _shared(self, schemas: Sequence[pa.Schema]) -> pa.Schema:
        """Columns of every file; text where files disagree about the type."""
        names = [name for name in schemas[0].names if all(name in schema.names for schema in schemas)]
        if not names:
            raise TableError(f"the files of {self.name} have no column in common; they are matched by name.")
        if missing := sorted({name for schema in schemas for name in schema.names} - set(names)):
            listed = ", ".join(repr(shown(name, 30)) for name in missing[:5]) + (", ..." if len(missing) > 5 else "")
            self.notes.append(f"left out, because only some files of {self.name} have them: {listed}.")
        types = {name: {schema.field(name).type for schema in schemas} for name in names}
        return pa.schema([(name, types[name].pop() if len(types[name]) == 1 else pa.string()) for name in names])

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        before, whole = 0, max(1, sum(self._sizes))
        for file, size in zip(self._files, self._sizes, strict=True):
            source = self._opened(file)
            try:
                for batch in source.batches(columns):
                    self.done = (before + source.done * size) / whole
                    yield batch.cast(schema)
            finally:
                close(source)
            before += size


def close(source: TableSource) -> None:
    """Close the file below a table that is not read again."""
    below = getattr(source, "below", source)
    below.stream.close()
