r"""The one training loop, and the stacks that it trains: those of one or several plans, and arrays back from them.

Every network of a stack minimises a loss on its own rows, in its own random order, and stops by itself:

    for each epoch
        for each minibatch of P and U, in one forward pass
            gradient of the loss, (noise, clipping,) one step of the optimiser for g, for v, or for both
        J of every network on the rows it holds out
        networks whose held-out J improved are copied; networks that have waited too long are stopped

Nothing random has a state: the order of the rows, dropout masks and gradient noise of a network follow from its seed
and the number of the epoch or step. So a network becomes the same whichever others are in the stack, and an
interrupted run that is resumed ends where an uninterrupted one does. A stopped network costs nothing once a quarter of
the stack has stopped: the rest is then moved together.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from purely.files import replacing
from purely.folds import row_keys
from purely.nn.fitted import History
from purely.nn.losses import Loss
from purely.nn.networks import EncoderStack, StackedMLP, reinitialised
from purely.nn.plan import Split, StackPlan, TrainedMember, TrainedStack
from purely.nn.recipe import TrainingSettings
from purely.nn.sources import Batches, BatchShape, HeldOut, RowBatches, Rows, Stream, StreamBatches, rows_of
from purely.nn.steps import Optimiser, Stepper
from purely.progress import stoppable, track
from purely.typing import Floats, Indices

#: The paper updates g with four minibatches, then v with one.
ALTERNATION = ("g", "g", "g", "g", "v")
#: What a checkpoint keeps of a run as arrays: who trains on, and of each network the best J, its epoch, the wait since.
SAVED_ARRAYS = ("alive", "best_j", "best_epoch", "waited")
#: An epoch of few rows has ten steps rather than one: early stopping counts epochs.
SMALLEST_BATCH, LARGEST_BATCH = 32, 250
#: Order of the numbers in a checkpoint; one of another order is refused.
LAYOUT = "weights (out, in)"


def train(
    stack: StackedMLP, batches: Batches, held_out: HeldOut, loss: Loss, settings: TrainingSettings, seeds: Sequence[int]
) -> History:
    """Train every network of a stack; the stack then holds, of each, the state of lowest held-out J.

    Parameters
    ----------
    stack : StackedMLP
        The networks, changed in place.
    batches : RowBatches or StreamBatches
        Minibatches, the positives first.
    held_out : HeldOut
        Rows that each network is judged by.
    loss : Loss
        What is minimised; its `information` is what is watched.
    settings : TrainingSettings
    seeds : sequence of int
        One a network, for dropout and gradient noise.

    Returns
    -------
    History
    """
    run = _Run(stack, settings)
    run.resume()
    own_seeds = np.asarray(seeds, dtype=np.uint64)
    networks: Indices | None = None
    epochs = track("networks", settings.max_epochs, start=run.epoch, unit="epoch", verbose=settings.verbose)

    def stopped() -> str:
        return f"training was interrupted after {run.epoch} epochs; each network is the best so far."

    with epochs as bar, stoppable(stopped) as stop:
        while run.epoch < settings.max_epochs and run.alive.size:
            outputs = []
            if networks is not run.alive:
                networks, own_loss = run.alive, loss.of_networks(run.alive)
                take_step = Stepper(stack, own_loss, run.optimiser, settings, own_seeds[networks])
            for x, n_p in batches.epoch(run.epoch, run.alive, stack.device):
                update = "both" if settings.update == "joint" else ALTERNATION[run.step % len(ALTERNATION)]
                z = take_step(x, n_p, update, run.step, run.rate())
                outputs.append((z[:, :n_p], z[:, n_p:]))
                run.step += 1
            if not outputs:
                raise ValueError("the batch iterator yielded no batch; an epoch needs at least one pair (P, U).")
            z_p, z_u = (torch.cat(parts, dim=1) for parts in zip(*outputs, strict=True))
            held = held_out.judge(stack, loss, run.alive)
            run.record(own_loss(z_p, z_u).value, own_loss.information(z_p, z_u), *held)
            run.save()
            bar.advance(run.summary())
    stack.replace_state(run.best)
    rows = np.stack(run.history) if run.history else np.full((1, 4, run.best_j.size), np.nan)
    return History(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], run.best_epoch, stop.requested)


class _Run:
    """State of one call of :func:`train`: networks, optimiser, the best so far, who has stopped."""

    def __init__(self, stack: StackedMLP, settings: TrainingSettings) -> None:
        self.stack, self.settings = stack, settings
        self.optimiser = Optimiser(settings.optimizer, settings.weight_decay, stack.decays)
        self.alive = np.arange(stack.size)
        self.best = {name: tensor.clone() for name, tensor in stack.state().items()}
        self.best_j = np.full(stack.size, np.inf)
        self.best_epoch = np.zeros(stack.size, dtype=np.intp)
        self.waited = np.zeros(stack.size, dtype=np.intp)
        self.epoch = self.step = 0
        self.steps_an_epoch = 1
        self.history: list[Floats] = []

    def rate(self) -> float:
        """Learning rate of this step."""
        if self.settings.schedule == "constant":
            return self.settings.learning_rate
        within = (self.step % self.steps_an_epoch) / self.steps_an_epoch  # 0 throughout the first epoch
        share = (self.epoch + within) / self.settings.max_epochs
        return self.settings.learning_rate * 0.5 * (1.0 + math.cos(math.pi * share))

    @torch.no_grad()
    def record(self, train_loss: Tensor, train_j: Tensor, held_loss: Tensor, held_j: Tensor) -> None:
        """End an epoch: note its losses, keep what is better than before, stop what has waited long enough."""
        losses = torch.stack([train_loss, train_j, held_loss, held_j]).double().cpu().numpy()
        row = np.full((4, self.best_j.size), np.nan)
        row[:, self.alive] = losses
        stopped = self.waited[self.alive] >= self.settings.patience
        row[:, self.alive[stopped]] = np.nan
        self.history.append(row)
        better = ~stopped & (losses[3] < self.best_j[self.alive] - self.settings.tol)
        if self.settings.keep == "last":
            better = np.isfinite(losses[0])  # a network that has diverged stays as it last was
        if better.any():
            networks = self.alive[better]
            self.best_j[networks] = losses[3][better]
            self.best_epoch[networks] = self.epoch
            rows, places = (torch.from_numpy(i).to(self.stack.device) for i in (np.flatnonzero(better), networks))
            for name, tensor in self.stack.state().items():
                self.best[name].index_copy_(0, places, tensor.index_select(0, rows))
        self.waited[self.alive] = np.where(better, 0, self.waited[self.alive] + 1)
        self.epoch += 1
        self.steps_an_epoch = self.step // self.epoch
        going = self.waited[self.alive] < self.settings.patience
        if not going.any():
            self.alive = self.alive[:0]
        elif going.mean() <= 0.75:
            keep = torch.from_numpy(np.flatnonzero(going)).to(self.stack.device)
            self.stack.select(keep)
            self.optimiser.select(keep)
            self.alive = self.alive[going]

    def summary(self) -> dict[str, str]:
        """Mean J of this epoch, for the progress bar."""
        finite = [row[np.isfinite(row)] for row in self.history[-1]]
        means = {"J": finite[1], "held-out J": finite[3]}
        shown = {name: f"{row.mean():.4f}" for name, row in means.items() if row.size}  # classifiers hold no rows out
        return shown | {"networks": str(self.alive.size)}

    def save(self) -> None:
        """Write a checkpoint where one is due; a crash while writing leaves the one before."""
        path, last = self.settings.checkpoint, self.epoch >= self.settings.max_epochs or not self.alive.size
        if path is None or not (last or self.epoch % self.settings.checkpoint_every == 0):
            return
        contents = {
            "fingerprint": self.settings.fingerprint,
            "numbers": {"epoch": self.epoch, "step": self.step},
            "network": self.stack.state(),
            "optimiser": self.optimiser.state,
            "optimiser_steps": self.optimiser.steps,
            "best": self.best,
            **{name: torch.from_numpy(getattr(self, name)) for name in SAVED_ARRAYS},
            "history": torch.from_numpy(np.stack(self.history)),
        }
        written = io.BytesIO()
        torch.save(contents, written)  # its own writer of files has no error for a full disk
        with replacing(path) as partial:
            partial.write_bytes(written.getbuffer())

    def resume(self) -> None:
        """Go on from the checkpoint, where there is one."""
        path = self.settings.checkpoint
        if path is None or not Path(path).exists():
            return
        contents = torch.load(path, map_location=self.stack.device, weights_only=True)
        if contents["fingerprint"] != self.settings.fingerprint:
            raise ValueError(
                f"checkpoint {str(path)!r} belongs to other data, parameters or random_state; "
                "delete the file or give another name."
            )
        self.epoch, self.step = contents["numbers"]["epoch"], contents["numbers"]["step"]
        self.steps_an_epoch = self.step // self.epoch
        self.stack.replace_state(contents["network"])
        self.optimiser.state, self.optimiser.steps = contents["optimiser"], contents["optimiser_steps"]
        self.best = contents["best"]
        for name in SAVED_ARRAYS:
            setattr(self, name, contents[name].cpu().numpy())
        self.history = list(contents["history"].cpu().numpy())


def resolve_device(device: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda"; "auto" is a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device not in ("cpu", "cuda") and not device.startswith("cuda:"):
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda'; {device!r} was given.")
    if device != "cpu" and not torch.cuda.is_available():
        raise ValueError(f"device {device!r} was given, but torch finds no CUDA device here; use 'auto' or 'cpu'.")
    return torch.device(device)


def train_plans(plans: Sequence[StackPlan]) -> list[TrainedStack]:
    """Train the networks of several plans, those of one kind as one stack; they come back in the order of the plans."""
    groups: dict[object, list[int]] = {}
    for i, plan in enumerate(plans):
        recipe = replace(plan.recipe, loss=plan.recipe.loss.kind)
        kind = repr(recipe), plan.X.shape, int(plan.positive.sum()), sp.issparse(plan.X)
        groups.setdefault(i if plan.mapped or recipe.encoder is not None else kind, []).append(i)
    trained: dict[int, TrainedStack] = {}
    for places in groups.values():
        trained.update(zip(places, _train_stack([plans[i] for i in places]), strict=True))
    return [trained[i] for i in range(len(plans))]


def train_stream(plan: StackPlan, batches: Stream) -> TrainedStack:
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


def _train_stack(plans: list[StackPlan]) -> list[TrainedStack]:
    """Train the networks of plans of one kind as one stack, and judge them on the rows they were trained on."""
    recipe, settings, loss = plans[0].recipe, plans[0].recipe.settings, plans[0].recipe.loss
    stack = _make_stack(plans)
    rows, splits = _shared_rows(plans, stack.device)
    n_p, n_u = splits[0].train_p.size, splits[0].train_u.size
    batch_size = recipe.batch_size or min(LARGEST_BATCH, max(SMALLEST_BATCH, (n_p + n_u) // 10))
    if settings.checkpoint is not None:
        settings = replace(settings, fingerprint=_fingerprint(plans))
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
    held_j = history.best_held_j
    owners = [(plan, member) for plan in plans for member in plan.members]
    trained = [
        TrainedMember(member, stack.network(i, plan.scaling), float(train_j[i]), float(held_j[i]))
        for i, (plan, member) in enumerate(owners)
    ]
    ends = np.cumsum([0] + [len(plan.members) for plan in plans]).tolist()
    return [TrainedStack(trained[a:b], history.of(slice(a, b))) for a, b in pairwise(ends)]
