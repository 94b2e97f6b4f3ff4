r"""A stack of M networks of one shape, :math:`w = g \circ v`, whose parameters are rows of one matrix.

Network m has the parameters ``theta[m]``: first those of the encoder v, then those of the head g. The weights of a
layer are a view ``(M, out, in)`` of that matrix, so one batched product serves the whole stack, and whatever is done
to a network by itself (a step of its own, a copy of its best state, its removal) is done to a row.

Activations are kept as ``(M, features, batch)``: a batch norm over the stack is then one batch norm over ``M *
features`` channels, each of them a contiguous run of memory.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call

from purely.checks import dense
from purely.nn.fitted import Layers, Network, NetworkArrays, by_blocks
from purely.nn.recipe import Architecture, Layer
from purely.nn.scaling import Scaling
from purely.typing import Floats, Matrix

NORM_MOMENTUM = 0.1
NORM_EPS = 1e-5

Device: TypeAlias = torch.device | str
#: Seeds, device and initial bias.
StackOptions: TypeAlias = tuple[Sequence[int], Device, float]


class StackedMLP:
    """M multi-layer perceptrons of one shape.

    Parameters
    ----------
    architecture : Architecture
    seeds : sequence of int
        One seed a network, for its initial weights; what a network starts from depends on its own seed only.
    device : torch.device or str, default="cpu"
    initial_bias : float, default=0
        Start of the bias of the last layer.

    Attributes
    ----------
    theta : Tensor of shape (M, n_parameters)
        Parameters, the encoder's first.
    n_encoder : int
        How many of the parameters are the encoder's.
    decays : Tensor of shape (n_parameters,)
        1 where weight decay applies (weights), 0 where not (biases, batch norm).
    running : list of Tensor, each (M, width)
        Running means and variances of the batch norms.
    """

    def __init__(
        self, architecture: Architecture, seeds: Sequence[int], device: Device = "cpu", initial_bias: float = 0.0
    ) -> None:
        self.layers = (*architecture.encoder, *architecture.head)
        #: How many of the layers, and of the parts that have parameters, are the encoder's.
        self.n_encoding = self._n_parts = len(architecture.encoder)
        starts = np.stack([_initial_parameters(self.layers, seed, initial_bias) for seed in seeds])
        self.theta = torch.from_numpy(starts).to(device)
        widths = [layer.n_out for layer in self.layers if layer.norm]
        makers = (torch.zeros, torch.ones)
        self.running = [make(len(seeds), width, device=device) for width in widths for make in makers]
        #: Where the running means and variances of each layer are, and where what follows the layers' begins.
        self._statistics = list(accumulate((2 * layer.norm for layer in self.layers), initial=0))
        #: Shapes of the parameters of each part, the encoder's parts first; the last parts are the layers.
        self._shapes = [layer.shapes for layer in self.layers]
        self.n_encoder = sum(prod(shape) for layer in architecture.encoder for shape in layer.shapes)
        decays = [torch.full((prod(s),), len(s) == 2, dtype=torch.float32) for shapes in self._shapes for s in shapes]
        self.decays = torch.cat(decays).to(device)
        self._bind()

    @property
    def size(self) -> int:
        """Number of networks M."""
        return int(self.theta.shape[0])

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        return self.theta.device

    def features(self, x: Tensor, training: bool = False) -> Tensor:
        """V of a batch for each network: ``(M, b, n_features)`` to ``(M, n_components, b)``."""
        return self._through(0, self.n_encoding, x.transpose(1, 2), training)

    def output(self, features: Tensor, training: bool = False) -> Tensor:
        """G of features ``(M, n_components, b)``: ``(M, b)``, or ``(M, b, n_outputs)`` where there are several."""
        h = self._through(self.n_encoding, len(self.layers), features, training)
        return h[:, 0] if h.shape[1] == 1 else h.transpose(1, 2)

    def forward(self, x: Tensor, training: bool = False, update: str = "both") -> Tensor:
        """g(v(x)); `update` says whose gradient is wanted: "both", "g" (v is then run without one) or "v"."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and update != "g"):
            features = self.features(x, training)
        return self.output(features, training)

    def _through(self, first: int, end: int, h: Tensor, training: bool) -> Tensor:
        """What some of the layers, counted over encoder and head, make of ``(M, features, b)``."""
        for i, layer in enumerate(self.layers[first:end], start=first):
            weights, *rest = self._parameters[i - len(self.layers)]
            h = torch.baddbmm(rest[0].unsqueeze(2), weights, h) if layer.bias else torch.bmm(weights, h)
            if layer.norm:
                M, width, b = h.shape
                mean, variance = (r.view(-1) for r in self.running[self._statistics[i] : self._statistics[i + 1]])
                scale, shift = (p.reshape(-1) for p in rest)
                # The native kernels rather than cuDNN's, which are not made for channels by the hundred thousand. One
                # row says nothing about a spread: with a batch of one, training goes by the running statistics.
                how = training and b > 1, NORM_MOMENTUM, NORM_EPS
                normed = torch.native_batch_norm(h.reshape(1, M * width, b), scale, shift, mean, variance, *how)
                h = normed[0].view(M, width, b)
            if layer.relu:
                h = torch.relu_(h)
        return h

    def columns(self, update: str) -> slice:
        """Columns of `theta` that an update of "both" parts, of "g" or of "v" moves."""
        first = self.n_encoder if update == "g" else 0
        return slice(first, self.n_encoder if update == "v" else self.theta.shape[1])

    def gradient(self, objective: Tensor, update: str = "both") -> Tensor:
        """Gradient of each network's objective, for the columns that the update moves; the rows never mix."""
        first, end = self._n_parts if update == "g" else 0, self._n_parts if update == "v" else None
        wanted = [p for part in self._parameters[first:end] for p in part]
        parts = torch.autograd.grad(objective.sum(), wanted, allow_unused=True, materialize_grads=True)
        return torch.cat([part.reshape(self.size, -1) for part in parts], dim=1)

    def state(self) -> dict[str, Tensor]:
        """Everything that makes the networks what they are, each tensor with a leading dimension M; not copied."""
        return {"theta": self.theta, **{f"running_{i}": r for i, r in enumerate(self.running)}}

    def replace_state(self, state: dict[str, Tensor]) -> None:
        """Become the networks of a state, of as many networks as it has; its tensors are taken, not copied."""
        self.theta = state["theta"]
        self.running = [state[f"running_{i}"] for i in range(len(self.running))]
        self._bind()

    def select(self, keep: Tensor) -> None:
        """Keep only these networks."""
        self.replace_state({name: tensor.index_select(0, keep) for name, tensor in self.state().items()})

    def network(self, m: int, scaling: Scaling | None = None) -> Network:
        """Network m, batch norms folded in; it takes the columns as they are before their scaling."""
        layers = self._folded(m)
        arrays = NetworkArrays(layers[: self.n_encoding], layers[self.n_encoding :])
        return arrays if scaling is None else arrays.after_scaling(scaling.mean, scaling.scale)

    def _folded(self, m: int) -> Layers:
        """The layers of network m as arrays."""
        found = []
        for i, layer in enumerate(self.layers):
            of_layer = self._parameters[i - len(self.layers)]
            weights, *rest = (p[m].detach().cpu().numpy().astype(np.float64) for p in of_layer)
            weights, bias = weights.T, rest[0] if layer.bias else np.zeros(layer.n_out)
            if layer.norm:
                running = self.running[self._statistics[i] : self._statistics[i + 1]]
                mean, variance = (r[m].cpu().numpy().astype(np.float64) for r in running)
                factor = rest[0] / np.sqrt(variance + NORM_EPS)
                weights, bias = weights * factor, rest[1] - mean * factor
            found.append((weights, bias, layer.relu))
        return tuple(found)

    def _bind(self) -> None:
        """Make the parameters of every part leaves of the graph that are views of `theta`."""
        parts = iter(self.theta.split([prod(shape) for shapes in self._shapes for shape in shapes], dim=1))
        self._parameters = [
            [next(parts).view(self.size, *shape).detach().requires_grad_() for shape in shapes]
            for shapes in self._shapes
        ]


def _initial_parameters(layers: Sequence[Layer], seed: int, initial_bias: float) -> NDArray[np.float32]:
    """Uniform weights of variance 1/(3 n_in); batch norms start as the identity, biases at zero."""
    rng = np.random.Generator(np.random.Philox(key=[seed, 0]))
    parts: list[Floats] = []
    for i, layer in enumerate(layers):
        bound = 1.0 / np.sqrt(layer.n_in)
        parts.append(rng.uniform(-bound, bound, (layer.n_in, layer.n_out)).T.ravel())
        if layer.norm:
            parts += [np.ones(layer.n_out), np.zeros(layer.n_out)]
        elif layer.bias:
            parts.append(np.full(layer.n_out, initial_bias if i == len(layers) - 1 else 0.0))
    return np.concatenate(parts).astype(np.float32)


@dataclass
class ModuleNetwork(Network):
    """A network with a torch module for an encoder, applied block by block on the CPU."""

    module: nn.Sequential
    scaling: Scaling | None = None

    def features(self, X: Matrix) -> Floats:
        """v(x) of each row."""
        scaled = self.scaling or np.asarray
        return by_blocks(lambda rows: _outputs(self.module[0], scaled(dense(rows))), X, 4096)

    def output(self, features: Floats) -> Floats:
        """G of each row of features."""
        z = _outputs(self.module[1], features)
        return z[:, 0] if z.shape[1] == 1 else z


@torch.no_grad()
def _outputs(module: nn.Module, rows: Floats) -> Floats:
    return module(torch.from_numpy(rows.astype(np.float32))).numpy().astype(np.float64)


class EncoderStack(StackedMLP):
    """Networks whose encoders are ``torch.nn.Module``s of one kind: their parameters are rows of `theta` as well.

    Parameters
    ----------
    encoders : sequence of torch.nn.Module
        One a network; it maps ``(b, n_features)`` to ``(b, n_components)``. Modules are copied.
    architecture : Architecture
        Only its head is used.
    seeds, device, initial_bias
        As for :class:`StackedMLP`.
    """

    def __init__(self, encoders: Sequence[nn.Module], architecture: Architecture, *options: *StackOptions) -> None:
        super().__init__(Architecture((), architecture.head), *options)
        copies = [copy.deepcopy(encoder).to(device=self.device, dtype=torch.float32) for encoder in encoders]
        self.module_of_all = copies[0]
        empty = self.theta.new_empty(0)
        flat = [torch.cat([empty, *(p.detach().reshape(-1) for p in e.parameters())]) for e in copies]
        self.theta = torch.cat([torch.stack(flat), self.theta], dim=1)
        self.running += [torch.stack(buffers) for buffers in zip(*(e.buffers() for e in copies), strict=True)]
        self._names = [name for name, _ in (*copies[0].named_parameters(), *copies[0].named_buffers())]
        self._shapes.insert(0, tuple(tuple(p.shape) for p in copies[0].parameters()))
        self._n_parts, self.n_encoder = 1, flat[0].numel()
        self.decays = torch.cat([torch.ones_like(flat[0]), self.decays])
        self._bind()

    def features(self, x: Tensor, training: bool = False) -> Tensor:
        """V of a batch, shape (M, n_components, b)."""
        self.module_of_all.train(training)
        found = [functional_call(self.module_of_all, self._state_of(m), (x[m],)) for m in range(self.size)]
        wanted = (x.shape[1], self.layers[0].n_in)
        if found[0].shape != wanted:
            raise ValueError(
                f"encoder must map ({x.shape[1]}, {x.shape[2]}) to {wanted}, the rows by n_components; it returned "
                f"{tuple(found[0].shape)}."
            )
        return torch.stack(found).transpose(1, 2)

    def _state_of(self, m: int) -> dict[str, Tensor]:
        """Parameters and buffers of one encoder, by name."""
        held = *self._parameters[0], *self.running[self._statistics[-1] :]
        return {name: of[m] for name, of in zip(self._names, held, strict=True)}

    def network(self, m: int, scaling: Scaling | None = None) -> ModuleNetwork:
        """A network, on the CPU and in evaluation mode, that takes the columns as they are before their scaling."""
        encoder, state = copy.deepcopy(self.module_of_all).cpu(), self._state_of(m)
        with torch.no_grad():
            for name, held in (*encoder.named_parameters(), *encoder.named_buffers()):
                held.copy_(state[name])
        return ModuleNetwork(nn.Sequential(encoder, _sequential(self._folded(m))).eval(), scaling)


def reinitialised(encoder: nn.Module, seed: int) -> nn.Module:
    """A copy of a module with parameters drawn anew from `seed`; torch's global generator is left as it was."""
    module = copy.deepcopy(encoder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for part in module.modules():
            if callable(reset := getattr(part, "reset_parameters", None)):
                reset()
    return module


def _sequential(layers: Layers) -> nn.Sequential:
    parts: list[nn.Module] = []
    for weights, bias, relu in layers:
        linear = nn.Linear(weights.shape[0], weights.shape[1])
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weights.T.copy()))
            linear.bias.copy_(torch.from_numpy(np.asarray(bias)))
        parts += [linear, nn.ReLU()] if relu else [linear]
    return nn.Sequential(*parts).eval()
