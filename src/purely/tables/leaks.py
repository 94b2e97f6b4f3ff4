"""Signs that columns know the label, or that positives and pool come from different sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from purely.assumptions import LEAK, STRONG, column_areas
from purely.tables.cells import is_text
from purely.tables.encoder import TableEncoder
from purely.tables.errors import listed
from purely.typing import Floats, Keys, Mask, Matrix

#: Rows of each kind that are looked at.
MAX_ROWS = 5000
#: A difference between the two kinds of rows that chance would bring about more rarely than this is named.
CHANCE = 1e-4


@dataclass(frozen=True)
class Leak:
    """A column that may know the label.

    Attributes
    ----------
    column : str
    sign : str
        What was seen, to follow the column's name.
    """

    column: str
    sign: str


@dataclass(frozen=True)
class Copies:
    """Rows that are equal in every feature.

    Attributes
    ----------
    positive, unlabelled : int
        Labelled positives, and unlabelled rows, that repeat another row of their kind.
    shared : int
        Labelled positives with a copy among the unlabelled rows.
    """

    positive: int
    unlabelled: int
    shared: int


def find_leaks(X: Matrix, positive: Mask, encoder: TableEncoder, seed: int = 0) -> list[Leak]:
    """Columns that nearly give the label away, or are constant or missing among one kind of rows only.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        What `encoder` made of the rows.
    positive : ndarray of bool, shape (n,)
    encoder : TableEncoder
    seed : int, default=0
        Of many rows a random part is looked at.

    Returns
    -------
    list of Leak
        In the order of the columns, at most one for each.
    """
    rng = np.random.default_rng(seed)
    chosen = np.sort(
        np.concatenate([rng.permutation(np.flatnonzero(mask))[:MAX_ROWS] for mask in (positive, ~positive)])
    )
    rows, labelled = X[chosen], positive[chosen]
    areas = column_areas(rows, labelled)
    leaks, at = [], 0
    for plan in (p for p in encoder.report_.columns if p.n_features):
        own = slice(at, at + plan.n_features)
        at += plan.n_features
        block = rows[:, own]
        block = block.toarray() if sp.issparse(block) and plan.n_features <= 100 else block
        area = float(areas[own].max())
        if plan.kind == "category" and not sp.issparse(block):
            area = max(area, _area_of_levels(block, labelled))
        sign = _missing_in_one(block[:, -1], labelled) if plan.missing and not sp.issparse(block) else ""
        if not sign and area >= STRONG:
            sign = "tells labelled from unlabelled rows " + ("almost " if area < 1.0 else "") + "without error"
            sign += f" (area {area:.4f})" if area < LEAK else ""
        if not sign and not sp.issparse(block):
            sign = _constant_in_one(block[:, : plan.n_features - plan.missing], labelled)
        if sign:
            leaks.append(Leak(plan.name, sign))
    return leaks


def _area_of_levels(block: Floats, labelled: Mask) -> float:
    """Area of a category whose levels are put in the order of their share of labelled rows."""
    p, u = (np.append(block[mask].mean(axis=0), 0.0) for mask in (labelled, ~labelled))
    p[-1], u[-1] = 1.0 - p.sum(), 1.0 - u.sum()  # rows of no level
    order = np.argsort(p / np.maximum(p + u, 1e-12))
    p, u = p[order], u[order]
    return float(np.sum(p * (np.cumsum(u) - 0.5 * u)))


def _missing_in_one(missing: Floats, labelled: Mask) -> str:
    p, u = float(missing[labelled].mean()), float(missing[~labelled].mean())
    rare, n = (p, int(labelled.sum())) if p < u else (u, int((~labelled).sum()))
    one_sided = rare == 0.0 and (1.0 - max(p, u)) ** n < CHANCE
    if abs(p - u) < 0.5 and not one_sided:
        return ""
    return f"is missing in {p:.0%} of the labelled rows and in {u:.0%} of the others"


def _constant_in_one(block: Floats, labelled: Mask) -> str:
    for mask, what, others in ((labelled, "labelled", "unlabelled"), (~labelled, "unlabelled", "labelled")):
        same = (block[~mask] == block[mask][:1]).all(axis=1).mean() if block.shape[1] else 1.0
        if (np.ptp(block[mask], axis=0) == 0.0).all() and same ** int(mask.sum()) < CHANCE:
            return f"has one value in all {what} rows and others in {1.0 - same:.0%} of the {others} ones"
    return ""


def count_copies(keys: Keys, positive: Mask) -> Copies:
    """Count rows that are equal to another row in every feature, by their keys."""
    of_p, of_u = (int(mask.sum()) - np.unique(keys[mask]).size for mask in (positive, ~positive))
    return Copies(of_p, of_u, int(np.isin(keys[positive], keys[~positive]).sum()))


def count_empty(table: pa.Table) -> int:
    """Count rows without a value in any column."""
    empty = np.ones(table.num_rows, dtype=bool)
    for column in table.columns:
        if is_text(column.type):
            column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
        empty &= column.is_null().to_numpy()
    return int(empty.sum())


def said_of_leaks(leaks: list[Leak]) -> str:
    """One line about leaks, for commands that go on all the same."""
    names = listed([leak.column for leak in leaks], 4)
    several = "columns may give" if len(leaks) > 1 else "column may give"
    return f"{len(leaks)} {several} the label away: {names}. 'purely inspect' says why; --drop leaves a column out."
