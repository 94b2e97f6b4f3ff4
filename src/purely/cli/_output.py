"""Files that are whole or not there: everything is written under another name and renamed at the end."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from purely.cli._session import CommandError, UsageError

__all__ = ["RowWriter", "atomic_path", "check_output"]

#: File endings of tables that are written.
ENDINGS = (".csv", ".tsv", ".parquet", ".pq")


def check_output(path: Path | None, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse an output that cannot be written, before the work starts."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise UsageError(f"the output {str(path)!r} must end in {', '.join(endings)}.")
    folder = path.parent
    if not folder.is_dir():
        raise CommandError(f"the folder {str(folder)!r} does not exist; make it first.")
    if path.is_dir():
        raise CommandError(f"{str(path)!r} is a folder; name a file.")
    if not os.access(folder, os.W_OK):
        raise CommandError(f"the folder {str(folder)!r} cannot be written to.")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place if all goes well and is removed otherwise."""
    partial = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}.partial{path.suffix}")
    try:
        yield partial
        with suppress(OSError), partial.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, path)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


class RowWriter:
    """Rows to a CSV, TSV or Parquet file, or as CSV to stdout, a batch at a time."""

    def __init__(self, path: Path | None, schema: Any) -> None:
        self.schema = schema
        self.sink: Any = None
        if path is not None and path.suffix.lower() in (".parquet", ".pq"):
            self.writer: Any = pq.ParquetWriter(path, schema, use_dictionary=False, compression="snappy")
        else:
            delimiter = "\t" if path is not None and path.suffix.lower() == ".tsv" else ","
            self.sink = pa.PythonFile(sys.stdout.buffer, mode="w") if path is None else pa.OSFile(str(path), "wb")
            options = pacsv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            self.writer = pacsv.CSVWriter(self.sink, schema, write_options=options)

    def write(self, batch: Any) -> None:
        """Write a batch."""
        self.writer.write_batch(batch)

    def close(self) -> None:
        """Finish the file."""
        self.writer.close()
        if self.sink is not None and not self.sink.closed and isinstance(self.sink, pa.OSFile):
            self.sink.close()
        elif self.sink is not None:
            sys.stdout.flush()


@contextmanager
def rows_to(path: Path | None, schema: Any) -> Iterator[RowWriter]:
    """A writer whose file appears under its name only when it is whole."""
    if path is None:
        writer = RowWriter(None, schema)
        yield writer
        writer.close()
        return
    with atomic_path(path) as partial:
        writer = RowWriter(partial, schema)
        try:
            yield writer
        finally:
            writer.close()
