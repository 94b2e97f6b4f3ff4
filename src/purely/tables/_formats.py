"""Which format a file is in, and how to open it: by its name, checked against its first bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from purely.tables._errors import TableError, shown

__all__ = ["FORMATS", "TableFile", "find_format", "open_bytes", "text_lines"]

#: Formats by name, with the file endings that stand for them.
FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "libsvm": (".libsvm", ".svm", ".svmlight"),
    "npz": (".npz",),
}
#: Compressions by file ending.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
#: First bytes that tell a format, whatever the name.
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "arrow"),
    (b"PK\x03\x04", "npz"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_TEXT = ("csv", "tsv", "libsvm")


@dataclass(frozen=True)
class TableFile:
    """A file, the format it is read in and its compression."""

    path: Path
    format: str
    compression: str | None

    @property
    def name(self) -> str:
        """The path as messages show it."""
        return shown(self.path, 120)


def find_format(path: str | Path, format: str | None = None) -> TableFile:
    """The format of a file by its ending, or the one asked for; a file that is clearly something else is refused."""
    path = Path(path)
    if format is not None and format not in FORMATS:
        raise TableError(f"the format must be one of {', '.join(FORMATS)}; {format!r} was given.")
    _refuse_absent(path)
    endings = [ending.lower() for ending in path.suffixes]
    compression = COMPRESSIONS.get(endings[-1]) if endings else None
    ending = (endings[:-1] if compression else endings)[-1:]
    found = format or next((name for name, known in FORMATS.items() if ending and ending[0] in known), None)
    if found is None:
        known = ", ".join(e for names in FORMATS.values() for e in names)
        raise TableError(
            f"{shown(path, 120)}: the format cannot be told from the name (known endings: {known}, compressed with "
            f"{', '.join(COMPRESSIONS)}); name it with --format."
        )
    if compression and found not in _TEXT:
        raise TableError(
            f"{shown(path, 120)}: {found} files are not read through {compression}; decompress the file first."
        )
    file = TableFile(path, found, compression)
    _refuse_disguised(file)
    return file


def _refuse_absent(path: Path) -> None:
    shown_path = shown(path, 120)
    try:
        if path.is_dir():
            raise TableError(f"{shown_path} is a folder; name a file.")
        if not path.exists():
            siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            close = _close_file(path.name, siblings)
            raise TableError(f"{shown_path}: there is no such file{close}.")
        if path.stat().st_size == 0 and path.is_file():
            raise TableError(f"{shown_path} is empty; a table with column names in its first line is needed.")
    except OSError as error:
        raise TableError(f"{shown_path} cannot be read: {error.strerror or error}.") from error


def _close_file(name: str, siblings: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, siblings, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _refuse_disguised(file: TableFile) -> None:
    """Refuse a file whose first bytes belong to another format than its name or --format says."""
    try:
        with file.path.open("rb") as stream:
            start = stream.read(16)
    except OSError as error:
        raise TableError(f"{file.name} cannot be read: {error.strerror or error}.") from error
    found = next((name for magic, name in _MAGIC if start.startswith(magic)), None)
    expected = file.compression or (file.format if file.format not in _TEXT else None)
    if found == expected or (expected == "arrow" and found is None):  # an Arrow stream has no magic bytes
        return
    if found is None:
        what = f"{expected} file" if expected in FORMATS else f"{expected}-compressed file"
        raise TableError(f"{file.name} is not a {what}: its first bytes are others; was it cut off or renamed?")
    if found in FORMATS:
        raise TableError(f"{file.name} holds {found} data, not {file.format}; read it with --format {found}.")
    raise TableError(f"{file.name} is compressed with {found}, which its name does not say; rename or decompress it.")


@contextmanager
def open_bytes(file: TableFile) -> Iterator[IO[bytes] | Any]:
    """The file's bytes, decompressed."""
    try:
        with _opened(file) as stream:
            yield stream
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise TableError(f"{file.name} is damaged or cut off ({file.compression}): {_plain(error)}.") from error
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        damaged = f"is damaged or cut off ({file.compression})" if file.compression else "cannot be read"
        raise TableError(f"{file.name} {damaged}: {_plain(error)}.") from error


def _opened(file: TableFile) -> Any:
    if file.compression == "gzip":
        return gzip.open(file.path, "rb")
    if file.compression == "bz2":
        return bz2.open(file.path, "rb")
    if file.compression == "xz":
        return lzma.open(file.path, "rb")
    if file.compression == "zstd":
        import pyarrow as pa

        return pa.input_stream(str(file.path), compression="zstd")
    return file.path.open("rb")


def _plain(error: BaseException) -> str:
    return shown(getattr(error, "strerror", None) or error, 100).rstrip(".")


def text_lines(stream: Any, block: int = 1 << 20) -> Iterator[bytes]:
    """Lines of a byte stream without their ends; works for streams that have no line iterator."""
    rest = b""
    while piece := stream.read(block):
        lines = (rest + bytes(piece)).split(b"\n")
        rest = lines.pop()
        if len(rest) > 64 * block:
            raise TableError("a line is longer than 64 MB; this is not a table of text.")
        yield from lines
    if rest:
        yield rest
