"""Reasons beside rows: the columns that speak most for and against each, in the words of the file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from purely.cli._scoring import Scorer
from purely.explain import column_of_features, explain_rows
from purely.typing import Matrix

#: Rows of the file that each row is compared with.
COMPARED = 32


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
        place = batch.schema.get_field_index(self.CELLS)
        cells = pa.RecordBatch.from_struct_array(batch.column(place))
        X = self.encoder.transform(cells)
        found = explain_rows(
            self.classifier, X, self.background, groups=self.columns, n_samples=COMPARED, random_state=self.seed
        )

        def cell(row: int, name: str) -> object:
            if name in cells.schema.names:
                return cells.column(name)[row].as_py()
            return float(X[row, self.columns.index(name)])  # a place of a vector or of a sparse row

        said = found.said(cell, self.n)
        names = [name for name in batch.schema.names if name != self.CELLS]
        parts = [batch.column(name) for name in names]
        parts += [pa.array([row[k] if k < len(row) else None for row in said], pa.string()) for k in range(self.n)]
        return pa.record_batch(parts, names=[*names, *self.names])
