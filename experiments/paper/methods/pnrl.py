"""PNRL: the network of PURL, the unlabelled rows taken for negative."""

from __future__ import annotations

from typing import Any

from experiments.paper.draws import Draw
from experiments.paper.methods import Rows
from experiments.paper.methods.networks import trained
from purely import PNRL


def represent(draws: list[Draw], text: bool, device: str, settings: dict[str, Any]) -> list[Rows]:
    """Twenty features (ten for text) of each draw."""
    return trained(PNRL, draws, text, device, settings)
