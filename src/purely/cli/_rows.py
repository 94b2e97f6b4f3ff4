"""Rows as predictions write them, of one file or of many: ids, scores, reasons, labels, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from purely.cli._scoring import Scorer
from purely.explain import column_of_features, explain_rows
from purely.progress import Bar
from purely.tables import TableSource
from purely.typing import Floats, Mask, Matrix

#: Rows of the file that each row is compared with.
COMPARED = 32


@dataclass
class Tally:
    """What is said about the rows in the end.

    Attributes
    ----------
    threshold : float
    rows, positive : int
        Rows, and those above the threshold.
    mass, mass_above, highest : float
        Sum of the probabilities of all rows and of those above the threshold, and the highest probability.
    """

    threshold: float
    rows: int = 0
    positive: int = 0
    mass: float = 0.0
    mass_above: float = 0.0
    highest: float = 0.0

    def add(self, probability: Floats) -> Mask:
        """Count rows; which ones are above the threshold."""
        above = probability > self.threshold
        self.rows += probability.size
        self.positive += int(above.sum())
        self.mass += float(probability.sum())
        self.mass_above += float(probability[above].sum())
        self.highest = max(self.highest, float(probability.max(initial=0.0)))
        return above

    @classmethod
    def sum(cls, tallies: Sequence[Self]) -> Self:
        """The tally of all rows of several."""
        made = cls(tallies[0].threshold if tallies else 0.5)
        for name in ("rows", "positive", "mass", "mass_above"):
            setattr(made, name, sum(getattr(each, name) for each in tallies))
        made.highest = max((each.highest for each in tallies), default=0.0)
        return made

    def summary(self) -> dict[str, float]:
        """For JSON."""
        return {
            "rows": self.rows,
            "positive": self.positive,
            "threshold": self.threshold,
            "mean_probability": self.mass / max(1, self.rows),
            "expected_precision": self.mass_above / self.positive if self.positive else 0.0,
            "expected_recall": self.mass_above / self.mass if self.mass else 0.0,
        }


class Reasons:
    """Writes reasons; rows are compared with some of the first batch of their own file.

    Cells travel with the scores as one column, `CELLS`, so that only rows that are written are explained.
    """

    CELLS = "cells of the row"

    def __init__(self, scorer: Scorer, n: int, seed: int) -> None:
        self.encoder, self.classifier, self.n, self.seed = scorer.encoder, scorer.classifier, n, seed
        self.columns = column_of_features(self.encoder)
        self.background: Matrix | None = None

    @property
    def names(self) -> list[str]:
        """Columns of the output."""
        return [f"reason_{k}" for k in range(1, self.n + 1)]

    def carry(self, batch: pa.RecordBatch) -> pa.StructArray:
        """The cells of rows, as one column; of the first rows some are kept to compare with."""
        cells = batch.select(self.encoder.columns_)
        if self.background is None:
            rng = np.random.default_rng(self.seed)
            drawn = rng.permutation(batch.num_rows)[:COMPARED]
            self.background = self.encoder.transform(cells.take(pa.array(np.sort(drawn))))
        return pa.StructArray.from_arrays(cells.columns, fields=list(cells.schema))

    def beside(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows with their reasons, without their cells."""
        cells = pa.RecordBatch.from_struct_array(batch.column(self.CELLS))
        X = self.encoder.transform(cells)
        found = explain_rows(
            self.classifier, X, self.background, groups=self.columns, n_samples=COMPARED, random_state=self.seed
        )

        def cell(row: int, name: str) -> object:
            if name in cells.schema.names:
                return cells.column(name)[row].as_py()
            return float(X[row, self.columns.index(name)])  # a place of a vector or of a sparse row

        said = found.said(cell, self.n)
        batch = batch.drop_columns([self.CELLS])
        for k, name in enumerate(self.names):
            batch = batch.append_column(name, pa.array([row[k] if k < len(row) else None for row in said], pa.string()))
        return batch


def scored_rows(
    scorer: Scorer,
    source: TableSource,
    ids: Sequence[str],
    *,
    interval: bool = False,
    why: Reasons | None = None,
    step: Bar | None = None,
) -> Iterator[pa.RecordBatch]:
    """Batches of ids (or records' numbers), scores and probabilities; where asked for, the ends of these, and cells."""
    names = ["score", "probability", *(["probability_low", "probability_high"] if interval else [])]
    taken = (*names, "label", *(why.names if why else []))
    own = [name if name not in taken else f"{name} (id)" for name in ids]
    names += [Reasons.CELLS] if why else []
    for scored in scorer.score(source, ids, step):
        first = [scored.batch.column(name) for name in ids]
        number = pa.array(np.arange(scored.first, scored.first + scored.log_odds.size))
        parts = [*(first or [number]), pa.array(scored.log_odds), pa.array(scored.probability)]
        if interval:
            parts += [pa.array(end) for end in scorer.classifier.probability_interval(scored.log_odds).T]
        parts += [why.carry(scored.batch)] if why else []
        yield pa.record_batch(parts, names=[*(own or ["row"]), *names])


def label_rows(batch: pa.RecordBatch, tally: Tally, *, counted: bool = False) -> pa.RecordBatch:
    """The batch with its labels; rows are counted, unless they have been."""
    probability = batch.column("probability").to_numpy()
    above = probability > tally.threshold if counted else tally.add(probability)
    return batch.append_column("label", pa.array(above.astype(np.int8)))
