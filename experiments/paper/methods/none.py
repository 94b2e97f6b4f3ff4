"""No dimension reduction."""

from __future__ import annotations

from experiments.paper.draws import Draw
from experiments.paper.methods import Rows


def represent(draw: Draw) -> dict[str, Rows]:
    """The rows as they are, sparse ones sparse."""
    return {"none": Rows(draw.X, draw.X_test)}
