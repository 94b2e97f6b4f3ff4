"""From the bytes of a public file to arrays and records."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray


class Message(TypedDict):
    """A message of a newsgroup; `split` is "train" or "test"."""

    group: str
    split: str
    id: str
    text: str


def parse_idx(stored: bytes) -> NDArray[np.uint8]:
    """An array in the idx format: two zero bytes, the type (8: unsigned byte), the dimension, the sizes, the values."""
    content = gzip.decompress(stored)
    if content[:3] != b"\0\0\x08":
        raise ValueError("the file is not an idx file of unsigned bytes.")
    start = 4 + 4 * content[3]
    shape = np.frombuffer(content[4:start], dtype=">i4").astype(int)
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def parse_records(stored: bytes) -> list[Message]:
    """The messages of the offline copy."""
    return [json.loads(line) for line in lzma.decompress(stored).decode("ascii").splitlines()]


def parse_archive(stored: bytes) -> list[Message]:
    """The messages of comp.* and sci.* in the origin's archive, in the copy's order; nothing is unpacked to disk."""
    messages: list[Message] = []
    with tarfile.open(fileobj=io.BytesIO(stored), mode="r:gz") as tar:
        for member in tar:
            folder, _, rest = member.name.partition("/")
            group, _, number = rest.partition("/")
            split = folder.removeprefix("20news-bydate-")
            file = tar.extractfile(member)
            if file is not None and split in ("train", "test") and group.startswith(("comp.", "sci.")):
                messages.append(Message(group=group, split=split, id=number, text=file.read().decode("latin-1")))
    messages.sort(key=lambda m: (m["split"] != "train", m["group"], int(m["id"])))
    return messages
