r"""Classification risks from positive and unlabelled rows, as losses of the training loop.

With a margin loss :math:`\ell`, outputs :math:`z`, the class prior :math:`\pi` of the population and the share
:math:`\pi_U` of positives among the unlabelled rows, the risk of a classifier is

.. math:: R = \pi\, \mathbb E_P\, \ell(z) + (1 - \pi)\, \mathbb E_N\, \ell(-z), \qquad
    (1 - \pi)\, \mathbb E_N\, \ell(-z) = \omega \left( \mathbb E_U\, \ell(-z) - \pi_U\, \mathbb E_P\, \ell(-z) \right),

where :math:`\omega = (1 - \pi) / (1 - \pi_U)`: 1 in the case-control scenario, where :math:`\pi_U = \pi`, and the
share of rows without a label in the single-sample scenario. The right-hand side needs no negatives [1]_; it cannot be
negative in truth, but a flexible model makes its estimate so, which the non-negative risk undoes [2]_.

References
----------
.. [1] M. C. du Plessis, G. Niu, M. Sugiyama. Convex formulation for learning from positive and unlabeled data. ICML,
   2015.
.. [2] R. Kiryo, G. Niu, M. C. du Plessis, M. Sugiyama. Positive-unlabeled learning with non-negative risk estimator.
   NeurIPS, 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import softplus

from purely.nn.losses import Loss, LossValue
from purely.typing import Indices


def sigmoid_margin(z: Tensor) -> Tensor:
    r"""Sigmoid loss :math:`\ell(z) = \sigma(-z)`; symmetric, :math:`\ell(z) + \ell(-z) = 1`, and bounded.

    Its risk is minimal at :math:`z = \pm\infty`, by the sign of :math:`p(y{=}1 \mid x) - 1/2`: outputs are no
    probabilities.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.risks import sigmoid_margin
    >>> sigmoid_margin(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.1192])
    """
    return torch.sigmoid(-z)


def logistic_margin(z: Tensor) -> Tensor:
    r"""Logistic loss :math:`\ell(z) = \log(1 + e^{-z})`, minimal in the mean at the log-odds of the posterior.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.risks import logistic_margin
    >>> logistic_margin(torch.tensor([0.0]))
    tensor([0.6931])
    """
    return softplus(-z)


def squared_margin(z: Tensor) -> Tensor:
    r"""Squared loss :math:`\ell(z) = (1 - z)^2 / 4`, minimal in the mean at :math:`2 p(y{=}1 \mid x) - 1`.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.risks import squared_margin
    >>> squared_margin(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([1.0000, 0.2500, 0.0000])
    """
    return (1.0 - z).square() / 4.0


#: Margin losses by name.
MARGIN_LOSSES: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": sigmoid_margin,
    "logistic": logistic_margin,
    "squared": squared_margin,
}


@lru_cache(maxsize=64)
def _on_device(values: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=torch.float32, device=device)  # kept: a copy to a GPU every step would stall it


@dataclass(frozen=True)
class PURisk(Loss):
    r"""Risk of each network of a stack, from its outputs for positives and for unlabelled rows.

    With :math:`a = \pi \operatorname{mean}_P \ell(z)` and
    :math:`r = \omega (\operatorname{mean}_U \ell(-z) - \pi_U \operatorname{mean}_P \ell(-z))`:

    - "upu": :math:`a + r`, unbiased, and possibly negative;
    - "nnpu": :math:`a + \max(r, -\beta)`; where :math:`r < -\beta` the step descends :math:`-\gamma r` instead, back to
      where negatives have a risk at all;
    - "pn": :math:`a + (1 - \pi) \operatorname{mean}_U \ell(-z)`, the unlabelled rows taken for negatives.

    Parameters
    ----------
    population, unlabelled : float or tuple of float
        :math:`\pi` and :math:`\pi_U`; one for all networks or one each.
    risk : {"nnpu", "upu", "pn"}
    loss : {"sigmoid", "logistic", "squared"}
    beta, gamma : float
        Tolerance and step of the non-negative correction.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.risks import PURisk
    >>> risk = PURisk(0.5, 0.5, loss="squared")
    >>> value = risk(torch.ones(1, 4), -torch.ones(1, 4))  # U all negative, P all positive: r = 0 - 0.5 * 1
    >>> value.value, value.objective
    (tensor([0.]), tensor([0.5000]))
    """

    population: float | tuple[float, ...]
    unlabelled: float | tuple[float, ...]
    risk: str = "nnpu"
    loss: str = "sigmoid"
    beta: float = 0.0
    gamma: float = 1.0
    n_outputs: int = 1
    initial_bias: float = 0.0

    def __call__(self, z_p: Tensor, z_u: Tensor) -> LossValue:
        """Risk of each network, and what is differentiated."""
        own, rest = self.parts(z_p, z_u)
        if self.risk != "nnpu":
            return LossValue(own + rest, own + rest)
        corrected = torch.where(rest >= -self.beta, own + rest, -self.gamma * rest)
        return LossValue(own + rest.clamp(min=-self.beta), corrected)

    def information(self, z_p: Tensor, z_u: Tensor) -> Tensor:
        """The risk, which is what early stopping watches; not negative where the risk is "nnpu"."""
        own, rest = self.parts(z_p, z_u)
        return own + (rest.clamp(min=0.0) if self.risk == "nnpu" else rest)

    def parts(self, z_p: Tensor, z_u: Tensor) -> tuple[Tensor, Tensor]:
        """Risk of the positives a, and of the negatives r, each of shape (M,)."""
        margin = MARGIN_LOSSES[self.loss]
        priors = self.population, self.unlabelled
        population, unlabelled = (p if isinstance(p, float) else _on_device(p, z_p.device) for p in priors)
        own = population * margin(z_p).mean(-1)
        if self.risk == "pn":
            return own, (1.0 - population) * margin(-z_u).mean(-1)
        weight = (1.0 - population) / (1.0 - unlabelled)
        return own, weight * (margin(-z_u).mean(-1) - unlabelled * margin(-z_p).mean(-1))

    @property
    def kind(self) -> Self:
        """The risk without its priors: networks whose risks are of one kind can share a stack."""
        return replace(self, population=0.5, unlabelled=0.5)

    @classmethod
    def joined(cls, losses: Sequence[Self], sizes: Sequence[int]) -> Self:
        """The risk of a stack in which each of `losses` has a number of networks."""
        if len(set(losses)) == 1:
            return losses[0]
        every = [risk for risk, size in zip(losses, sizes, strict=True) for _ in range(size)]
        population, unlabelled = (tuple(getattr(r, name) for r in every) for name in ("population", "unlabelled"))
        return replace(losses[0], population=population, unlabelled=unlabelled)

    def of_networks(self, networks: Indices) -> Self:
        """The risk of some networks of the stack."""
        if isinstance(self.population, float) or isinstance(self.unlabelled, float):
            return self
        population, unlabelled = (tuple(p[m] for m in networks) for p in (self.population, self.unlabelled))
        return replace(self, population=population, unlabelled=unlabelled)
