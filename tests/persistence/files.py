"""Model files taken apart, changed and put together again with a right checksum: what whoever forges one can do.

Nothing of the package is used, so that a fault in its reader is no fault of the forger; files of the first format,
which is not read any more, can be forged too.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {"I": "i", "U": "u", "F": "f"}


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(bool) if name == "BOOL" else np.dtype(f"<{KINDS[name[0]]}{int(name[1:]) // 8}")


def name_of(dtype: np.dtype[Any]) -> str:
    return "BOOL" if dtype.kind == "b" else f"{dtype.kind.upper()}{8 * dtype.itemsize}"


def take_apart(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Document and arrays of a model file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    table = json.loads(data[8 : 8 + size])
    document = json.loads(table.pop("__metadata__")["purely"])
    arrays = {}
    for name, entry in table.items():
        start, end = (8 + size + at for at in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[start:end], dtype_of(entry["dtype"])).reshape(entry["shape"]).copy()
    return document, arrays


def put_together(path: Path, document: dict[str, Any], arrays: dict[str, Any], *, forge: bool = True) -> Path:
    """Write a file of a changed document and arrays; where it is not forged, with the checksum of something else."""
    table: dict[str, Any] = {}
    contents, end = b"", 0
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
        raw = np.ascontiguousarray(array).tobytes()
        table[name] = {"dtype": name_of(array.dtype), "shape": list(array.shape), "data_offsets": [end, end + len(raw)]}
        contents, end = contents + raw, end + len(raw)
    if "schema" in document:
        document = {k: v for k, v in document.items() if k != "sha256"}
        document["sha256"] = first_checksum(document, arrays)
    text = json.dumps(document, separators=(",", ":"))
    said = json.dumps([text if forge else "", table], separators=(",", ":"))
    metadata = {"purely": text, "sha256": hashlib.sha256(said.encode() + contents).hexdigest()}
    if "schema" in document:
        del metadata["sha256"]
    return write_raw(path, json.dumps({"__metadata__": metadata, **table}), contents)


def write_raw(path: Path, header: str, contents: bytes = b"") -> Path:
    raw = header.encode()
    raw += b" " * (-len(raw) % 8)
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + contents)
    return path


def first_checksum(document: dict[str, Any], arrays: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Places of all values in a document, the outermost first."""
    found = [place] if place else []
    pairs = sorted(value.items()) if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        found += places(item, (*place, key))
    return found


def get(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def put(value: Any, place: tuple[Any, ...], new: Any) -> None:
    get(value, place[:-1])[place[-1]] = new


def held_by(document: dict[str, Any], name: str) -> dict[str, Any]:
    """What the first object of a class holds, by attribute, in either format."""
    for place in [(), *places(document["model"])]:
        node = get(document["model"], place)
        said = node.get("class", node.get("foreign", "")) if isinstance(node, dict) else ""
        if isinstance(said, str) and said.rpartition(".")[2] == name:
            state = node.get("state", node)
            return state.get("dict", state)
    raise LookupError(name)


def forge(source: Path, target: Path, change: Any) -> Path:
    """A copy of a file after ``change(document, arrays)``."""
    document, arrays = take_apart(source)
    change(document, arrays)
    return put_together(target, document, arrays)
