"""A table that was opened: columns, and rows as a stream of record batches; memory stays bounded."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import IO, Any, TypeAlias

import pyarrow as pa

from purely.files import reason, shown
from purely.tables.errors import EmptyTableError, TableError, listed, nearest, refuse_twins, said_of_empty

#: Rows of a batch where the format leaves the choice.
BATCH_ROWS = 1 << 16
#: A file that unpacks to more than this many times its size, and to more than this many bytes, is refused.
MAX_EXPANSION, SMALL_BYTES = 100.0, 1 << 26


class TableSource(ABC):
    r"""A table that was opened: its columns, and its rows in batches, as often as asked for.

    Attributes
    ----------
    name : str
        The file as messages show it.
    size : int
        Bytes of the file.
    schema : pyarrow.Schema
        Names and types of the columns; those of text files are strings, just as they stand in the file.
    done : float
        Share of the file that has been read so far.
    first : int
        Number of the last batch's first record; records count from 1.
    notes : list of str
        What was assumed, one sentence each.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purely.tables import open_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b\n1,x\n2,y\n")
    >>> source = open_table(path)
    >>> [batch.to_pylist() for batch in source.batches(["b"])], source.done
    ([[{'b': 'x'}, {'b': 'y'}]], 1.0)
    """

    def __init__(self, name: str, stream: IO[bytes], compression: str | None = None) -> None:
        self.name, self.stream, self.compression = name, stream, compression
        self.size = os.fstat(stream.fileno()).st_size
        self.done, self.first = 0.0, 1
        self.notes: list[str] = []

    def _set_schema(self, schema: pa.Schema) -> None:
        refuse_twins(schema.names, self.name)
        self.schema = schema

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Record batches of the named columns, in that order, in the order of the file."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        self.done, self._n_before = 0.0, 0
        for batch in self._read(wanted):
            if batch.num_rows:
                self.first, self._n_before = self._n_before + 1, self._n_before + batch.num_rows
                yield batch
        self.done = 1.0

    @abstractmethod
    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """What :meth:`batches` yields."""

    def close(self) -> None:
        """Close the file of a table that is not read again."""
        self.stream.close()

    def check_columns(self, names: Sequence[str], role: str = "column") -> None:
        """Refuse names that the table does not have."""
        known = set(self.names)
        for name in names:
            if name not in known:
                raise TableError(f"there is no {role} {shown(name)!r} in {self.name}; {self.nearest(name)}")

    def nearest(self, name: str) -> str:
        """A half-sentence that offers a column for a name that is none."""
        return nearest(name, self.names)

    def _schema_of(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self.schema.field(name) for name in columns])

    def _note_progress(self) -> None:
        self.done = min(1.0, self.stream.tell() / max(1, self.size))

    @contextmanager
    def _opened(self, what: str) -> Iterator[IO[bytes]]:
        """The file's bytes from the start, decompressed; what a library says of a damaged file becomes a sentence."""
        self.stream.seek(0)
        try:
            yield decompressed(self.stream, self.compression)
        except (TableError, BrokenPipeError, ModuleNotFoundError):
            raise
        except Exception as error:  # a damaged file makes its reader raise whatever its bytes lead to
            if isinstance(error, OSError) and error.errno:
                raise TableError(f"{self.name} cannot be read: {reason(error)}.") from error
            why = shown(str(error).split("\n")[0], 100).rstrip(".")
            raise TableError(
                f"{self.name} is damaged or cut off, or not {what} ({why}); write or copy it again."
            ) from error

    def _refuse_bomb(self, n_bytes: int, max_expansion: float) -> None:
        """Refuse a file that unpacks to something out of proportion."""
        if n_bytes > max(SMALL_BYTES, max_expansion * self.size):
            times = n_bytes // max(1, self.size) + 1
            raise TableError(
                f"{self.name} unpacks to {n_bytes / 1e6:,.0f} MB, {times:,} times its size, and could exhaust the "
                f"memory; if you trust it, read it with --max-expansion {times}."
            )


class HeldTable(TableSource):
    """A table that is held in memory, because its format cannot be read in parts."""

    def _hold(self, table: pa.Table) -> None:
        self._table = table
        self._set_schema(table.schema)

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._table.select(columns).to_batches(max_chunksize=BATCH_ROWS):
            yield batch
            self.done = min(1.0, (self._n_before + batch.num_rows) / self._table.num_rows)


class Stream(io.RawIOBase):
    """What a library is given to read: it may close it, and the file below stays open."""

    def __init__(self, below: IO[bytes] | Stream) -> None:
        super().__init__()
        self.below = below

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes."""
        return bytes(self.below.read(-1 if size is None else size))


def _common_type(types: set[pa.DataType]) -> pa.DataType | None:
    """The type of a column that has these in several files: text where they differ; None where one cannot be text."""
    known = types - {pa.null()}  # what pandas writes for a column of texts without rows
    if len(known) < 2:
        return next(iter(known), pa.null())
    with suppress(pa.ArrowNotImplementedError):
        for kind in known:
            pa.nulls(0, kind).cast(pa.string())
        return pa.string()
    return None


def decompressed(stream: IO[bytes], compression: str | None) -> IO[bytes]:
    """A stream of what a compressed stream holds."""
    if compression == "zstd":
        return pa.CompressedInputStream(pa.PythonFile(Stream(stream), "r"), "zstd")
    openers: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open, None: Stream}
    return openers[compression](stream)


class PlacedSource(TableSource):
    """A table with further columns that its place says: each has one value, or none, in all rows."""

    def __init__(self, below: TableSource, said: Iterable[tuple[str, str | None]]) -> None:
        self.below, self.name, self.notes, self.size = below, below.name, below.notes, below.size
        self.said = {name: pa.scalar(value, pa.string()) for name, value in said if name not in below.names}
        self._set_schema(pa.schema([*below.schema, *((name, pa.string()) for name in self.said)]))

    def close(self) -> None:
        """Close the file of a table that is not read again."""
        self.below.close()

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        own = [name for name in columns if name not in self.said]
        for batch in self.below.batches(own or self.below.names[:1]):  # rows are counted by some column
            self.done = self.below.done
            placed = {name: pa.repeat(value, batch.num_rows) for name, value in self.said.items()}
            placed |= dict(zip(batch.schema.names, batch.columns, strict=True))
            yield pa.record_batch([placed[name] for name in columns], names=columns)


#: What opens a part of a table.
Opener: TypeAlias = Callable[[], AbstractContextManager[TableSource]]


class Joined(TableSource):
    """Several tables, one after another, as one table of the columns that each of them has.

    A name that differs from one of the last part in case, blanks, - or _ only stands for the same column, which has the
    last part's name: that is the pool, which predictions are made of. Parts that hold nothing are left out. Records
    count through, or from 1 in each part where `anew` is True.
    """

    anew = False

    def __init__(self, name: str, parts: Sequence[Opener]) -> None:
        # each opens its part: one at a time, since there may be more of them than a process may open
        self.name, self.size, self.notes = name, 0, []
        self._parts: list[Opener] = []
        schemas = self._respelt(self._schemas(parts))
        shared = list(dict.fromkeys(name for _, schema in schemas for name in schema.names))
        for file, schema in schemas:
            known = set(schema.names)
            if absent := [name for name in shared if name not in known]:
                self.notes.append(f"left out, because {file} does not have them: {listed(absent)}.")
                shared = [name for name in shared if name in known]
            if not set(shared) - {Pair.LABEL}:
                both = f"{listed(schemas[0][1].names)}; {listed(schema.names)}"
                raise TableError(f"{self.name}: the files have no column in common ({both}); they are matched by name.")
        common = {name: _common_type({schema.field(name).type for _, schema in schemas}) for name in shared}
        if apart := [name for name, kind in common.items() if kind is None]:
            self.notes.append(f"left out, because they are of another type in each file: {listed(apart)}.")
        self.notes = list(dict.fromkeys(self.notes))
        self._set_schema(pa.schema([(name, kind) for name, kind in common.items() if kind is not None]))

    def _schemas(self, parts: Sequence[Opener]) -> list[tuple[str, pa.Schema]]:
        """The file and the columns of each part that holds something."""
        schemas, empty = [], []
        for part in parts:
            try:
                with part() as source:
                    schemas.append((source.name, source.schema))
                    self.size += source.size
                    self.notes += source.notes
            except EmptyTableError as error:
                empty.append(error.file.removeprefix(self.name + os.sep))
            else:
                self._parts.append(part)
        if not schemas:
            raise TableError(f"{self.name} has only files that hold nothing.")
        self.notes += said_of_empty(empty)
        return schemas

    def _respelt(self, schemas: list[tuple[str, pa.Schema]]) -> list[tuple[str, pa.Schema]]:
        """The columns of each part, those that it spells otherwise under the names that the last one has."""
        spelt, made = _by_spelling(schemas[-1][1].names), []
        self._own: list[dict[str, str]] = []  # what each part calls such columns
        for file, schema in schemas:
            own = {spelt[key]: name for key, name in _by_spelling(schema.names).items() if spelt.get(key, name) != name}
            usual = {name: known for known, name in own.items()}
            made.append((file, pa.schema([field.with_name(usual.get(field.name, field.name)) for field in schema])))
            self._own.append(own)
            if own:
                pairs = ", ".join(f"{shown(name)!r} as {shown(known)!r}" for name, known in usual.items())
                self.notes.append(
                    f"columns whose names differ only in case, blanks, - or _ are taken as one: {pairs}; give them "
                    "other names if they are not the same."
                )
        return made

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        schema, before = self._schema_of(columns), 0
        for part, own in zip(self._parts, self._own, strict=True):
            with part() as source:
                self._n_before *= not self.anew
                for batch in source.batches([own.get(name, name) for name in columns]):
                    self.done = (before + source.done * source.size) / max(1, self.size)
                    yield pa.record_batch(batch.columns, names=columns).cast(schema)
                before += source.size


def _by_spelling(names: Sequence[str]) -> dict[str, str]:
    """Names by what they are without case, blanks, - and _; those that this does not tell apart are left out."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(re.sub(r"[\s_-]", "", name).casefold(), []).append(name)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


class Pair(Joined):
    """Positives in one file and the pool in another.

    The column :attr:`LABEL` is 1 for the rows of the first file and empty for those of the second; records are numbered
    in each file by itself.
    """

    LABEL = "(file)"
    anew = True

    def __init__(self, positives: TableSource, pool: TableSource) -> None:
        # neither is closed: a pair is read as often as asked for
        first = nullcontext(PlacedSource(positives, [(self.LABEL, "1")]))
        second = nullcontext(PlacedSource(pool, [(self.LABEL, None)]))
        super().__init__(f"{positives.name} and {pool.name}", [lambda: first, lambda: second])
