"""CSV and TSV: text columns in batches, errors with the line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from purely.tables._errors import TableError, shown
from purely.tables._formats import TableFile, open_bytes
from purely.tables.source import TableSource

__all__ = ["NULLS", "CSVSource"]

#: Fields that stand for a missing value.
NULLS = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?"]
#: A line has to fit into one block.
BLOCK_BYTES = 1 << 24
DELIMITERS = (",", ";", "\t", "|")


class CSVSource(TableSource):
    """Delimited text. Columns come as strings unless another type is asked for."""

    def __init__(self, file: TableFile, *, delimiter: str | None, encoding: str, header: bool) -> None:
        super().__init__(file)
        self.encoding = _known_encoding(encoding)
        self.header = header
        with open_bytes(file) as stream:
            start = _decoded(bytes(stream.read(1 << 20)), self.encoding, file)
        lines = [line for line in start.splitlines()[:50] if line.strip()]
        if not lines:
            raise TableError(f"{file.name} holds no text; a table with column names in its first line is needed.")
        self.delimiter = _known_delimiter(delimiter) or ("\t" if file.format == "tsv" else _guess_delimiter(lines))
        fields = _first_record(start, self.delimiter, file)
        if header:
            self._read_names(fields, lines)
        else:
            self.names = [f"c{j}" for j in range(1, len(fields) + 1)]
        self._check_names()

    def _read_names(self, fields: list[str], lines: list[str]) -> None:
        numbers = sum(_is_number(f) for f in fields)
        if numbers and numbers >= 0.6 * len(fields) and len(lines) > 1:
            raise TableError(
                f"{self.file.name}, line 1 holds values ({shown(', '.join(fields[:3]))}), not column names; add a line "
                "of names, or read it with --no-header."
            )
        self.names = [f.strip() or f"column {j}" for j, f in enumerate(fields, 1)]
        longest = max(self.names, key=len)
        if len(longest) > 1000:
            raise TableError(
                f"{self.file.name}, line 1 has a column name of {len(longest):,} characters; is the delimiter right? "
                "Name it with --delimiter."
            )

    def batches(self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Record batches; a line that does not fit is refused with its number."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        all_types = {name: pa.string() for name in self.names} | dict(types or {})
        size = max(1, self.file.path.stat().st_size)
        first = 2 if self.header else 1
        self.done = 0.0
        bad: list[Any] = []
        with open_bytes(self.file) as stream:
            counted = _Counted(stream)
            try:
                reader = pacsv.open_csv(
                    counted,
                    read_options=pacsv.ReadOptions(
                        use_threads=False,
                        block_size=BLOCK_BYTES,
                        encoding=self.encoding,
                        column_names=self.names,
                        skip_rows=int(self.header),
                    ),
                    parse_options=pacsv.ParseOptions(
                        delimiter=self.delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=lambda row: _keep(bad, row),
                    ),
                    convert_options=pacsv.ConvertOptions(
                        column_types=all_types,
                        include_columns=wanted,
                        null_values=NULLS,
                        strings_can_be_null=True,
                        auto_dict_encode=False,
                    ),
                )
                for batch in reader:
                    self.done = min(1.0, _position(stream, self.file) / size)
                    if batch.num_rows:
                        yield batch
            except UnicodeDecodeError as error:
                raise _wrong_encoding(self.file, self.encoding) from error
            except (pa.ArrowInvalid, pa.ArrowException) as error:
                sentence = self._explain(error, bad, wanted, all_types, first)
                if sentence is None:
                    return
                raise TableError(sentence) from error
        self.done = 1.0

    def _explain(
        self, error: Exception, bad: list[Any], columns: list[str], types: Mapping[str, Any], first: int
    ) -> str | None:
        """One sentence for what pyarrow found; None where there is only a header."""
        text, name = str(error), self.file.name
        if "Empty CSV" in text or "Empty CSV file" in text:
            return None
        if bad and len(bad[0].text) > BLOCK_BYTES // 2:
            return self._huge_line()
        if bad:
            row = bad[0]
            where = f"line {row.number}" if row.number else "a line"
            return (
                f"{name}, {where} has {row.actual_columns} fields where {row.expected_columns} are expected "
                f"({shown(row.text)!r}); mend or delete it, put fields with the delimiter {self.delimiter!r} in "
                "quotes, or name another --delimiter."
            )
        if "straddl" in text or "block size" in text.lower():
            return self._huge_line()
        if "UTF8" in text or "UTF-8" in text:
            return str(_wrong_encoding(self.file, self.encoding, _row_number(text)))
        found = re.search(r"column #(\d+)", text)
        value = re.search(r"invalid value '(.*)'", text, re.DOTALL)
        if found and value:
            # with include_columns pyarrow numbers the columns of the file
            index = int(found[1])
            column = self.names[index] if index < len(self.names) else columns[min(index, len(columns) - 1)]
            row_number = _row_number(text)
            where = f", line {row_number}" if row_number else ""
            return (
                f"{name}{where}: column {shown(column)!r} has the value {shown(value[1])!r} where a number is "
                "expected; mend it or leave the field empty."
            )
        return f"{name} is not a well-formed table: {shown(text, 120)}."

    def _huge_line(self) -> str:
        return (
            f"{self.file.name} has a line of many MB (at most {BLOCK_BYTES >> 20} are read); is a quotation mark never "
            "closed? Mend the file, or name its --delimiter."
        )


class _Counted(io.RawIOBase):
    """A readable stream for pyarrow that hides what kind of file is below it."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self.stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return bytes(self.stream.read(size) if size is not None and size >= 0 else self.stream.read())


def _keep(bad: list[Any], row: Any) -> str:
    bad.append(row)
    return "error"


def _position(stream: Any, file: TableFile) -> int:
    raw = getattr(stream, "fileobj", None) or getattr(stream, "_fp", None) or stream
    try:
        return int(raw.tell())
    except (OSError, ValueError, AttributeError):
        return 0


def _row_number(text: str) -> int | None:
    found = re.search(r"Row #(\d+)", text)
    return int(found[1]) if found else None


def _known_encoding(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError as error:
        raise TableError(f"--encoding {shown(encoding)!r} is not known; try utf-8, latin-1 or cp1252.") from error


def _known_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127:
        raise TableError(f"--delimiter must be one character such as , ; | or tab; {shown(delimiter)!r} was given.")
    return delimiter


def _decoded(start: bytes, encoding: str, file: TableFile) -> str:
    if b"\x00" in start[:4096] and not encoding.startswith(("utf-16", "utf-32")):
        remedy = "--encoding utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "--format"
        raise TableError(f"{file.name} is not plain text (it has zero bytes); name what it is with {remedy}.")
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError as error:
        line = start[: error.start].count(b"\n") + 1
        raise _wrong_encoding(file, encoding, line) from error
    text = text.removeprefix("\ufeff")
    control = sum(ord(c) < 32 and c not in "\t\r\n\f\v" for c in text[:4096])
    if control > 0.02 * min(len(text), 4096):
        raise TableError(f"{file.name} is not plain text; name what it is with --format.")
    return text


def _wrong_encoding(file: TableFile, encoding: str, line: int | None = None) -> TableError:
    other = "utf-8" if encoding != "utf-8" else "latin-1"
    where = f", line {line}" if line else ""
    return TableError(f"{file.name}{where} is not {encoding} text; name its encoding, for example --encoding {other}.")


def _guess_delimiter(lines: list[str]) -> str:
    """The delimiter that is in the first line, and as often in those below; a comma where none is."""

    def quality(d: str) -> tuple[float, int]:
        counts = [line.count(d) for line in lines[:20]]
        same = sum(c == counts[0] for c in counts) / len(counts)
        return (same if counts[0] else 0.0), counts[0]

    in_header = [d for d in DELIMITERS if d in lines[0]]
    return max(in_header, key=quality) if in_header else ","


def _first_record(text: str, delimiter: str, file: TableFile) -> list[str]:
    try:
        return next(row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    except (csv.Error, StopIteration) as error:
        raise TableError(
            f"{file.name}, line 1 cannot be read as column names ({shown(error)}); is the delimiter right?"
        ) from error


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return field.strip().lower() not in ("nan", "inf", "infinity")
