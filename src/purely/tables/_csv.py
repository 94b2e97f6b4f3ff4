"""CSV and TSV through pyarrow's reader: text columns in batches, errors with the line.

One reader finds the header and the rows: the header is the first record that it gives. So a line break in a quoted
name, or blank lines at the top, cannot make the header a row.
"""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

import pyarrow as pa
import pyarrow.csv as pacsv

from purely.files import shown
from purely.label_words import as_number
from purely.tables.errors import EmptyTableError, TableError
from purely.tables.source import Stream, TableSource

#: A record has to fit into one block; delimiter and header are looked for in the first bytes, then in a whole block.
BLOCK_BYTES, HEAD_BYTES = 1 << 24, 1 << 18
#: Columns of the first records that are read as text; pyarrow guesses types beyond, which does no harm to names.
MOST_TYPED = 1 << 14
#: Delimiters that are tried; a blank stands for any run of blanks and tabs.
DELIMITERS = (",", ";", "\t", "|", " ")


class CSVSource(TableSource):
    """Delimited text. Columns come as strings, just as they stand in the file; an empty field is missing."""

    def __init__(
        self,
        name: str,
        stream: IO[bytes],
        compression: str | None,
        *,
        delimiter: str | None,
        encoding: str,
        header: bool,
    ) -> None:
        super().__init__(name, stream, compression)
        self.encoding, self.header = _known_encoding(encoding), header
        delimiters = DELIMITERS if delimiter is None else (_known_delimiter(delimiter),)
        for size in (HEAD_BYTES, BLOCK_BYTES):
            with self._opened("text") as text:
                head = bytes(text.read(size))
            start = self._decoded(head)
            self._note_encoding(head, encoding)
            whole = len(head) < size
            tried = [_Trial(self._first_records(start, whole, d), d) for d in delimiters]
            best = max(tried, key=lambda trial: trial.quality)
            if best.n_records > 1 or whole:
                break
        else:
            raise TableError(self._explain("straddling"))
        if not best.n_records:
            raise EmptyTableError(name)
        self.delimiter = best.delimiter
        names = self._column_names(best) if header else [f"c{j}" for j in range(1, len(best.first) + 1)]
        self._set_schema(pa.schema([(n, pa.string()) for n in names]))

    def nearest(self, name: str) -> str:
        """A half-sentence that offers a column, or says why there may be one only."""
        if len(self.names) > 1:
            return super().nearest(name)
        return (
            f"it has only {shown(self.names[0])!r}: is that a title above the column names (delete it), or is there "
            "another --delimiter?"
        )

    def _decoded(self, head: bytes) -> str:
        if b"\x00" in head[:4096] and not self.encoding.startswith(("utf-16", "utf-32")):
            remedy = "--encoding utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "--format"
            raise TableError(f"{self.name} is not plain text (it has zero bytes); name what it is with {remedy}.")
        try:
            return codecs.getincrementaldecoder(self.encoding)().decode(head)
        except UnicodeDecodeError as error:
            raise self._wrong_encoding(head[: error.start].count(b"\n") + 1) from error

    def _note_encoding(self, head: bytes, said: str) -> None:
        """Say that a file looks like UTF-8 but is read as something else: most other encodings take any bytes."""
        if self.encoding.startswith("utf") or head.isascii() or self.notes:
            return
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder("utf-8")().decode(head)
            self.notes.append(
                f"the text of {self.name} looks like utf-8 but is read as {said}, so its letters may come out wrong. "
                "For two files with different encodings name both: --encoding cp1252,utf-8."
            )

    def _first_records(self, text: str, whole: bool, delimiter: str) -> tuple[pa.RecordBatch | None, int]:
        """The first records that fit together, and how many do not."""
        misfits: list[object] = []

        def skip(row: object) -> str:
            misfits.append(row)
            return "skip"

        complete = text if whole else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
        try:
            columns = range(min(MOST_TYPED, _most_fields(complete, delimiter)))
            reader = self._reader(Stream(io.BytesIO(complete.encode())), "utf-8", delimiter, columns, skip)
            return next(iter(reader), None), len(misfits)
        except (pa.ArrowException, UnicodeError):
            return None, 0

    def _column_names(self, trial: _Trial) -> list[str]:
        fields = trial.first
        numbers = [number for f in fields if (number := as_number(f)) is not None and math.isfinite(number)]
        if numbers and len(numbers) >= 0.6 * len(fields) and trial.n_records > 1:
            raise TableError(
                f"{self.name}, line 1 holds values ({shown(', '.join(fields[:3]))}), not column names; add a line of "
                "names, or read it with --no-header."
            )
        names = [" ".join(f.split()) or f"column {j}" for j, f in enumerate(fields, 1)]
        longest = max(names, key=len)
        if len(longest) > 1000:
            raise TableError(
                f"{self.name}, line 1 has a column name of {len(longest):,} characters; is the delimiter right? Name "
                "it with --delimiter."
            )
        return names

    def _reader(
        self, stream: Stream, encoding: str, delimiter: str, columns: Sequence[int], handler: object = None
    ) -> pacsv.CSVStreamingReader:
        """Pyarrow's reader; columns are f0, f1, ... and those asked for are text."""
        chosen = [f"f{j}" for j in columns]
        return pacsv.open_csv(
            _Blanks(stream) if delimiter == " " else stream,
            read_options=pacsv.ReadOptions(
                use_threads=False, block_size=BLOCK_BYTES, encoding=encoding, autogenerate_column_names=True
            ),
            parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=handler),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(chosen, pa.string()),
                include_columns=chosen if handler is None and len(chosen) < MOST_TYPED else None,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Record batches; a line that does not fit is refused with its number."""
        schema, skip = self._schema_of(columns), int(self.header)
        places = [self.schema.get_field_index(name) for name in columns]
        with self._opened("text") as text:
            watched = _Watched(text, self.delimiter)
            try:
                for batch in self._reader(watched, self.encoding, self.delimiter, places):
                    self._note_progress()
                    rows, skip = batch.slice(skip), max(0, skip - batch.num_rows)
                    yield pa.record_batch(rows.columns, schema=schema)
            except UnicodeDecodeError as error:
                raise self._wrong_encoding() from error
            except pa.ArrowException as error:
                raise TableError(self._explain(str(error))) from error
        if watched.left_open:
            raise TableError(
                f"{self.name}: a field begins with a quotation mark that is never closed, so {watched.lines_after:,} "
                "lines to the end of the file would be read as one field; close it."
            )

    def _explain(self, text: str) -> str:
        """One sentence for what pyarrow found."""
        if "straddl" in text or "block size" in text.lower():
            return (
                f"{self.name} has a line of many MB (at most {BLOCK_BYTES >> 20} are read); is a quotation mark never "
                "closed? Mend the file, or name its --delimiter."
            )
        if found := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", text, re.DOTALL):
            line, expected, actual, record = found.groups()
            return (
                f"{self.name}, line {line} has {actual} fields where {expected} are expected ({shown(record)!r}); mend "
                f"or delete it, put fields with the delimiter {self.delimiter!r} in quotes, or name another "
                "--delimiter."
            )
        if "UTF8" in text or "UTF-8" in text:
            found = re.search(r"Row #(\d+)", text)
            return str(self._wrong_encoding(int(found[1]) if found else None))
        return f"{self.name} is not a well-formed table: {shown(text, 120)}."

    def _wrong_encoding(self, line: int | None = None) -> TableError:
        other = "utf-8" if self.encoding != "utf-8" else "cp1252"
        where = f", line {line}" if line else ""
        return TableError(
            f"{self.name}{where} is not {self.encoding} text; name its encoding, for example --encoding {other}."
        )


def _most_fields(text: str, delimiter: str) -> int:
    """At least as many fields as the first record has: its end is the first line that leaves no quotation open."""
    seen = quotes = 0
    for line in text.splitlines():
        seen, quotes = seen + line.count(delimiter), quotes + line.count('"')
        if line.strip() and quotes % 2 == 0:
            break
    return seen + 1


class _Trial:
    """What a delimiter makes of the first records."""

    def __init__(self, found: tuple[pa.RecordBatch | None, int], delimiter: str) -> None:
        batch, n_misfits = found
        self.delimiter, self.n_records = delimiter, 0 if batch is None else batch.num_rows
        first = [] if batch is None or not batch.num_rows else list(batch.slice(0, 1).to_pylist()[0].values())
        self.first = ["" if field is None else str(field) for field in first]
        share = self.n_records / max(1, self.n_records + n_misfits)
        several = len(self.first) > 1 and share > 0.5
        # blanks are in any text: they separate columns only where nothing else does
        self.quality = (several, several and delimiter != " ", share, len(self.first))


class _Watched(Stream):
    """A stream that watches whether the last quotation mark opens a field and none closes it."""

    def __init__(self, stream: IO[bytes], delimiter: str) -> None:
        super().__init__(stream)
        self.before_field = (delimiter + "\r\n").encode()
        self.quotes, self.lines_after, self.opens, self.last = 0, 0, False, b"\n"

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(size)
        place = block.rfind(b'"')
        if place >= 0:
            self.quotes += block.count(b'"')
            self.opens = (block[place - 1 : place] or self.last) in self.before_field
            self.lines_after = 0
        self.lines_after += block.count(b"\n", max(place, 0))
        self.last = block[-1:] or self.last
        return block

    @property
    def left_open(self) -> bool:
        """Whether several lines were swallowed by a field that is never closed."""
        lines = self.lines_after - (self.last == b"\n")
        return bool(self.quotes % 2 and self.opens and lines > 0)


class _Blanks(Stream):
    """A stream in which every run of blanks and tabs is one blank, and lines neither begin nor end with one."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self.rest, self.started = b"", False

    def read(self, size: int | None = -1) -> bytes:
        # never more bytes than were asked for: the reader's buffer has that size
        block = bytes(self.below.read(max(1, size - len(self.rest)) if size and size > 0 else -1))
        whole = self.rest + block
        kept = len(whole.rstrip(b" \t\r\n")) if block else len(whole)  # a run may go on in the next block
        self.rest, whole = whole[kept:], whole[:kept]
        if len(self.rest) > 2:
            self.rest = b"\n" if b"\n" in self.rest or b"\r" in self.rest else b" "
        if block and not whole:
            return self.read(size)
        if not self.started:
            whole, self.started = whole.lstrip(b" \t"), True
        return re.sub(rb"[ \t]+", b" ", re.sub(rb"(?<=[\r\n])[ \t]+|[ \t]+(?=[\r\n]|$)", b"", whole))


def _known_encoding(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise TableError(f"--encoding {shown(encoding)!r} is not known; try utf-8, latin-1 or cp1252.") from error


def _known_delimiter(delimiter: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t", "space": " ", "blank": " "}.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127:
        raise TableError(f"--delimiter must be one character such as , ; | or tab; {shown(delimiter)!r} was given.")
    return delimiter
