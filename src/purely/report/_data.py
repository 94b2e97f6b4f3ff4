"""What a report is made of: rows that were checked, and how they are thinned where a stage is expensive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import check_array

from purely.checks import refuse_huge, refuse_masked, words_named
from purely.labels import Scenario, check_scenario, read_labels
from purely.typing import Frame, Indices, Mask, Matrix

Rows = Indices
#: A question, a short word, an answer in a sentence or two, and the numbers in it, as JSON knows them.
Answer: TypeAlias = dict[str, Any]
#: What readers know the rows by: a data frame or dictionaries.
Records: TypeAlias = Frame | Sequence[Mapping[str, object]]

#: Most rows that a stage works on; larger data are thinned. Scores, thresholds and checks always use every row.
MAX_ROWS = {
    "model": 20_000,
    "networks": 20_000,
    "prior": 10_000,
    "information": 10_000,
    "test": 5_000,
    "representation": 4_000,
    "columns": 3_000,
}
#: Most columns whose information is measured one by one; the others are screened out by their means.
MAX_COLUMNS = 15
#: Thinning a single sample keeps the proportion of its labels, and so many of them where it can.
_ENOUGH_POSITIVES = 500


def card(question: str, short: str, answer: str, **numbers: object) -> Answer:
    """An answer as readers and programs get it."""
    return {"question": question, "short": short, "answer": answer, **numbers}


@dataclass(frozen=True, eq=False)
class Table:
    """Checked input of a report.

    Attributes
    ----------
    X : array or CSR matrix of shape (n, d)
        Finite numbers.
    given : object
        The rows as they came, for a model that wants them so.
    positive : ndarray of bool, shape (n,)
    y : ndarray of int, shape (n,)
    names : list of str
        Columns of `X`.
    groups : list of str
        The column of the records that each of them speaks of.
    records : data frame, list of dict or None
        What readers know the rows by.
    numbers : ndarray of int, shape (n,)
        What the rows are called: their places from 0, or the numbers that were given.
    scenario : str
    seed : int
    is_scaled : bool
        Whether the columns have a common scale as they are.
    """

    X: Matrix
    given: Matrix
    positive: Mask
    y: Indices
    names: list[str]
    groups: list[str]
    records: Records | None
    numbers: NDArray[np.int64]
    scenario: Scenario
    seed: int
    is_scaled: bool = False

    @property
    def n_positive(self) -> int:
        """Number of labelled positives."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_unlabelled(self) -> int:
        """Number of unlabelled rows."""
        return int(self.positive.size) - self.n_positive

    @property
    def n_constant(self) -> int:
        """Number of columns of `X` that never change."""
        # a column of a sparse matrix without entries is all zero; others are taken to change
        same = np.diff(sp.csc_matrix(self.X).indptr) == 0 if sp.issparse(self.X) else np.ptp(self.X, axis=0) == 0.0
        return int(np.count_nonzero(same))

    @property
    def columns(self) -> dict[str, list[int]]:
        """Columns of the records with their places in `X`; one that shares its name has its place beside it."""
        found: dict[str, list[int]] = {}
        for j, (name, owner) in enumerate(zip(self.names, self.groups, strict=True)):
            alone = self.groups is self.names and self.names.count(name) > 1
            found.setdefault(f"{name} ({j})" if alone else owner, []).append(j)
        return found

    def record(self, row: int) -> dict[str, object]:
        """What readers know a row by; empty where there are no records."""
        records, found = self.records, dict[str, object]()
        if isinstance(records, Sequence):
            found.update(records[row])
        elif records is not None and hasattr(records, "iloc"):
            found.update((name, records.iloc[row, j]) for j, name in enumerate(records.columns))
        elif records is not None and hasattr(records, "row"):
            found.update(records.row(int(row), named=True))
        return {str(name): value for name, value in found.items()}

    def thin(self, stage: str) -> Rows:
        """Rows that a stage works on, in order: all, or a draw of `MAX_ROWS`.

        Two samples: as many positives as there are, up to half. One sample: both kinds alike, since their proportion is
        part of what is estimated.
        """
        limit, n = MAX_ROWS[stage], self.positive.size
        if n <= limit:
            return np.arange(n)
        rng = np.random.default_rng(self.seed)
        if self.scenario == "case-control":
            keep_p = min(self.n_positive, max(limit // 2, limit - self.n_unlabelled))
            keep_u = min(self.n_unlabelled, limit - keep_p)
        else:
            share = min(max(limit / n, _ENOUGH_POSITIVES / self.n_positive), 5.0 * limit / n, 1.0)
            keep_p, keep_u = max(2, int(share * self.n_positive)), max(2, int(share * self.n_unlabelled))
        kinds = (self.positive, keep_p), (~self.positive, keep_u)
        parts = [rng.choice(np.flatnonzero(mask), size, replace=False) for mask, size in kinds]
        return np.sort(np.concatenate(parts))

    def scaled(self, rows: Rows) -> Matrix:
        """Rows with their columns on a common scale."""
        part, scaler = self.X[rows], MaxAbsScaler() if sp.issparse(self.X) else StandardScaler()
        return part if self.is_scaled else scaler.fit_transform(part)


def read_table(
    X: Matrix,
    y: ArrayLike,
    feature_names: Sequence[str] | None,
    records: Records | None,
    scenario: Scenario,
    seed: int,
    row_numbers: ArrayLike | None = None,
    scaled: bool = False,
    groups: Sequence[str] | None = None,
) -> Table:
    """Check everything that can be wrong with the rows, once."""
    refuse_masked(X)
    with words_named(X):
        checked = check_array(X, accept_sparse="csr", dtype=np.float64)
    refuse_huge(checked)
    labels = read_labels(y, min_positive=2, min_unlabelled=2)
    n, d = checked.shape
    if labels.positive.size != n:
        raise ValueError(f"X has {n} rows and y has {labels.positive.size} labels; they must match.")
    usual = X.columns if hasattr(X, "columns") else [f"x{j}" for j in range(d)]
    names = [str(name) for name in (usual if feature_names is None else feature_names)]
    if len(names) != d:
        raise ValueError(f"feature_names must name each of the {d} columns of X; {len(names)} names were given.")
    owners = names if groups is None else [str(name) for name in groups]
    if len(owners) != d:
        raise ValueError(f"groups must name a column for each of the {d} columns of X; {len(owners)} were given.")
    size = n if records is None else len(records)  # type: ignore[arg-type]
    if size != n:
        raise ValueError(f"records must have one entry for each of the {n} rows of X; it has {size}.")
    told = records is None or hasattr(records, "columns") or all(isinstance(record, Mapping) for record in records)
    if not told:
        raise TypeError("records must be a data frame or a list of dictionaries, one for each row of X.")
    positive = labels.positive
    numbers = np.arange(n) if row_numbers is None else np.asarray(row_numbers, dtype=np.int64)
    if numbers.shape != (n,):
        raise ValueError(f"row_numbers must have one number for each of the {n} rows of X; it has {numbers.size}.")
    y = positive.astype(np.intp)
    return Table(checked, X, positive, y, names, owners, records, numbers, check_scenario(scenario), seed, scaled)
