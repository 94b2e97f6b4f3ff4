"""One step of training: outputs, gradient, (noise, clipping,) a step of the optimiser.

The optimisers of a stack are a handful of operations on the matrix of all parameters. Its rows never mix, so every
network takes exactly the steps that it would take alone.

A step is a hundred or two short kernels. On a GPU, launching them from Python takes longer than running them, so after
a few steps the launches are recorded and from then on replayed as one CUDA graph. What differs between two steps (the
rows, the rate and Adam's corrections, where the random numbers begin) is copied into the places that the graph reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from purely.nn.losses import Loss
from purely.nn.networks import StackedMLP
from purely.nn.noise import DROPOUT, GRADIENT, dropout_mask, dropout_threshold, normal_noise, stream_starts
from purely.nn.recipe import OptimizerName, TrainingSettings
from purely.typing import Keys

#: Steps of a kind that are taken as they are before they are recorded: workspaces and moments are made in these.
BEFORE_RECORDING = 2
#: Kinds of step (shape of the batch, which part moves) that are recorded at most; a stream may have any number.
MOST_GRAPHS = 4
ADAM_BETAS = (0.9, 0.999)
EPS = 1e-8
ADAGRAD_EPS = 1e-10

#: The numbers a, b and c of a step.
Factors: TypeAlias = Sequence[float | Tensor]
#: What steps have to have in common to be replays of one recording: the part that moves, the batch, its positives.
Kind: TypeAlias = tuple[str, tuple[int, ...], int]


@dataclass
class Optimiser:
    r"""SGD, Adam or AdaGrad on parameters :math:`\theta` of shape (M, n_parameters).

    With the gradient :math:`\gamma`, the rate :math:`\varepsilon` and weight decay :math:`\kappa`, all decoupled from
    the gradient, :math:`\theta \leftarrow (1 - \varepsilon \kappa) \theta - \varepsilon\, u`, where

    - SGD: :math:`u = \gamma`;
    - Adam: :math:`u = \hat m / (\sqrt{\hat s} + \epsilon)`, from the running means :math:`m` of :math:`\gamma`
      and :math:`s` of :math:`\gamma^2`, both corrected for their start at zero;
    - AdaGrad: :math:`u = \gamma / (\sqrt{a} + \epsilon)`, :math:`a` the sum of all :math:`\gamma^2` so far.

    Alternating updates move some columns only; the moments and the count of steps of the others stay as they are.

    Parameters
    ----------
    name : {"adam", "sgd", "adagrad"}
    weight_decay : float
    decays : Tensor of shape (n_parameters,)
        1 where weight decay applies, 0 where not.
    state : dict of Tensor
        Running sums, each (M, n_parameters); empty before the first step.
    steps : dict of int
        Steps taken, by the first column of the part that was moved.
    """

    name: OptimizerName
    weight_decay: float
    decays: Tensor
    state: dict[str, Tensor] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)

    def factors(self, rate: float, columns: slice) -> Factors:
        r"""Numbers a, b and c of the next step of some columns, for :meth:`step`; calling it counts a step.

        The step is then

        .. math:: \theta \leftarrow (1 - c\, d)\, \theta + m / (a \sqrt s + b)

        (for SGD by :math:`a \gamma`), :math:`d` being 1 where weight decay applies.
        """
        first = columns.start or 0
        t = self.steps[first] = self.steps.get(first, 0) + 1
        decay = rate * self.weight_decay
        if self.name == "sgd":
            return -rate, 0.0, decay
        if self.name == "adagrad":
            return -1.0 / rate, -ADAGRAD_EPS / rate, decay
        beta1, beta2 = ADAM_BETAS
        size = -(1.0 - beta1**t) / rate
        return size * (1.0 - beta2**t) ** -0.5, size * EPS, decay

    @torch.no_grad()
    def step(self, theta: Tensor, grad: Tensor, factors: Factors, columns: slice) -> None:
        """Move the given columns of the parameters of every network by their gradient, which is used up.

        Parameters
        ----------
        theta : Tensor of shape (M, n_parameters)
        grad : Tensor of shape (M, number of columns)
        factors : three numbers, each a float or a scalar Tensor
            From :meth:`factors`.
        columns : slice
        """
        for name in {"adam": ("mean", "square"), "adagrad": ("square",), "sgd": ()}[self.name]:
            if name not in self.state:
                self.state[name] = torch.zeros_like(theta)
        part, (a, b, decay) = theta[:, columns], factors
        if self.weight_decay:
            part.mul_(1.0 - self.decays[columns] * decay)
        if self.name == "sgd":
            part.add_(grad.mul_(a))
        elif self.name == "adagrad":
            square = self.state["square"][:, columns].addcmul_(grad, grad)
            part.addcdiv_(grad, square.sqrt().mul_(a).add_(b))
        else:
            beta1, beta2 = ADAM_BETAS
            mean = self.state["mean"][:, columns].lerp_(grad, 1.0 - beta1)
            square = self.state["square"][:, columns].mul_(beta2).addcmul_(grad, grad, value=1.0 - beta2)
            part.addcdiv_(mean, square.sqrt().mul_(a).add_(b))

    def select(self, keep: Tensor) -> None:
        """Keep only these networks."""
        self.state = {name: tensor.index_select(0, keep) for name, tensor in self.state.items()}


@dataclass
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

    stack: StackedMLP
    loss: Loss
    optimiser: Optimiser
    settings: TrainingSettings
    seeds: Keys
    seen: Counter[Kind] = field(default_factory=Counter)
    graphs: dict[Kind, _Recording] = field(default_factory=dict)
    records: bool = True

    def __call__(self, x: Tensor, n_p: int, update: str, number: int, rate: float) -> Tensor:
        """Take a step on a minibatch whose first rows are positives; the outputs for it come back."""
        factors = self.optimiser.factors(rate, self.stack.columns(update))
        # where the random numbers of dropout and of gradient noise begin, shape (2, M)
        drawn = self.settings.dropout or self.settings.gradient_noise
        places = [stream_starts(self.seeds, use, number) for use in (DROPOUT, GRADIENT)] if drawn else []
        starts = torch.from_numpy(np.stack(places)) if places else torch.zeros((2, 0), dtype=torch.int64)
        if not self.records or self.stack.device.type != "cuda" or type(self.stack) is not StackedMLP:
            return self._step(x, n_p, update, factors, starts)
        kind: Kind = (update, tuple(x.shape), n_p)
        self.seen[kind] += 1
        with torch.cuda.device(self.stack.device):  # graphs belong to the current device, which may be another one
            if kind not in self.graphs:
                if self.seen[kind] <= BEFORE_RECORDING or len(self.graphs) == MOST_GRAPHS:
                    return self._step(x, n_p, update, factors, starts)
                try:
                    self.graphs[kind] = self._record(x, n_p, update, factors, starts)
                except torch.cuda.OutOfMemoryError:
                    self.records = False
                    return self._step(x, n_p, update, factors, starts)
            return self.graphs[kind].replay(x, torch.tensor(factors, dtype=torch.float32), starts)

    def _step(self, x: Tensor, n_p: int, update: str, factors: Factors, starts: Tensor) -> Tensor:
        stack, settings = self.stack, self.settings
        starts, half = starts.to(stack.device, non_blocking=True), settings.dtype != "float32"
        if settings.dropout:
            keep = dropout_mask(starts[0], tuple(x.shape[1:]), settings.dropout)
            x = x.mul_(keep).mul_(256.0 / (256.0 - dropout_threshold(settings.dropout)))
        with torch.autocast(stack.device.type, torch.bfloat16, enabled=half, cache_enabled=False):
            z = stack.forward(x, training=True, update=update).float()
        grad = stack.gradient(self.loss(z[:, :n_p], z[:, n_p:]).objective, update)
        if settings.gradient_noise:
            grad.add_(normal_noise(starts[1], grad.shape[1]), alpha=settings.gradient_noise)
        if settings.clip_norm is not None:
            norms = grad.norm(dim=1, keepdim=True)
            grad.mul_((settings.clip_norm / norms.clamp(min=1e-12)).clamp(max=1.0))
        self.optimiser.step(stack.theta, grad, factors, stack.columns(update))
        return z.detach()

    def _record(self, x: Tensor, n_p: int, update: str, factors: Factors, starts: Tensor) -> _Recording:
        """Record the launches of a step; nothing is computed yet."""
        rows, numbers, places = x.clone(), torch.tensor(factors, dtype=torch.float32).to(x.device), starts.to(x.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            z = self._step(rows, n_p, update, numbers.unbind(), places)
        return _Recording(graph, rows, numbers, places, z)


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
