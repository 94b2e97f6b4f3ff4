"""TableEncoder: columns of any kind become a matrix of numbers, and a report of what was done to each."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely.exceptions import PurelyWarning
from purely.tables._columns import encode_column, fit_column
from purely.tables._errors import TableError, nearest, shown

__all__ = ["ColumnPlan", "Encoded", "EncodingReport", "TableEncoder", "TableWarning"]

#: More columns than this, or fewer non-zero entries than this share, and the matrix is sparse.
DENSE_COLUMNS, DENSE_SHARE = 200, 0.2


class TableWarning(PurelyWarning):
    """A column of a table that the user should look at."""


@dataclass(frozen=True)
class ColumnPlan:
    """What was done to one column.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "date", "category", "text", "vector", "sparse", "dropped"}
    n_features : int
        Columns of the matrix that it gives.
    n_missing : int
    action : str
        In words, for a reader.
    warning : str
        What to look at; empty where all is well.
    """

    name: str
    kind: str
    n_features: int
    n_missing: int
    action: str
    warning: str = ""


@dataclass(frozen=True)
class EncodingReport:
    """What was done to a table.

    Attributes
    ----------
    columns : tuple of ColumnPlan
    n_rows, n_features : int
    sparse : bool
    """

    columns: tuple[ColumnPlan, ...]
    n_rows: int
    n_features: int
    sparse: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at, one sentence a column."""
        return tuple(f"column {shown(c.name)!r}: {c.warning}" for c in self.columns if c.warning)

    def __str__(self) -> str:
        width = min(30, max(len(c.name) for c in self.columns))
        rows = [f"{shown(c.name, 30):{width}}  {c.kind:8}  {c.action}" for c in self.columns]
        kind = "sparse" if self.sparse else "dense"
        return "\n".join([f"{self.n_rows:,} rows, {self.n_features:,} features ({kind})", *rows])


@dataclass(frozen=True)
class Encoded:
    """Rows as numbers, and what could not be taken as it was.

    Attributes
    ----------
    matrix : ndarray or CSR matrix of shape (n, n_features)
    unseen : dict
        Per column, how many values were levels, words or indices that `fit` had not seen; they are ignored.
    unreadable : dict
        Per column, how many values were infinite or of another kind; they count as missing.
    """

    matrix: Any
    unseen: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)


class TableEncoder(TransformerMixin, BaseEstimator):
    """Make a matrix of numbers from a table with columns of any kind.

    ========== =====================================================================================================
    column     becomes
    ========== =====================================================================================================
    numbers    itself, missing values replaced by the median, centred and scaled; a column of 0 and 1 more that says
               where a value was missing, if any was
    booleans   the same, of 0 and 1
    categories a column of 0 and 1 for each level; levels with fewer rows than `min_count`, and those beyond the
               `max_levels` commonest, share one; a missing value and an unseen level have no 1 (a missing indicator
               is added where values were missing)
    text       tf-idf of its words; text is what has four words or more on average
    dates      year, month, day of the week, hour (where it varies) and elapsed days
    vectors    fixed-size lists and sparse rows as they are
    ========== =====================================================================================================

    Constant columns, columns without any value and identifiers (text whose values are nearly all different, whole
    numbers of which the same is true and whose name says id) are dropped. Text that can be read as numbers or dates is.

    Parameters
    ----------
    max_levels : int, default=50
        Levels of a category with a column of their own.
    min_count : int, default=10
        Rows that a level needs for a column of its own; fewer in small tables (a thousandth of the rows, at least 2).
    max_words : int, default=2000
        Words of a text column, the most frequent ones.
    scale : bool, default=True
        Centre numbers and give them variance one: methods that measure distances need a common scale.
    sparse : bool or "auto", default="auto"
        Whether the matrix is sparse; "auto": with more than 200 columns of which less than a fifth is not zero.
    dtype : {"float64", "float32"}, default="float64"

    Attributes
    ----------
    report_ : EncodingReport
        What was done to every column.
    columns_ : list of str
        Columns that are used; `transform` needs them, in any order.
    plans_ : list of dict
        Each used column's state: plain values and arrays.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
    feature_owner_ : ndarray of int
        For each feature the place of its column in `columns_`.

    Examples
    --------
    >>> import pandas as pd
    >>> from purely.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [31, None, 52, 40], "city": ["Rome", "Oslo", "Rome", "Oslo"], "one": 1})
    >>> encoder = TableEncoder().fit(frame)
    >>> list(encoder.get_feature_names_out())
    ['age', 'age is missing', 'city=Oslo', 'city=Rome']
    >>> encoder.transform(frame).shape
    (4, 4)
    >>> encoder.report_.columns[2].action
    'dropped: one value in every row'
    """

    def __init__(
        self,
        *,
        max_levels: int = 50,
        min_count: int = 10,
        max_words: int = 2000,
        scale: bool = True,
        sparse: bool | str = "auto",
        dtype: str = "float64",
    ) -> None:
        self.max_levels = max_levels
        self.min_count = min_count
        self.max_words = max_words
        self.scale = scale
        self.sparse = sparse
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns hold.

        Parameters
        ----------
        X : pyarrow Table or RecordBatch, pandas or polars frame
        y : ignored
            The labels have no part in it.

        Returns
        -------
        self
        """
        self._check()
        table = as_table(X)
        names = list(table.column_names)
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise TableError(f"the table has {names.count(twice)} columns named {shown(twice)!r}; rename one.")
        if table.num_rows == 0 or not names:
            raise TableError("the table has no rows or no columns to make features of.")
        settings = self.get_params(deep=False)
        fitted = [fit_column(name, _combined(table.column(name)), settings) for name in names]
        self.plans_ = [plan for plan, _ in fitted if plan["n_features"]]
        self.columns_ = [plan["name"] for plan in self.plans_]
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)
        widths = [plan["n_features"] for plan in self.plans_]
        self.feature_owner_ = np.repeat(np.arange(len(widths)), widths)
        if not self.plans_:
            reasons = "; ".join(f"{shown(c.name)!r}: {c.action}" for _, c in fitted[:3])
            raise TableError(f"no column is of use ({reasons}); a table needs at least one that varies.")
        self._sparse = self._decide_sparse(table)
        self.report_ = EncodingReport(
            tuple(column for _, column in fitted), table.num_rows, int(sum(widths)), bool(self._sparse)
        )
        for sentence in self.report_.warnings:
            warnings.warn(sentence, TableWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> Any:
        """The rows as numbers: an array, or a CSR matrix where `sparse` says so, of shape (n, n_features)."""
        return self.encode(X).matrix

    def encode(self, X: Any) -> Encoded:
        """The rows as numbers, with counts of what was not seen in `fit` or could not be read."""
        check_is_fitted(self, "plans_")
        columns = self._columns_of(X)
        n = len(columns[0])
        unseen: dict[str, int] = {}
        unreadable: dict[str, int] = {}
        if not self._sparse:
            # by columns: each is written in one run
            matrix: Any = np.zeros((n, len(self.feature_owner_)), dtype=self.dtype, order="F")
            at = 0
            for plan, column in zip(self.plans_, columns, strict=True):
                into = matrix[:, at : at + plan["n_features"]]
                _note(plan, encode_column(plan, column, into), unseen, unreadable)
                at += plan["n_features"]
            return Encoded(matrix, unseen, unreadable)
        blocks = []
        for plan, column in zip(self.plans_, columns, strict=True):
            done = encode_column(plan, column, None)
            _note(plan, done, unseen, unreadable)
            blocks.append(done.block)
        return Encoded(sp.csr_matrix(sp.hstack(blocks, format="csr"), dtype=self.dtype), unseen, unreadable)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """A name for every feature: the column's, with the level, word or part where there are several."""
        check_is_fitted(self, "plans_")
        return np.asarray([name for plan in self.plans_ for name in plan["features"]], dtype=object)

    def arrow_types(self) -> dict[str, Any]:
        """Arrow types that a reader of text should ask for: numbers need no detour through strings."""
        import pyarrow as pa

        check_is_fitted(self, "plans_")
        return {p["name"]: pa.float64() for p in self.plans_ if p["kind"] == "number" and not p["lenient"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        tags.no_validation = True
        return tags

    def _check(self) -> None:
        for name, least in (("max_levels", 1), ("min_count", 1), ("max_words", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}; {value!r} was given.")
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"dtype must be 'float64' or 'float32'; {self.dtype!r} was given.")
        if not isinstance(self.sparse, bool) and self.sparse != "auto":
            raise ValueError(f"sparse must be True, False or 'auto'; {self.sparse!r} was given.")

    def _decide_sparse(self, table: Any) -> bool:
        if isinstance(self.sparse, bool):
            return self.sparse
        width = int(sum(plan["n_features"] for plan in self.plans_))
        if width <= DENSE_COLUMNS:
            return False
        self._sparse = True
        block = self.encode(table.slice(0, 1000)).matrix
        return bool(block.nnz < DENSE_SHARE * block.shape[0] * block.shape[1])

    def _columns_of(self, X: Any) -> list[Any]:
        if hasattr(X, "num_rows") and hasattr(X, "schema"):
            names: Sequence[str] = X.schema.names
        else:
            X = as_table(X)
            names = X.column_names
        known = set(names)
        absent = [name for name in self.columns_ if name not in known]
        if absent:
            several = f" and {len(absent) - 1} more that the model uses" if len(absent) > 1 else " that the model uses"
            raise TableError(f"the table has no column {shown(absent[0])!r}{several}; {nearest(absent[0], names)}")
        return [_combined(X.column(names.index(name))) for name in self.columns_]


def as_table(X: Any) -> Any:
    """A pyarrow Table from what a user has: Table, RecordBatch, pandas or polars frame."""
    import pyarrow as pa

    if isinstance(X, pa.Table):
        return X
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    if type(X).__module__.split(".")[0] == "polars":
        return X.to_arrow()
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        try:
            return pa.Table.from_pandas(X.rename(columns=str), preserve_index=False)
        except (pa.ArrowException, TypeError):
            # mixed types in one column: as text, from which numbers are read where they can be
            texts = X.rename(columns=str).astype(object).map(lambda v: None if v is None or v != v else str(v))
            return pa.Table.from_pandas(texts, preserve_index=False)
    raise TypeError(f"a table must be a pyarrow Table or RecordBatch or a data frame; {type(X).__name__} was given.")


def _combined(column: Any) -> Any:
    """One contiguous array from a column that may be in chunks."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _note(plan: dict[str, Any], done: Any, unseen: dict[str, int], unreadable: dict[str, int]) -> None:
    if done.unseen:
        unseen[plan["name"]] = done.unseen
    if done.unreadable:
        unreadable[plan["name"]] = done.unreadable
