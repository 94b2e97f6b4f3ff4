"""Matrices with labels: LIBSVM's text format, and NumPy's NPZ, of which nothing is unpickled."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from purely.tables.errors import TableError, shown
from purely.tables.source import BATCH_ROWS, TableSource

__all__ = ["LibsvmSource", "NPZSource"]

#: A sparse row: pairs of index (from 0) and value.
SPARSE = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float64())]))
#: Bytes of text that become a batch; the longest line.
BLOCK_BYTES, LONGEST_LINE = 1 << 22, 1 << 26
_SPARSE_KEYS = {"data", "indices", "indptr", "shape"}


class LibsvmSource(TableSource):
    """LIBSVM's lines, ``label index:value ...``, as the columns "label" and "features"."""

    def __init__(self, name: str, stream: IO[bytes], compression: str | None) -> None:
        super().__init__(name, stream, compression)
        self._set_schema(pa.schema([("label", pa.float64()), ("features", SPARSE)]))
        if next(self._read(["label"]), None) is None:
            raise TableError(f"{name} has no rows; each line needs a label and index:value pairs.")

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        lines_before = 0
        with self._open_text() as text:
            for block in _blocks_of_lines(text, self.name):
                X, y = self._parse(block, lines_before)
                lines_before += block.count(b"\n")
                self.done = min(1.0, self.stream.tell() / max(1, self.size))
                if y.size:
                    yield pa.record_batch([pa.array(y), sparse_column(X)], schema=self.schema).select(columns)

    def _parse(self, block: bytes, lines_before: int) -> tuple[sp.csr_matrix, Any]:
        try:
            return _parse(block)
        except (ValueError, OverflowError, UnicodeDecodeError):
            # once more by lines, to say which one it is
            for number, line in enumerate(block.split(b"\n"), lines_before + 1):
                try:
                    _parse(line)
                except (ValueError, OverflowError, UnicodeDecodeError) as error:
                    why = "it is not ASCII text" if isinstance(error, UnicodeDecodeError) else shown(error, 80)
                    raise TableError(
                        f"{self.name}, line {number} is not of the form 'label index:value ...' ({why}); mend it, or "
                        "name what the file is with --format."
                    ) from error
            raise


def _parse(block: bytes) -> tuple[sp.csr_matrix, Any]:
    X, y = load_svmlight_file(io.BytesIO(block), zero_based=False)
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError("an index is beyond 2,147,483,647")
    return X, y


def _blocks_of_lines(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Blocks of whole lines."""
    rest = b""
    while piece := bytes(stream.read(BLOCK_BYTES)):
        whole, mark, after = (rest + piece).rpartition(b"\n")
        rest = after
        if len(rest) > LONGEST_LINE:
            raise TableError(f"{name} has a line of more than {LONGEST_LINE >> 20} MB; it is not a table of text.")
        if whole:
            yield whole + mark
    if rest.strip():
        yield rest


def sparse_column(X: sp.csr_matrix) -> pa.Array:
    """A column of sparse rows from a matrix."""
    pairs = pa.StructArray.from_arrays(
        [pa.array(X.indices.astype(np.int32)), pa.array(X.data.astype(np.float64))], names=["index", "value"]
    )
    return pa.ListArray.from_arrays(pa.array(X.indptr.astype(np.int32)), pairs)


class NPZSource(TableSource):
    """Arrays of one length: ``X`` (or a sparse matrix), labels ``y`` and others; two dimensions are many columns."""

    def __init__(self, name: str, stream: IO[bytes], max_expansion: float) -> None:
        super().__init__(name, stream)
        arrays = self._load(max_expansion)
        self._columns: dict[str, Any] = {}
        names = arrays.pop("feature_names", None)
        if arrays.keys() >= _SPARSE_KEYS:
            self._columns["features"] = self._matrix(arrays)
            for key in (*_SPARSE_KEYS, "format"):
                arrays.pop(key, None)
        for key, array in arrays.items():
            self._add(key, array, names)
        lengths = {key: column.shape[0] for key, column in self._columns.items()}
        if not lengths or max(lengths.values()) == 0:
            raise TableError(f"{name} holds no rows; it needs arrays such as X (rows by columns) and y (labels).")
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{shown(key)} {n:,}" for key, n in list(lengths.items())[:4])
            raise TableError(f"{name} has arrays of different lengths ({listed}); all need one row each.")
        self._n_rows = next(iter(lengths.values()))
        self._set_schema(pa.schema([(key, _arrow(column[:1]).type) for key, column in self._columns.items()]))

    def _add(self, key: str, array: Any, names: Any) -> None:
        if array.ndim == 2:
            own = [str(n) for n in names] if names is not None and names.size == array.shape[1] else None
            prefix = "x" if key in ("X", "x", "data", "arr_0") else f"{key}_"
            self._columns |= {own[j] if own else f"{prefix}{j}": array[:, j] for j in range(array.shape[1])}
        elif array.ndim == 1:
            self._columns[key] = array
        else:
            self.notes.append(f"the array {shown(key)!r} has {array.ndim} dimensions and is left out.")

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        for start in range(0, self._n_rows, BATCH_ROWS):
            parts = [_arrow(self._columns[name][start : start + BATCH_ROWS]) for name in columns]
            self.done = min(1.0, (start + BATCH_ROWS) / self._n_rows)
            yield pa.record_batch(parts, schema=schema)

    def _load(self, max_expansion: float) -> dict[str, Any]:
        self.stream.seek(0)
        try:
            with zipfile.ZipFile(self.stream) as archive:
                members = archive.infolist()
                self._refuse_bomb(sum(info.file_size for info in members), max_expansion)
                return {info.filename.removesuffix(".npy"): self._array(archive, info) for info in members}
        except TableError:
            raise
        # whatever a damaged archive makes zipfile and NumPy say
        except (ValueError, OSError, LookupError, EOFError, SyntaxError, TypeError, ArithmeticError, RuntimeError) as e:
            error: Exception = e
        except (zipfile.BadZipFile, zlib.error, MemoryError) as e:
            error = e
        why = shown(str(error).split("\n")[0], 80).rstrip(".")
        raise TableError(f"{self.name} is damaged or not an NPZ file ({why}); write or copy it again.") from error

    def _array(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
        """An array, once its header was found to promise no more than the file holds."""
        with archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = reader(member)
            held = info.file_size - member.tell()
        if dtype.hasobject:
            raise TableError(
                f"{self.name} holds Python objects, which are not loaded because they can run code; store strings as "
                "arrays of text, for example with astype(str)."
            )
        if not dtype.itemsize or math.prod(shape) * dtype.itemsize != held:
            raise ValueError(f"the array {shown(info.filename)!r} promises other than {held:,} bytes")
        with archive.open(info) as member:
            return np.atleast_1d(np.lib.format.read_array(member, allow_pickle=False))

    def _matrix(self, arrays: Mapping[str, Any]) -> sp.csr_matrix:
        try:
            shape = tuple(int(n) for n in arrays["shape"])
            kind = arrays.get("format", np.array(b"csr")).ravel()[0]
            kind = kind.decode() if isinstance(kind, bytes) else str(kind)
            maker = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[kind]
            if kind == "csc" and shape[0] > arrays["data"].size + (1 << 20):
                raise ValueError("far more rows than values")
            matrix = maker((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
            matrix.check_format(full_check=True)
            if shape[1] > np.iinfo(np.int32).max:
                raise ValueError("more than 2,147,483,647 columns")
            return sp.csr_matrix(matrix, dtype=np.float64)
        except (ValueError, LookupError, TypeError, OverflowError, MemoryError) as error:
            raise TableError(f"{self.name}: the sparse matrix in it is damaged ({shown(error, 60)}).") from error


def _arrow(part: Any) -> pa.Array:
    if sp.issparse(part):
        return sparse_column(part).cast(SPARSE)
    if part.dtype.kind == "S":
        part = np.char.decode(part, "latin-1")
    if part.dtype.kind in "cV":
        return pa.nulls(part.shape[0])
    if part.dtype.kind == "U":
        return pa.array(part.tolist(), pa.string())
    return pa.array(np.ascontiguousarray(part))
