"""One step of training: outputs, gradient, (noise, clipping,) a step of the optimiser.

A step is a hundred or two short kernels. On a GPU, launching them from Python takes longer than running them, so after
a few steps the launches are recorded and from then on replayed as one CUDA graph. What differs between two steps (the
rows, the rate and Adam's corrections, where the random numbers begin) is copied into the places that the graph reads.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from purely.nn.losses import Loss
from purely.nn.networks import StackedMLP
from purely.nn.noise import DROPOUT, GRADIENT, dropout_mask, dropout_threshold, normal_noise, stream_starts
from purely.nn.optimisers import Optimiser, clip_rows
from purely.typing import Keys

if TYPE_CHECKING:
    from purely.nn.recipe import TrainingSettings

#: Steps of a kind that are taken as they are before they are recorded: workspaces and moments are made in these.
BEFORE_RECORDING = 2
#: Kinds of step (shape of the batch, which part moves) that are recorded at most; a stream may have any number.
MOST_GRAPHS = 4


class Stepper:
    """Steps of the networks of a stack, as long as the stack holds the same networks.

    Parameters
    ----------
    stack : StackedMLP
        The networks, changed in place.
    loss : Loss
        For these networks.
    optimiser : Optimiser
    settings : TrainingSettings
    seeds : array of shape (M,)
        For dropout and gradient noise.
    """

    def __init__(
        self,
        stack: StackedMLP,
        loss: Loss,
        optimiser: Optimiser,
        settings: TrainingSettings,
        seeds: Keys,
    ) -> None:
        self.stack, self.loss, self.optimiser, self.settings, self.seeds = stack, loss, optimiser, settings, seeds
        self.records = stack.device.type == "cuda" and type(stack) is StackedMLP
        self.seen: Counter[Any] = Counter()
        self.graphs: dict[Any, _Recording] = {}

    def __call__(self, x: Tensor, n_p: int, update: str, number: int, rate: float) -> Tensor:
        """Take a step on a minibatch whose first rows are positives; the outputs for it come back."""
        factors = self.optimiser.factors(rate, self.stack.columns(update))
        starts = self._starts(number)
        if not self.records:
            return self._step(x, n_p, update, factors, self._to_device(starts))
        kind = (update, tuple(x.shape), n_p)
        self.seen[kind] += 1
        with torch.cuda.device(self.stack.device):  # graphs belong to the current device, which may be another one
            if kind not in self.graphs:
                if self.seen[kind] <= BEFORE_RECORDING or len(self.graphs) == MOST_GRAPHS:
                    return self._step(x, n_p, update, factors, self._to_device(starts))
                try:
                    self.graphs[kind] = self._record(x, n_p, update, factors, starts)
                except torch.cuda.OutOfMemoryError:
                    self.records = False
                    return self._step(x, n_p, update, factors, self._to_device(starts))
            return self.graphs[kind].replay(x, _floats(factors), torch.from_numpy(starts))

    def _step(self, x: Tensor, n_p: int, update: str, factors: Any, starts: Tensor) -> Tensor:
        stack, settings = self.stack, self.settings
        if settings.dropout:
            keep = dropout_mask(starts[0], tuple(x.shape[1:]), settings.dropout)
            x = x.mul_(keep).mul_(256.0 / (256.0 - dropout_threshold(settings.dropout)))
        with self._autocast():
            z = stack.forward(x, training=True, update=update).float()
        grad = stack.gradient(self.loss(z[:, :n_p], z[:, n_p:]).objective, update)
        if settings.gradient_noise:
            grad.add_(normal_noise(starts[1], grad.shape[1]), alpha=settings.gradient_noise)
        if settings.clip_norm is not None:
            clip_rows(grad, settings.clip_norm)
        self.optimiser.step(stack.theta, grad, factors, stack.columns(update))
        return z.detach()

    def _record(self, x: Tensor, n_p: int, update: str, factors: Any, starts: NDArray[np.int64]) -> _Recording:
        """Record the launches of a step; nothing is computed yet."""
        rows, numbers, places = x.clone(), _floats(factors).to(x.device), self._to_device(starts)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            z = self._step(rows, n_p, update, numbers.unbind(), places)
        return _Recording(graph, rows, numbers, places, z)

    def _starts(self, number: int) -> NDArray[np.int64]:
        """Where the random numbers of dropout and of gradient noise begin, shape (2, M)."""
        if not (self.settings.dropout or self.settings.gradient_noise):
            return np.zeros((2, 0), dtype=np.int64)
        return np.stack([stream_starts(self.seeds, purpose, number) for purpose in (DROPOUT, GRADIENT)])

    def _to_device(self, starts: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(starts).to(self.stack.device, non_blocking=True)

    def _autocast(self) -> contextlib.AbstractContextManager[Any]:
        if self.settings.dtype == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self.stack.device.type, dtype=torch.bfloat16, cache_enabled=False)


@dataclass(frozen=True)
class _Recording:
    """A recorded step, what it reads, and the outputs that it writes."""

    graph: torch.cuda.CUDAGraph
    rows: Tensor
    factors: Tensor
    starts: Tensor
    outputs: Tensor

    def replay(self, x: Tensor, factors: Tensor, starts: Tensor) -> Tensor:
        for place, value in ((self.rows, x), (self.factors, factors), (self.starts, starts)):
            place.copy_(value, non_blocking=True)
        self.graph.replay()
        return self.outputs.clone()


def _floats(factors: Any) -> Tensor:
    return torch.tensor(factors, dtype=torch.float32)
