"""What is left of networks when they have been trained: arrays and a history. Loads no torch, nor needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from purely.typing import Floats, Indices, Matrix

_ROWS_AT_ONCE = 65536

#: Weights, bias and whether a ReLU follows, of one layer after another.
Layers: TypeAlias = tuple[tuple[NDArray[np.floating], NDArray[np.floating], bool], ...]


class Network:
    r"""A trained network :math:`g \circ v`."""

    def features(self, X: Matrix) -> Floats:
        """v(x) of each row, dense or sparse, shape (n, n_components)."""
        raise NotImplementedError

    def output(self, features: Floats) -> Floats:
        """G of each row of features: shape (n,), or (n, n_outputs) where there are several."""
        raise NotImplementedError

    def __call__(self, X: Matrix) -> Floats:
        """g(v(x)) of each row."""
        return self.output(self.features(X))


@dataclass(frozen=True)
class NetworkArrays(Network):
    """One trained network as NumPy arrays, its batch norms folded into the weights; needs no torch.

    Attributes
    ----------
    encoder, head : tuple of (weights, bias, relu)
        Layers of v and g: an affine map and whether a ReLU follows.
    """

    encoder: Layers
    head: Layers

    def features(self, X: Matrix) -> Floats:
        """v(x) of each row, dense or sparse, shape (n, n_components)."""
        return _apply(self.encoder, X)

    def output(self, features: Floats) -> Floats:
        """G of each row of features: shape (n,), or (n, n_outputs) where there are several."""
        z = _apply(self.head, features)
        return z[:, 0] if z.shape[1] == 1 else z

    def after_scaling(self, mean: Floats | None, scale: Floats) -> NetworkArrays:
        """The network that does to x what this one does to ``(x - mean) / scale``."""
        (weights, bias, relu), *rest = (*self.encoder, *self.head)
        scaled = weights / scale[:, None]
        layers = ((scaled, bias - (0.0 if mean is None else mean @ scaled), relu), *rest)
        return NetworkArrays(layers[: len(self.encoder)], layers[len(self.encoder) :])


def _apply(layers: Layers, X: Matrix) -> Floats:
    rows = X
    for weights, bias, relu in layers:
        rows = np.asarray(rows @ weights)
        rows += bias
        if relu:
            np.maximum(rows, 0.0, out=rows)
    return np.asarray(rows)


def by_blocks(function: Callable[[Matrix], Floats], X: Matrix, at_once: int = _ROWS_AT_ONCE) -> Floats:
    """Apply a function of rows block by block, so that no intermediate result is larger than a block's."""
    return np.concatenate([function(X[block]) for block in gen_batches(X.shape[0], at_once)])


@dataclass(frozen=True)
class History:
    """What happened, epoch by epoch; entries after a network's stop are NaN.

    Attributes
    ----------
    train_loss, train_j : ndarray of shape (n_epochs, M)
        Loss and J of the training batches, with dropout at work.
    held_loss, held_j : ndarray of shape (n_epochs, M)
        Loss and J of the held-out rows.
    best_epoch : ndarray of int, shape (M,)
        Epoch, counted from 0, whose network was kept.
    interrupted : bool
        Whether Ctrl-C ended the training.
    """

    train_loss: Floats
    train_j: Floats
    held_loss: Floats
    held_j: Floats
    best_epoch: Indices
    interrupted: bool

    def of(self, networks: slice) -> History:
        """The history of some of the networks."""
        a, b, c, d = (part[:, networks] for part in (self.train_loss, self.train_j, self.held_loss, self.held_j))
        return History(a, b, c, d, self.best_epoch[networks], self.interrupted)

    @property
    def best_held_j(self) -> Floats:
        """Held-out J of the network that was kept, shape (M,)."""
        return self.held_j[self.best_epoch, np.arange(self.best_epoch.size)]
