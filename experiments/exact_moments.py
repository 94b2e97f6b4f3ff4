r"""Exact means of Gaussian basis functions under Gaussian mixtures: the truth that an estimator aims at, no sampling.

For :math:`x \sim N(m, \operatorname{diag}(v))` and :math:`\phi_c(x) = \exp(-\|x - c\|^2 / (2\sigma^2))`,

.. math:: E[\phi_c] = \prod_j \sqrt{\frac{\sigma^2}{\sigma^2 + v_j}}
          \exp\Big(-\frac{(c_j - m_j)^2}{2(\sigma^2 + v_j)}\Big),

and the product of two is one more such function:
:math:`\phi_c \phi_{c'} = e^{-\|c - c'\|^2/(4\sigma^2)} \phi_{(c+c')/2}` with :math:`\sigma^2/2` for :math:`\sigma^2`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.datasets import Density, Gaussian, Mixture

Floats = NDArray[np.float64]


def _mean_of_gaussians(density: Density, points: Floats, variance: float) -> Floats:
    """E[exp(-||x - c||² / (2 variance))] for each row c of `points`."""
    if isinstance(density, Mixture):
        parts = zip(density.weights, density.components, strict=True)
        return sum(float(w) * _mean_of_gaussians(part, points, variance) for w, part in parts)  # type: ignore[return-value]
    if not isinstance(density, Gaussian):
        raise TypeError(f"exact moments are known for Gaussian mixtures only; {type(density).__name__} was given.")
    mean = np.broadcast_to(np.asarray(density.mean, dtype=float), (points.shape[1],))
    total = variance + np.broadcast_to(np.asarray(density.std, dtype=float), mean.shape) ** 2
    log = 0.5 * np.sum(np.log(variance / total)) - 0.5 * ((points - mean) ** 2 / total).sum(axis=1)
    return np.exp(log)


def exact_moments(problem: Any, centers: Floats, bandwidth: float, *, intercept: bool) -> tuple[Floats, Floats]:
    """H = E[φφᵀ] over p(x) and h = E[φ | y=1], shapes (b, b) and (b,)."""
    n = centers.shape[0]
    variance = bandwidth**2
    i, j = np.triu_indices(n)
    middle = 0.5 * (centers[i] + centers[j])
    apart = np.exp(-((centers[i] - centers[j]) ** 2).sum(axis=1) / (4.0 * variance))
    prior = problem.class_prior

    def over_population(points: Floats, v: float) -> Floats:
        positive = _mean_of_gaussians(problem.positive, points, v)
        return prior * positive + (1.0 - prior) * _mean_of_gaussians(problem.negative, points, v)

    H = np.empty((n, n))
    H[i, j] = H[j, i] = apart * over_population(middle, variance / 2.0)
    h = _mean_of_gaussians(problem.positive, centers, variance)
    if not intercept:
        return H, h
    mean = over_population(centers, variance)
    return np.block([[H, mean[:, None]], [mean[None, :], np.ones((1, 1))]]), np.append(h, 1.0)


def captured_information(problem: Any, estimator: Any) -> float:
    """Information that the fitted fold models of a PUSMI capture in the population, averaged over folds."""
    moments: dict[float, tuple[Floats, Floats]] = {}
    values = []
    for beta, bandwidth in zip(estimator.fold_coef_, estimator.fold_bandwidth_, strict=True):
        if bandwidth not in moments:
            moments[bandwidth] = exact_moments(
                problem, estimator.centers_, bandwidth, intercept=beta.size > estimator.centers_.shape[0]
            )
        H, h = moments[bandwidth]
        values.append(beta @ h - 0.5 * beta @ H @ beta - 0.5)
    return float(np.mean(values))
