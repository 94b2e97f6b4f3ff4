"""Rows to a CSV, TSV or Parquet file, a batch at a time; the file appears under its name when it is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from purely.files import is_stream, replacing, shown
from purely.tables.cells import is_text, plain
from purely.tables.errors import TableError

#: File endings of tables that are written.
ENDINGS = (".csv", ".tsv", ".parquet", ".pq")
#: Text that a spreadsheet takes for a formula; a number with its sign is none.
_FORMULA, _NUMBER = r"^[=+\-@\t\r]", r"^[+-]?[\d.,]+([eE][+-]?\d+)?$"

#: What writes batches in one of the formats.
Writer: TypeAlias = pq.ParquetWriter | pacsv.CSVWriter


class TableWriter:
    """What :func:`writing_table` gives.

    Attributes
    ----------
    n_rows : int
        Rows that were written.
    n_formulas : int
        Texts among them that a spreadsheet would take for a formula, and that stay as they are.
    when_whole : function of a path
        Called with the partial file when all is written, before it takes its place.
    """

    def __init__(self, sink: IO[bytes], ending: str, escape_formulas: bool) -> None:
        self._sink, self._ending, self._escape = sink, ending, escape_formulas
        self._writer: Writer | None = None
        self.n_rows = self.n_formulas = 0
        self.when_whole: Callable[[Path], None] = lambda partial: None

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; the types of the first batch are those of all."""
        if self._ending not in (".parquet", ".pq"):
            batch = pa.record_batch([self._printable(column) for column in batch.columns], names=batch.schema.names)
        if self._writer is None:
            self._writer = self._open(batch.schema)
        self._writer.write_batch(batch.cast(self._writer_schema) if batch.schema != self._writer_schema else batch)
        self.n_rows += batch.num_rows

    def _open(self, schema: pa.Schema) -> Writer:
        self._writer_schema = schema
        if self._ending in (".parquet", ".pq"):
            return pq.ParquetWriter(self._sink, schema, use_dictionary=False, compression="snappy")
        options = pacsv.WriteOptions(delimiter="\t" if self._ending == ".tsv" else ",", quoting_style="needed")
        return pacsv.CSVWriter(self._sink, schema, write_options=options)

    def _printable(self, column: pa.Array) -> pa.Array:
        """A column that CSV can hold; formulas are counted, and escaped where that was asked for."""
        column = plain(column)
        if pa.types.is_nested(column.type) or pa.types.is_decimal(column.type):
            column = pa.array([None if v is None else str(v) for v in column.to_pylist()], pa.string())
        if not is_text(column.type):
            return column
        risky = pc.and_(
            pc.match_substring_regex(column, _FORMULA), pc.invert(pc.match_substring_regex(column, _NUMBER))
        )
        found = pc.sum(risky).as_py() or 0
        if not (found and self._escape):
            self.n_formulas += found
            return column
        return pc.if_else(pc.fill_null(risky, False), pc.binary_join_element_wise("'", column, ""), column)

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()


def said_of_formulas(writer: TableWriter) -> list[str]:
    """A sentence where a spreadsheet would take some of what was written for formulas."""
    if not writer.n_formulas:
        return []
    return [
        f"{writer.n_formulas:,} ids begin with =, +, - or @, which a spreadsheet takes for formulas; --escape-formulas "
        "puts an apostrophe before them."
    ]


@contextmanager
def writing_table(path: str | os.PathLike[str] | None, *, escape_formulas: bool = False) -> Iterator[TableWriter]:
    r"""Write a table, or nothing at all.

    Parameters
    ----------
    path : path or None
        A file that ends in .csv, .tsv, .parquet or .pq; None is CSV on the standard output, and so is what goes to a
        pipe or a device.
    escape_formulas : bool, default=False
        Put an apostrophe before text that a spreadsheet would take for a formula (CSV and TSV).

    Yields
    ------
    TableWriter

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import pyarrow as pa
    >>> from purely.tables import writing_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> with writing_table(path) as writer:
    ...     writer.write(pa.record_batch({"row": [1, 2], "score": [0.5, 0.25]}))
    >>> path.read_text()
    '"row","score"\n1,0.5\n2,0.25\n'
    """
    if path is None:
        if not hasattr(sys.stdout, "buffer"):
            raise TableError("there is no standard output to write rows to; name a file.")
        writer = TableWriter(sys.stdout.buffer, ".csv", escape_formulas)
        yield writer
        writer.close()
        sys.stdout.flush()
        return
    ending = check_ending(path)
    with replacing(path) as partial:
        with open(partial, "wb") as sink:
            writer = TableWriter(sink, ending, escape_formulas)
            try:
                yield writer
                writer.close()
            except BaseException:
                with suppress(Exception):  # what went wrong first is what matters
                    writer.close()
                raise
        writer.when_whole(partial)


def check_ending(path: str | os.PathLike[str]) -> str:
    """The ending of an output, which says its format; a pipe or a device gets CSV."""
    ending = Path(path).suffix.lower()
    if ending in ENDINGS:
        return ending
    if is_stream(path):
        return ".csv"
    raise TableError(f"the output {shown(path, 120)!r} must end in {', '.join(ENDINGS)}.")
