r"""One small network in the place of a stack: the log-odds of a pool's rows in two matrix products.

The network is :math:`g(x) = w_3^\top \operatorname{relu}(W_2 \operatorname{relu}(W_1 x + b_1) + b_2) + b_3` with layers
of 32 units. It is trained on log-odds :math:`t_i` that a classifier has given to rows :math:`x_i`, to minimise

.. math:: \frac1n \sum_i \Bigl[ \log(1 + e^{g(x_i)}) - \sigma(t_i) \, g(x_i) + c \, |g(x_i) - t_i| \Bigr]

by Adam. The first part is least where probabilities agree, with the gradient :math:`\sigma(g) - \sigma(t)` with respect
to *g*; the second, of small weight *c*, keeps the order of rows whose probabilities are nearly 0 or 1, which the first
hardly sees. Everything is NumPy in single precision, so that torch is needed neither here nor for predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from purely.nn.fitted import NetworkArrays
from purely.typing import Floats, Matrix

Singles = NDArray[np.float32]

#: Units of either layer, rows of a training step, steps, and the largest learning rate.
WIDTH, BATCH, STEPS, RATE = 32, 512, 12_000, 4e-3
#: The weight *c*.
ORDER = 0.02
#: Rows that a network is taught with; rows and steps of a first one, which shows whether there is any hope.
TAUGHT, FIRST_TAUGHT, FIRST_STEPS = 160_000, 30_000, 1500
#: A first network that errs by more than this many times what is allowed stays the last.
HOPE = 2.5
#: Rows that a network scores at a time: what lies between its layers stays in a processor's cache.
SCORED_ROWS = 4096
#: A column whose mean is more than this many standard deviations from 0 is centred before it is rounded.
FAR = 100.0


@dataclass(frozen=True)
class Imitation:
    """A network that says what a classifier says.

    Attributes
    ----------
    network : NetworkArrays
        In single precision; columns are scaled in its first layer.
    offset : ndarray of shape (d,)
        What is taken from the columns before they are rounded to single precision.
    low, high : float
        Least and largest log-odds that it was taught; it says none beyond.
    """

    network: NetworkArrays
    offset: Floats
    low: float
    high: float

    def __call__(self, X: Matrix) -> Floats:
        """Log-odds of dense rows."""
        found = np.empty(len(X))
        centred = bool(self.offset.any())
        for start in range(0, len(X), SCORED_ROWS):
            rows = X[start : start + SCORED_ROWS]
            rows = np.ascontiguousarray(rows - self.offset if centred else rows, dtype=np.float32)
            found[start : start + SCORED_ROWS] = self.network(rows)
        return np.clip(found, self.low, self.high)


def imitate(says: Callable[[Floats], Floats], rows: Floats, good: Callable[[Imitation], float]) -> Imitation | None:
    """A network that says of rows what `says` does, or None where it errs too much.

    Parameters
    ----------
    says : function
        Log-odds of rows.
    rows : ndarray of shape (n, d)
        Rows to learn from; more are made of them by putting values of other rows into some of their columns.
    good : function
        How a network errs on rows that it has not seen, in multiples of what is allowed.

    Returns
    -------
    Imitation or None
    """
    rng = np.random.default_rng(0)
    rows = rows[rng.permutation(len(rows))[:TAUGHT]]
    rows = np.concatenate([rows, mixed_rows(rows, TAUGHT - len(rows), rng)])
    taught = says(rows[:FIRST_TAUGHT])
    first = train(rows[:FIRST_TAUGHT], taught, rng, FIRST_STEPS)
    if good(first) > HOPE:
        return None
    found = train(rows, np.concatenate([taught, says(rows[FIRST_TAUGHT:])]), rng)
    return found if good(found) <= 1.0 else None


def mixed_rows(X: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Rows with values of other rows in a tenth of the columns, or in three tenths."""
    rows = X[rng.integers(len(X), size=n)]
    others = np.stack([column[rng.integers(len(X), size=n)] for column in X.T], axis=1)
    share = np.where(np.arange(n) < 0.6 * n, 0.1, 0.3)[:, None]
    return np.where(rng.random(rows.shape) < share, others, rows)


def train(X: Floats, log_odds: Floats, rng: np.random.Generator, n_steps: int = STEPS) -> Imitation:
    """A network with the log-odds of the rows."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 1e-12 * (1.0 + np.abs(mean)), scale, 1.0)
    rows, target = ((X - mean) / scale).astype(np.float32), log_odds.astype(np.float32)
    probability = expit(target)
    # standard deviations that keep the variance of what passes through a layer
    shapes = (X.shape[1], WIDTH), (WIDTH, WIDTH), (WIDTH, 1)
    weights = [(float(np.sqrt(2.0 / m)) * rng.normal(size=(m, k))).astype(np.float32) for m, k in shapes]
    weights += [np.zeros(k, dtype=np.float32) for _, k in shapes]
    weights[-1][:] = target.mean()
    adam = Adam(weights)
    order = np.zeros(0, dtype=np.intp)
    for step in range(n_steps):
        if order.size < min(BATCH, len(rows)):
            order = rng.permutation(len(rows))
        chosen, order = order[:BATCH], order[BATCH:]
        adam.step(_gradient(weights, rows[chosen], target[chosen], probability[chosen]), _rate(step / n_steps))
    offset = np.where(np.abs(mean) > FAR * scale, mean, 0.0)
    first = weights[0] / scale[:, None]
    bias = weights[3] - (mean - offset) @ first
    trained = [np.asarray(part, np.float32) for part in (first, *weights[1:3], bias, *weights[4:])]
    network = NetworkArrays((), tuple((trained[i], trained[i + 3], i < 2) for i in range(3)))
    return Imitation(network, offset, float(log_odds.min()), float(log_odds.max()))


def _rate(done: float) -> float:
    """The learning rate after a share of the training: it rises for a tenth, and falls along a cosine."""
    rise = 0.1
    share = (done + 0.01) / rise if done < rise else 0.5 * (1.0 + np.cos(np.pi * (done - rise) / (1.0 - rise)))
    return RATE * float(share)


def _gradient(weights: list[Singles], x: Singles, target: Singles, probability: Singles) -> list[Singles]:
    """Gradient of the loss of a batch: of the three layers' weights, then of their biases."""
    w1, w2, w3, b1, b2, b3 = weights
    h1 = np.maximum(x @ w1 + b1, 0.0)
    h2 = np.maximum(h1 @ w2 + b2, 0.0)
    g = (h2 @ w3)[:, 0] + b3
    d3 = ((expit(g) - probability + ORDER * np.sign(g - target)) / len(x))[:, None].astype(np.float32)
    d2 = (d3 @ w3.T) * (h2 > 0.0)
    d1 = (d2 @ w2.T) * (h1 > 0.0)
    return [x.T @ d1, h1.T @ d2, h2.T @ d3, d1.sum(axis=0), d2.sum(axis=0), d3.sum(axis=0)]


class Adam:
    """Steps of a size of its own for each weight, in place [1]_.

    References
    ----------
    .. [1] D. P. Kingma, J. Ba. Adam: a method for stochastic optimization. ICLR 2015.
    """

    def __init__(self, weights: list[Singles], first: float = 0.9, second: float = 0.999) -> None:
        self.weights, self.first, self.second, self.n_steps = weights, first, second, 0
        self.mean = [np.zeros_like(w) for w in weights]
        self.square = [np.zeros_like(w) for w in weights]

    def step(self, gradient: list[Singles], rate: float) -> None:
        """Go one step against the gradient."""
        self.n_steps += 1
        size = np.float32(rate * np.sqrt(1.0 - self.second**self.n_steps) / (1.0 - self.first**self.n_steps))
        for w, g, mean, square in zip(self.weights, gradient, self.mean, self.square, strict=True):
            mean += np.float32(1.0 - self.first) * (g - mean)
            square += np.float32(1.0 - self.second) * (g * g - square)
            w -= size * mean / (np.sqrt(square) + np.float32(1e-8))
