"""Training of the networks of one or several plans: rows onto the device, one stack a kind, arrays back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from purely.folds import row_keys
from purely.nn.fitted import History
from purely.nn.networks import EncoderStack, StackedMLP, reinitialised
from purely.nn.plan import Split, StackPlan, TrainedMember, TrainedStack
from purely.nn.sources import BatchShape, RowBatches, Rows, StreamBatches, rows_of
from purely.nn.training import HeldOut, resolve_device, train
from purely.typing import Floats

#: An epoch of few rows has ten steps rather than one: early stopping counts epochs.
SMALLEST_BATCH, LARGEST_BATCH = 32, 250

#: Order of the numbers in a checkpoint; one of another order is refused.
LAYOUT = "weights (out, in)"


def train_plans(plans: Sequence[StackPlan]) -> list[TrainedStack]:
    """Train the networks of several plans, those of one kind as one stack; they come back in the order of the plans."""
    groups: dict[Any, list[int]] = {}
    for i, plan in enumerate(plans):
        alone = plan.mapped or plan.recipe.encoder is not None
        groups.setdefault(i if alone else _kind(plan), []).append(i)
    trained: dict[int, TrainedStack] = {}
    for places in groups.values():
        trained.update(zip(places, _train_stack([plans[i] for i in places]), strict=True))
    return [trained[i] for i in range(len(plans))]


def train_stream(plan: StackPlan, batches: Callable[[int], Iterable[tuple[Any, Any]]]) -> TrainedStack:
    """Train networks on a stream of minibatches; the rows of the plan are those held out."""
    recipe, stack = plan.recipe, _make_stack([plan])
    held_out = HeldOut(rows_of(plan.X, stack.device, plan.scaling), plan.members)
    seeds = [m.seed for m in plan.members]
    history = train(stack, StreamBatches(batches, plan.scaling), held_out, recipe.loss, recipe.settings, seeds)
    train_j = history.train_j[history.best_epoch, np.arange(len(seeds))]
    return _parts(stack, [plan], train_j, history)[0]


def _make_stack(plans: Sequence[StackPlan]) -> StackedMLP:
    """The untrained networks of plans of one kind."""
    recipe, seeds = plans[0].recipe, [m.seed for plan in plans for m in plan.members]
    options = recipe.architecture, seeds, resolve_device(recipe.device), recipe.loss.initial_bias
    if recipe.encoder is None:
        return StackedMLP(*options)
    return EncoderStack([reinitialised(recipe.encoder, seed) for seed in seeds], *options)


def _kind(plan: StackPlan) -> Any:
    """What plans have in common whose networks can share a stack."""
    recipe = plan.recipe
    kind = replace(recipe, loss=getattr(recipe.loss, "kind", recipe.loss))
    return repr(kind), plan.X.shape, int(plan.positive.sum()), sp.issparse(plan.X), plan.mapped


def _train_stack(plans: list[StackPlan]) -> list[TrainedStack]:
    """Train the networks of plans of one kind as one stack, and judge them on the rows they were trained on."""
    recipe, settings, loss = plans[0].recipe, plans[0].recipe.settings, plans[0].recipe.loss
    stack = _make_stack(plans)
    rows, splits = _shared_rows(plans, stack.device)
    n_p, n_u = splits[0].train_p.size, splits[0].train_u.size
    batch_size = recipe.batch_size or min(LARGEST_BATCH, max(SMALLEST_BATCH, (n_p + n_u) // 10))
    if settings.checkpoint is not None:
        settings = replace(settings, fingerprint=_fingerprint(plans))
    if hasattr(loss, "joined"):  # a loss that may differ between the plans
        loss = loss.joined([plan.recipe.loss for plan in plans], [len(plan.members) for plan in plans])
    seeds = [m.seed for plan in plans for m in plan.members]
    batches = RowBatches(rows, splits, seeds, BatchShape.of(n_p, n_u, batch_size))
    history = train(stack, batches, HeldOut(rows, splits), loss, settings, seeds)
    seen = HeldOut(rows, [replace(s, held_p=s.train_p, held_u=s.train_u) for s in splits])
    _, train_j = seen.judge(stack, loss, np.arange(len(splits)))
    return _parts(stack, plans, train_j.double().cpu().numpy(), history)


def _shared_rows(plans: list[StackPlan], device: torch.device) -> tuple[Rows, list[Split]]:
    """The rows of all plans on one device, and the networks' splits of them."""
    if len(plans) == 1:
        return rows_of(plans[0].X, device, plans[0].scaling, mapped=plans[0].mapped), list(plans[0].members)
    every = [plan.X if plan.scaling is None else plan.scaling(plan.X) for plan in plans]
    joined = sp.vstack(every, format="csr") if sp.issparse(every[0]) else np.concatenate(every, dtype=np.float32)
    starts = np.cumsum([0] + [plan.X.shape[0] for plan in plans])
    splits = [
        Split(m.train_p + start, m.train_u + start, m.held_p + start, m.held_u + start)
        for plan, start in zip(plans, starts[:-1], strict=True)
        for m in plan.members
    ]
    return rows_of(joined, device), splits


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
            network = stack.network(i, plan.scaling)
            members.append(TrainedMember(member, network, float(train_j[i]), float(history.best_held_j[i])))
        parts.append(TrainedStack(members, history.of(slice(at, at + len(members)))))
        at += len(members)
    return parts
