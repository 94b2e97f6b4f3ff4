r"""The objective of squared-loss mutual information, equation by equation, as pure functions.

With :math:`s(x) = p(x \mid y{=}1) / p(x)` the density ratio and :math:`\theta` the class prior, the paper [1]_ shows

.. math::

    \text{SMI} = \frac{\theta}{2 (1 - \theta)} \int (s(x) - 1)^2 p(x) dx
    \ge \frac{\theta}{1 - \theta} \Big( -J(w) - \frac12 \Big),
    \qquad J(w) = \frac12 \int w(x)^2 p(x) dx - \int w(x) p(x \mid y{=}1) dx,

for every function :math:`w`, with equality at :math:`w = s` (theorems 1 and 2). Two quantities follow, and no function
here returns one under the name of the other:

- the *information* :math:`-J(w) - \tfrac12`, which needs no class prior;
- the *SMI*, the information times the odds :math:`\theta / (1 - \theta)`.

References
----------
.. [1] T. Sakai, G. Niu, M. Sugiyama. Information-Theoretic Representation Learning for Positive-Unlabeled
   Classification. Neural Computation 33(1), 2021.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from purely.checks import check_share
from purely.typing import Floats, Mask


def pu_objective(w_positive: ArrayLike, w_unlabelled: ArrayLike) -> float:
    r"""Empirical objective :math:`\hat J_{PU}` of a ratio model (equation ``eq:pusmi-loss``).

    .. math:: \hat J(w) = \frac{1}{2 n_U} \sum_k w(x^U_k)^2 - \frac{1}{n_P} \sum_i w(x^P_i)

    Parameters
    ----------
    w_positive : array-like of shape (n_P,)
        The ratio at the positives.
    w_unlabelled : array-like of shape (n_U,)
        The ratio at a sample of :math:`p(x)`.

    Returns
    -------
    float

    Examples
    --------
    >>> from purely.smi.objective import pu_objective
    >>> pu_objective([1.0, 1.0], [1.0, 1.0, 1.0])  # the constant ratio of independence
    -0.5
    """
    w_p = np.asarray(w_positive, dtype=np.float64)
    w_u = np.asarray(w_unlabelled, dtype=np.float64)
    return float(0.5 * np.mean(w_u**2) - np.mean(w_p))


def ratio_objective(w: Floats, positive: Mask, scenario: str) -> float:
    """The objective of a ratio from its values at rows; which of them stand for p(x) depends on the scenario."""
    return pu_objective(w[positive], w if scenario == "single-sample" else w[~positive])


def information_from_objective(objective: float) -> float:
    r"""The prior-free information :math:`-J - \tfrac12`, a lower bound on :math:`\tfrac12 E[(s-1)^2]`."""
    return -float(objective) - 0.5


def plug_in_information(w_unlabelled: ArrayLike) -> float:
    r"""The definition with a ratio put in: :math:`\tfrac12 \operatorname{mean}_U (w - 1)^2` (equation ``PU-SMI``).

    Unlike :func:`information_from_objective` it is no lower bound: a wrong ratio can make it arbitrarily large.
    """
    w_u = np.asarray(w_unlabelled, dtype=np.float64)
    return float(0.5 * np.mean((w_u - 1.0) ** 2))


def smi_from_information(information: float, class_prior: float) -> float:
    r"""The squared-loss mutual information: the information times the prior's odds :math:`\theta / (1-\theta)`.

    Examples
    --------
    >>> from purely.smi.objective import smi_from_information
    >>> round(smi_from_information(0.1, class_prior=0.75), 3)
    0.3
    """
    theta = check_share("class_prior", class_prior)
    return float(information) * theta / (1.0 - theta)


def pn_smi(objective_positive: float, objective_negative: float, class_prior: float) -> float:
    r"""SMI from labelled data of both classes (appendix E).

    With one ratio a class, :math:`w_y(x) = h(x, y)`, the appendix's :math:`L(h) - \tfrac12` is a sum over classes,

    .. math:: \sum_y p(y) \Big( \int w_y p(x \mid y) dx - \tfrac12 \int w_y^2 p(x) dx - \tfrac12 \Big)
              = \sum_y p(y) \big( -J_y - \tfrac12 \big).
    """
    theta = check_share("class_prior", class_prior)
    of_p, of_n = map(information_from_objective, (objective_positive, objective_negative))
    return float(theta * of_p + (1.0 - theta) * of_n)


def linear_objective(beta: Floats, H: Floats, h: Floats) -> Floats:
    r"""Objective of :math:`w = \beta^\top \phi`: :math:`J(\beta) = \tfrac12 \beta^\top H \beta - \beta^\top h`.

    Parameters
    ----------
    beta : ndarray of shape (..., b, a)
        A column for each of `a` solutions.
    H : ndarray of shape (..., b, b)
    h : ndarray of shape (..., b)

    Returns
    -------
    ndarray of shape (..., a)
    """
    return 0.5 * np.sum(beta * (H @ beta), axis=-2) - np.sum(beta * h[..., None], axis=-2)


def ridge_solution(H: Floats, h: Floats, alpha: float) -> Floats:
    r"""The minimiser :math:`(H + \alpha I)^{-1} h` of :math:`J(\beta) + \tfrac{\alpha}{2} \|\beta\|^2`.

    The gradient :math:`H \beta - h + \alpha \beta` vanishes there.
    """
    return ridge_path(H, h, np.array([alpha]))[..., 0]


def ridge_path(H: Floats, h: Floats, alphas: Floats) -> Floats:
    r"""The solutions for all values of :math:`\alpha` from one eigendecomposition :math:`H = V \Lambda V^\top`.

    .. math:: \hat\beta(\alpha) = V (\Lambda + \alpha I)^{-1} V^\top h

    Eigenvalues that rounding made negative, or that are zero to working precision where :math:`\alpha = 0`, are
    left out: the solution of least norm.

    Parameters
    ----------
    H : ndarray of shape (..., b, b)
    h : ndarray of shape (..., b)
    alphas : ndarray of shape (a,)

    Returns
    -------
    ndarray of shape (..., b, a)
    """
    eigenvalues, V = np.linalg.eigh(H)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    shifted = eigenvalues[..., :, None] + alphas
    double = np.finfo(np.float64)
    floor = np.maximum(double.eps * H.shape[-1] * eigenvalues[..., -1:, None], double.tiny)
    rotated = (np.swapaxes(V, -1, -2) @ h[..., None]) * np.where(shifted > floor, 1.0 / np.maximum(shifted, floor), 0.0)
    return V @ rotated


@dataclass(frozen=True)
class BasisSums:
    r"""Sums of basis functions over rows, kept apart by fold, for the labelled class and for the others.

    All that the analytic estimators need: counts, :math:`\sum \phi` and :math:`\sum \phi \phi^\top`. Sums add, so
    batches of a stream and parts of a cluster merge with ``+``.

    Attributes
    ----------
    count : ndarray of shape (2, K)
        Rows a class and fold; class 0 is unlabelled (or negative), class 1 is positive.
    first : ndarray of shape (2, S, K, b)
        :math:`\sum \phi(x)`, for each of `S` bases (bandwidths).
    second : ndarray of shape (C, S, K, b, b)
        :math:`\sum \phi(x) \phi(x)^\top`; C is 1 where only class 0 is needed (case-control data), else 2.
    """

    count: Floats
    first: Floats
    second: Floats

    @classmethod
    def zeros(cls, n_bases: int, n_folds: int, n_functions: int, *, second_of_positives: bool) -> BasisSums:
        """The sums over no rows."""
        shape = (n_bases, n_folds, n_functions)
        second = np.zeros((1 + second_of_positives, *shape, n_functions))
        return cls(np.zeros((2, n_folds)), np.zeros((2, *shape)), second)

    def __add__(self, other: BasisSums) -> BasisSums:
        return BasisSums(self.count + other.count, self.first + other.first, self.second + other.second)

    def add_rows(self, bases: Iterable[Floats], positive: bool, fold: int, weight: Floats | None = None) -> None:
        """Add rows of one class and fold, in place; `bases` gives one array of shape (rows, b) for each basis.

        With `weight`, of shape (rows,), counts and sums are weighted.
        """
        c = int(positive)
        for s, phi in enumerate(bases):
            if s == 0:
                self.count[c, fold] += phi.shape[0] if weight is None else weight.sum()
            weighted = phi if weight is None else weight[:, None] * phi
            self.first[c, s, fold] += weighted.sum(axis=0)
            if c < self.second.shape[0]:
                self.second[c, s, fold] += weighted.T @ phi
