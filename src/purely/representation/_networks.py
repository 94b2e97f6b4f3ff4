"""What PURL and PNRL share: planning the networks of a fit, and keeping what comes out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely._base import PUEstimator, draw_seed
from purely._warnings import PurelyWarning
from purely.labels import PULabels
from purely.nn.scaling import column_scaling
from purely.representation._plan import ALL_ROWS, Fit, Member, TrainedMember, plan_members
from purely.representation._recipe import Recipe

if TYPE_CHECKING:
    from purely.nn.training import History

Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 65536


class OverfittingWarning(PurelyWarning):
    """The ratio fits its training rows far better than rows it has not seen."""


class DivergedWarning(PurelyWarning):
    """Training of a network never gave a finite loss."""


class NetworkRepresentation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PUEstimator):
    """Base of the representations that are learnt by stacked networks; a subclass gives the recipe and the ratio."""

    def _recipe(self, labels: PULabels | None = None) -> Recipe:
        raise NotImplementedError

    def fit(self, X: Any, y: ArrayLike) -> Any:
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
        from purely.representation._training import train_stream

        X_held, labels = self._validate_fit(X_held, y_held, dtype=[np.float64, np.float32])
        recipe = self._recipe(labels)
        if recipe.cross_fit or recipe.encoder is not None:
            raise ValueError("fit_batches needs cross_fit=0 and encoder=None: a stream has no rows to put into folds.")
        held_p, held_u = np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)
        seed, none = draw_seed(self.random_state), np.empty(0, dtype=np.intp)
        members = [
            Member(ALL_ROWS, e, s, seed + e * recipe.n_starts + s, none, none, held_p, held_u, none)
            for e in range(recipe.n_ensemble)
            for s in range(recipe.n_starts)
        ]
        scaling = column_scaling(X_held) if recipe.standardize else None
        fit = Fit(X_held, labels.positive, recipe, scaling, members, False)
        self._adopt(fit, labels, *train_stream(fit, batches, self.device))
        return self

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

    def _prepare(self, X: Any, y: ArrayLike) -> tuple[Fit, PULabels]:
        """Check data and parameters, and plan the networks."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._validate_fit(X, y, dtype=kept_dtypes(X))
        recipe = self._recipe(labels)
        smallest = min(labels.n_positive, labels.n_unlabelled)
        if recipe.cross_fit and smallest - -(-smallest // recipe.cross_fit) < 2:
            raise ValueError(
                f"cross_fit={recipe.cross_fit} leaves fewer than 2 positives or 2 unlabelled rows to train on; "
                f"there are {labels.n_positive} and {labels.n_unlabelled}."
            )
        seed = draw_seed(self.random_state)
        members = plan_members(
            X,
            labels.positive,
            cross_fit=recipe.cross_fit,
            n_ensemble=recipe.n_ensemble,
            n_starts=recipe.n_starts,
            validation_fraction=recipe.validation_fraction,
            seed=seed,
        )
        scaling = column_scaling(X) if recipe.standardize else None
        return Fit(X, labels.positive, recipe, scaling, members, mapped), labels

    def _adopt(self, fit: Fit, labels: PULabels, trained: list[TrainedMember], history: History) -> None:
        """Keep of the trained networks what the estimator needs."""
        _warn_diverged(trained)
        kept = _best_of_starts(trained)
        whole = [t for t in kept if t.member.fold == ALL_ROWS]
        self.classes_ = labels.classes
        self.history_ = history
        self.networks_ = [t.network for t in whole]
        self.best_network_ = int(np.argmin([np.nan_to_num(t.held_j, nan=np.inf) for t in whole]))
        self.held_out_objective_ = np.array([t.held_j for t in whole])
        self.train_objective_ = np.array([t.train_j for t in whole])
        self.n_components_ = self._n_features_out = fit.recipe.n_components
        self.__dict__.pop("components_", None)
        if not fit.recipe.hidden and fit.recipe.encoder is None:
            self.components_ = unit_rows(self.networks_[self.best_network_].encoder[0][0].T)
        self._judge(fit, kept)

    def _judge(self, fit: Fit, kept: list[TrainedMember]) -> None:
        """Set what is reported: information, out-of-fold values, warnings."""
        raise NotImplementedError


def fit_together(estimators: Sequence[NetworkRepresentation], data: Sequence[tuple[Any, ArrayLike]]) -> None:
    """Fit several estimators of equal parameters, each to its own data, as one stack of networks.

    What comes out is what ``estimator.fit(X, y)`` gives one after another, beyond rounding; on a GPU it takes about as
    long as one fit. `random_state` and `scenario` may differ; the data need the same numbers of rows of both kinds and
    the same columns.

    Parameters
    ----------
    estimators : sequence of PURL or PNRL
    data : sequence of (X, y)
        One data set for each estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.representation import PURL, fit_together
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], [30, 60])
    >>> data = [(rng.normal(size=(90, 2)) + y[:, None], y) for _ in range(2)]
    >>> models = [PURL(max_epochs=2, random_state=0, device="cpu") for _ in data]
    >>> fit_together(models, data)
    >>> models[1].density_ratio(data[1][0]).shape
    (90,)
    """
    from purely.representation._training import history_part, train_modules, train_stack

    if len(estimators) != len(data):
        raise ValueError(f"{len(estimators)} estimators and {len(data)} data sets were given; one each is needed.")
    fits, labels = zip(*(e._prepare(X, y) for e, (X, y) in zip(estimators, data, strict=True)), strict=True)
    if len({_signature(fit) for fit in fits}) > 1:
        raise ValueError(
            "fit_together needs equal parameters, equal numbers of positives and of unlabelled rows, and equal "
            "columns; fit the estimators one by one."
        )
    if fits[0].recipe.encoder is not None:
        for estimator, fit, own in zip(estimators, fits, labels, strict=True):
            estimator._adopt(fit, own, *train_modules(fit, estimator.device))
        return
    trained, history = train_stack(list(fits), estimators[0].device)
    at = 0
    for estimator, fit, own in zip(estimators, fits, labels, strict=True):
        part = slice(at, at + len(fit.members))
        estimator._adopt(fit, own, trained[part], history_part(history, part))
        at += len(fit.members)


def _signature(fit: Fit) -> Any:
    recipe, n_p = fit.recipe, int(fit.positive.sum())
    kind = replace(recipe, loss=getattr(recipe.loss, "kind", recipe.loss))
    return repr(kind), fit.X.shape, n_p, sp.issparse(fit.X), fit.mapped


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


def kept_dtypes(X: Any) -> Any:
    """Types that are not converted up front: floats; any number in a memory-mapped array, which is never copied."""
    return "numeric" if isinstance(X, np.memmap) else [np.float64, np.float32]


def unit_rows(directions: Floats) -> Floats:
    """Rows of length 1 whose largest entry is positive: a direction has neither length nor sign."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions / np.where(lengths > 0, lengths, 1.0)
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(largest < 0, -1.0, 1.0)


def by_blocks(function: Callable[[Any], Floats], X: Any) -> Floats:
    """Apply a function of rows block by block, so that no intermediate result is larger than a block's."""
    starts = range(0, X.shape[0], _ROWS_AT_ONCE)
    return np.concatenate([function(X[start : start + _ROWS_AT_ONCE]) for start in starts])


def _warn_diverged(trained: list[TrainedMember]) -> None:
    lost = sum(not np.isfinite(t.held_j) for t in trained)
    if lost:
        warnings.warn(
            f"the held-out loss of {lost} of {len(trained)} networks was never finite; they are as they were "
            "initialised. Lower learning_rate, or set clip_norm=1.",
            DivergedWarning,
            stacklevel=5,
        )
