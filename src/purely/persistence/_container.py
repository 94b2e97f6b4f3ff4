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
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from purely.files import replacing, shown
from purely.persistence._fields import TYPE_NAMES, TYPES, Array, ModelFileError, UnsupportedModelError

#: Version of the format; 1 was that of the development versions before 0.1.
FORMAT = 2
#: Bytes of the header, and values in the document: Python's objects are up to 27 times as large as the JSON that says
#: them, and a value takes some microseconds to check.
LARGEST_HEADER, MOST_VALUES = 6 * 2**20, 1_000_000
_OTHERS = {
    b"PK\x03\x04": "a zip archive",
    b"\x80": "a pickle",
    b"\x93NUMPY": "a NumPy array",
    b"\x1f\x8b": "a gzip file",
}
_GIVE = "give the path of a model that purely.save or 'purely fit' has written"


def write(path: Path, document: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a document and its arrays; the largest items come first, so that every array is aligned."""
    table: dict[str, Any] = {}
    contents, end = [], 0
    for name, a in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
        table[name] = {"dtype": TYPE_NAMES[a.dtype], "shape": list(a.shape), "data_offsets": [end, end + a.nbytes]}
        contents.append(a.reshape(-1).view(np.uint8).data if a.size else b"")
        end += a.nbytes
    text = _dumps({"format": FORMAT, **document})
    metadata = {"purely": text, "sha256": _checksum(text, table, contents)}
    header = _dumps({"__metadata__": metadata, **table}).encode("ascii")
    header += b" " * (-len(header) % 8)
    if len(header) > LARGEST_HEADER or text.count(",") > MOST_VALUES:
        raise UnsupportedModelError(
            f"what is not an array in this model takes {len(header):,} bytes and {text.count(','):,} values; a file "
            f"holds at most {LARGEST_HEADER:,} and {MOST_VALUES:,}. Save a model with a smaller vocabulary."
        )
    with replacing(path) as partial, partial.open("wb") as file:
        file.writelines([struct.pack("<Q", len(header)), header, *contents])


@dataclass(frozen=True)
class ModelFile:
    """A file whose header has been read and whose checksum is right."""

    document: dict[str, Any]
    arrays: dict[str, Array]
    sha256: str
    n_bytes: int


def _need(condition: object, words: str) -> None:
    if not condition:
        raise ModelFileError(f"the file {words}.")


def read(path: Path) -> ModelFile:
    """Read a file, and check what can be checked without a look at the model; what is no model is not read whole."""
    kind = "is a folder" if path.is_dir() else "is no ordinary file" if path.exists() else "does not exist"
    _need(path.is_file(), f"{kind}; {_GIVE}")  # a pipe would be waited for without end
    with path.open("rb") as file:
        first, size = file.read(9), os.fstat(file.fileno()).st_size
        length = struct.unpack("<Q", first[:8])[0] if len(first) == 9 else 0
        kind = next((f": it looks like {words}" for start, words in _OTHERS.items() if first.startswith(start)), "")
        right = 2 <= length <= LARGEST_HEADER and first[8:] == b"{"
        _need(right, f"is no model file of purely{kind if size else ': it is empty'}; {_GIVE}")
        _need(length <= size - 8, "is cut short: it ends within its header; copy or save it again")
        table = _parse(first[8:] + file.read(length - 1))
        metadata = table.pop("__metadata__", None)
        metadata = metadata if isinstance(metadata, dict) else {}
        text: Any = metadata.get("purely")
        _need(isinstance(text, str), f"is a safetensors file, but holds no model of purely; {_GIVE}")
        few = text.count(",") <= MOST_VALUES
        _need(few, f"is no model file of purely: it holds over {MOST_VALUES:,} values; {_GIVE}")
        document = _parse(text.encode("ascii", "replace"))
        _check_format(1 if "schema" in document else document.get("format"))
        _check_table(table, size - 8 - length)
        contents = np.empty(size - 8 - length, np.uint8)
        _need(file.readinto(contents.data) == contents.size, "was cut while it was read; load it again")
    found = _checksum(text, table, [contents.data])
    words = (
        "was altered or damaged after it was written: its checksum does not match its contents; copy or save it again"
    )
    _need(metadata.get("sha256") == found, words)
    # What was checked is what is used: the arrays are views of it.
    arrays = {
        name: contents[slice(*entry["data_offsets"])].view(TYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in table.items()
    }
    # An array of truth values whose bytes are neither 0 nor 1 breaks NumPy's own counting.
    right = all(a.dtype != bool or a.view(np.uint8).max(initial=0) <= 1 for a in arrays.values())
    _need(right, "is damaged: truth values in it are none; copy or save it again")
    return ModelFile(document, arrays, found, size)


def _check_format(found: Any) -> None:
    _need(type(found) is int and found > 0, "is damaged: it does not say its version of the format; save it anew")
    hint = "fit the model again and save it" if found < FORMAT else "install a newer purely"
    _need(found == FORMAT, f"has version {found} of the format, and this purely reads version {FORMAT}; {hint}")


def _check_table(table: dict[str, Any], total: int) -> None:
    """Types, shapes and places of the arrays agree, one follows on the other, and together they fill the file."""
    end = 0
    for name, entry in table.items():
        dtype: Any = TYPES.get(str(entry.get("dtype"))) if isinstance(entry, dict) else None
        shape: Any = entry.get("shape") if dtype is not None else None
        right = isinstance(shape, list) and len(shape) <= 8 and all(type(n) is int and 0 <= n < 2**48 for n in shape)
        start, end = end, end + (math.prod(shape) * dtype.itemsize if right else 0)
        if not right or entry.get("data_offsets") != [start, end] or start % dtype.itemsize:
            _need(False, f"is damaged: its array {shown(name, 300)} is not what or where it should be; copy it again")
    verb = "cut short" if end > total else "longer than it says"
    _need(end == total, f"is {verb}: its arrays do not fill it; copy or save it again")


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
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(
            f"the file is damaged: its header is no JSON ({shown(error, 300)}). Copy it again."
        ) from None
    _need(isinstance(found, dict), f"is no model file of purely: its header is not a JSON object; {_GIVE}")
    return dict(found)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    _need(len(found) == len(pairs), "is damaged or forged: a name occurs twice in its text; save the model anew")
    return found


def _finite(text: str) -> float:
    value = float(text)
    _need(math.isfinite(value), f"is damaged or forged: {shown(text, 40)} is no number of JSON; save the model anew")
    return value
