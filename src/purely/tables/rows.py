"""From a table to rows and labels, in one pass and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from purely.tables.errors import TableError
from purely.tables.labels import MOST_VALUES, LabelRule, LabelValues, find_label_rule
from purely.tables.source import TableSource
from purely.typing import Floats, Indices, Mask

#: Values of the label whose rows are drawn apart; what the later ones mean is known only in the end.
GROUPS = 8


@dataclass(frozen=True)
class LabelledRows:
    """Positives and unlabelled rows of a table, all of them or some drawn at random.

    Attributes
    ----------
    table : pyarrow.Table
        In the order of the file.
    positive : ndarray of bool
        Which rows are labelled positives; the others are unlabelled.
    number : ndarray of int
        The number of each record in its file, from 1.
    rule : LabelRule
        With the counts of the whole file.
    """

    table: pa.Table
    positive: Mask
    number: NDArray[np.int64]
    rule: LabelRule


@dataclass(frozen=True)
class _Part:
    """Rows of a batch that are still in the draw: their labels' numbers, records' numbers and lots."""

    batch: pa.RecordBatch
    label: Indices
    number: NDArray[np.int64]
    lot: Floats

    def taken(self, chosen: Mask) -> _Part:
        return _Part(self.batch.filter(pa.array(chosen)), self.label[chosen], self.number[chosen], self.lot[chosen])


def draw_rows(
    source: TableSource,
    label: str,
    columns: Sequence[str],
    *,
    positive: str | None = None,
    negative: str | None = None,
    max_rows: int,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> LabelledRows:
    """Read a table once: its labels, and of each kind at most `max_rows` rows, drawn at random.

    Every row draws a lot, and of each kind those with the lowest are kept. Which values mark which kind is known when
    all were seen; until then the lots of every value are apart. Known negatives are counted and left out.

    Parameters
    ----------
    source : TableSource
    label : str
        The label column.
    columns : sequence of str
        Columns of the result; the label may be one of them.
    positive, negative : str, optional
        See :func:`purely.tables.find_label_rule`.
    max_rows : int
    seed : int, default=0
    progress : callable
        Told the share of the file that was read.

    Returns
    -------
    LabelledRows
    """
    rng = np.random.default_rng([seed, 7])
    values = LabelValues(label, source.name, most=MOST_VALUES if positive is None else 1 << 40)
    parts: list[_Part] = []
    held = 0
    for batch in source.batches(list(dict.fromkeys([label, *columns]))):
        numbers = np.arange(source.first, source.first + batch.num_rows)
        parts.append(_Part(batch, values.read(batch.column(0)), numbers, rng.random(batch.num_rows)))
        held += batch.num_rows
        progress(source.done)
        if held > 2 * max_rows + (1 << 17):
            parts = _lowest(parts, [np.minimum(part.label, GROUPS) for part in parts], max_rows)
            held = sum(part.lot.size for part in parts)
    if not parts:
        raise TableError(f"{source.name} has no rows below its column names.")
    rule = find_label_rule(label, values.spelt(), positive, negative, file=source.name)
    parts = [part.taken(rule.kinds[part.label] >= 0) for part in parts]
    parts = _lowest(parts, [rule.kinds[part.label] for part in parts], max_rows)
    return LabelledRows(
        pa.Table.from_batches([part.batch for part in parts]).select(list(columns)).combine_chunks(),
        np.concatenate([rule.kinds[part.label] == 1 for part in parts]),
        np.concatenate([part.number for part in parts]),
        rule,
    )


def _lowest(parts: list[_Part], groups: list[NDArray[np.integer]], max_rows: int) -> list[_Part]:
    """Of each group the `max_rows` rows with the lowest lots."""
    group, lot = np.concatenate(groups), np.concatenate([part.lot for part in parts])
    limit = np.full(int(group.max(initial=0)) + 1, np.inf)
    for number in range(limit.size):
        own = lot[group == number]
        if own.size > max_rows:
            limit[number] = np.partition(own, max_rows - 1)[max_rows - 1]
    if not np.isfinite(limit).any():
        return parts
    return [part.taken(part.lot <= limit[own]) for part, own in zip(parts, groups, strict=True)]
