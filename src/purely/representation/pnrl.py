r"""PNRL: the supervised counterpart of PURL (appendix E of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.checks import RandomState
from purely.labels import PULabels
from purely.nn.fitted import by_blocks
from purely.nn.plan import TrainedMember
from purely.nn.recipe import kept_dtypes
from purely.representation.networks import NetworkRepresentation, PreparedRepresentation
from purely.representation.recipe import RepresentationRecipe, read_recipe

__all__ = ["PNRL"]


class PNRL(NetworkRepresentation):
    r"""Representation learning from positives and negatives, by maximising PN-SMI.

    A network with two outputs, :math:`h(x, +1)` and :math:`h(x, -1)` on a shared representation :math:`v(x)`, models
    :math:`p(x, y) / (p(x) p(y))` by maximising

    .. math:: L(h) = \frac1n \sum_i h(x_i, y_i) - \sum_{y} \frac{\hat p(y)}{2n} \sum_i h^2(x_i, y),

    where PN-SMI is :math:`L - 1/2`. On PU data it takes the unlabelled rows for negatives, as the paper does to
    compare; on labelled data it is the bound that a PU method is measured by.

    Parameters
    ----------
    n_components : int, default=20
    hidden : tuple of int, default=(60,)
    head_hidden : tuple of int or "auto", default="auto"
    update, preset, optimizer, learning_rate, schedule, weight_decay, gradient_noise, clip_norm, dropout, max_epochs,
    early_stopping, patience, tol, batch_size, validation_fraction, n_starts, standardize, device, dtype, checkpoint,
    random_state, verbose
        As for :class:`~purely.representation.PURL`.
    n_ensemble : int, default=1
        Networks, of which the one of largest held-out L gives the representation.

    Attributes
    ----------
    information_ : float
        PN-SMI :math:`L - 1/2` on rows held out, the mean over the networks.
    class_prior_ : float
        Share of positives among the rows, :math:`\hat p(y = +1)`.
    components_ : ndarray of shape (n_components, n_features)
        Only where `hidden` is empty: directions of unit length, in the units of the columns.
    networks_, best_network_, held_out_objective_, train_objective_, history_, classes_, n_components_, n_features_in_
        As for PURL; the objectives are :math:`-L`.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.representation import PNRL
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, -1], 200)
    >>> X = rng.normal(size=(400, 2)) + 2.0 * y[:, None] * [1.0, 0.0]
    >>> model = PNRL(n_components=2, max_epochs=50, random_state=0, device="cpu").fit(X, y)
    >>> bool(0.3 < model.information_ < 0.5)  # 0.5 is all there is with two classes of equal size
    True
    """

    def __init__(
        self,
        n_components: int = 20,
        hidden: Any = (60,),
        *,
        head_hidden: Any = "auto",
        update: str = "joint",
        preset: str | None = None,
        optimizer: str = "adam",
        learning_rate: float = 1e-3,
        schedule: str = "constant",
        weight_decay: float = 1e-4,
        gradient_noise: float = 0.0,
        clip_norm: float | None = None,
        dropout: float = 0.2,
        max_epochs: int = 200,
        early_stopping: bool = True,
        patience: int = 15,
        tol: float = 0.0,
        batch_size: Any = "auto",
        validation_fraction: float = 1 / 6,
        n_starts: Any = "auto",
        n_ensemble: int = 1,
        standardize: bool = True,
        device: str = "auto",
        dtype: str = "float32",
        checkpoint: Any = None,
        random_state: RandomState = 0,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.hidden = hidden
        self.head_hidden = head_hidden
        self.update = update
        self.preset = preset
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.gradient_noise = gradient_noise
        self.clip_norm = clip_norm
        self.dropout = dropout
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.patience = patience
        self.tol = tol
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.n_starts = n_starts
        self.n_ensemble = n_ensemble
        self.standardize = standardize
        self.device = device
        self.dtype = dtype
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def score(self, X: Any, y: ArrayLike) -> float:
        """L of the best network on these rows; larger is better, and knowing nothing scores 0.5."""
        check_is_fitted(self, "networks_")
        X, labels = self._validate_fit(X, y, min_positive=1, min_unlabelled=1, reset=False, dtype=kept_dtypes(X))
        h = by_blocks(self.networks_[self.best_network_], X)
        positive = labels.positive
        shares = np.array([self.class_prior_, 1.0 - self.class_prior_])
        linear = shares @ [h[positive, 0].mean(), h[~positive, 1].mean()]
        square = shares[0] * (h[positive] ** 2).mean(axis=0) + shares[1] * (h[~positive] ** 2).mean(axis=0)
        return float(linear - 0.5 * shares @ square)

    def _recipe(self, n_features: int, labels: PULabels) -> RepresentationRecipe:
        from purely.nn.losses import PNSquaredLoss

        share = float(labels.positive.mean())
        return read_recipe(self.get_params(deep=False), n_features, lambda _: PNSquaredLoss(share))

    def _judge(self, preparation: PreparedRepresentation, kept: list[TrainedMember]) -> None:
        self.class_prior_ = float(preparation.labels.positive.mean())
        self.information_ = float(np.mean([-t.held_j for t in kept]) - 0.5)
