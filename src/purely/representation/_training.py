"""Training of the networks of one or several fits; the only module of this package that loads torch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from purely._rows import row_keys
from purely.nn.networks import EncoderStack, NetworkArrays, StackedMLP, reinitialised
from purely.nn.scaling import Scaling
from purely.nn.sources import (
    ArrayRows,
    BatchShape,
    CSRRows,
    MappedRows,
    RowBatches,
    Rows,
    Split,
    StreamBatches,
    rows_of,
)
from purely.nn.training import HeldOut, History, resolve_device, train
from purely.representation._plan import Fit, TrainedMember

__all__ = ["ModuleNetwork", "history_part", "train_modules", "train_stack", "train_stream"]

Floats = NDArray[np.float64]

#: An epoch of few rows has ten steps rather than one: early stopping counts epochs.
SMALLEST_BATCH, LARGEST_BATCH = 32, 250

#: Order of the numbers in a checkpoint; one of another order is refused.
LAYOUT = "weights (out, in)"

_HISTORY = ("train_loss", "train_j", "held_loss", "held_j")


@dataclass
class ModuleNetwork:
    """A network with a torch module for an encoder, applied block by block on the CPU."""

    module: Any
    scaling: Scaling | None = None

    def features(self, X: Any) -> Floats:
        """v(x) of each row."""
        return self._apply(self.module[0], X, scale=True)

    def output(self, features: Floats) -> Floats:
        """G of each row of features."""
        z = self._apply(self.module[1], features, scale=False)
        return z[:, 0] if z.shape[1] == 1 else z

    def __call__(self, X: Any) -> Floats:
        """g(v(x)) of each row."""
        return self.output(self.features(X))

    def _apply(self, part: Any, X: Any, *, scale: bool) -> Floats:
        blocks = []
        for start in range(0, X.shape[0], 4096):
            block = X[start : start + 4096]
            block = np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
            if scale and self.scaling is not None:
                block = self.scaling(block)
            with torch.no_grad():
                blocks.append(part(torch.from_numpy(block.astype(np.float32))).numpy().astype(np.float64))
        return np.concatenate(blocks)


def train_stack(fits: list[Fit], device_name: str) -> tuple[list[TrainedMember], History]:
    """Train the networks of several fits as one stack; they come back in the order of the fits."""
    device = resolve_device(device_name)
    recipe = fits[0].recipe
    rows, splits = _shared_rows(fits, device)
    seeds = [m.seed for fit in fits for m in fit.members]
    stack = StackedMLP(recipe.architecture(fits[0].X.shape[1]), seeds, device, recipe.loss.initial_bias)
    history, train_j = _train(stack, rows, splits, seeds, fits)
    return _trained(stack, fits, train_j, history), history


def train_stream(
    fit: Fit, batches: Callable[[int], Iterable[tuple[Any, Any]]], device_name: str
) -> tuple[list[TrainedMember], History]:
    """Train networks on a stream of minibatches; the rows of the fit are those held out."""
    device, recipe = resolve_device(device_name), fit.recipe
    seeds = [m.seed for m in fit.members]
    stack = StackedMLP(recipe.architecture(fit.X.shape[1]), seeds, device, recipe.loss.initial_bias)
    splits = [Split(m.train_p, m.train_u, m.held_p, m.held_u) for m in fit.members]
    held_out = HeldOut(rows_of(fit.X, device, fit.scaling), splits)
    history = train(stack, StreamBatches(batches, fit.scaling), held_out, recipe.loss, recipe.settings, seeds)
    train_j = history.train_j[history.best_epoch, np.arange(len(seeds))]
    return _trained(stack, [fit], train_j, history), history


def train_modules(fit: Fit, device_name: str) -> tuple[list[TrainedMember], History]:
    """Train networks with the caller's encoder, one after another."""
    device = resolve_device(device_name)
    rows, splits = _shared_rows([fit], device)
    architecture = fit.recipe.architecture(fit.X.shape[1])
    trained: list[TrainedMember] = []
    histories: list[History] = []
    for member, split in zip(fit.members, splits, strict=True):
        encoder = reinitialised(fit.recipe.encoder, member.seed)
        stack = EncoderStack(encoder, architecture, [member.seed], device, fit.recipe.loss.initial_bias)
        history, train_j = _train(stack, rows, [split], [member.seed], [fit], suffix=f".{len(trained)}")
        network = ModuleNetwork(stack.module(0), fit.scaling)
        trained.append(TrainedMember(member, network, float(train_j[0]), float(history.best_held_j[0])))
        histories.append(history)
    return trained, _side_by_side(histories)


def _train(
    stack: StackedMLP, rows: Rows, splits: list[Split], seeds: list[int], fits: list[Fit], suffix: str = ""
) -> tuple[History, Floats]:
    """Train a stack on rows, and judge it on those it was trained on."""
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


def _shared_rows(fits: list[Fit], device: torch.device) -> tuple[Rows, list[Split]]:
    """One source with the rows of all fits, and each network's rows in it."""
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
    """What a checkpoint belongs to: the choices that matter and the rows, in any order."""
    recipe = fits[0].recipe
    silent = replace(recipe.settings, verbose=False, checkpoint=None)
    if silent.schedule == "constant":
        silent = replace(silent, max_epochs=0)  # a run may be resumed to train on for longer
    text = hashlib.sha256(f"{LAYOUT} {replace(recipe, settings=silent)!r}".encode())
    for fit in fits:
        keys = row_keys(fit.X, 0)
        for mask in (fit.positive, ~fit.positive):
            text.update(np.sort(keys[mask]).tobytes())
        text.update(repr([m.seed for m in fit.members]).encode())
    return text.hexdigest()


def _trained(stack: StackedMLP, fits: list[Fit], train_j: Floats, history: History) -> list[TrainedMember]:
    """The networks of a stack as arrays that take the columns as they were given."""
    stack.replace_state({name: tensor.cpu() for name, tensor in stack.state().items()})
    pairs = [(fit.scaling, member) for fit in fits for member in fit.members]
    return [
        TrainedMember(member, _on_given_columns(stack.arrays(i), scaling), float(train_j[i]), float(held_j))
        for i, ((scaling, member), held_j) in enumerate(zip(pairs, history.best_held_j, strict=True))
    ]


def _on_given_columns(network: NetworkArrays, scaling: Scaling | None) -> NetworkArrays:
    return network if scaling is None else network.after_scaling(scaling.mean, scaling.scale)


def history_part(history: History, networks: slice) -> History:
    """The history of some of the networks."""
    columns = {name: getattr(history, name)[:, networks] for name in _HISTORY}
    return History(**columns, best_epoch=history.best_epoch[networks], interrupted=history.interrupted)


def _side_by_side(histories: list[History]) -> History:
    """One history of networks that were trained one after another; shorter ones end in NaN."""
    longest = max(h.held_j.shape[0] for h in histories)
    columns = {}
    for name in _HISTORY:
        parts = [getattr(h, name) for h in histories]
        padded = [np.pad(p, ((0, longest - len(p)), (0, 0)), constant_values=np.nan) for p in parts]
        columns[name] = np.concatenate(padded, axis=1)
    best = np.concatenate([h.best_epoch for h in histories])
    return History(**columns, best_epoch=best, interrupted=any(h.interrupted for h in histories))
