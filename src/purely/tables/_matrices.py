"""Matrices with labels: LIBSVM's text format, and NumPy's NPZ, of which nothing is unpickled."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from purely.files import shown
from purely.tables.errors import TableError
from purely.tables.source import HeldTable, TableSource
from purely.typing import Floats

#: A sparse row: pairs of index (from 0) and value.
SPARSE = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float64())]))
#: Bytes of text that become a batch; the longest line.
BLOCK_BYTES, LONGEST_LINE = 1 << 22, 1 << 26
#: What becomes a column.
Part: TypeAlias = np.ndarray | sp.csr_matrix
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
        with self._opened("LIBSVM text") as text:
            for block in _blocks_of_lines(text, self.name):
                X, y = self._parse(block, lines_before)
                lines_before += block.count(b"\n")
                self._note_progress()
                if y.size:
                    yield pa.record_batch([pa.array(y), sparse_column(X)], schema=self.schema).select(columns)

    def _parse(self, block: bytes, lines_before: int) -> tuple[sp.csr_matrix, Floats]:
        try:
            return _parse(block)
        except (ValueError, OverflowError):
            # once more by lines, to say which one it is
            for number, line in enumerate(block.split(b"\n"), lines_before + 1):
                try:
                    _parse(line)
                except (ValueError, OverflowError) as error:
                    why = "it is not ASCII text" if isinstance(error, UnicodeDecodeError) else shown(error, 80)
                    raise TableError(
                        f"{self.name}, line {number} is not of the form 'label index:value ...' ({why}); mend it, or "
                        "name what the file is with --format."
                    ) from error
            raise


def _parse(block: bytes) -> tuple[sp.csr_matrix, Floats]:
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


class NPZSource(HeldTable):
    """Arrays of one length: ``X`` (or a sparse matrix), labels ``y`` and others; two dimensions are many columns."""

    def __init__(self, name: str, stream: IO[bytes], max_expansion: float) -> None:
        super().__init__(name, stream)
        with self._opened("an NPZ file"):
            arrays = self._load(max_expansion)
            names = arrays.pop("feature_names", np.zeros(0)).tolist()
            columns: dict[str, Part] = {}
            if arrays.keys() >= _SPARSE_KEYS:
                columns["features"] = _matrix(arrays)
                arrays = {key: array for key, array in arrays.items() if key not in {*_SPARSE_KEYS, "format"}}
            for key, array in arrays.items():
                columns |= self._columns(key, array, names)
            lengths = {key: column.shape[0] for key, column in columns.items()}
            if not any(lengths.values()):
                raise TableError(f"{name} holds no rows; it needs arrays such as X (rows by columns) and y (labels).")
            if len(set(lengths.values())) > 1:
                found = ", ".join(f"{shown(key)} {n:,}" for key, n in list(lengths.items())[:4])
                raise TableError(f"{name} has arrays of different lengths ({found}); all need one row each.")
            self._hold(pa.table({key: _arrow(column) for key, column in columns.items()}))

    def _load(self, max_expansion: float) -> dict[str, np.ndarray]:
        """The arrays, of which nothing is unpickled."""
        with np.load(self.stream, allow_pickle=False) as archive:
            self._refuse_bomb(sum(info.file_size for info in archive.zip.infolist()), max_expansion)
            try:
                arrays = {key: np.atleast_1d(archive[key]) for key in archive.files}
            except ValueError as error:
                if "allow_pickle" in str(error):
                    raise TableError(
                        f"{self.name} holds Python objects, which are not loaded because they can run code; store "
                        "strings as arrays of text, for example with astype(str)."
                    ) from error
                raise
        if not all(array.itemsize for array in arrays.values()):
            raise ValueError("it has an array whose items take no room, of which there may be any number")
        return arrays

    def _columns(self, key: str, array: np.ndarray, names: list[object]) -> dict[str, Part]:
        if array.ndim == 1:
            return {key: array}
        if array.ndim == 2:
            prefix, width = "x" if key in ("X", "x", "data", "arr_0") else f"{key}_", array.shape[1]
            named = map(str, names) if len(names) == width else (f"{prefix}{j}" for j in range(width))
            return dict(zip(named, array.T, strict=True))
        self.notes.append(f"the array {shown(key)!r} has {array.ndim} dimensions and is left out.")
        return {}


def _matrix(arrays: Mapping[str, np.ndarray]) -> sp.csr_matrix:
    """The sparse matrix of an archive."""
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


def _arrow(part: Part) -> pa.Array:
    if sp.issparse(part):
        return sparse_column(part).cast(SPARSE)
    if part.dtype.kind == "S":
        part = np.char.decode(part, "latin-1")
    if part.dtype.kind in "cV":
        return pa.nulls(part.shape[0])
    if part.dtype.kind == "U":
        return pa.array(part.tolist(), pa.string())
    return pa.array(np.ascontiguousarray(part))
