"""Fitted models as torch modules of plain operations, for the exporter; loads torch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["Affine", "Calibration", "Chain", "NetworkScore", "Probability", "Ratio", "Representation"]


def constant(value: Any, dtype: torch.dtype) -> Tensor:
    """An array or number as a tensor."""
    return torch.from_numpy(np.array(value, dtype=np.float64)).to(dtype)


class Affine(nn.Module):
    """``x @ weights + bias``, or ``x * weights + bias`` where weights are one number a column."""

    weights: Tensor
    bias: Tensor

    def __init__(self, weights: Any, bias: Any, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("weights", constant(weights, dtype))
        self.register_buffer("bias", constant(bias, dtype))

    def forward(self, x: Tensor) -> Tensor:
        """Rows to rows."""
        product = x @ self.weights if self.weights.ndim == 2 else x * self.weights
        return product + self.bias


def layers(parts: Any, dtype: torch.dtype) -> nn.Sequential:
    """Layers of a network of arrays."""
    made: list[nn.Module] = []
    for weights, bias, relu in parts:
        made += [Affine(weights, bias, dtype), nn.ReLU()] if relu else [Affine(weights, bias, dtype)]
    return nn.Sequential(*made)


def network_parts(network: Any, dtype: torch.dtype) -> tuple[nn.Module, nn.Module]:
    """V and g of a fitted network, of arrays or with a module for an encoder."""
    if hasattr(network, "encoder"):
        return layers(network.encoder, dtype), layers(network.head, dtype)
    encoder, head = (copy.deepcopy(part).to(dtype) for part in (network.module[0], network.module[1]))
    if network.scaling is None:
        return encoder, head
    scale, mean = network.scaling.scale, network.scaling.mean
    shift = np.zeros_like(scale) if mean is None else -mean / scale
    return nn.Sequential(Affine(1.0 / scale, shift, dtype), encoder), head


class NetworkScore(nn.Module):
    """Mean output of networks, shape (n,), or of each of them, shape (networks, n)."""

    def __init__(self, networks: list[Any], dtype: torch.dtype, *, average: bool) -> None:
        super().__init__()
        self.networks = nn.ModuleList(nn.Sequential(*network_parts(network, dtype)) for network in networks)
        self.average = average

    def forward(self, x: Tensor) -> Tensor:
        """Rows to outputs."""
        outputs = torch.stack([network(x)[:, 0] for network in self.networks])
        return outputs.mean(0) if self.average else outputs


class Representation(nn.Module):
    """v(x) of the network whose features a representation gives."""

    def __init__(self, model: Any, dtype: torch.dtype) -> None:
        super().__init__()
        linear = getattr(model, "components_", None)
        if linear is not None:
            self.features: nn.Module = Affine(linear.T, np.zeros(linear.shape[0]), dtype)
        else:
            self.features = network_parts(model.networks_[model.best_network_], dtype)[0]

    def forward(self, x: Tensor) -> Tensor:
        """Rows to features."""
        features: Tensor = self.features(x)
        return features


class Ratio(nn.Module):
    """Density ratio of PURL, averaged over its networks as PURL averages."""

    def __init__(self, model: Any, dtype: torch.dtype) -> None:
        super().__init__()
        self.score = NetworkScore(model.networks_, dtype, average=False)
        self.logistic = bool(model._logistic)
        self.log_floor = float(np.log(model.prior_min)) if model.prior_min else -30.0
        self.share = float(model._share) if model.scenario == "single-sample" else None

    def forward(self, x: Tensor) -> Tensor:
        """Rows to ratios."""
        z = self.score(x)
        if self.logistic:  # minus log(e^-z + c), written so that neither term overflows
            above = -z - self.log_floor
            log_ratio = -self.log_floor - torch.relu(above) - torch.log(1.0 + torch.exp(-torch.abs(above)))
            ratio = torch.exp(log_ratio.mean(0))
        else:
            ratio = z.mean(0)
        if self.share is not None:
            ratio = torch.relu(ratio)
            ratio = ratio / (self.share * ratio + 1.0 - self.share)
        return ratio


class Calibration(nn.Module):
    """Scores to log-odds, linear between knots and beyond them; in double precision, for its steps may be steep."""

    knots: Tensor
    values: Tensor
    slopes: Tensor

    def __init__(self, found: Any) -> None:
        super().__init__()
        knots, values = np.asarray(found.knots), np.asarray(found.log_odds)
        if knots.size == 1:
            knots, values = np.repeat(knots, 2) + [0.0, 1.0], np.repeat(values, 2) + [0.0, found.end_slope]
        self.register_buffer("knots", constant(knots, torch.float64))
        self.register_buffer("values", constant(values, torch.float64))
        self.register_buffer("slopes", constant(np.diff(values) / np.diff(knots), torch.float64))
        self.end_slope = float(found.end_slope)

    def forward(self, score: Tensor) -> Tensor:
        """Scores to log-odds."""
        s = score.to(torch.float64)
        first, last = self.knots[0], self.knots[-1]
        inside = torch.minimum(torch.maximum(s, first), last)
        # the knot below each score, by counting: no runtime lacks a comparison
        below = (inside.unsqueeze(1) >= self.knots[1:-1].unsqueeze(0)).to(torch.int64).sum(1)
        middle = self.values[below] + self.slopes[below] * (inside - self.knots[below])
        return middle + self.end_slope * (s - inside)


class Probability(nn.Module):
    """Score, and probabilities of both classes, of a classifier."""

    def __init__(self, score: nn.Module, log_odds: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
        super().__init__()
        self.score, self.log_odds, self.dtype = score, log_odds, dtype

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Rows to scores and probabilities."""
        score = self.score(x)
        positive = torch.sigmoid(self.log_odds(score)).to(self.dtype)
        return score, torch.stack([1.0 - positive, positive], dim=1)


class Chain(nn.Module):
    """Transformers, then what answers, each of whose answers is an output."""

    def __init__(self, before: list[nn.Module], answers: list[nn.Module]) -> None:
        super().__init__()
        self.before, self.answers = nn.Sequential(*before), nn.ModuleList(answers)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """Rows to all outputs."""
        x = self.before(x)
        found: list[Tensor] = []
        for answer in self.answers:
            value = answer(x)
            found += list(value) if isinstance(value, tuple) else [value]
        return tuple(found)
