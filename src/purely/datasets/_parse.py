"""From the bytes of a public file to arrays and records."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import tarfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.datasets import _registry as registry
from purely.datasets._download import (
    OFFLINE_VARIABLE,
    RemoteFile,
    find_local,
    get_data_home,
    load_file,
    partial_file,
    publish,
    sweep_partial,
)

__all__ = ["parse_newsgroups", "read_idx", "read_libsvm", "read_newsgroups"]

#: Part of the file name of a parsed copy; raise it when the parsed layout changes.
_PARSED_VERSION = 1


def read_libsvm(file: RemoteFile, n_features: int, options: dict[str, Any]) -> tuple[Any, NDArray[np.float64]]:
    """Rows (CSR) and labels of one LIBSVM file, from its parsed copy where there is one.

    The name of the copy holds the checksum of the text it was parsed from, so it can stand for no other text.
    """
    name = f"{Path(file.path).name}-{file.sha256[:16]}-v{_PARSED_VERSION}.npz"
    parsed = get_data_home(options["data_home"]) / "parsed" / name
    arrays = _load(parsed)
    if arrays is None:
        from sklearn.datasets import load_svmlight_file

        text = load_file(file, **options)
        X, y = load_svmlight_file(io.BytesIO(text), n_features=n_features, zero_based=False)
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "labels": y}
        _store(parsed, arrays)
    rows = (arrays["data"], arrays["indices"], arrays["indptr"])
    return sp.csr_matrix(rows, shape=(arrays["labels"].size, n_features)), arrays["labels"]


def _load(path: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays of a parsed copy; None where it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in ("data", "indices", "indptr", "labels")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _store(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Keep a parsed copy, under its name only once it is whole; a folder that cannot be written to is no error."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep_partial(path.parent)
        with partial_file(path) as (file, temporary):
            np.savez(file, **arrays)  # type: ignore[arg-type]
            publish(file, temporary, path)


def read_idx(stored: bytes) -> NDArray[np.uint8]:
    """An array in the idx format: two zero bytes, the type (8: unsigned byte), the dimension, the sizes, the values."""
    content = gzip.decompress(stored)
    zeros, kind, n_dimensions = content[:2], content[2], content[3]
    if zeros != b"\0\0" or kind != 8:
        raise ValueError("the file is not an idx file of unsigned bytes.")
    start = 4 + 4 * n_dimensions
    shape = np.frombuffer(content[4:start], dtype=">i4").astype(int)
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def read_newsgroups(options: dict[str, Any]) -> list[dict[str, str]]:
    """The messages of comp.* and sci.*: training then test, by group, by number."""
    folders = [Path(offline)] if (offline := os.environ.get(OFFLINE_VARIABLE)) else []
    folders.append(get_data_home(options["data_home"]))
    if any(find_local(registry.NEWSGROUPS_RECORDS, folder) for folder in folders):
        text = lzma.decompress(load_file(registry.NEWSGROUPS_RECORDS, **options)).decode("ascii")
        return [json.loads(line) for line in text.splitlines()]
    return parse_newsgroups(load_file(registry.NEWSGROUPS_ARCHIVE, **options))


def parse_newsgroups(archive: bytes) -> list[dict[str, str]]:
    """Read the messages of comp.* and sci.* out of the origin's archive; nothing is unpacked to disk."""
    records = []
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            folder, _, rest = member.name.partition("/")
            group, _, number = rest.partition("/")
            split = folder.removeprefix("20news-bydate-")
            if not member.isfile() or split not in ("train", "test") or not group.startswith(("comp.", "sci.")):
                continue
            file = tar.extractfile(member)
            assert file is not None  # a regular file
            records.append({"group": group, "split": split, "id": number, "text": file.read().decode("latin-1")})
    records.sort(key=lambda r: (r["split"] != "train", r["group"], int(r["id"])))
    return records
