r"""Optimisers of a stack: each update is a handful of operations on the matrix of all parameters.

The rows of a stack never mix, so every network takes exactly the steps that it would take alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from purely.nn.recipe import OptimizerName

ADAM_BETAS = (0.9, 0.999)
EPS = 1e-8
ADAGRAD_EPS = 1e-10


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
    state: dict[str, Tensor]
    steps: dict[int, int]

    def factors(self, rate: float, columns: slice) -> tuple[float, float, float]:
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
    def step(self, theta: Tensor, grad: Tensor, factors: Any, columns: slice) -> None:
        """Move the given columns of the parameters of every network by their gradient, which is used up.

        Parameters
        ----------
        theta : Tensor of shape (M, n_parameters)
        grad : Tensor of shape (M, number of columns)
        factors : sequence of float or of scalar Tensor
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


def clip_rows(grad: Tensor, largest: float) -> None:
    """Scale each network's gradient down to the given Euclidean norm where it is longer, in place."""
    norms = grad.norm(dim=1, keepdim=True)
    grad.mul_((largest / norms.clamp(min=1e-12)).clamp(max=1.0))
