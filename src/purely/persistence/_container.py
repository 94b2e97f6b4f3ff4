"""The file: a safetensors file whose metadata hold one JSON text.

Arrays are the tensors of the file; the text, under the key ``purely``, holds the schema version, the versions of the
libraries, the tree of the model's values (see :mod:`purely.persistence._encode`) and a SHA-256 checksum of all of it.
Any reader of safetensors can list and read the arrays. One key, because the format does not order several: the same
model is the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import stat
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.files import replacing
from purely.persistence._errors import ModelFileError, UnsupportedModelError

__all__ = ["SCHEMA", "Contents", "read", "write"]

#: Version of the layout of the JSON text.
SCHEMA = 1
#: Key of the JSON text in the metadata.
KEY = "purely"
#: Readers of safetensors allow headers of up to this many bytes.
LARGEST_HEADER = 100_000_000

Tensors = dict[str, NDArray[Any]]
Contents = tuple[dict[str, Any], Tensors, int]


def write(path: Path, document: dict[str, Any], tensors: Tensors) -> None:
    """Write a document and its arrays under a temporary name in the same folder, then rename: all or nothing."""
    from safetensors.numpy import save

    document = {"schema": SCHEMA, **document}
    document["sha256"] = _checksum(document, tensors)
    text = _canonical(document)
    if len(text) > LARGEST_HEADER // 2:
        raise UnsupportedModelError(
            f"what is not an array in this model takes {len(text):,} bytes; a model file holds at most "
            f"{LARGEST_HEADER // 2:,}. Save a model of fewer trees or a smaller vocabulary."
        )
    data = save(tensors, metadata={KEY: text})
    with replacing(path) as partial:
        partial.write_bytes(data)


def read(path: Path) -> Contents:
    """Document, arrays and size of a file, its checksum verified."""
    data = _read_bytes(path)
    text = _metadata_text(data)
    document = parse(text)
    if not isinstance(document, dict):
        raise ModelFileError(f"{path} is no model file of purely: its metadata are not a JSON object.")
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise ModelFileError(f"{path} is damaged: its schema version is {schema!r}, not a count. Save the model anew.")
    if schema > SCHEMA:
        raise ModelFileError(
            f"{path} has the schema version {schema}, and this purely reads up to {SCHEMA}; install a newer purely."
        )
    tensors = _tensors(data)
    found = document.pop("sha256", None)
    if found != _checksum(document, tensors):
        raise ModelFileError(
            f"{path} was altered or damaged after it was written: its checksum does not match its contents. "
            "Copy it again from its source, or save the model anew."
        )
    document["sha256"] = found
    return document, tensors, len(data)


def _read_bytes(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for without end
            kind = "a folder" if path.is_dir() else "no ordinary file"
            raise ModelFileError(f"{path} is {kind}; give the path of a file that purely.save has written.")
        return path.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist; give the path of a file that purely.save has written.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}. Check its permissions.") from None


_FOREIGN = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x80", "a pickle"),
    (b"\x93NUMPY", "a NumPy array file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x89HDF", "an HDF5 file"),
)


def _metadata_text(data: bytes) -> str:
    """The JSON text in the header of a safetensors file."""
    if not data:
        raise ModelFileError("the file is empty: its writing was cut short. Save the model anew.")
    size = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else -1
    if not 2 <= size <= LARGEST_HEADER or data[8:9] != b"{":
        kind = next((f": it looks like {words}" for start, words in _FOREIGN if data.startswith(start)), "")
        raise ModelFileError(f"the file is no model file of purely{kind}; give one that purely.save has written.")
    if size > len(data) - 8:
        raise ModelFileError("the file is cut short: it ends within its header. Copy or save it again.")
    try:
        header = parse(data[8 : 8 + size].decode("utf-8"))
    except UnicodeDecodeError:
        raise ModelFileError("the file is damaged: its header is no text. Copy or save it again.") from None
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    text = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelFileError("the file is a safetensors file, but holds no model of purely; use purely.save to write.")
    end = 0
    for name, entry in header.items():
        if name != "__metadata__":
            offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
            if not (isinstance(offsets, list) and len(offsets) == 2 and all(type(o) is int for o in offsets)):
                raise ModelFileError(f"the file is damaged: the place of its array {name!r} is not given.")
            end = max(end, offsets[1])
    if end != len(data) - 8 - size:
        verb = "cut short" if end > len(data) - 8 - size else "longer than it says"
        raise ModelFileError(f"the file is {verb}: its arrays do not fill it. Copy or save it again.")
    return text


def _tensors(data: bytes) -> Tensors:
    """All arrays of the file; safetensors checks that types, shapes and places agree."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors: Tensors = load(data)
    except (SafetensorError, KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"the file is damaged: {_words(error)}. Copy or save it again.") from None
    for name, array in tensors.items():
        # An array of booleans whose bytes are neither 0 nor 1 breaks NumPy's own counting.
        if array.dtype == np.bool_ and array.size and int(array.view(np.uint8).max()) > 1:
            raise ModelFileError(f"the file is damaged: its array {name!r} of truth values holds other values.")
    return tensors


def _words(error: BaseException) -> str:
    return str(error).strip().rstrip(".")[:200] or type(error).__name__


def _checksum(document: dict[str, Any], tensors: Tensors) -> str:
    """SHA-256 of the document and of type, shape and bytes of every array."""
    digest = hashlib.sha256(_canonical(document).encode())
    for name in sorted(tensors):
        array = np.asarray(tensors[name], order="C")
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def _canonical(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))


def parse(text: str) -> Any:
    """JSON without what JSON does not have: NaN and infinities, and a name that occurs twice."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError("the file is nested too deeply to be a model; do not trust its source.") from None
    except ValueError as error:
        raise ModelFileError(f"the file is damaged: its text is not JSON ({_words(error)}). Save it again.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("the file is damaged or forged: a name occurs twice in its text. Save the model anew.")
    return found


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"the file is damaged or forged: its text holds {name}, which JSON does not have.")
