"""What PURL and PNRL share: parameters, the stack that a fit trains, and what is kept of it."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely._base import PUEstimator, draw_seed
from purely._rows import row_keys
from purely._warnings import PurelyWarning
from purely.labels import PULabels
from purely.nn.scaling import Scaling, column_scaling
from purely.representation._plan import ALL_ROWS, Member, plan_members

if TYPE_CHECKING:
    from purely.nn.losses import Loss
    from purely.nn.networks import Architecture
    from purely.nn.training import History, TrainingSettings

Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 65536

#: An epoch of few rows has ten steps rather than one: early stopping counts epochs.
SMALLEST_BATCH, LARGEST_BATCH = 32, 250


class OverfittingWarning(PurelyWarning):
    """The ratio fits its training rows far better than rows it has not seen."""


class DivergedWarning(PurelyWarning):
    """Training of a network never gave a finite loss."""


@dataclass(frozen=True)
class Recipe:
    """All choices of a fit, checked, with presets and "auto" resolved."""

    hidden: tuple[int, ...]
    n_components: int
    head_hidden: tuple[int, ...]
    loss: Any
    settings: TrainingSettings
    batch_size: int  # 0 for "auto"
    validation_fraction: float
    n_starts: int
    n_ensemble: int
    cross_fit: int
    standardize: bool
    encoder: Any = None

    def architecture(self, n_features: int) -> Architecture:
        """Shape of the networks."""
        from purely.nn.networks import Architecture

        return Architecture(n_features, self.hidden, self.n_components, self.head_hidden, self.loss.n_outputs)


@dataclass(frozen=True)
class Fit:
    """One data set and the networks it asks for."""

    X: Any
    positive: NDArray[np.bool_]
    recipe: Recipe
    scaling: Scaling | None
    members: list[Member]
    mapped: bool


@dataclass(frozen=True)
class TrainedMember:
    """A network after training: how to apply it, and J where it was trained and where it was held out."""

    member: Member
    network: Any
    train_j: float
    held_j: float


@dataclass
class ModuleNetwork:
    """A network with a torch module for an encoder, applied block by block on the CPU."""

    module: Any
    scaling: Scaling | None = field(default=None)

    def features(self, X: Any) -> Floats:
        """v(x) of each row."""
        return self._apply(self.module[0], X, scale=True)

    def output(self, features: Floats) -> Floats:
        """g of each row of features."""
        z = self._apply(self.module[1], features, scale=False)
        return z[:, 0] if z.shape[1] == 1 else z

    def _apply(self, part: Any, X: Any, *, scale: bool) -> Floats:
        import torch

        blocks = []
        for start in range(0, X.shape[0], 4096):
            block = X[start : start + 4096]
            block = np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
            if scale and self.scaling is not None:
                block = self.scaling(block)
            with torch.no_grad():
                blocks.append(part(torch.from_numpy(block.astype(np.float32))).numpy().astype(np.float64))
        return np.concatenate(blocks)


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
        from purely.nn.networks import StackedMLP
        from purely.nn.sources import Split, StreamBatches, rows_of
        from purely.nn.training import HeldOut, resolve_device, train

        X_held, labels = self._validate_fit(X_held, y_held, dtype=[np.float64, np.float32])
        recipe = self._recipe(labels)
        if recipe.cross_fit or recipe.encoder is not None:
            raise ValueError("fit_batches needs cross_fit=0 and encoder=None: a stream has no rows to put into folds.")
        scaling = column_scaling(X_held) if recipe.standardize else None
        device = resolve_device(self.device)
        held_p, held_u = np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)
        seed, none = draw_seed(self.random_state), np.empty(0, dtype=np.intp)
        members = [
            Member(ALL_ROWS, e, s, seed + e * recipe.n_starts + s, none, none, held_p, held_u, none)
            for e in range(recipe.n_ensemble)
            for s in range(recipe.n_starts)
        ]
        seeds = [m.seed for m in members]
        stack = StackedMLP(recipe.architecture(X_held.shape[1]), seeds, device, recipe.loss.initial_bias)
        held_out = HeldOut(rows_of(X_held, device, scaling), [Split(none, none, held_p, held_u)] * len(members))
        source = StreamBatches(batches, scaling)
        history = train(stack, source, held_out, recipe.loss, recipe.settings, seeds)
        trained = [
            TrainedMember(m, _with_scaling(stack.arrays(i), scaling), float(train_j), float(held_j))
            for i, (m, train_j, held_j) in enumerate(
                zip(members, history.train_j[history.best_epoch, np.arange(len(members))], history.best_held_j)
            )
        ]
        fit = Fit(X_held, labels.positive, recipe, scaling, members, False)
        self._adopt(fit, labels, trained, history)
        return self

    def transform(self, X: Any) -> Floats:
        """The representation v(x) of each row, shape (n, n_components).

        It is that of one network, the one of lowest held-out J among those that saw all rows: hidden units of two
        networks have nothing to do with each other, so features cannot be averaged. Where `hidden` is empty, it is
        ``X @ components_.T``.
        """
        check_is_fitted(self, "networks_")
        X = self._validate_rows(X, dtype=[np.float64, np.float32])
        if hasattr(self, "components_"):
            return np.asarray(X @ self.components_.T)
        return _by_blocks(self.networks_[self.best_network_].features, X)

    def _prepare(self, X: Any, y: ArrayLike) -> tuple[Fit, PULabels]:
        """Check data and parameters, and plan the networks."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._validate_fit(X, y, dtype=[np.float64, np.float32])
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
        if hasattr(self, "components_"):
            del self.components_
        if not fit.recipe.hidden and fit.recipe.encoder is None:
            self.components_ = _unit_rows(self.networks_[self.best_network_].encoder[0][0].T)
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
            estimator._adopt(fit, own, *_train_modules(fit, estimator.device))
        return
    trained, history = _train_stack(list(fits), estimators[0].device)
    at = 0
    for estimator, fit, own in zip(estimators, fits, labels, strict=True):
        part = slice(at, at + len(fit.members))
        estimator._adopt(fit, own, trained[part], _history_of(history, part))
        at += len(fit.members)


def _signature(fit: Fit) -> Any:
    recipe, n_p = fit.recipe, int(fit.positive.sum())
    kind = replace(recipe, loss=getattr(recipe.loss, "kind", recipe.loss))
    return repr(kind), fit.X.shape, n_p, sp.issparse(fit.X), fit.mapped


def _train_stack(fits: list[Fit], device_name: str) -> tuple[list[TrainedMember], History]:
    from purely.nn.networks import StackedMLP
    from purely.nn.training import resolve_device

    device = resolve_device(device_name)
    recipe = fits[0].recipe
    rows, splits = _shared_rows(fits, device)
    seeds = [m.seed for fit in fits for m in fit.members]
    stack = StackedMLP(recipe.architecture(fits[0].X.shape[1]), seeds, device, recipe.loss.initial_bias)
    history, train_j = _train(stack, rows, splits, seeds, fits)
    scalings = [fit.scaling for fit in fits for _ in fit.members]
    members = [m for fit in fits for m in fit.members]
    trained = [
        TrainedMember(m, _with_scaling(stack.arrays(i), scalings[i]), float(train_j[i]), float(held_j))
        for i, (m, held_j) in enumerate(zip(members, history.best_held_j, strict=True))
    ]
    return trained, history


def _train_modules(fit: Fit, device_name: str) -> tuple[list[TrainedMember], History]:
    """Networks with the caller's encoder, one after another."""
    from purely.nn.networks import EncoderStack, reinitialised
    from purely.nn.training import History, resolve_device

    device = resolve_device(device_name)
    rows, splits = _shared_rows([fit], device)
    architecture = fit.recipe.architecture(fit.X.shape[1])
    trained, histories = [], []
    for member, split in zip(fit.members, splits, strict=True):
        encoder = reinitialised(fit.recipe.encoder, member.seed)
        stack = EncoderStack(encoder, architecture, [member.seed], device, fit.recipe.loss.initial_bias)
        history, train_j = _train(stack, rows, [split], [member.seed], [fit], suffix=f".{len(trained)}")
        network = ModuleNetwork(stack.module(0), fit.scaling)
        trained.append(TrainedMember(member, network, float(train_j[0]), float(history.best_held_j[0])))
        histories.append(history)
    longest = max(h.held_j.shape[0] for h in histories)

    def side_by_side(name: str) -> Floats:
        columns = [getattr(h, name) for h in histories]
        padded = [np.pad(c, ((0, longest - len(c)), (0, 0)), constant_values=np.nan) for c in columns]
        return np.concatenate(padded, axis=1)

    names = ("train_loss", "train_j", "held_loss", "held_j")
    best = np.concatenate([h.best_epoch for h in histories])
    return trained, History(*(side_by_side(n) for n in names), best, any(h.interrupted for h in histories))


def _train(
    stack: Any, rows: Any, splits: list[Any], seeds: list[int], fits: list[Fit], suffix: str = ""
) -> tuple[History, Floats]:
    from purely.nn.sources import BatchShape, RowBatches
    from purely.nn.training import HeldOut, train

    recipe = fits[0].recipe
    first = fits[0].members[0]
    n_p, n_u = first.train_p.size, first.train_u.size
    batch_size = recipe.batch_size or min(LARGEST_BATCH, max(SMALLEST_BATCH, (n_p + n_u) // 10))
    shape = BatchShape.of(n_p, n_u, batch_size)
    settings = recipe.settings
    if settings.checkpoint is not None:
        settings = replace(
            settings, checkpoint=f"{settings.checkpoint}{suffix}", fingerprint=_fingerprint(fits) + suffix
        )
    loss = recipe.loss
    if hasattr(loss, "joined"):  # a loss that may differ between the fits
        loss = loss.joined([fit.recipe.loss for fit in fits], [len(fit.members) for fit in fits])
    batches = RowBatches(rows, splits, seeds, shape)
    history = train(stack, batches, HeldOut(rows, splits), loss, settings, seeds)
    seen = HeldOut(rows, [replace(s, held_p=s.train_p, held_u=s.train_u) for s in splits])
    _, train_j = seen.judge(stack, loss, np.arange(len(splits)))
    return history, train_j.double().cpu().numpy()


def _shared_rows(fits: list[Fit], device: Any) -> tuple[Any, list[Any]]:
    """One source with the rows of all fits, and each network's rows in it."""
    from purely.nn.sources import ArrayRows, CSRRows, MappedRows, Split

    rows: Any
    if fits[0].mapped:
        if len(fits) > 1:
            raise ValueError("memory-mapped arrays cannot share one stack; fit the estimators one by one.")
        rows = MappedRows(fits[0].X, device, fits[0].scaling)
    else:
        kind: Any = CSRRows if sp.issparse(fits[0].X) else ArrayRows
        rows = kind.concatenate([kind(f.X, device, f.scaling) for f in fits])
    starts = np.cumsum([0] + [f.X.shape[0] for f in fits])
    splits = [
        Split(m.train_p + start, m.train_u + start, m.held_p + start, m.held_u + start)
        for fit, start in zip(fits, starts[:-1], strict=True)
        for m in fit.members
    ]
    return rows, splits


def _fingerprint(fits: list[Fit]) -> str:
    """What a checkpoint belongs to: the choices and the rows, in any order."""
    text = hashlib.sha256(repr(fits[0].recipe).encode())
    for fit in fits:
        keys = row_keys(fit.X, 0)
        for mask in (fit.positive, ~fit.positive):
            text.update(np.sort(keys[mask]).tobytes())
        text.update(repr([m.seed for m in fit.members]).encode())
    return text.hexdigest()


def _with_scaling(network: Any, scaling: Scaling | None) -> Any:
    return network if scaling is None else network.after_scaling(scaling.mean, scaling.scale)


def _history_of(history: History, part: slice) -> History:
    from purely.nn.training import History

    names = ("train_loss", "train_j", "held_loss", "held_j")
    columns = [getattr(history, name)[:, part] for name in names]
    return History(*columns, history.best_epoch[part], history.interrupted)


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


def _unit_rows(directions: Floats) -> Floats:
    """Rows of length 1 whose largest entry is positive: a direction has neither length nor sign."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions / np.where(lengths > 0, lengths, 1.0)
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(largest < 0, -1.0, 1.0)


def _by_blocks(function: Callable[[Any], Floats], X: Any) -> Floats:
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


def check_widths(name: str, widths: Any) -> tuple[int, ...]:
    """A tuple of layer widths, or a refusal."""
    values = tuple(widths) if isinstance(widths, Iterable) and not isinstance(widths, str) else None
    if values is None or not all(isinstance(w, Integral) and not isinstance(w, bool) and w >= 1 for w in values):
        raise ValueError(
            f"{name} must be a sequence of integers of at least 1, such as (60,) or (); {widths!r} was given."
        )
    return tuple(int(w) for w in values)


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """One of a few values, or a refusal."""
    if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
        listed = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{name} must be one of {listed}; {value!r} was given.")
    return value


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, integer: bool = False, open_low: bool = False
) -> Any:
    """A number in a range, or a refusal."""
    kind: Any = Integral if integer else Real
    inside = isinstance(value, kind) and not isinstance(value, bool) and low <= value <= high
    if not inside or (open_low and value == low):
        what = "an integer" if integer else "a number"
        bounds = f"{'above' if open_low else 'of at least'} {low:g}" + (
            "" if high == np.inf else f" and at most {high:g}"
        )
        raise ValueError(f"{name} must be {what} {bounds}; {value!r} was given.")
    return int(value) if integer else float(value)
