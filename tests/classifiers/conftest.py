"""Draws that the tests of classifiers share."""

from __future__ import annotations

import numpy as np

from purely import stack


def gaussians(seed: int = 0, n_positive: int = 150, n_unlabelled: int = 300, prior: float = 0.4, shift: float = 1.5):
    """Rows and labels of two Gaussians in two columns; the posterior's log-odds are 2 * shift * x_0 + logit(prior)."""
    rng = np.random.default_rng(seed)

    def rows(n: int, sign: float):
        X = rng.normal(size=(n, 2))
        X[:, 0] += sign * shift
        return X

    hidden = round(prior * n_unlabelled)
    return stack(rows(n_positive, 1.0), np.concatenate([rows(hidden, 1.0), rows(n_unlabelled - hidden, -1.0)]))


def single_sample(seed: int = 0, n: int = 3000, prior: float = 0.5, frequency: float = 0.4, shift: float = 1.5):
    """One sample of the population, some of whose positives are labelled; also the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prior).astype(int)
    X = rng.normal(size=(n, 2))
    X[:, 0] += np.where(truth == 1, shift, -shift)
    y = ((truth == 1) & (rng.random(n) < frequency)).astype(int)
    return X, y, truth
