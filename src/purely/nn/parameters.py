"""Parameters of every estimator that trains networks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from purely.base import with_parameters
from purely.checks import RandomState

__all__ = ["NetworkParameters"]


@with_parameters
class NetworkParameters:
    """What is asked of every estimator that trains networks; :func:`purely.nn.recipe.read_settings` checks it."""

    preset: str | None = None
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    dropout: float = 0.2
    validation_fraction: float = 1 / 6
    tol: float = 0.0
    batch_size: int | Literal["auto"] = "auto"
    standardize: bool = True
    device: str = "auto"
    dtype: str = "float32"
    checkpoint: str | Path | None = None
    random_state: RandomState = 0
    verbose: bool = False
