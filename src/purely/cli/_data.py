"""From a file to rows and labels, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from purely.cli._session import CommandError, Session, UsageError
from purely.tables import LabelRule, TableError, TableSource, find_label_rule, open_table
from purely.tables._errors import shown
from purely.tables._labels import count_labels

if TYPE_CHECKING:
    from purely.tables import TableEncoder

__all__ = ["FileOptions", "TrainingData", "label_column", "load_training"]

#: Names of label columns that are taken without being asked for.
USUAL_LABELS = ("label", "y")
#: The fewest rows of a kind that anything can be learnt from.
FEWEST = 10


@dataclass(frozen=True)
class FileOptions:
    """How a file is read and which columns play a part of their own."""

    path: Path
    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    label: str | None = None
    positive: str | None = None
    ids: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    truth: str | None = None

    def open(self) -> TableSource:
        """Open the file."""
        return open_table(
            self.path, format=self.format, delimiter=self.delimiter, encoding=self.encoding, header=self.header
        )


@dataclass(frozen=True)
class TrainingData:
    """Rows for learning.

    Attributes
    ----------
    X : array or CSR matrix
    y : ndarray of int
        1 for labelled positives, 0 for unlabelled rows.
    table : pyarrow.Table
        The same rows as they were in the file.
    encoder : TableEncoder
    rule : LabelRule
        With the counts of the whole file.
    n_rows : int
        Rows of the file.
    """

    X: Any
    y: NDArray[np.intp]
    table: Any
    encoder: TableEncoder
    rule: LabelRule
    n_rows: int

    @property
    def n_positive(self) -> int:
        """Labelled positives used."""
        return int(self.y.sum())

    @property
    def n_unlabelled(self) -> int:
        """Unlabelled rows used."""
        return int(self.y.size - self.y.sum())

    @property
    def sampled(self) -> bool:
        """Whether some rows were left out."""
        return self.y.size < self.n_rows

    def summary(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rows": self.n_rows,
            "positives": self.rule.n_positive,
            "unlabelled": self.rule.n_unlabelled,
            "positives_used": self.n_positive,
            "unlabelled_used": self.n_unlabelled,
            "features": int(self.X.shape[1]),
            "label": self.rule.column,
            "positive_value": self.rule.positive,
        }

    def line(self) -> str:
        """For people."""
        line = (
            f"{self.rule.n_positive:,} labelled positives, {self.rule.n_unlabelled:,} unlabelled rows, "
            f"{self.X.shape[1]:,} features"
        )
        used = f"{self.n_positive:,} and {self.n_unlabelled:,} of them, drawn at random, are used (--max-rows)"
        return f"{line}\n{used}" if self.sampled else line


def label_column(source: TableSource, asked: str | None) -> str:
    """The label column: the one asked for, or one of a usual name."""
    if asked is not None:
        source.check_columns([asked], "label column")
        return asked
    found = next((name for name in USUAL_LABELS if name in source.names), None)
    if found is None:
        names = ", ".join(repr(shown(n, 20)) for n in source.names[:6]) + (", ..." if len(source.names) > 6 else "")
        raise UsageError(f"which column holds the labels? Name it with --label; {source.file.name} has: {names}.")
    return found


def feature_columns(source: TableSource, options: FileOptions, label: str | None) -> list[str]:
    """Columns that are neither label, id, truth nor dropped."""
    source.check_columns(options.ids, "id column")
    source.check_columns(options.drop, "column to drop")
    if options.truth is not None:
        source.check_columns([options.truth], "truth column")
    left_out = {label, options.truth, *options.ids, *options.drop}
    if label in (*options.ids, *options.drop):
        raise UsageError(f"the label column {label!r} is also named with --id or --drop.")
    columns = [name for name in source.names if name not in left_out]
    if not columns:
        raise CommandError(
            f"{source.file.name} has no column left to learn from beside {', '.join(map(repr, left_out))}."
        )
    return columns


def load_training(session: Session, options: FileOptions, *, max_rows: int) -> TrainingData:
    """Read a file: labels first, then the rows, of which at most `max_rows` of each kind are kept, and encode them."""
    with session.step("Reading labels") as step:
        source = options.open()
        label = label_column(source, options.label)
        columns = feature_columns(source, options, label)
        counts: Counter[str | None] = Counter()
        for batch in source.batches([label]):
            count_labels(counts, batch.column(0))
            step.update(source.done)
    for note in source.notes:
        session.note(note)
    rule = find_label_rule(label, counts, options.positive, file=source.file.name)
    _note_labels(session, rule)
    for count, kind in ((rule.n_positive, "labelled positives"), (rule.n_unlabelled, "unlabelled rows")):
        if count < FEWEST:
            raise CommandError(
                f"{source.file.name} has {count} {kind}; at least {FEWEST} are needed to learn anything."
            )
    with session.step("Reading rows") as step:
        wanted = list(dict.fromkeys([label, *options.ids, *([options.truth] if options.truth else []), *columns]))
        table, positive = _draw(source, wanted, rule, max_rows, session.seed, step)
    with session.step("Encoding columns"):
        from purely.tables import TableEncoder

        try:
            encoder = TableEncoder().fit(table.select(columns))
        except TableError as error:
            raise CommandError(f"{source.file.name}: {error}") from error
        encoder.origin_ = {
            "label": label,
            "positive": rule.positive,
            "id": list(options.ids),
            "file": options.path.name,
            "rows": sum(counts.values()),
        }
        X = encoder.transform(table)
    return TrainingData(X, positive.astype(np.intp), table, encoder, rule, sum(counts.values()))


def _note_labels(session: Session, rule: LabelRule) -> None:
    others = rule.others
    if others:
        listed = ", ".join(f"{shown(v, 20)!r} ({n:,} rows)" for v, n in list(others.items())[:3])
        session.note(
            f"rows whose {shown(rule.column)!r} is not {shown(rule.positive)!r} count as unlabelled, also those with "
            f"{listed}{', ...' if len(others) > 3 else ''}."
        )
    if FEWEST <= rule.n_positive < 100:
        session.note(f"there are only {rule.n_positive} labelled positives; estimates will be rough.")


def _draw(
    source: TableSource, columns: Sequence[str], rule: LabelRule, max_rows: int, seed: int, step: Any
) -> tuple[Any, NDArray[np.bool_]]:
    """Rows of each kind drawn at random, at most `max_rows`, in the file's order.

    Each row gets a random number; those with the smallest are kept. No more than about twice as many rows as are kept
    are ever in memory.
    """
    rng = np.random.default_rng([seed, 7])
    parts: list[Any] = []
    keys: list[NDArray[np.float64]] = []
    held = 0
    keep_all = rule.n_positive <= max_rows and rule.n_unlabelled <= max_rows
    for batch in source.batches(columns):
        positive = rule.mask(batch.column(columns.index(rule.column)))
        key = rng.random(batch.num_rows)
        parts.append(batch)
        keys.append(np.where(positive, -1.0 - key, key))  # the sign says the kind
        held += batch.num_rows
        step.update(source.done)
        if not keep_all and held > 2 * max_rows + (1 << 17):
            parts, keys = _prune(parts, keys, max_rows)
            held = sum(k.size for k in keys)
    if not keep_all:
        parts, keys = _prune(parts, keys, max_rows)
    return pa.Table.from_batches(parts).combine_chunks(), np.concatenate(keys) < 0.0


def _prune(parts: list[Any], keys: list[NDArray[np.float64]], max_rows: int) -> tuple[list[Any], list[Any]]:
    whole = np.concatenate(keys)
    limits = []
    for own in (-1.0 - whole[whole < 0.0], whole[whole >= 0.0]):
        limits.append(np.partition(own, max_rows - 1)[max_rows - 1] if own.size > max_rows else np.inf)
    kept_parts, kept_keys = [], []
    for part, key in zip(parts, keys, strict=True):
        chosen = np.where(key < 0.0, -1.0 - key <= limits[0], key <= limits[1])
        if chosen.any():
            kept_parts.append(part.filter(pa.array(chosen)))
            kept_keys.append(key[chosen])
    return kept_parts, kept_keys
