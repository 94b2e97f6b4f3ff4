"""Arrays, sparse matrices and NumPy scalars as tensors and JSON, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.persistence._limits import LARGEST_WIDTH, integer, need, whole

__all__ = [
    "dtype_from_name",
    "dtype_name",
    "pack",
    "pack_scalar",
    "pack_sparse",
    "unpack",
    "unpack_scalar",
    "unpack_sparse",
]

#: Types that safetensors has in every version we support; others travel as bytes with their name.
NATIVE = frozenset(np.dtype(t).str for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"))
#: Kinds of types whose bytes are plain values: truth values, numbers, times, text, bytes.
PLAIN = "?biufcmMUSV"
SPARSE = {
    "csr": (sp.csr_matrix, sp.csr_array),
    "csc": (sp.csc_matrix, sp.csc_array),
    "coo": (sp.coo_matrix, sp.coo_array),
}
_LAST_CODE_POINT = 0x10FFFF


def dtype_name(dtype: np.dtype[Any]) -> Any:
    """JSON of a type: its code, or a list of fields with their codes; None where it cannot be stored."""
    if dtype.names is not None:
        fields = [[name, dtype_name(dtype[name])] for name in dtype.names]
        simple = all(isinstance(code, str) for _, code in fields)
        return fields if simple and np.dtype([(n, c) for n, c in fields]) == dtype else None
    # Extended precision differs from machine to machine.
    if dtype.kind not in PLAIN or dtype.hasobject or dtype.subdtype is not None or dtype.char in "gG":
        return None
    return None if dtype.kind == "V" else dtype.str


def dtype_from_name(name: Any) -> np.dtype[Any]:
    """The type of a JSON name."""
    try:
        dtype = np.dtype([(n, c) for n, c in name] if isinstance(name, list) else str(name))
    except (TypeError, ValueError, SyntaxError, OverflowError):
        dtype = np.dtype(object)
    need(dtype_name(dtype) == name and dtype.itemsize > 0, f"{str(name)[:60]!r} is no type of an array")
    return dtype


def pack(array: NDArray[Any]) -> tuple[NDArray[Any], dict[str, Any]] | None:
    """A contiguous array for the file, and what JSON has to say about it; None where its type cannot be stored."""
    name = dtype_name(array.dtype)
    if name is None:
        return None
    if name == np.dtype(name if isinstance(name, str) else "V").str and name in NATIVE:
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            return array.T, {"order": "F"}  # the order of memory decides how sums are rounded
        return np.array(array, order="C", copy=None if array.flags.c_contiguous else True), {}
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.itemsize == 0:  # text of no characters
        flat = flat.astype(f"{array.dtype.kind}1")
        name = flat.dtype.str
    return flat.view(np.uint8), {"dtype": name, "shape": list(array.shape)}


def unpack(tensor: NDArray[Any], about: dict[str, Any]) -> NDArray[Any]:
    """The array that `pack` took apart."""
    if not about:
        return tensor
    if "order" in about:
        need(about == {"order": "F"}, "the order of an array must be 'F' where it is given")
        return tensor.T
    need(set(about) == {"dtype", "shape"}, "an array must have its type and its shape")
    need(tensor.dtype == np.uint8 and tensor.ndim == 1, "an array of text or times must be stored as bytes")
    dtype, shape = dtype_from_name(about["dtype"]), shape_of(about["shape"])
    need(math.prod(shape) * dtype.itemsize == tensor.size, "the shape of an array does not fit its bytes")
    _check_bytes(tensor, dtype)
    return tensor.view(dtype).reshape(shape) if tensor.size else np.empty(shape, dtype)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape that a list says."""
    need(isinstance(value, list) and len(value) <= 16, "the shape of an array must be a list of lengths")
    shape = tuple(integer(n, 0, 2**48, "a length of an array") for n in value)
    need(math.prod(n for n in shape if n) <= 2**48, "an array is larger than any file")
    return shape


def _check_bytes(raw: NDArray[np.uint8], dtype: np.dtype[Any]) -> None:
    """Bytes that are no value of the type break NumPy."""
    if dtype.names is not None:
        record = raw.view(dtype)
        for field in dtype.names:
            _check_bytes(np.ascontiguousarray(record[field]).view(np.uint8), dtype[field])
    elif dtype.kind == "U":
        points = raw.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        need(not points.size or int(points.max()) <= _LAST_CODE_POINT, "an array of text holds what is no character")
    elif dtype.kind == "b":
        need(not raw.size or int(raw.max()) <= 1, "an array of truth values holds other values")


def pack_scalar(value: np.generic) -> dict[str, Any] | None:
    """JSON of a NumPy number; None where it has to go the way of arrays."""
    if value.dtype.kind not in "biuf" or dtype_name(value.dtype) is None:
        return None
    plain = value.item()
    if isinstance(plain, float) and not math.isfinite(plain):
        plain = repr(plain)
    return {"kind": "scalar", "dtype": value.dtype.str, "value": plain}


def unpack_scalar(node: dict[str, Any]) -> Any:
    """The number that `pack_scalar` wrote."""
    name, value = whole(node, "dtype", "value")
    dtype = dtype_from_name(name)
    kinds: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": (int, float, str)}
    need(dtype.kind in kinds and isinstance(value, kinds[dtype.kind]), "a number is not of the type it says")
    need(dtype.kind == "b" or not isinstance(value, bool), "a number is not of the type it says")
    if isinstance(value, str):
        need(value in ("nan", "inf", "-inf"), "a number is not of the type it says")
        value = float(value)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        integer(value, int(info.min), int(info.max), f"a number of type {name}")
    elif isinstance(value, int):
        need(abs(value) < 2**1000, "a number is too large")
    with np.errstate(over="ignore"):
        return dtype.type(value)


def pack_sparse(matrix: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """Arrays of a sparse matrix and what JSON says about it; None for formats that are not stored."""
    if matrix.format not in SPARSE or matrix.ndim != 2 or matrix.shape[1] > LARGEST_WIDTH:
        return None
    if matrix.format == "coo":
        parts = [matrix.data, matrix.row, matrix.col]
    else:
        parts = [matrix.data, matrix.indices, matrix.indptr]
    kind = SPARSE[matrix.format].index(type(matrix)) if type(matrix) in SPARSE[matrix.format] else -1
    if kind < 0:
        return None
    return parts, {"format": matrix.format, "array": bool(kind), "shape": [int(n) for n in matrix.shape]}


def unpack_sparse(about: dict[str, Any], parts: list[Any]) -> Any:
    """The sparse matrix of these arrays; every index is checked, since SciPy's own code does not look."""
    form, array, shape = about["format"], about["array"], shape_of(about["shape"])
    need(form in SPARSE and isinstance(array, bool) and len(shape) == 2, "a sparse matrix has no known format")
    need(max(shape) <= LARGEST_WIDTH or (form == "csr" and shape[1] <= LARGEST_WIDTH), "a sparse matrix is too wide")
    need(len(parts) == 3 and all(isinstance(p, np.ndarray) and p.ndim == 1 for p in parts), "a sparse matrix is torn")
    data, first, second = parts
    need(data.dtype.kind in "bifuc", "a sparse matrix must hold numbers")
    need(
        first.dtype == second.dtype and first.dtype.str in ("<i4", "<i8"), "indices of a sparse matrix must be integers"
    )
    need(data.size == first.size, "a sparse matrix has not as many indices as values")
    if form == "coo":
        need(second.size == data.size, "a sparse matrix has not as many indices as values")
        need(_within(first, shape[0]) and _within(second, shape[1]), "an index of a sparse matrix is out of range")
        made = SPARSE[form][array]((data, (first, second)), shape=shape)
    else:
        major, minor = shape if form == "csr" else shape[::-1]
        need(second.size == major + 1, "a sparse matrix has not one pointer a row")
        need(second[0] == 0 and second[-1] == data.size and bool(np.all(np.diff(second) >= 0)), "pointers must rise")
        need(_within(first, minor), "an index of a sparse matrix is out of range")
        made = SPARSE[form][array]((data, first, second), shape=shape)
    return made


def _within(index: NDArray[Any], length: int) -> bool:
    return not index.size or bool(index.min() >= 0 and index.max() < length)
