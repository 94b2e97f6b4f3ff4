"""TableEncoder: columns of any kind become a matrix of numbers, and a report of what was done to each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from purely.base import check_parameters, number, one_of, with_parameters
from purely.exceptions import PurelyWarning
from purely.files import shown
from purely.tables.cells import Cells
from purely.tables.columns import ColumnPlan, Settings, encode_column, fit_column, read_column
from purely.tables.errors import TableError, nearest, refuse_absent, refuse_twins
from purely.typing import Indices, Matrix

#: More columns than this, or fewer non-zero entries than this share, and the matrix is sparse.
DENSE_COLUMNS, DENSE_SHARE = 200, 0.2


class TableWarning(PurelyWarning):
    """A column of a table that the user should look at."""


@dataclass(frozen=True)
class Encoded:
    """Features of rows, with counts of what was ignored.

    Attributes
    ----------
    matrix : ndarray or CSR matrix of shape (n, n_features)
    unseen : dict of str to int
        By column, values that did not occur in `fit` and are ignored.
    unreadable : dict of str to int
        By column, values that cannot be read, or are infinite, and count as missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from purely.tables import TableEncoder
    >>> encoder = TableEncoder().fit(pd.DataFrame({"age": [31, 29, 52], "city": ["Rome", "Oslo", "Rome"]}))
    >>> encoded = encoder.encode(pd.DataFrame({"age": ["40", "old"], "city": ["Rome", "Oslo"]}))
    >>> encoded.matrix.shape, encoded.unseen, encoded.unreadable
    ((2, 3), {}, {'age': 1})
    """

    matrix: Matrix
    unseen: dict[str, int]
    unreadable: dict[str, int]


@dataclass(frozen=True)
class EncodingReport:
    """What was done to a table.

    Attributes
    ----------
    columns : tuple of ColumnPlan
    n_rows, n_features : int
    sparse : bool

    Examples
    --------
    >>> import pandas as pd
    >>> from purely.tables import TableEncoder
    >>> report = TableEncoder().fit(pd.DataFrame({"age": [31, 29, 52], "one": 1})).report_
    >>> report.n_rows, report.n_features, [plan.kind for plan in report.columns]
    (3, 1, ['number', 'dropped'])
    """

    columns: tuple[ColumnPlan, ...]
    n_rows: int
    n_features: int
    sparse: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at, one sentence a column."""
        return tuple(f"column {shown(c.name)!r}: {c.warning}." for c in self.columns if c.warning)


@dataclass(frozen=True)
class Origin:
    """The file that an encoder was fitted to.

    Attributes
    ----------
    file : str
        Its name without the folder.
    n_rows : int
    label, positive, negative : str or None
        The label column, the values of positives and of known negatives.
    ids : tuple of str
        Columns that are carried to the output.

    Examples
    --------
    >>> from purely.tables import Origin
    >>> origin = Origin("customers.csv", 400, label="fraud", positive="1", ids=("customer",))
    >>> origin.label, origin.negative
    ('fraud', None)
    """

    file: str
    n_rows: int
    label: str | None = None
    positive: str | None = None
    negative: str | None = None
    ids: tuple[str, ...] = ()

    def is_of(self, file: str, n_rows: int) -> bool:
        """Whether it looks like this file."""
        return (self.file, self.n_rows) == (file, n_rows)


@with_parameters
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
    feature_owner_ : ndarray of int
        For each feature the place of its column in `columns_`.
    origin_ : Origin
        The file that the rows came from, where the command line has fitted it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

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

    max_levels: int = number(default=50, low=1, integer=True)
    min_count: int = number(default=10, low=1, integer=True)
    max_words: int = number(default=2000, low=1, integer=True)
    scale: bool = True
    sparse: bool | str = one_of(True, False, "auto", default="auto")
    dtype: str = one_of("float64", "float32", default="float64")

    def fit(self, X: Matrix, y: object = None) -> Self:
        """Find out what the columns hold.

        Parameters
        ----------
        X : pyarrow Table or RecordBatch, pandas or polars frame
        y : ignored
            Labels are not used.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Matrix, y: object = None) -> Matrix:
        """``fit(X).transform(X)``, with every cell read once; `y` is ignored."""
        return self._assembled(self._fit(X)).matrix

    def transform(self, X: Matrix) -> Matrix:
        """The rows as numbers: an array, or a CSR matrix where `sparse` says so, of shape (n, n_features)."""
        return self.encode(X).matrix

    def encode(self, X: Matrix) -> Encoded:
        """The rows as numbers, with counts of what was not seen in `fit` or could not be read."""
        check_is_fitted(self, "report_")
        table = as_table(X)
        refuse_absent(self.columns_, set(table.column_names), "the table", partial(nearest, known=table.column_names))
        return self._assembled([read_column(plan, _combined(table.column(plan.name))) for plan in self._used])

    def _fit(self, X: Matrix) -> list[Cells]:
        """Find out what the columns hold; the cells of those that are used."""
        given = check_parameters(type(self), self.get_params())
        settings = Settings(**{field.name: given[field.name] for field in fields(Settings)})
        table = as_table(X)
        names = list(table.column_names)
        refuse_twins(names, "the table")
        if table.num_rows == 0 or not names:
            raise TableError("the table has no rows or no columns to make features of.")
        fitted = [fit_column(name, _combined(table.column(name)), settings) for name in names]
        plans = tuple(plan for plan, _ in fitted)
        if not any(plan.n_features for plan in plans):
            reasons = "; ".join(f"{shown(c.name)!r}: {c.action}" for c in plans[:3])
            raise TableError(f"no column is of use ({reasons}); a table needs at least one that varies.")
        width = sum(plan.n_features for plan in plans)
        self.report_ = EncodingReport(plans, table.num_rows, width, self._is_sparse(fitted, width, table.num_rows))
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)
        for sentence in self.report_.warnings:
            warnings.warn(sentence, TableWarning, stacklevel=3)
        return [cells for plan, cells in fitted if plan.n_features]

    def _is_sparse(self, fitted: list[tuple[ColumnPlan, Cells]], width: int, n_rows: int) -> bool:
        if self.sparse != "auto":
            return bool(self.sparse)
        filled = 0.0
        for plan, cells in fitted:
            counted = sp.issparse(cells.values)
            filled += cells.values.nnz / n_rows if counted else plan.kind == "category" or plan.n_features
        return width > DENSE_COLUMNS and filled < DENSE_SHARE * width

    def _assembled(self, cells: list[Cells]) -> Encoded:
        unseen: dict[str, int] = {}
        unreadable: dict[str, int] = {}
        blocks, at = [], 0
        shape = (len(cells[0]), self.report_.n_features)
        # by columns: each is written in one run
        matrix = None if self.report_.sparse else np.zeros(shape, dtype=self.dtype, order="F")
        for plan, own in zip(self._used, cells, strict=True):
            block = encode_column(plan, own)
            unseen |= {plan.name: block.n_unseen} if block.n_unseen else {}
            unreadable |= {plan.name: block.n_unreadable} if block.n_unreadable else {}
            features = block.features
            if matrix is None:
                blocks.append(sp.csr_matrix(features))
            elif sp.issparse(features):
                entries = sp.coo_matrix(features)
                matrix[entries.row, at + entries.col] = entries.data
            else:
                matrix[:, at : at + plan.n_features] = features
            at += plan.n_features
        if matrix is None:
            matrix = sp.csr_matrix(sp.hstack(blocks, format="csr"), dtype=self.dtype)
        return Encoded(matrix, unseen, unreadable)

    @property
    def _used(self) -> list[ColumnPlan]:
        return [plan for plan in self.report_.columns if plan.n_features]

    @property
    def columns_(self) -> list[str]:
        """Columns that are used."""
        return [plan.name for plan in self._used]

    @property
    def feature_owner_(self) -> Indices:
        """For each feature the place of its column in `columns_`."""
        return np.repeat(np.arange(len(self._used)), [plan.n_features for plan in self._used])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """A name for every feature: the column's, with the level, word or part where there are several."""
        check_is_fitted(self, "report_")
        return np.asarray([name for plan in self._used for name in plan.features], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        tags.no_validation = True
        return tags


def as_table(X: Any) -> pa.Table:
    """A pyarrow Table from what a user has: Table, RecordBatch, pandas or polars frame."""
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


def _combined(column: pa.ChunkedArray) -> pa.Array:
    """One contiguous array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
