"""Excel's .xlsx through openpyxl: the first sheet, its cells as text."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa

from purely.tables.errors import TableError, shown
from purely.tables.source import TableSource

__all__ = ["ExcelSource"]

BATCH_ROWS = 1 << 13


class ExcelSource(TableSource):
    """The first sheet of a workbook; its first row that is not empty names the columns."""

    def __init__(self, name: str, stream: IO[bytes], max_expansion: float) -> None:
        super().__init__(name, stream)
        try:
            with zipfile.ZipFile(stream) as archive:
                self._refuse_bomb(sum(info.file_size for info in archive.infolist()), max_expansion)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise self._damaged(error) from error
        fields = next(self._rows(), None)
        if fields is None:
            raise TableError(f"{name} has an empty first sheet; a table with column names in its first row is needed.")
        names = [" ".join(f.split()) if f else f"column {j}" for j, f in enumerate(fields, 1)]
        self._set_schema(pa.schema([(n, pa.string()) for n in names]))

    def _rows(self) -> Iterator[list[str | None]]:
        """Rows that are not empty, as text."""
        import openpyxl

        self.stream.seek(0)
        try:
            book = openpyxl.load_workbook(self.stream, read_only=True, data_only=True)
            sheet, several = book.worksheets[0], len(book.worksheets) > 1
            first = f"of the {len(book.worksheets)} sheets in {self.name} the first, {shown(sheet.title)!r}, is read."
            self.notes = [first] if several else []
            sheet.reset_dimensions()  # what a file says about its size is often wrong
            for cells in sheet.iter_rows(values_only=True):
                row = [_text(cell) for cell in cells]
                if any(row):
                    yield row
        except (TableError, ModuleNotFoundError, GeneratorExit):
            raise
        except Exception as error:  # a damaged workbook makes openpyxl raise whatever its XML leads to
            raise self._damaged(error) from error

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        places = [self.names.index(name) for name in columns]
        schema = pa.schema([self.schema.field(name) for name in columns])
        rows = self._rows()
        next(rows, None)
        held: list[list[str | None]] = []
        for row in rows:
            held.append([row[j] if j < len(row) else None for j in places])
            if any(row[len(self.names) :]):
                raise TableError(f"{self.name} has a row with more cells than there are column names; name them all.")
            if len(held) == BATCH_ROWS:
                yield _batch(held, schema)
                held = []
        if held:
            yield _batch(held, schema)

    def _damaged(self, error: Exception) -> TableError:
        why = shown(str(error).split("\n")[0], 80).rstrip(".")
        return TableError(f"{self.name} is damaged or not an Excel file ({why}); save it again, or as CSV.")


def _batch(rows: list[list[str | None]], schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array(column, pa.string()) for column in zip(*rows, strict=True)], schema=schema)


def _text(cell: Any) -> str | None:
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
