"""Excel's .xlsx through openpyxl: the first sheet, its cells as text."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import IO

import pyarrow as pa

from purely.files import shown
from purely.tables.errors import TableError
from purely.tables.source import HeldTable

#: Rows that are held as Python objects at a time.
BLOCK_ROWS = 1 << 13


class ExcelSource(HeldTable):
    """The first sheet of a workbook; its first row that is not empty names the columns."""

    def __init__(self, name: str, stream: IO[bytes], max_expansion: float) -> None:
        super().__init__(name, stream)
        with self._opened("an Excel file"):
            with zipfile.ZipFile(stream) as archive:
                self._refuse_bomb(sum(info.file_size for info in archive.infolist()), max_expansion)
            rows = self._rows()
            fields = next(rows, [])
            names = [" ".join(f.split()) if f else f"column {j}" for j, f in enumerate(fields, 1)]
            blocks = iter(lambda: list(islice(rows, BLOCK_ROWS)), [])
            schema = pa.schema([(name, pa.string()) for name in names])
            batches = [self._batch(block, schema) for block in blocks]
        if not names:
            raise TableError(f"{name} has an empty first sheet; a table with column names in its first row is needed.")
        self._hold(pa.Table.from_batches(batches, schema))

    def _rows(self) -> Iterator[list[str | None]]:
        """Rows that are not empty, as text."""
        import openpyxl

        book = openpyxl.load_workbook(self.stream, read_only=True, data_only=True)
        sheet, several = book.worksheets[0], len(book.worksheets) > 1
        first = f"of the {len(book.worksheets)} sheets in {self.name} the first, {shown(sheet.title)!r}, is read."
        self.notes = [first] if several else []
        sheet.reset_dimensions()  # what a file says about its size is often wrong
        rows = ([_text(cell) for cell in cells] for cells in sheet.iter_rows(values_only=True))
        yield from (row for row in rows if any(row))

    def _batch(self, rows: list[list[str | None]], schema: pa.Schema) -> pa.RecordBatch:
        width = len(schema)
        if any(any(row[width:]) for row in rows):
            raise TableError(f"{self.name} has a row with more cells than there are column names; name them all.")
        columns = [pa.array([row[j] if j < len(row) else None for row in rows], pa.string()) for j in range(width)]
        return pa.record_batch(columns, schema=schema)


def _text(cell: object) -> str | None:
    """A cell as a text file would have it."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time(0)
        return cell.date().isoformat() if midnight else cell.isoformat(" ", "seconds")
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else str(cell)
