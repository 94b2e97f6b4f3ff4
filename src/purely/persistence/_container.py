"""The file: a safetensors file whose metadata hold one JSON text, the document.

Any reader of safetensors can list and read the arrays, which are named by their place in the model. Ours reads the
header first, whose length is limited, and an array only when the model has a place for it: what is read, and what is
built of it, stays in proportion to the file.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from purely.persistence._errors import ModelFileError, UnsupportedModelError, printable
from purely.persistence._fields import TYPES

#: Version of the format; 1 was that of the development versions before 0.1.
FORMAT = 2
#: Bytes of the header. Python's objects are up to 27 times as large as the JSON that says them.
LARGEST_HEADER = 6 * 2**20
_OTHERS = {
    b"PK\x03\x04": "a zip archive",
    b"\x80": "a pickle",
    b"\x93NUMPY": "a NumPy array",
    b"\x1f\x8b": "a gzip file",
}


def write(path: Path, document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a document and its arrays; the largest items come first, so that every array is aligned."""
    names = {dtype: name for name, dtype in TYPES.items()}
    table: dict[str, Any] = {}
    contents, end = [], 0
    for name, a in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
        table[name] = {"dtype": names[a.dtype], "shape": list(a.shape), "data_offsets": [end, end + a.nbytes]}
        contents.append(a.reshape(-1).view(np.uint8).data if a.size else b"")
        end += a.nbytes
    text = _dumps({"format": FORMAT, **document})
    metadata = {"purely": text, "sha256": _checksum(text, table, contents)}
    header = _dumps({"__metadata__": metadata, **table}).encode("ascii")
    header += b" " * (-len(header) % 8)
    if len(header) > LARGEST_HEADER:
        raise UnsupportedModelError(
            f"what is not an array in this model takes {len(header):,} bytes; a model file holds at most "
            f"{LARGEST_HEADER:,}. Save a model with a smaller vocabulary or fewer names."
        )
    write_atomically(path, [struct.pack("<Q", len(header)), header, *contents])


def write_atomically(path: Path, chunks: Iterable[Any]) -> None:
    """Write a file under another name in the same folder, then rename: all or nothing."""
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name[:80]}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, partial)
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


class StoredArrays(dict[str, Any]):
    """Arrays of a file by name, each read from it when it is taken."""

    def __init__(self, file: BinaryIO, start: int, table: dict[str, Any]) -> None:
        super().__init__(table)
        self._file, self._start = file, start

    def pop(self, name: str, default: Any = None) -> Any:
        """The array of this name, which can be taken once."""
        entry = super().pop(name, None)
        if entry is None:
            return default
        array = np.empty(entry["shape"], TYPES[entry["dtype"]])
        as_bytes = array.reshape(-1).view(np.uint8)
        self._file.seek(self._start + entry["data_offsets"][0])
        if array.size and self._file.readinto(as_bytes.data) != array.nbytes:  # type: ignore[attr-defined]
            raise ModelFileError("the file was cut while it was read. Load it again.")
        # An array of truth values whose bytes are neither 0 nor 1 breaks NumPy's own counting.
        if array.size and array.dtype == bool and as_bytes.max() > 1:
            raise ModelFileError(f"the file is damaged: the truth values {printable(name)} are none.")
        return array


@dataclass(frozen=True)
class ModelFile:
    """A file whose header has been read and whose checksum is right."""

    document: dict[str, Any]
    arrays: StoredArrays
    sha256: str
    n_bytes: int


@contextmanager
def open_model_file(path: Path) -> Iterator[ModelFile]:
    """Open a model file and check what can be checked without a look at the model."""
    try:
        with open(path, "rb", opener=_open_regular) as file:
            yield _read_header(file, os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        raise ModelFileError("the file does not exist; give the path of one that purely.save has written.") from None
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror or error}. Check its permissions.") from None


def _open_regular(path: str, flags: int) -> int:
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe would be waited for without end
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
        raise ModelFileError(f"the file is {kind}; give the path of one that purely.save has written.")
    return handle


def _read_header(file: BinaryIO, size: int) -> ModelFile:
    first = file.read(9)
    length = struct.unpack("<Q", first[:8])[0] if len(first) == 9 else 0
    if not 2 <= length <= LARGEST_HEADER or first[8:] != b"{":
        kind = next((f": it looks like {words}" for start, words in _OTHERS.items() if first.startswith(start)), "")
        kind = kind or ("" if size else ": it is empty")
        raise ModelFileError(f"the file is no model file of purely{kind}; give one that purely.save has written.")
    if length > size - 8:
        raise ModelFileError("the file is cut short: it ends within its header. Copy or save it again.")
    table = _parse(first[8:] + file.read(length - 1))
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("purely"), str):
        raise ModelFileError("the file is a safetensors file, but holds no model of purely; use purely.save to write.")
    document = _parse(metadata["purely"].encode("ascii", "replace"))
    _check_format(1 if "schema" in document else document.get("format"))
    _check_table(table, size - 8 - length)
    found = _checksum(metadata["purely"], table, iter(lambda: file.read(2**20), b""))
    if metadata.get("sha256") != found:
        raise ModelFileError(
            "the file was altered or damaged after it was written: its checksum does not match its contents. "
            "Copy it again from its source, or save the model anew."
        )
    return ModelFile(document, StoredArrays(file, 8 + length, table), found, size)


def _check_format(found: Any) -> None:
    if type(found) is not int or found < 1:
        raise ModelFileError("the file is damaged: it does not say which version of the format it has. Save it anew.")
    if found != FORMAT:
        says = f"the file has version {found} of the format, and this purely reads version {FORMAT}"
        raise ModelFileError(
            f"{says}; {'fit the model again and save it' if found < FORMAT else 'install a newer one'}."
        )


def _check_table(table: dict[str, Any], total: int) -> None:
    """Types, shapes and places of the arrays agree, one follows on the other, and together they fill the file."""
    end = 0
    for name, entry in table.items():
        known = isinstance(entry, dict) and TYPES.get(str(entry.get("dtype")))
        shape = entry.get("shape") if known else None
        if not isinstance(shape, list) or len(shape) > 8 or not all(type(n) is int and 0 <= n < 2**48 for n in shape):
            raise ModelFileError(f"the file is damaged: its array {printable(name)} is of no known type or shape.")
        start, end = end, end + math.prod(shape) * known.itemsize
        if entry.get("data_offsets") != [start, end] or start % known.itemsize:
            raise ModelFileError(f"the file is damaged: its array {printable(name)} is not where it should be.")
    if end != total:
        verb = "cut short" if end > total else "longer than it says"
        raise ModelFileError(f"the file is {verb}: its arrays do not fill it. Copy or save it again.")


def _checksum(text: str, table: dict[str, Any], contents: Iterable[Any]) -> str:
    """SHA-256 of the document, of what is said of the arrays and of their bytes."""
    digest = hashlib.sha256(_dumps([text, table]).encode("ascii"))
    for chunk in contents:
        digest.update(chunk)
    return digest.hexdigest()


def _dumps(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _parse(data: bytes) -> dict[str, Any]:
    """A JSON object without what JSON does not have: NaN, infinities, a name that occurs twice."""
    try:
        found = json.loads(data.decode("ascii"), object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ModelFileError("the file is nested too deeply to be a model; do not trust its source.") from None
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(
            f"the file is damaged: its header is no JSON ({printable(error)}). Copy it again."
        ) from None
    if not isinstance(found, dict):
        raise ModelFileError("the file is no model file of purely: its header is not a JSON object.")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("the file is damaged or forged: a name occurs twice in its text. Save the model anew.")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"the file is damaged or forged: {printable(text, 40)} is no number of JSON.")
    return value
