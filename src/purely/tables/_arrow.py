"""Parquet and Arrow (Feather): typed columns in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from purely.tables._errors import TableError, shown
from purely.tables._formats import TableFile
from purely.tables.source import BATCH_ROWS, TableSource

__all__ = ["ArrowSource", "ParquetSource"]


class ParquetSource(TableSource):
    """A Parquet file, read by row groups."""

    def __init__(self, file: TableFile) -> None:
        super().__init__(file)
        with explained(file):
            opened = pq.ParquetFile(file.path)
            self.names = list(opened.schema_arrow.names)
            self.n_rows = opened.metadata.num_rows
            opened.close()
        self._check_names()

    def batches(self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Record batches of at most 65,536 rows; a row group is decoded at a time."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        self.done, seen = 0.0, 0
        with explained(self.file), pq.ParquetFile(self.file.path, pre_buffer=False) as opened:
            for batch in opened.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
                seen += batch.num_rows
                self.done = seen / max(1, self.n_rows or 1)
                # columns come in the file's order
                yield batch.select(wanted)


class ArrowSource(TableSource):
    """An Arrow file, Feather of both versions or an Arrow stream, memory-mapped."""

    def __init__(self, file: TableFile) -> None:
        super().__init__(file)
        with file.path.open("rb") as stream:
            start = stream.read(6)
        self.kind = "file" if start == b"ARROW1" else "feather" if start.startswith(b"FEA1") else "stream"
        with explained(file), self._reader() as reader:
            self.names = list(reader.schema.names)
            if self.kind == "feather":
                self.n_rows = reader.num_rows
            elif self.kind == "file" and file.path.stat().st_size < 1 << 30:
                self.n_rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
        self._check_names()

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        if self.kind == "feather":
            import pyarrow.feather as feather

            yield feather.read_table(self.file.path)
            return
        opener = ipc.open_file if self.kind == "file" else ipc.open_stream
        with pa.memory_map(str(self.file.path)) as mapped, opener(mapped) as reader:
            yield reader

    def batches(self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Record batches as they were written, the long ones in slices."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        self.done, seen = 0.0, 0
        with explained(self.file), self._reader() as reader:
            for batch in self._whole(reader):
                batch.validate(full=True)  # offsets of a damaged file would be followed beyond the buffers
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS).select(wanted)
                    seen += part.num_rows
                    self.done = seen / self.n_rows if self.n_rows else 0.0
                    yield part

    def _whole(self, reader: Any) -> Iterator[Any]:
        if self.kind == "feather":
            yield from reader.to_batches()
        elif self.kind == "file":
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
        else:
            yield from reader


@contextmanager
def explained(file: TableFile) -> Iterator[None]:
    """Turn what pyarrow says about a damaged file into a sentence."""
    try:
        yield
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        why = shown(str(error).split("\n")[0], 100).rstrip(".")
        raise TableError(
            f"{file.name} is damaged or not a {file.format} file ({why}); write or copy it again."
        ) from error
