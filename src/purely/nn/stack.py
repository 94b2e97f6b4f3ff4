"""Training of the networks of one or several plans: rows onto the device, one stack a kind, arrays back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from purely.folds import row_keys
from purely.nn.fitted import History, NetworkArrays
from purely.nn.networks import EncoderStack, StackedMLP, reinitialised
from purely.nn.plan import StackPlan, TrainedMember, TrainedStack
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
from purely.nn.training import HeldOut, resolve_device, train

__all__ = ["ModuleNetwork", "train_plans", "train_stream"]

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


def train_plans(plans: Sequence[StackPlan]) -> list[TrainedStack]:
    """Train the networks of several plans, those of one kind as one stack; they come back in the order of the plans."""
    groups: dict[Any, list[int]] = {}
    for i, plan in enumerate(plans):
        groups.setdefault(_kind(plan), []).append(i)
    trained: dict[int, TrainedStack] = {}
    for places in groups.values():
        own = [plans[i] for i in places]
        if own[0].recipe.encoder is not None:
            trained.update(zip(places, map(_train_modules, own), strict=True))
        elif own[0].mapped:
            trained.update(zip(places, (_train_stack([plan])[0] for plan in own), strict=True))
        else:
            trained.update(zip(places, _train_stack(own), strict=True))
    return [trained[i] for i in range(len(plans))]


def train_stream(plan: StackPlan, batches: Callable[[int], Iterable[tuple[Any, Any]]]) -> TrainedStack:
    """Train networks on a stream of minibatches; the rows of the plan are those held out."""
    recipe, device = plan.recipe, resolve_device(plan.recipe.device)
    seeds = [m.seed for m in plan.members]
    stack = StackedMLP(recipe.architecture, seeds, device, recipe.loss.initial_bias)
    splits = [Split(m.train_p, m.train_u, m.held_p, m.held_u) for m in plan.members]
    held_out = HeldOut(rows_of(plan.X, device, plan.scaling), splits)
    history = train(stack, StreamBatches(batches, plan.scaling), held_out, recipe.loss, recipe.settings, seeds)
    train_j = history.train_j[history.best_epoch, np.arange(len(seeds))]
    return _parts(stack, [plan], train_j, history)[0]


def _kind(plan: StackPlan) -> Any:
    """What plans have in common whose networks can share a stack."""
    recipe = plan.recipe
    kind = replace(recipe, loss=getattr(recipe.loss, "kind", recipe.loss))
    return repr(kind), plan.X.shape, int(plan.positive.sum()), sp.issparse(plan.X), plan.mapped


def _train_stack(plans: list[StackPlan]) -> list[TrainedStack]:
    recipe, device = plans[0].recipe, resolve_device(plans[0].recipe.device)
    rows, splits = _shared_rows(plans, device)
    seeds = [m.seed for plan in plans for m in plan.members]
    stack = StackedMLP(recipe.architecture, seeds, device, recipe.loss.initial_bias)
    history, train_j = _train(stack, rows, splits, seeds, plans)
    return _parts(stack, plans, train_j, history)


def _train_modules(plan: StackPlan) -> TrainedStack:
    """Train networks with the caller's encoder, one after another."""
    recipe, device = plan.recipe, resolve_device(plan.recipe.device)
    rows, splits = _shared_rows([plan], device)
    trained: list[TrainedMember] = []
    histories: list[History] = []
    for member, split in zip(plan.members, splits, strict=True):
        encoder = reinitialised(recipe.encoder, member.seed)
        stack = EncoderStack(encoder, recipe.architecture, [member.seed], device, recipe.loss.initial_bias)
        history, train_j = _train(stack, rows, [split], [member.seed], [plan], suffix=f".{len(trained)}")
        network = ModuleNetwork(stack.module(0), plan.scaling)
        trained.append(TrainedMember(member, network, float(train_j[0]), float(history.best_held_j[0])))
        histories.append(history)
    return TrainedStack(trained, _side_by_side(histories))


def _train(
    stack: StackedMLP, rows: Rows, splits: list[Split], seeds: list[int], plans: list[StackPlan], suffix: str = ""
) -> tuple[History, Floats]:
    """Train a stack on rows, and judge it on those it was trained on."""
    recipe = plans[0].recipe
    first = plans[0].members[0]
    n_p, n_u = first.train_p.size, first.train_u.size
    batch_size = recipe.batch_size or min(LARGEST_BATCH, max(SMALLEST_BATCH, (n_p + n_u) // 10))
    shape = BatchShape.of(n_p, n_u, batch_size)
    settings = recipe.settings
    if settings.checkpoint is not None:
        settings = replace(
            settings, checkpoint=f"{settings.checkpoint}{suffix}", fingerprint=_fingerprint(plans) + suffix
        )
    loss = recipe.loss
    if hasattr(loss, "joined"):  # a loss that may differ between the plans
        loss = loss.joined([plan.recipe.loss for plan in plans], [len(plan.members) for plan in plans])
    batches = RowBatches(rows, splits, seeds, shape)
    history = train(stack, batches, HeldOut(rows, splits), loss, settings, seeds)
    seen = HeldOut(rows, [replace(s, held_p=s.train_p, held_u=s.train_u) for s in splits])
    _, train_j = seen.judge(stack, loss, np.arange(len(splits)))
    return history, train_j.double().cpu().numpy()


def _shared_rows(plans: list[StackPlan], device: torch.device) -> tuple[Rows, list[Split]]:
    """The rows of all plans on one device, and the networks' splits of them."""
    rows: Any
    if plans[0].mapped:
        rows = MappedRows(plans[0].X, device, plans[0].scaling)
    else:
        kind: Any = CSRRows if sp.issparse(plans[0].X) else ArrayRows
        rows = kind.concatenate([kind(plan.X, device, plan.scaling) for plan in plans])
    starts = np.cumsum([0] + [plan.X.shape[0] for plan in plans])
    splits = [
        Split(m.train_p + start, m.train_u + start, m.held_p + start, m.held_u + start)
        for plan, start in zip(plans, starts[:-1], strict=True)
        for m in plan.members
    ]
    return rows, splits


def _fingerprint(plans: list[StackPlan]) -> str:
    """What a checkpoint is about: choices, seeds and rows of each kind, in any order."""
    recipe = plans[0].recipe
    silent = replace(recipe.settings, verbose=False, checkpoint=None)
    if silent.schedule == "constant":
        silent = replace(silent, max_epochs=0)  # a run may be resumed to train on for longer
    text = hashlib.sha256(f"{LAYOUT} {replace(recipe, settings=silent)!r}".encode())
    for plan in plans:
        keys = row_keys(plan.X, 0)
        for mask in (plan.positive, ~plan.positive):
            text.update(np.sort(keys[mask]).tobytes())
        text.update(repr([m.seed for m in plan.members]).encode())
    return text.hexdigest()


def _parts(stack: StackedMLP, plans: list[StackPlan], train_j: Floats, history: History) -> list[TrainedStack]:
    """What belongs to each plan, as arrays that take the columns as they were given."""
    stack.replace_state({name: tensor.cpu() for name, tensor in stack.state().items()})
    parts, at = [], 0
    for plan in plans:
        members = []
        for i, member in enumerate(plan.members, start=at):
            network = _on_given_columns(stack.arrays(i), plan.scaling)
            members.append(TrainedMember(member, network, float(train_j[i]), float(history.best_held_j[i])))
        parts.append(TrainedStack(members, _history_part(history, slice(at, at + len(members)))))
        at += len(members)
    return parts


def _on_given_columns(network: NetworkArrays, scaling: Scaling | None) -> NetworkArrays:
    return network if scaling is None else network.after_scaling(scaling.mean, scaling.scale)


def _history_part(history: History, networks: slice) -> History:
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
