"""TIcE: the class prior from a decision tree's purest regions."""

from __future__ import annotations

import warnings

from experiments.paper.draws import Draw
from experiments.paper.methods import dense
from purely.prior import TIcEPrior


def estimate(draw: Draw) -> float:
    """Class prior of the draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(TIcEPrior(random_state=draw.key.seed).fit(dense(draw.X), draw.y).class_prior_)
