r"""penL1: the share that brings the positives' density closest to the unlabelled rows' in a penalised L1 divergence.

The divergence of :math:`\theta \, p(x \mid y=1)` from :math:`p(x)`, with an infinite penalty where the former exceeds
the latter, is estimated with Gaussian basis functions :math:`\varphi_1, \dots, \varphi_m` in closed form [1]_,

.. math::

    \widehat{\mathrm{penL1}}(\theta) = \frac{1}{\alpha} \sum_{l=1}^m \max(0, \beta_l)^2 - \theta + 1, \qquad
    \beta_l = \frac{\theta}{n_P} \sum_{x \in P} \varphi_l(x) - \frac{1}{n_U} \sum_{x \in U} \varphi_l(x) .

It is convex in :math:`\theta` with derivative :math:`\frac{2}{\alpha} \sum_l a_l \max(0, \beta_l) - 1`, where
:math:`a_l` is the positives' mean of :math:`\varphi_l`; its minimiser is the share. The bandwidth is chosen by
cross-validation: any weighted mean of basis functions bounds the share from above by the ratio of its means over both
samples; the weights :math:`\max(0, \beta_l)` come from some folds, the ratio from the others, and the bandwidth of the
smallest ratio is used. Equal rows share a fold, or their noise would be taken for a violation.

At the true share sampling noise alone makes some :math:`\beta_l` positive. Where a basis function holds positives only,
the mean of :math:`\max(0, \beta_l)` is :math:`s_l / \sqrt{2\pi}` with :math:`s_l` the standard error of
:math:`\beta_l`, so with

.. math:: \alpha = \frac{2}{\sqrt{2\pi}} \sum_{l : \beta_l > -s_l} a_l s_l

the derivative is zero there. This is the default: narrow basis functions, which few rows reach, get the larger
tolerance that they need.

References
----------
.. [1] du Plessis, M. C., Niu, G. and Sugiyama, M. Class-prior estimation for learning from positive and unlabeled data.
   *Machine Learning*, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import bisect
from sklearn.metrics.pairwise import euclidean_distances

from purely.base import number, with_parameters
from purely.checks import draw_seed
from purely.folds import Folds, deal_folds, draw_rows
from purely.prior.base import PriorDiagnostics, PriorEstimate, PriorEstimator
from purely.prior.gaussian import centre_and_scale, in_own_order, median_distance
from purely.typing import Floats, Indices, Mask, Matrix

#: Multiples of the median distance that are tried as widths; ratios of root two.
_WIDTHS = np.array([0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.1])
#: Least mean over new positives, less its error, of a function whose mean over the positives it was found on is one.
_HOLDS_UP = 0.85


def minimise_penalised_l1(mean_p: Floats, mean_u: Floats, alpha: float) -> float:
    """Minimiser over [0, 1] of the penalised L1 divergence, from the samples' means of the basis functions.

    The derivative is piecewise linear and increasing, so it is enough to bisect.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.penalised_l1 import minimise_penalised_l1
    >>> round(minimise_penalised_l1(np.array([0.5]), np.array([0.2]), alpha=1e-6), 4)
    0.4
    """

    def derivative(theta: float) -> float:
        excess = np.maximum(0.0, theta * mean_p - mean_u)
        return 2.0 / alpha * float(mean_p @ excess) - 1.0

    return 1.0 if derivative(1.0) <= 0.0 else float(bisect(derivative, 0.0, 1.0, xtol=5e-8))


@dataclass(frozen=True)
class BasisFit:
    """Minimiser of the divergence for one set of basis functions.

    Attributes
    ----------
    share, alpha : float
        The minimiser, and the regularisation it was found with.
    mean_p, mean_u : ndarray of shape (m,)
        Means of the basis functions over the positives and the unlabelled rows.
    """

    share: float
    alpha: float
    mean_p: Floats
    mean_u: Floats


def fit_basis(p: Floats, u: Floats, alpha: float | None = None) -> BasisFit:
    """Minimise for basis functions `p` of the positives and `u` of the unlabelled rows, one column each.

    Without `alpha` the default is found together with the share, by four rounds of substitution.
    """
    mean_p, mean_u = p.mean(axis=0), u.mean(axis=0)
    if alpha is not None:
        return BasisFit(minimise_penalised_l1(mean_p, mean_u, alpha), alpha, mean_p, mean_u)
    variance_p, variance_u = p.var(axis=0) / len(p), u.var(axis=0) / len(u)
    share, tolerance, near = 1.0, 0.0, np.ones(mean_p.size, dtype=bool)
    for _ in range(4):
        error = np.sqrt(share**2 * variance_p + variance_u)
        tolerance = max(float(np.sqrt(2.0 / np.pi) * (mean_p * error)[near].sum()), 1e-12)
        share = minimise_penalised_l1(mean_p, mean_u, tolerance)
        near = share * mean_p - mean_u > -np.sqrt(share**2 * variance_p + variance_u)
    return BasisFit(share, tolerance, mean_p, mean_u)


@with_parameters
class PenL1Prior(PriorEstimator):
    r"""Class prior by the penalised L1 divergence.

    Parameters
    ----------
    alpha : float, optional
        Regularisation of the divergence (the paper's lambda). By default it follows the sampling error of the basis
        functions' means; see :mod:`purely.prior.penalised_l1`.
    n_centers : int, default=300
        Number of basis functions, centred at rows of both samples.
    bandwidth : float, optional
        Width of the basis functions; by default chosen by cross-validation among multiples of the median distance,
        0.1 to 1.1.
    ratio : "auto", str, estimator or list of these, default="auto"
        Models behind the interval, see :class:`purely.ClassPrior`; the estimate does not use them.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of centres, folds and resampling.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        The divergence against the share.

    Notes
    -----
    Basis functions are local averages of the densities. A basis function that is as wide as the distance between the
    classes mixes them, and narrow ones need many rows: where no bandwidth is both narrow and wide enough, above all in
    many columns, the share comes out too large.

    References
    ----------
    .. [1] du Plessis, M. C., Niu, G. and Sugiyama, M. Class-prior estimation for learning from positive and unlabeled
       data. Machine Learning, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import PenL1Prior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(5, 1, (300, 2))])
    >>> 0.3 < PenL1Prior().fit(*stack(P, U)).class_prior_ < 0.5
    True
    """

    alpha: float | None = number(default=None, low=0.0, open_low=True, kw_only=False)
    n_centers: int = number(default=300, low=1, integer=True)
    bandwidth: float | None = number(default=None, low=0.0, open_low=True)

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
        seed = draw_seed(self.random_state)
        X, positive = in_own_order(X, positive)
        rows, scale = centre_and_scale(X)
        # half of the centres are drawn from each sample, by content
        kinds, half = (np.flatnonzero(positive), np.flatnonzero(~positive)), -(-self.n_centers // 2)
        centers = np.concatenate([members[draw_rows(rows[members], half, seed)] for members in kinds])
        squares = np.asarray(euclidean_distances(rows, rows[centers], squared=True), dtype=np.float64)
        basis_at = partial(_basis, squares, centers, positive)
        if self.bandwidth is None:
            widths = _WIDTHS * (median_distance(rows) or 1.0)
            bandwidth = self._choose_width(widths, basis_at, positive, deal_folds(rows, positive, 5, seed))
        else:
            bandwidth = self.bandwidth / scale
        basis = basis_at(bandwidth)
        fitted = fit_basis(basis[positive], basis[~positive], self.alpha)
        share, alpha = fitted.share, fitted.alpha
        grid = np.linspace(0.0, 1.0, 201)
        excess = np.maximum(0.0, grid[:, None] * fitted.mean_p - fitted.mean_u)
        bound = "upper" if share >= 1.0 else "lower" if share <= 1e-3 else None
        curve, details = (excess**2).sum(axis=1) / alpha - grid + 1.0, {"bandwidth": bandwidth * scale, "alpha": alpha}
        axes = "share of positives", "penalised L1 divergence"
        diagnostics = PriorDiagnostics(grid, curve, *axes, share, bound, details)
        sentence = (
            f"The class prior {share:.3g} is the {bound} bound of the search: the basis functions do not tell "
            "negatives from positives. Try another bandwidth, or ClassPrior."
        )
        return PriorEstimate(share, diagnostics, warnings=() if bound is None else (sentence,))

    def _choose_width(self, widths: Floats, basis_at: Callable[[float], Floats], positive: Mask, folds: Folds) -> float:
        bounds = []
        for bandwidth in widths:
            basis = basis_at(bandwidth)
            violation = np.zeros(positive.size)
            for j in range(folds.n_folds):
                held = folds.number == j
                seen = fit_basis(basis[~held & positive], basis[~held & ~positive], self.alpha)
                weights = np.maximum(0.0, seen.share * seen.mean_p - seen.mean_u)
                violation[held] = basis[held] @ weights / max(float(weights @ seen.mean_p), 1e-300)
            bounds.append(_ratio_bound(violation[positive], violation[~positive]))
        best = int(np.argmin(bounds)) if np.isfinite(bounds).any() else -1  # widest: the least noise
        return float(widths[best])


def _ratio_bound(p: Floats, u: Floats) -> float:
    """Ratio of the means of a function over `u` and `p`, each a standard error to the worse side.

    The function's mean over the positives it was found on is one. Narrow basis functions that few rows reach were
    picked for their noise: on new positives the mean falls well below one or hangs on a few rows, and the ratio is then
    not to be trusted.
    """
    error_p, error_u = (float(np.std(f)) / np.sqrt(max(f.size - 1, 1)) for f in (p, u))
    below = float(p.mean()) - error_p
    return float(u.mean() + error_u) / below if below >= _HOLDS_UP else np.inf


def _basis(squares: Floats, centers: Indices, positive: Mask, bandwidth: float) -> Floats:
    """Basis functions at every row; at its own centre, where it is one, a function gets its sample's mean instead."""
    basis = np.exp(-0.5 * squares / bandwidth**2)
    for members in (positive, ~positive):
        own = np.flatnonzero(members[centers])
        size = int(np.count_nonzero(members))
        basis[centers[own], own] = (basis[members].sum(axis=0)[own] - 1.0) / max(size - 1, 1)
    return basis
