"""What PURL and PNRL share: training through stacked networks, and the representation that comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, with_parameters
from purely.checks import draw_seed
from purely.folds import deal_folds, row_keys
from purely.labels import PULabels
from purely.nn.fitted import by_blocks
from purely.nn.parameters import NetworkParameters
from purely.nn.plan import ALL_ROWS, Member, StackPlan, TrainedMember, TrainedStack, fit_together, plan_members
from purely.nn.recipe import kept_dtypes
from purely.nn.scaling import column_scaling
from purely.representation.recipe import RepresentationRecipe

__all__ = ["NetworkRepresentation", "PreparedRepresentation", "unit_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PreparedRepresentation:
    """What is known before the networks are trained."""

    stack: StackPlan
    labels: PULabels
    recipe: RepresentationRecipe


@with_parameters
class NetworkRepresentation(NetworkParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, PUEstimator):
    """Base of the representations that are learnt by stacked networks; a subclass gives the recipe and the ratio."""

    n_components: int = field(default=20, kw_only=False)
    hidden: Sequence[int] = field(default=(60,), kw_only=False)
    head_hidden: Sequence[int] | Literal["auto"] = "auto"
    update: str = "joint"
    schedule: str = "constant"
    weight_decay: float = 1e-4
    gradient_noise: float = 0.0
    clip_norm: float | None = None
    max_epochs: int = 200
    early_stopping: bool = True
    patience: int = 15
    n_starts: int | Literal["auto"] = "auto"

    def _recipe(self, n_features: int, labels: PULabels) -> RepresentationRecipe:
        raise NotImplementedError

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn the representation.

        Parameters
        ----------
        X : array, memory-mapped array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for the other rows.

        Returns
        -------
        self
        """
        fit_together([self], [(X, y)])
        return self

    def prepare_fit(self, X: Any, y: ArrayLike) -> PreparedRepresentation:
        """Check data and parameters and plan the networks; the first half of `fit`, see :func:`fit_together`."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._validate_fit(X, y, dtype=kept_dtypes(X))
        recipe = self._recipe(X.shape[1], labels)
        seed = draw_seed(self.random_state)
        keys = row_keys(X, seed)
        folds = deal_folds(X, labels.positive, recipe.cv, seed, keys) if recipe.cv else None
        members = plan_members(
            labels.positive,
            keys,
            folds,
            n_ensemble=recipe.n_ensemble,
            n_starts=recipe.n_starts,
            validation_fraction=recipe.validation_fraction,
            seed=seed,
        )
        if min(min(m.train_p.size + m.held_p.size, m.train_u.size + m.held_u.size) for m in members) < 2:
            raise ValueError(
                f"cv={recipe.cv} leaves fewer than 2 positives or 2 unlabelled rows to train on; "
                f"there are {labels.n_positive} and {labels.n_unlabelled}."
            )
        scaling = column_scaling(X) if recipe.standardize else None
        stack = StackPlan(X, labels.positive, recipe.networks, scaling, members, mapped)
        return PreparedRepresentation(stack, labels, recipe)

    def fit_batches(self, batches: Callable[[int], Iterable[tuple[Any, Any]]], X_held: Any, y_held: ArrayLike) -> Any:
        """Learn the representation from a stream of minibatches, for data that no array can hold.

        Parameters
        ----------
        batches : callable
            Called with the number of the epoch (0, 1, ...); returns an iterable of pairs (P, U) of rows.
        X_held, y_held : as in fit
            Rows that are held out: training stops by them, and the columns are scaled by them.

        Returns
        -------
        self
        """
        from purely.nn.stack import train_stream

        X_held, labels = self._validate_fit(X_held, y_held, dtype=[np.float64, np.float32])
        recipe = self._recipe(X_held.shape[1], labels)
        if recipe.cv or recipe.networks.encoder is not None:
            raise ValueError("fit_batches needs cv=None and encoder=None: a stream has no rows to put into folds.")
        held_p, held_u = np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)
        seed, none = draw_seed(self.random_state), np.empty(0, dtype=np.intp)
        members = [
            Member(ALL_ROWS, e, s, seed + e * recipe.n_starts + s, none, none, held_p, held_u, none)
            for e in range(recipe.n_ensemble)
            for s in range(recipe.n_starts)
        ]
        scaling = column_scaling(X_held) if recipe.standardize else None
        stack = StackPlan(X_held, labels.positive, recipe.networks, scaling, members)
        self.finish_fit(PreparedRepresentation(stack, labels, recipe), train_stream(stack, batches))
        return self

    def finish_fit(self, preparation: PreparedRepresentation, trained: TrainedStack) -> None:
        """Keep of the trained networks what the estimator needs; the second half of `fit`."""
        trained.warn_diverged()
        kept = _best_of_starts(trained.members)
        whole = [t for t in kept if t.member.fold == ALL_ROWS]
        self.classes_ = preparation.labels.classes
        self.history_ = trained.history
        self.networks_ = [t.network for t in whole]
        self.best_network_ = int(np.argmin([np.nan_to_num(t.held_j, nan=np.inf) for t in whole]))
        self.held_out_objective_ = np.array([t.held_j for t in whole])
        self.train_objective_ = np.array([t.train_j for t in whole])
        self.n_components_ = self._n_features_out = preparation.recipe.n_components
        self.forget("components_")
        if preparation.recipe.linear:
            self.components_ = unit_rows(self.networks_[self.best_network_].encoder[0][0].T)
        self._judge(preparation, kept)

    def _judge(self, preparation: PreparedRepresentation, kept: list[TrainedMember]) -> None:
        """Set what is reported: information, out-of-fold values, warnings."""
        raise NotImplementedError

    def transform(self, X: Any) -> Floats:
        """The representation v(x) of each row, shape (n, n_components).

        It is that of one network, the one of lowest held-out J among those that saw all rows: hidden units of two
        networks have nothing to do with each other, so features cannot be averaged. Where `hidden` is empty, it is
        ``X @ components_.T``.
        """
        check_is_fitted(self, "networks_")
        X = self._validate_rows(X, dtype=kept_dtypes(X))
        if hasattr(self, "components_"):
            return np.asarray(X @ self.components_.T)
        return by_blocks(self.networks_[self.best_network_].features, X)


def _best_of_starts(trained: list[TrainedMember]) -> list[TrainedMember]:
    """Of the restarts of each network the one of lowest J, on its training and held-out rows together."""
    best: dict[tuple[int, int], TrainedMember] = {}
    for t in trained:
        key = (t.member.fold, t.member.member)
        if key not in best or _pooled_j(t) < _pooled_j(best[key]):
            best[key] = t
    return list(best.values())


def _pooled_j(t: TrainedMember) -> float:
    n_train, n_held = t.member.train_p.size, t.member.held_p.size
    pooled = (n_train * t.train_j + n_held * t.held_j) / (n_train + n_held)
    return pooled if np.isfinite(pooled) else np.inf


def unit_rows(directions: Floats) -> Floats:
    """Rows of length 1 whose largest entry is positive: a direction has neither length nor sign."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions / np.where(lengths > 0, lengths, 1.0)
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(largest < 0, -1.0, 1.0)
