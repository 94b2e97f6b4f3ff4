"""Which format a file is in: by its name, checked against its first bytes."""

from __future__ import annotations

import os
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from purely.files import STDIN, FileError, MissingFileError, open_input, shown
from purely.tables._arrow import ArrowSource
from purely.tables._csv import CSVSource
from purely.tables._excel import ExcelSource
from purely.tables._matrices import LibsvmSource, NPZSource
from purely.tables.errors import EmptyTableError, TableError, similar
from purely.tables.source import MAX_EXPANSION, TableSource

#: Formats by name, with the file endings that stand for them.
FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "libsvm": (".libsvm", ".svm", ".svmlight"),
    "npz": (".npz",),
    "excel": (".xlsx", ".xlsm"),
}
_TEXT = ("csv", "tsv", "libsvm")
#: Compressions of text by file ending.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
#: First bytes that tell what a file is, whatever its name; NPZ and Excel files are ZIP archives.
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "arrow"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xd0\xcf\x11\xe0", "xls"),
)


def open_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    max_expansion: float = MAX_EXPANSION,
) -> TableSource:
    r"""Open a table for reading in batches.

    Parameters
    ----------
    path : path
        CSV, TSV, Parquet, Arrow/Feather, LIBSVM, NPZ or Excel; text may be compressed (.gz, .bz2, .xz, .zst). A pipe
        is read too, and "-" is the standard input.
    format : {"csv", "tsv", "parquet", "arrow", "libsvm", "npz", "excel"}, optional
        None: by the file's ending; of a pipe, by its first bytes, and CSV where these say nothing.
    delimiter : str, optional
        Of CSV; None: the one of comma, semicolon, tab, bar and blanks that makes the most regular columns.
    encoding : str, default="utf-8"
        Of CSV and TSV.
    header : bool, default=True
        Whether the first line of CSV and TSV names the columns; without, they are c1, c2, ...
    max_expansion : float, default=100
        How many times larger than the file what it unpacks to may be (NPZ, Excel, Parquet and Arrow).

    Returns
    -------
    TableSource

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from purely.tables import open_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b\n1,x\n2,y\n")
    >>> source = open_table(path)
    >>> source.names, sum(batch.num_rows for batch in source.batches())
    (['a', 'b'], 2)
    """
    if format is not None and format not in FORMATS:
        raise TableError(f"the format must be one of {', '.join(FORMATS)}; {shown(format)!r} was given.")
    name = "the standard input" if os.fspath(path) == STDIN else shown(os.fspath(path), 120)
    try:
        stream = open_input(path)
    except MissingFileError as error:
        offered = _similar_file(Path(path))
        raise TableError(f"{name}: there is no such file{f'; {offered}' if offered else ''}.") from error
    except FileError as error:
        raise TableError(str(error)) from error
    found, compression = _find_format(path, name, stream, format)
    if found in ("csv", "tsv"):
        delimiter = "\t" if found == "tsv" and delimiter is None else delimiter
        return CSVSource(name, stream, compression, delimiter=delimiter, encoding=encoding, header=header)
    if found == "libsvm":
        return LibsvmSource(name, stream, compression)
    if found in ("npz", "excel"):
        return (NPZSource if found == "npz" else ExcelSource)(name, stream, max_expansion)
    return ArrowSource(name, stream, found, max_expansion)


def _find_format(
    path: str | os.PathLike[str], name: str, stream: IO[bytes], asked: str | None
) -> tuple[str, str | None]:
    """Format and compression; a file that is clearly something else than it says is refused."""
    start = stream.read(16)
    stream.seek(0)
    if not start:
        raise EmptyTableError(name)
    what = next((what for magic, what in _MAGIC if start.startswith(magic)), None)
    if what == "xls":
        raise TableError(f"{name} is an Excel file of the old kind; save it as .xlsx or CSV.")
    if what == "zip":
        what = _kind_of_zip(stream)
    by_name, named = named_format(path)
    is_file = os.fspath(path) != STDIN and os.path.isfile(path)
    packed = what if what in COMPRESSIONS.values() else None
    if is_file and named != packed:
        if named:
            raise TableError(f"{name} is not {named}-compressed: its first bytes are others; was it renamed?")
        raise TableError(f"{name} is compressed with {packed}, which its name does not say; rename or decompress it.")
    found = asked or by_name or (None if is_file else what if what in FORMATS else "csv")
    if found is None:
        known = ", ".join(e for names in FORMATS.values() for e in names)
        raise TableError(
            f"{name}: the format cannot be told from the name (known endings: {known}; text may also be compressed, "
            f"{', '.join(COMPRESSIONS)}); name it with --format."
        )
    if packed and found not in _TEXT:
        raise TableError(f"{name}: {found} files are not read through {packed}; decompress the file first.")
    # an Arrow stream has no first bytes of its own; of a damaged archive nobody can tell what was in it
    may_be = {"arrow": ("arrow", None), "npz": ("npz", "zip"), "excel": ("excel", "zip")}.get(found, (found,))
    if (what != packed and found in _TEXT) or (found not in _TEXT and what not in may_be):
        if what is None:
            raise TableError(f"{name} is not a {found} file: its first bytes are others; was it cut off or renamed?")
        remedy = f"read it with --format {what}" if what in FORMATS else "unpack it first"
        raise TableError(f"{name} holds {what} data, not {found}; {remedy}.")
    return found, packed


def named_format(path: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """Format and compression that the name of a file says; None where it says nothing."""
    endings = [ending.lower() for ending in Path(path).suffixes]
    packed = COMPRESSIONS.get(endings.pop()) if endings and endings[-1] in COMPRESSIONS else None
    return next((name for name, known in FORMATS.items() if endings and endings[-1] in known), None), packed


def _kind_of_zip(stream: IO[bytes]) -> str:
    """What a ZIP archive is, by the files in it."""
    names: list[str] = []
    with suppress(zipfile.BadZipFile, OSError, ValueError, NotImplementedError), zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
    stream.seek(0)
    if any(name.startswith("xl/") for name in names):
        return "excel"
    return "npz" if any(name.endswith(".npy") for name in names) else "zip"


def _similar_file(path: Path) -> str:
    with suppress(OSError):
        return similar(path.name, (sibling.name for sibling in path.parent.iterdir()))
    return ""


def read_table(path: str | os.PathLike[str], **options: Any) -> pa.Table:
    r"""All rows of a file as a ``pyarrow.Table``; `options` are those of :func:`open_table`.

    Columns of text files come as text: :class:`TableEncoder` finds out what they hold.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from purely.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b\n1,x\n2,y\n")
    >>> read_table(path).num_rows
    2
    """
    source = open_table(path, **options)
    batches = list(source.batches())
    if not batches:
        raise TableError(f"{source.name} has no rows below its column names.")
    return pa.Table.from_batches(batches)
