"""PURL with the paper's network and settings, on the training rows, which the prior is then read from."""

from __future__ import annotations

from typing import Any

from experiments.paper.draws import Draw
from experiments.paper.methods import Rows
from experiments.paper.methods.networks import trained
from purely import PURL


def represent(draws: list[Draw], text: bool, device: str, settings: dict[str, Any]) -> list[Rows]:
    """Twenty features (ten for text) of each draw."""
    return trained(PURL, draws, text, device, settings)
