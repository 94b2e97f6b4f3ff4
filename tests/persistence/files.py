"""Taking model files apart, changing them and putting them together again, with or without a true checksum."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from safetensors.numpy import load, save

from purely.persistence import _container


def take_apart(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Document and arrays of a model file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    return json.loads(header["__metadata__"]["purely"]), load(data)


def put_together(path: Path, document: dict[str, Any], tensors: dict[str, Any], *, forge: bool = True) -> Path:
    """Write a file of a changed document; where it is forged, with the checksum of the change."""
    document = dict(document)
    if forge:
        document.pop("sha256", None)
        document["sha256"] = _container._checksum(document, tensors)
    path.write_bytes(save(tensors, metadata={"purely": json.dumps(document)}))
    return path


def nodes(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Places of all values in a document, the outermost first."""
    found = [place] if place else []
    if isinstance(value, dict):
        for key in sorted(value):
            found += nodes(value[key], (*place, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += nodes(item, (*place, i))
    return found


def get(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def put(value: Any, place: tuple[Any, ...], new: Any) -> None:
    get(value, place[:-1])[place[-1]] = new
