"""A table that was opened: columns, and rows as a stream of record batches; memory stays bounded."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from purely.files import reason
from purely.tables.errors import TableError, nearest, shown

__all__ = ["BATCH_ROWS", "MAX_EXPANSION", "Pair", "Stream", "TableSource", "explained"]

#: Rows of a batch where the format leaves the choice.
BATCH_ROWS = 1 << 16
#: A file that unpacks to more than this many times its size, and to more than this many bytes, is refused.
MAX_EXPANSION, SMALL_BYTES = 100.0, 1 << 26


class TableSource(ABC):
    """A table that was opened: its columns, and its rows in batches, as often as asked for.

    Attributes
    ----------
    name : str
        The file as messages show it.
    schema : pyarrow.Schema
        Names and types of the columns; those of text files are strings, just as they stand in the file.
    done : float
        Share of the file that has been read so far.
    first : int
        Number of the last batch's first record; records count from 1.
    notes : list of str
        What was assumed, one sentence each.
    """

    def __init__(self, name: str, stream: IO[bytes], compression: str | None = None) -> None:
        self.name, self.stream, self.compression = name, stream, compression
        self.size = os.fstat(stream.fileno()).st_size
        self.schema = pa.schema([])
        self.done, self.first = 0.0, 1
        self.notes: list[str] = []

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Record batches of the named columns, in that order, in the order of the file."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        n_read = 0
        self.done = 0.0
        for batch in self._read(wanted):
            if batch.num_rows:
                self.first, n_read = n_read + 1, n_read + batch.num_rows
                yield batch
        self.done = 1.0

    @abstractmethod
    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """What :meth:`batches` yields."""

    def check_columns(self, names: Sequence[str], role: str = "column") -> None:
        """Refuse names that the table does not have."""
        known = set(self.names)
        for name in names:
            if name not in known:
                raise TableError(f"{self.name} has no {role} {shown(name)!r}; {nearest(name, self.names)}")

    def _set_schema(self, schema: pa.Schema) -> None:
        names, met = list(schema.names), set()
        for name in names:
            if name in met:
                raise TableError(
                    f"{self.name} has {names.count(name)} columns named {shown(name)!r}; give each a name of its own."
                )
            met.add(name)
        self.schema = schema

    @contextmanager
    def _open_text(self) -> Iterator[Any]:
        """The file's bytes from the start, decompressed."""
        self.stream.seek(0)
        try:
            yield decompressed(self.stream, self.compression)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            if isinstance(error, BrokenPipeError):
                raise
            why = reason(error) if isinstance(error, OSError) else shown(error, 100).rstrip(".")
            damaged = f"is damaged or cut off ({self.compression})" if self.compression else "cannot be read"
            raise TableError(f"{self.name} {damaged}: {why}.") from error

    def _refuse_bomb(self, n_bytes: int, max_expansion: float) -> None:
        """Refuse a file that unpacks to something out of proportion."""
        if n_bytes > max(SMALL_BYTES, max_expansion * self.size):
            times = n_bytes // max(1, self.size) + 1
            raise TableError(
                f"{self.name} unpacks to {n_bytes / 1e6:,.0f} MB, {times:,} times its size, and could exhaust the "
                f"memory; if you trust it, read it with --max-expansion {times}."
            )


class Stream(io.RawIOBase):
    """What a library is given to read: it may close it, and the file below stays open."""

    def __init__(self, below: Any) -> None:
        super().__init__()
        self.below = below

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes."""
        return bytes(self.below.read(-1 if size is None else size))


def decompressed(stream: IO[bytes], compression: str | None) -> Any:
    """A stream of what a compressed stream holds."""
    if compression == "zstd":
        return pa.CompressedInputStream(pa.PythonFile(Stream(stream), "r"), "zstd")
    openers: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open, None: Stream}
    return openers[compression](stream)


@contextmanager
def explained(source: TableSource, what: str) -> Iterator[None]:
    """Turn what a library says about a damaged file into a sentence."""
    try:
        yield
    except (TableError, BrokenPipeError):
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, MemoryError, RuntimeError) as error:
        why = shown(str(error).split("\n")[0], 100).rstrip(".")
        raise TableError(f"{source.name} is damaged or not {what} ({why}); write or copy it again.") from error


class Pair(TableSource):
    """Positives in one file and the pool in another, as one table of the columns that both have.

    The column :attr:`LABEL` is 1 for the rows of the first file and empty for those of the second; records are numbered
    in each file by itself.
    """

    LABEL = "(file)"

    def __init__(self, positives: TableSource, pool: TableSource) -> None:
        self.parts = (positives, pool)
        self.name, self.done, self.first = f"{positives.name} and {pool.name}", 0.0, 1
        shared = [name for name in positives.names if name in set(pool.names)]
        if not shared:
            raise TableError(
                f"{self.name} have no column in common ({_listed(positives.names)}; {_listed(pool.names)}); they are "
                "matched by name."
            )
        self.notes = [
            f"left out, because only {part.name} has them: {_listed(alone)}."
            for part in self.parts
            if (alone := [name for name in part.names if name not in set(shared)])
        ]
        self.notes += [note for part in self.parts for note in part.notes]
        types = [[part.schema.field(name).type for part in self.parts] for name in shared]
        fields = [(n, one if one == other else pa.string()) for n, (one, other) in zip(shared, types, strict=True)]
        self.schema = pa.schema([*fields, (self.LABEL, pa.string())])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Record batches of the named columns: those of the positives, then those of the pool."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        schema = pa.schema([self.schema.field(name) for name in wanted])
        for place, part in enumerate(self.parts):
            label = pa.scalar(None if place else "1", pa.string())
            for batch in part.batches([name for name in wanted if name != self.LABEL]):
                self.first, self.done = part.first, 0.5 * (place + part.done)
                yield pa.record_batch(
                    [
                        pa.repeat(label, batch.num_rows)
                        if field.name == self.LABEL
                        else batch.column(field.name).cast(field.type)
                        for field in schema
                    ],
                    schema=schema,
                )

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(shown(n, 30)) for n in names[:5]) + (", ..." if len(names) > 5 else "")
