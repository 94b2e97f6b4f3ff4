"""Tables as streams of record batches, whatever the format; memory stays bounded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from purely.tables._errors import TableError, nearest, shown
from purely.tables._formats import TableFile, find_format

__all__ = ["TableSource", "open_table", "read_table"]

#: Rows of a batch where the format leaves the choice.
BATCH_ROWS = 1 << 16


class TableSource(ABC):
    """A table on disk: its columns' names, and its rows in batches, as often as asked for.

    Attributes
    ----------
    file : TableFile
    names : list of str
    n_rows : int or None
        Where the format says it without reading.
    done : float
        Share of the file that the last call of :meth:`batches` has read so far.
    notes : list of str
        What was assumed, one sentence each.
    """

    def __init__(self, file: TableFile) -> None:
        self.file = file
        self.names: list[str] = []
        self.n_rows: int | None = None
        self.done = 0.0
        self.notes: list[str] = []

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Record batches of the named columns; `types` asks for Arrow types where the file has only text."""

    def check_columns(self, names: Sequence[str], role: str = "column") -> None:
        """Refuse names that the table does not have."""
        for name in names:
            if name not in self.names:
                raise TableError(f"{self.file.name} has no {role} {shown(name)!r}; {nearest(name, self.names)}")

    def _check_names(self) -> None:
        twice = next((n for n in self.names if self.names.count(n) > 1), None) if len(self.names) < 5000 else None
        if len(set(self.names)) < len(self.names):
            twice = twice or "one of them"
            raise TableError(
                f"{self.file.name} has {self.names.count(twice)} columns named {shown(twice)!r}; give each its own."
            )


def open_table(
    path: str | Path,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
) -> TableSource:
    r"""Open a table for reading in batches.

    Parameters
    ----------
    path : path
        CSV, TSV, Parquet, Arrow/Feather, LIBSVM or NPZ; text may be compressed (.gz, .bz2, .xz, .zst).
    format : {"csv", "tsv", "parquet", "arrow", "libsvm", "npz"}, optional
        None: by the file's ending.
    delimiter : str, optional
        Of CSV; None: the commonest of comma, semicolon, tab and bar in the first line.
    encoding : str, default="utf-8"
        Of CSV and TSV.
    header : bool, default=True
        Whether the first line of CSV and TSV names the columns; without, they are c1, c2, ...

    Returns
    -------
    TableSource

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from purely.tables import open_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b\n1,x\n2,y\n")
    >>> source = open_table(path)
    >>> source.names, sum(batch.num_rows for batch in source.batches())
    (['a', 'b'], 2)
    """
    file = find_format(path, format)
    if file.format in ("csv", "tsv"):
        from purely.tables._csv import CSVSource

        return CSVSource(file, delimiter=delimiter, encoding=encoding, header=header)
    if file.format == "libsvm":
        from purely.tables._libsvm import LibsvmSource

        return LibsvmSource(file)
    if file.format == "npz":
        from purely.tables._npz import NPZSource

        return NPZSource(file)
    from purely.tables._arrow import ArrowSource, ParquetSource

    return ParquetSource(file) if file.format == "parquet" else ArrowSource(file)


def read_table(path: str | Path, **options: Any) -> Any:
    r"""All rows of a file as a ``pyarrow.Table``; `options` are those of :func:`open_table`.

    CSV columns come as text: :class:`TableEncoder` finds out what they hold.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from purely.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b\n1,x\n2,y\n")
    >>> read_table(path).num_rows
    2
    """
    import pyarrow as pa

    source = open_table(path, **options)
    batches = list(source.batches())
    if not batches:
        raise TableError(f"{source.file.name} has no rows below its column names.")
    return pa.Table.from_batches(batches)
