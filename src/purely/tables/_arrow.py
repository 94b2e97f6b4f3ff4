"""Parquet, Arrow and Feather: typed columns in batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from purely.tables.source import BATCH_ROWS, MAX_EXPANSION, TableSource, explained

__all__ = ["ArrowSource"]


class ArrowSource(TableSource):
    """A Parquet file (a row group is decoded at a time), an Arrow file or stream, or Feather of both versions."""

    def __init__(self, name: str, stream: IO[bytes], format: str, max_expansion: float = MAX_EXPANSION) -> None:
        super().__init__(name, stream)
        self.max_expansion = max_expansion
        start = stream.read(6)
        old = start.startswith(b"FEA1")
        self.kind = format if format == "parquet" else "file" if start == b"ARROW1" else "feather" if old else "stream"
        self.what = f"a {format} file"
        with explained(self, self.what), self._opened() as reader:
            self._n_rows = None
            if self.kind == "parquet":
                self._n_rows, n_bytes = reader.metadata.num_rows, _unpacked_bytes(reader.metadata)
                self._refuse_bomb(max(self._n_rows, n_bytes), max_expansion)
            self._set_schema(reader.schema_arrow if self.kind == "parquet" else reader.schema)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        self.stream.seek(0)
        if self.kind == "feather":
            yield feather.read_table(self.stream)
            return
        opener = {"parquet": _parquet, "file": ipc.open_file, "stream": ipc.open_stream}[self.kind]
        with opener(self.stream) as reader:
            yield reader

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        with explained(self, self.what), self._opened() as reader:
            seen = 0
            for batch in self._whole(reader, columns):
                # a row of nothing but missing values takes no byte of a file, and any number of them no more
                self._refuse_bomb(seen + batch.num_rows, self.max_expansion)
                if self.kind != "parquet":
                    batch.validate(full=True)  # offsets of a damaged file would be followed beyond the buffers
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS).select(columns)
                    seen += part.num_rows
                    self.done = seen / self._n_rows if self._n_rows else self.stream.tell() / max(1, self.size)
                    yield part

    def _whole(self, reader: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
        if isinstance(reader, pq.ParquetFile):
            yield from reader.iter_batches(batch_size=BATCH_ROWS, columns=columns)
        elif isinstance(reader, pa.Table):
            yield from reader.to_batches()
        elif isinstance(reader, ipc.RecordBatchFileReader):
            yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
        elif isinstance(reader, ipc.RecordBatchStreamReader):
            yield from reader


def _unpacked_bytes(metadata: Any) -> int:
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return sum(group.column(j).total_uncompressed_size for group in groups for j in range(group.num_columns))


def _parquet(stream: IO[bytes]) -> pq.ParquetFile:
    # reading ahead takes four times the memory and saves a quarter of the time, which is little beside scoring
    return pq.ParquetFile(stream, pre_buffer=False)
