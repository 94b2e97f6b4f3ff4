"""LIBSVM's text format: a label, then ``index:value`` pairs; comes as a column of labels and one of sparse rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from purely.tables._errors import TableError, shown
from purely.tables._formats import TableFile, open_bytes, text_lines
from purely.tables.source import TableSource

__all__ = ["SPARSE", "LibsvmSource", "sparse_column"]

#: A sparse row: pairs of index (from 0) and value.
SPARSE = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float64())]))
#: Lines of a batch, and the largest index that is believed.
BATCH_LINES, LARGEST_INDEX = 1 << 14, 10_000_000


class LibsvmSource(TableSource):
    """A LIBSVM file with the columns "label" and "features"."""

    def __init__(self, file: TableFile) -> None:
        super().__init__(file)
        self.names = ["label", "features"]
        with open_bytes(file) as stream:
            for number, line in enumerate(text_lines(stream), 1):
                if _content(line):
                    _parse(line, number, file)
                    break
            else:
                raise TableError(f"{file.name} has no rows; each line needs a label and index:value pairs.")

    def batches(self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Record batches of at most 16,384 lines."""
        wanted = list(self.names if columns is None else columns)
        self.check_columns(wanted)
        rows: list[tuple[str, list[int], list[float]]] = []
        size, read = max(1, self.file.path.stat().st_size), 0
        with open_bytes(self.file) as stream:
            for number, line in enumerate(text_lines(stream), 1):
                read += len(line) + 1
                if _content(line):
                    rows.append(_parse(line, number, self.file))
                if len(rows) == BATCH_LINES:
                    self.done = min(1.0, read / size) if not self.file.compression else 0.0
                    yield _batch(rows).select(wanted)
                    rows = []
        self.done = 1.0
        if rows:
            yield _batch(rows).select(wanted)


def sparse_column(indptr: Any, indices: Any, values: Any) -> Any:
    """A column of sparse rows from the arrays of a CSR matrix."""
    pairs = pa.StructArray.from_arrays(
        [pa.array(np.asarray(indices, dtype=np.int32)), pa.array(np.asarray(values, dtype=np.float64))],
        names=["index", "value"],
    )
    return pa.ListArray.from_arrays(pa.array(np.asarray(indptr, dtype=np.int32)), pairs)


def _content(line: bytes) -> bytes:
    return line.split(b"#", 1)[0].strip()


def _parse(line: bytes, number: int, file: TableFile) -> tuple[str, list[int], list[float]]:
    try:
        label, *pairs = _content(line).decode("ascii").split()
        indices, values = [], []
        for pair in pairs:
            index, _, value = pair.partition(":")
            if index == "qid":
                continue
            indices.append(int(index) - 1)
            values.append(float(value))
        if ":" in label:
            raise ValueError("the label is missing")
        if indices and (min(indices) < -1 or max(indices) >= LARGEST_INDEX):
            raise ValueError(f"indices run from 1 to {LARGEST_INDEX:,}")
        if len(set(indices)) < len(indices):
            raise ValueError("an index comes twice")
    except (ValueError, UnicodeDecodeError) as error:
        what = "it is not ASCII text" if isinstance(error, UnicodeDecodeError) else shown(error, 60)
        raise TableError(
            f"{file.name}, line {number} is not of the form 'label index:value ...' ({what}); mend it, or name what "
            "the file is with --format."
        ) from error
    if indices and min(indices) == -1:  # counted from 0: kept apart, so that no two files are read differently
        raise TableError(f"{file.name}, line {number} has the index 0; LIBSVM files count columns from 1.")
    return label, indices, values


def _batch(rows: list[tuple[str, list[int], list[float]]]) -> Any:
    indptr = np.concatenate([[0], np.cumsum([len(indices) for _, indices, _ in rows])])
    indices = np.concatenate([np.asarray(i, dtype=np.int32) for _, i, _ in rows])
    values = np.concatenate([np.asarray(v, dtype=np.float64) for _, _, v in rows])
    labels = pa.array([label for label, _, _ in rows], type=pa.string())
    return pa.record_batch([labels, sparse_column(indptr, indices, values)], names=["label", "features"])
