"""Small problems for the engine, and a shortcut to train a stack on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from purely.nn.fitted import History
from purely.nn.losses import LogisticLoss
from purely.nn.networks import StackedMLP
from purely.nn.plan import Split
from purely.nn.recipe import Architecture, TrainingSettings
from purely.nn.sources import BatchShape, RowBatches, rows_of
from purely.nn.training import HeldOut, train


@dataclass(frozen=True)
class Trained:
    stack: StackedMLP
    history: History


class Engine:
    """Rows and one split a network; `train` trains any of the networks, together or alone."""

    def __init__(self, X: Any, splits: list[Split], hidden: tuple[int, ...] = (6,), device: str = "cpu") -> None:
        self.X, self.splits, self.hidden, self.device = X, splits, hidden, torch.device(device)
        self.shape = BatchShape.of(splits[0].train_p.size, splits[0].train_u.size, 40)

    def train(self, networks: list[int], loss: Any = None, X: Any = None, **settings: Any) -> Trained:
        loss = loss or LogisticLoss(0.1)
        seeds = [100 + m for m in networks]
        splits = [self.splits[m] for m in networks]
        rows = rows_of(self.X if X is None else X, self.device)
        architecture = Architecture.representation(self.X.shape[1], self.hidden, 3, (), loss.n_outputs)
        stack = StackedMLP(architecture, seeds, self.device, loss.initial_bias)
        batches = RowBatches(rows, splits, seeds, self.shape)
        settings = {"max_epochs": 6, "patience": 50, **settings}
        history = train(stack, batches, HeldOut(rows, splits), loss, TrainingSettings(**settings), seeds)
        return Trained(stack, history)


def make_engine(seed: int = 0, n_networks: int = 3, device: str = "cpu", hidden: tuple[int, ...] = (6,)) -> Engine:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    X[:50] += 1.0
    splits = []
    for m in range(n_networks):
        p, u = rng.permutation(50), 50 + rng.permutation(100)
        held = 8 + m  # networks hold out different numbers of rows
        splits.append(Split(p[held:], u[2 * held :], p[:held], u[: 2 * held]))
    return Engine(X, splits, hidden, device)


@pytest.fixture
def engine() -> Engine:
    return make_engine()
