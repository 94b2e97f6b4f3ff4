"""What predictions have in common, of one file or of many: rows as they are written, and what is said about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from purely.cli._reasons import Reasons
from purely.cli._scoring import Scorer
from purely.tables import TableSource
from purely.typing import Floats, Mask


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


def scored_rows(
    scorer: Scorer, source: TableSource, ids: Sequence[str], *, interval: bool = False, why: Reasons | None = None
) -> Iterator[pa.RecordBatch]:
    """Batches of ids (or records' numbers), scores and probabilities; where asked for, the ends of these, and cells."""
    names = ["score", "probability", *(["probability_low", "probability_high"] if interval else [])]
    taken = (*names, "label", *(why.names if why else []))
    own = [name if name not in taken else f"{name} (id)" for name in ids]
    names += [Reasons.CELLS] if why else []
    for scored in scorer.score(source, ids):
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
