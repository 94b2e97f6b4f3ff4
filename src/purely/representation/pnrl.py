r"""PNRL: representations from both classes, by maximising PN-SMI (appendix E)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.base import with_parameters
from purely.labels import PULabels
from purely.nn.fitted import by_blocks
from purely.nn.plan import PreparedFit, TrainedMember, Values
from purely.nn.recipe import kept_dtypes
from purely.representation.purl import NetworkRepresentation
from purely.typing import Matrix

if TYPE_CHECKING:
    from purely.nn.losses import Loss


@with_parameters
class PNRL(NetworkRepresentation):
    r"""Representation learning from positives and negatives, by maximising PN-SMI.

    A network with two outputs, :math:`h(x, +1)` and :math:`h(x, -1)` on a shared representation :math:`v(x)`, models
    :math:`p(x, y) / (p(x) p(y))` by maximising

    .. math:: L(h) = \frac1n \sum_i h(x_i, y_i) - \sum_{y} \frac{\hat p(y)}{2n} \sum_i h^2(x_i, y),

    where PN-SMI is :math:`L - 1/2`. With PU data it takes the unlabelled rows for negatives, as the paper does for
    comparison. With labelled data it shows how much a PU method could reach at best.

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

    n_ensemble: int = 1

    def score(self, X: Matrix, y: ArrayLike) -> float:
        """L of the best network on these rows; larger is better, and a network that has learnt nothing scores 0.5."""
        check_is_fitted(self, "networks_")
        X, labels = self._validate_fit(X, y, least=(1, 1), reset=False, dtype=kept_dtypes(X))
        h = by_blocks(self.networks_[self.best_network_], X)
        positive = labels.positive
        shares = np.array([self.class_prior_, 1.0 - self.class_prior_])
        linear = shares @ [h[positive, 0].mean(), h[~positive, 1].mean()]
        square = shares[0] * (h[positive] ** 2).mean(axis=0) + shares[1] * (h[~positive] ** 2).mean(axis=0)
        return float(linear - 0.5 * shares @ square)

    def _loss(self, values: Values, labels: PULabels) -> Loss:
        from purely.nn.losses import PNSquaredLoss

        return PNSquaredLoss(float(labels.positive.mean()))

    def _judge(self, preparation: PreparedFit, kept: list[TrainedMember]) -> None:
        self.class_prior_ = float(preparation.labels.positive.mean())
        self.information_ = float(np.mean([-t.held_j for t in kept]) - 0.5)
