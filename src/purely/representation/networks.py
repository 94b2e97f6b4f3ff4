"""What PURL and PNRL share: training through stacked networks, and the representation that comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, check_parameters, number, one_of, parameter, with_parameters
from purely.checks import check_widths, draw_seed
from purely.labels import PULabels
from purely.nn import plan
from purely.nn.fitted import NetworkArrays, by_blocks
from purely.nn.recipe import Architecture, kept_dtypes
from purely.nn.scaling import column_scaling
from purely.typing import Floats, Matrix

if TYPE_CHECKING:
    from purely.nn.losses import Loss


#: What the paper prints (section 5.2); what it does not print stays as it is set.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        **plan.PAPER,
        "hidden": (60,),
        "n_components": 20,
        "head_hidden": (),
        "loss": "squared",
        "update": "alternating",
        "optimizer": "sgd",
        "learning_rate": 0.001,
        "weight_decay": 0.0005,
        "gradient_noise": 0.01,
        "clip_norm": None,
        "n_starts": 1,
    }
}
PRESETS["paper-text"] = {**PRESETS["paper"], "hidden": (30,), "n_components": 10}


@with_parameters
class NetworkRepresentation(plan.TrainsNetworks, ClassNamePrefixFeaturesOutMixin, TransformerMixin, PUEstimator):
    """Base of the representations that are learnt by stacked networks; a subclass gives the loss and the ratio."""

    n_components: int = number(default=20, low=1, integer=True, kw_only=False)
    hidden: Sequence[int] = parameter(default=(60,), check=check_widths, kw_only=False)
    head_hidden: Sequence[int] | Literal["auto"] = parameter(default="auto", check=check_widths)
    update: str = one_of("joint", "alternating", default="joint")
    weight_decay: float = 1e-4
    gradient_noise: float = number(default=0.0, low=0.0)
    clip_norm: float | None = number(default=None, low=0.0, open_low=True)
    max_epochs: int = 200
    patience: int = 15
    n_starts: int | Literal["auto"] = number(default="auto", low=1, integer=True)
    n_ensemble: Any = number(default="auto", low=1, integer=True)

    def _loss(self, values: Mapping[str, Any], labels: PULabels) -> Loss:
        """What networks minimise, from the estimator's parameters, its preset in their place."""
        raise NotImplementedError

    def _recipe(self, n_features: int, labels: PULabels) -> plan.EnsembleRecipe:
        """The parameters with those of the preset in their place, and what is "auto" resolved."""
        parameters = self.get_params(deep=False)
        values = check_parameters(type(self), parameters | PRESETS.get(parameters["preset"], {}))
        linear = not values["hidden"] and values.get("encoder") is None
        automatic: dict[str, Any] = {"head_hidden": (), "n_starts": 1, "n_ensemble": 5}
        if linear:
            values["dropout"] = 0.0
            automatic = {"head_hidden": (20,), "n_starts": 10, "n_ensemble": 1}
        values |= {name: value for name, value in automatic.items() if values[name] == "auto"}
        loss, widths = self._loss(values, labels), (values["hidden"], values["n_components"], values["head_hidden"])
        return plan.EnsembleRecipe.read(values, Architecture.representation(n_features, *widths, loss.n_outputs), loss)

    def prepare_fit(self, X: Matrix, y: ArrayLike) -> plan.PreparedFit:
        """Check data and parameters and plan the networks; the first half of `fit`, see :func:`fit_together`."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._validate_fit(X, y, dtype=kept_dtypes(X))
        recipe = self._recipe(X.shape[1], labels)
        stack = recipe.stack_plan(X, labels.positive, seed=draw_seed(self.random_state), mapped=mapped)
        if min(min(m.train_p.size + m.held_p.size, m.train_u.size + m.held_u.size) for m in stack.members) < 2:
            raise ValueError(
                f"cv={recipe.cv} leaves fewer than 2 positives or 2 unlabelled rows to train on; "
                f"there are {labels.n_positive} and {labels.n_unlabelled}."
            )
        return plan.PreparedFit(stack, labels, recipe)

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
        from purely.nn.training import train_stream

        X_held, labels = self._validate_fit(X_held, y_held, dtype=[np.float64, np.float32])
        recipe = self._recipe(X_held.shape[1], labels)
        if recipe.cv or recipe.networks.encoder is not None:
            raise ValueError("fit_batches needs cv=None and encoder=None: a stream has no rows to put into folds.")
        held_p, held_u = np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)
        seed, none = draw_seed(self.random_state), np.empty(0, dtype=np.intp)
        members = [
            plan.Member(none, none, held_p, held_u, plan.ALL_ROWS, e, s, seed + e * recipe.n_starts + s, none)
            for e in range(recipe.n_ensemble)
            for s in range(recipe.n_starts)
        ]
        scaling = column_scaling(X_held) if recipe.standardize else None
        stack = plan.StackPlan(X_held, labels.positive, recipe.networks, scaling, members)
        self.finish_fit(plan.PreparedFit(stack, labels, recipe), train_stream(stack, batches))
        return self

    def finish_fit(self, preparation: plan.PreparedFit, trained: plan.TrainedStack) -> None:
        """Keep of the trained networks what the estimator needs; the second half of `fit`."""
        trained.warn_diverged()
        kept = _best_of_starts(trained.members)
        whole = [t for t in kept if t.member.fold == plan.ALL_ROWS]
        self.classes_ = preparation.labels.classes
        self.history_ = trained.history
        self.networks_ = [t.network for t in whole]
        self.best_network_ = int(np.argmin([np.nan_to_num(t.held_j, nan=np.inf) for t in whole]))
        self.held_out_objective_ = np.array([t.held_j for t in whole])
        self.train_objective_ = np.array([t.train_j for t in whole])
        self.n_components_ = self._n_features_out = preparation.recipe.networks.architecture.head[0].n_in
        self.forget("components_")
        match self.networks_[self.best_network_]:
            case NetworkArrays(encoder=((weights, _, False),)):  # v is linear
                self.components_ = unit_rows(weights.T)
        self._judge(preparation, kept)

    def _judge(self, preparation: plan.PreparedFit, kept: list[plan.TrainedMember]) -> None:
        """Set what is reported: information, out-of-fold values, warnings."""
        raise NotImplementedError

    def transform(self, X: Matrix) -> Floats:
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


def _best_of_starts(trained: list[plan.TrainedMember]) -> list[plan.TrainedMember]:
    """Of the restarts of each network the one of lowest J, on its training and held-out rows together."""
    restarts: dict[tuple[int, int], list[plan.TrainedMember]] = {}
    for t in trained:
        restarts.setdefault((t.member.fold, t.member.member), []).append(t)
    return [min(same, key=_pooled_j) for same in restarts.values()]


def _pooled_j(t: plan.TrainedMember) -> float:
    n_train, n_held = t.member.train_p.size, t.member.held_p.size
    pooled = (n_train * t.train_j + n_held * t.held_j) / (n_train + n_held)
    return pooled if np.isfinite(pooled) else np.inf


def unit_rows(directions: NDArray[np.floating]) -> Floats:
    """Rows of length 1 whose largest entry is positive: a direction has neither length nor sign."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions / np.where(lengths > 0, lengths, 1.0)
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(largest < 0, -1.0, 1.0)
