"""NumPy's NPZ: a matrix ``X`` (or one column an array), labels and other columns beside it; nothing is unpickled."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from purely.tables._errors import TableError, shown
from purely.tables._formats import TableFile
from purely.tables._libsvm import SPARSE, sparse_column
from purely.tables.source import BATCH_ROWS, TableSource

__all__ = ["NPZSource"]

_SPARSE_KEYS = {"data", "indices", "indptr", "shape"}
#: Arrays of more than this many bytes are refused before they are allocated.
LARGEST_BYTES = 1 << 36


class NPZSource(TableSource):
    """Arrays of one length; a two-dimensional one gives a column for each of its own."""

    def __init__(self, file: TableFile) -> None:
        super().__init__(file)
        arrays = _load(file)
        self.columns: dict[str, Any] = {}
        names = arrays.pop("feature_names", None)
        if arrays.keys() >= _SPARSE_KEYS:
            self.columns["features"] = _matrix(arrays, file)
            for key in (*_SPARSE_KEYS, "format"):
                arrays.pop(key, None)
        for key, array in arrays.items():
            self._add(key, array, names)
        lengths = {name: column.shape[0] for name, column in self.columns.items()}
        if not lengths or max(lengths.values()) == 0:
            raise TableError(f"{file.name} holds no rows; it needs arrays such as X (rows by columns) and y (labels).")
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{shown(name)} {n:,}" for name, n in list(lengths.items())[:4])
            raise TableError(f"{file.name} has arrays of different lengths ({listed}); all need one row each.")
        self.names, self.n_rows = list(self.columns), next(iter(lengths.values()))
        self._check_names()

    def _add(self, key: str, array: Any, names: Any) -> None:
        if array.ndim == 2:
            own = [str(n) for n in names] if names is not None and names.size == array.shape[1] else None
            prefix = "x" if key in ("X", "x", "data", "arr_0") else f"{key}_"
            for j in range(array.shape[1]):
                self.columns[own[j] if own else f"{prefix}{j}"] = array[:, j]
        elif array.ndim == 1:
            self.columns[key] = array
        else:
            self.notes.append(f"the array {shown(key)!r} has {array.ndim} dimensions and is left out")

    def batches(self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Record batches of at most 65,536 rows."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        n = self.n_rows or 0
        for start in range(0, n, BATCH_ROWS):
            parts = [_arrow(self.columns[name][start : start + BATCH_ROWS]) for name in wanted]
            self.done = min(1.0, (start + BATCH_ROWS) / n)
            yield pa.record_batch(parts, names=wanted)


def _load(file: TableFile) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(file.path) as archive:
            sizes = sum(info.file_size for info in archive.infolist())
        if sizes > LARGEST_BYTES:
            raise TableError(f"{file.name} unpacks to {sizes / 2**30:,.0f} GiB, too much for NPZ; write it as Parquet.")
        with np.load(file.path, allow_pickle=False) as stored:
            return {name: np.atleast_1d(stored[name]) for name in stored.files}
    except TableError:
        raise
    except (
        ValueError,
        OSError,
        KeyError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
        MemoryError,
        OverflowError,
        SyntaxError,
        NotImplementedError,
        TypeError,
        RuntimeError,
    ) as error:
        if "allow_pickle" in str(error):
            raise TableError(
                f"{file.name} holds Python objects, which are not loaded because they can run code; store strings as "
                "arrays of text, for example with astype(str)."
            ) from error
        why = shown(str(error).split("\n")[0], 80).rstrip(".")
        raise TableError(f"{file.name} is damaged or not an NPZ file ({why}); write or copy it again.") from error


def _matrix(arrays: Mapping[str, Any], file: TableFile) -> Any:
    try:
        shape = tuple(int(n) for n in arrays["shape"])
        kind = arrays.get("format", np.array(b"csr")).ravel()[0]
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        maker = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[kind]
        matrix = maker((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
        return sp.csr_matrix(matrix, dtype=np.float64)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
        raise TableError(f"{file.name}: the sparse matrix in it is damaged ({shown(error, 60)}).") from error


def _arrow(part: Any) -> Any:
    if sp.issparse(part):
        return sparse_column(part.indptr, part.indices, part.data).cast(SPARSE)
    if part.dtype.kind == "S":
        part = np.char.decode(part, "latin-1")
    if part.dtype.kind in "cV":
        return pa.nulls(part.shape[0])
    return pa.array(part.tolist() if part.dtype.kind == "U" else np.ascontiguousarray(part))
