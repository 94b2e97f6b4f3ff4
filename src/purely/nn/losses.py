r"""Losses on the outputs of a stack of networks, one value a network.

A loss is called with the outputs :math:`z` of ``M`` networks for a batch of positives, shape ``(M, b_P)``, and for a
batch of unlabelled rows, shape ``(M, b_U)``. It returns a :class:`LossValue`: what is reported and what is
differentiated. The two are one tensor for most losses; they differ where a correction takes a step that is not a
descent of the reported value, as non-negative risk estimators do. A leading stack dimension is optional: outputs of
shape ``(b_P,)`` and ``(b_U,)`` give scalars.

With the ratio :math:`w(x) = p(x \mid y=+1) / p(x)` and the objective (paper, eq. "pusmi-loss")

.. math:: J(w) = \frac{1}{2 n_U} \sum_k w^2(x^U_k) - \frac{1}{n_P} \sum_i w(x^P_i),

the losses for a ratio share one optimum, :math:`w`, and differ in how they get there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from purely.typing import Indices

#: exp of more than this says nothing about a density ratio and its square overflows a float32.
LARGEST_LOG_RATIO = 30.0


@dataclass(frozen=True)
class LossValue:
    """A loss of each network of the stack.

    Attributes
    ----------
    value : Tensor of shape (M,)
        The loss, as it is reported.
    objective : Tensor of shape (M,)
        What the optimiser differentiates; the same tensor where no correction is at work.
    """

    value: Tensor
    objective: Tensor


class Loss:
    """What the training loop asks of a loss; as it is here, what is minimised is what is reported.

    Attributes
    ----------
    n_outputs : int
        Outputs of a network for one row. With 1, outputs come as ``(M, b)``; with more, as ``(M, b, n_outputs)``.
    initial_bias : float
        Output of a network that knows nothing yet: the last layer's bias starts here.
    """

    n_outputs: int
    initial_bias: float

    def information(self, z_p: Tensor, z_u: Tensor) -> Tensor:
        """J of each network, shape (M,): what is reported, and what early stopping watches, whatever is trained."""
        raise NotImplementedError

    def __call__(self, z_p: Tensor, z_u: Tensor) -> LossValue:
        """Loss of each network from its outputs for positives (M, b_P) and unlabelled rows (M, b_U)."""
        value = self.information(z_p, z_u)
        return LossValue(value, value)

    @property
    def kind(self) -> Self:
        """The loss without what may differ between networks: those whose losses are of one kind can share a stack."""
        return self

    @classmethod
    def joined(cls, losses: Sequence[Self], sizes: Sequence[int]) -> Self:
        """The loss of a stack in which each of `losses`, all of one kind, has a number of networks."""
        return losses[0]

    def of_networks(self, networks: Indices) -> Self:
        """The loss of some networks of the stack."""
        return self


def j_pu(w_p: Tensor, w_u: Tensor) -> Tensor:
    r"""J of a ratio, the paper's objective.

    .. math:: J = \tfrac12 \operatorname{mean}_U w^2 - \operatorname{mean}_P w, \quad
        \partial J / \partial w^U_k = w^U_k / b_U, \quad \partial J / \partial w^P_i = -1 / b_P.

    Parameters
    ----------
    w_p : Tensor of shape (..., b_P)
        Ratio at the positives.
    w_u : Tensor of shape (..., b_U)
        Ratio at the unlabelled rows.

    Returns
    -------
    Tensor of shape (...,)

    Examples
    --------
    >>> import torch
    >>> from purely.nn.losses import j_pu
    >>> j_pu(torch.ones(2, 3), torch.ones(2, 5))  # the ratio of no information
    tensor([-0.5000, -0.5000])
    """
    return 0.5 * w_u.square().mean(-1) - w_p.mean(-1)


def logistic_loss(z_p: Tensor, z_u: Tensor) -> Tensor:
    r"""Logistic loss of positives against unlabelled rows, both samples weighted equally.

    .. math:: \operatorname{mean}_P \log(1 + e^{-z}) + \operatorname{mean}_U \log(1 + e^{z}),

    with gradient :math:`-\sigma(-z)/b_P` at a positive and :math:`\sigma(z)/b_U` at an unlabelled row. Pointwise it is
    minimal where :math:`p_P\,\sigma(-z) = p_U\,\sigma(z)`, that is at :math:`z = \log(p_P / p_U) = \log w`: the optimum
    of J, reached through a convex function of z whose gradient is bounded.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.losses import logistic_loss
    >>> logistic_loss(torch.zeros(3), torch.zeros(5))
    tensor(1.3863)
    """
    return functional.softplus(-z_p).mean(-1) + functional.softplus(z_u).mean(-1)


def non_negative_j_pu(w_p: Tensor, w_u: Tensor, prior_min: float) -> LossValue:
    r"""J with a non-negative correction against train-loss hacking.

    The population is :math:`p = \pi p_+ + (1 - \pi) p_-`, so for any :math:`C \le \pi` the measure
    :math:`p - C p_+` is not negative and :math:`\mathbb E_U w^2 - C\, \mathbb E_P w^2 \ge 0`. With
    :math:`C` = `prior_min`, the ratio being at most :math:`1/C`,

    .. math:: J_{nn} = \operatorname{mean}_P \left( \tfrac C2 w^2 - w \right)
        + \max\left(0, \tfrac12 \operatorname{mean}_U w^2 - \tfrac C2 \operatorname{mean}_P w^2 \right),

    equals J where the bracket is not negative and is never below :math:`-1/(2C)`, the J that a ratio of
    :math:`1/C` at every positive reaches. Where the bracket is negative the networks separate training positives from
    their twins in U: the objective that is differentiated is then minus the bracket, which undoes that. (The idea is
    Kato and Teshima's for Bregman divergences [1]_, and Kiryo et al.'s for PU risks.)

    References
    ----------
    .. [1] M. Kato and T. Teshima. Non-negative Bregman divergence minimization for deep direct density ratio
       estimation. ICML, 2021.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.losses import non_negative_j_pu
    >>> overfitted = non_negative_j_pu(torch.full((3,), 20.0), torch.zeros(5), prior_min=0.1)
    >>> overfitted.value  # J itself is -20, which no ratio of at most 10 can have
    tensor(0.)
    """
    own = (0.5 * prior_min * w_p.square() - w_p).mean(-1)
    rest = 0.5 * w_u.square().mean(-1) - 0.5 * prior_min * w_p.square().mean(-1)
    return LossValue(own + rest.clamp(min=0.0), torch.where(rest >= 0, own + rest, -rest))


def pn_smi_loss(h_p: Tensor, h_n: Tensor, share_p: float) -> Tensor:
    r"""Minus the PN-SMI objective L of appendix E, for a model with one output a class.

    .. math:: -L(h) = -\sum_{y} \hat p(y) \operatorname{mean}_{i: y_i = y} h(x_i, y)
        + \sum_{y} \frac{\hat p(y)}{2}\, \mathbb E_x\, h^2(x, y),

    where :math:`\mathbb E_x = \hat p(+1) \operatorname{mean}_P + \hat p(-1) \operatorname{mean}_N` is the mean over
    all rows. Optimal at :math:`h(x, y) = p(x, y) / (p(x) p(y))`, where PN-SMI is :math:`L - 1/2`.

    Parameters
    ----------
    h_p : Tensor of shape (..., b_P, 2)
        Outputs :math:`h(x, +1), h(x, -1)` at the positives.
    h_n : Tensor of shape (..., b_N, 2)
        The same at the negatives (in PNRL on PU data: at the unlabelled rows).
    share_p : float
        :math:`\hat p(y = +1)`.

    Returns
    -------
    Tensor of shape (...,)
    """
    share_n = 1.0 - share_p
    linear = share_p * h_p[..., 0].mean(-1) + share_n * h_n[..., 1].mean(-1)
    square = share_p * h_p.square().mean(-2) + share_n * h_n.square().mean(-2)
    return 0.5 * (share_p * square[..., 0] + share_n * square[..., 1]) - linear


def bounded_log_ratio(z: Tensor, prior_min: float) -> Tensor:
    r"""Logarithm of the ratio :math:`w = 1 / (e^{-z} + C)` with :math:`C` = `prior_min`, for any output z.

    The ratio of positives to a population that holds at least a share C of them is at most 1/C, so the network is not
    asked to learn that: :math:`w < 1/C` for every z, :math:`w \approx e^z` where it is small. With C = 0 it is z
    itself.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.losses import bounded_log_ratio
    >>> bounded_log_ratio(torch.tensor([-2.0, 0.0, 50.0]), 0.1).exp()
    tensor([ 0.1335,  0.9091, 10.0000])
    """
    if prior_min == 0.0:
        return z.clamp(max=LARGEST_LOG_RATIO)
    return -torch.logaddexp(-z, torch.full_like(z, math.log(prior_min)))


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """The paper's J; a network's output is the ratio itself.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.losses import SquaredLoss
    >>> SquaredLoss()(torch.ones(4), torch.ones(4)).value
    tensor(-0.5000)
    """

    n_outputs: int = 1
    initial_bias: float = 1.0

    def information(self, z_p: Tensor, z_u: Tensor) -> Tensor:
        """J of each network."""
        return j_pu(z_p, z_u)


@dataclass(frozen=True)
class NonNegativeSquaredLoss(SquaredLoss):
    """J with the correction of :func:`non_negative_j_pu`.

    Parameters
    ----------
    prior_min : float, default=0.1
        The smallest class prior that is thought possible; the ratio is then at most ``1 / prior_min``.
    """

    prior_min: float = 0.1

    def __call__(self, z_p: Tensor, z_u: Tensor) -> LossValue:
        """Corrected J of each network."""
        return non_negative_j_pu(z_p, z_u, self.prior_min)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """Logistic surrogate of J; a network's output gives the logarithm of a bounded ratio.

    Parameters
    ----------
    prior_min : float, default=0
        The smallest class prior that is thought possible; the ratio is then at most ``1 / prior_min``. See
        :func:`bounded_log_ratio`. An unbounded ratio (0) lets a single held-out positive decide J.

    Examples
    --------
    >>> import torch
    >>> from purely.nn.losses import LogisticLoss
    >>> LogisticLoss().information(torch.zeros(2, 4), torch.zeros(2, 4))
    tensor([-0.5000, -0.5000])
    """

    prior_min: float = 0.0
    n_outputs: int = 1
    initial_bias: float = 0.0

    def __call__(self, z_p: Tensor, z_u: Tensor) -> LossValue:
        """Logistic loss of each network."""
        value = logistic_loss(bounded_log_ratio(z_p, self.prior_min), bounded_log_ratio(z_u, self.prior_min))
        return LossValue(value, value)

    def information(self, z_p: Tensor, z_u: Tensor) -> Tensor:
        """J of the ratios of each network."""
        w_p, w_u = (bounded_log_ratio(z.float(), self.prior_min).exp() for z in (z_p, z_u))
        return j_pu(w_p, w_u)


@dataclass(frozen=True)
class PNSquaredLoss(Loss):
    """PN-SMI of appendix E, for positives and negatives; two outputs a network.

    Parameters
    ----------
    share_p : float
        Share of positives among all rows.
    """

    share_p: float
    n_outputs: int = 2
    initial_bias: float = 1.0

    def information(self, z_p: Tensor, z_u: Tensor) -> Tensor:
        """Minus L of each network: PN-SMI is minus this, minus one half."""
        return pn_smi_loss(z_p, z_u, self.share_p)
