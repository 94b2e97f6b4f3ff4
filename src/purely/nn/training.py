r"""The one training loop.

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

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from purely.files import replacing
from purely.nn.fitted import History
from purely.nn.losses import Loss
from purely.nn.networks import StackedMLP
from purely.nn.optimisers import Optimiser
from purely.nn.plan import Split
from purely.nn.recipe import TrainingSettings
from purely.nn.sources import EVALUATION_ELEMENTS, Batches, Rows, padded_rows
from purely.nn.steps import Stepper
from purely.progress import stoppable, track
from purely.typing import Floats, Indices

#: The paper updates g with four minibatches, then v with one.
ALTERNATION = ("g", "g", "g", "g", "v")


def train(
    stack: StackedMLP,
    batches: Batches,
    held_out: HeldOut,
    loss: Loss,
    settings: TrainingSettings,
    seeds: Sequence[int],
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
    with epochs as bar, stoppable(lambda: _stopped(run.epoch)) as stop:
        while run.epoch < settings.max_epochs and run.alive.size:
            outputs = []
            if networks is not run.alive:
                networks, own_loss = run.alive, _loss_of(loss, run.alive)
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
    return run.finish(stop.requested)


def _stopped(epoch: int) -> str:
    return f"training was interrupted after {epoch} epochs; each network is the best so far."


class _Run:
    """State of one call of :func:`train`: networks, optimiser, the best so far, who has stopped."""

    def __init__(self, stack: StackedMLP, settings: TrainingSettings) -> None:
        self.stack, self.settings = stack, settings
        self.optimiser = Optimiser(settings.optimizer, settings.weight_decay, stack.decays, {}, {})
        self.alive = np.arange(stack.size)
        self.best = {name: tensor.clone() for name, tensor in stack.state().items()}
        self.best_j = np.full(stack.size, np.inf)
        self.best_epoch = np.zeros(stack.size, dtype=np.intp)
        self.waited = np.zeros(stack.size, dtype=np.intp)
        self.epoch = 0
        self.step = 0
        self.steps_an_epoch: int | None = None
        self.history: list[Floats] = []

    def rate(self) -> float:
        """Learning rate of this step."""
        if self.settings.schedule == "constant":
            return self.settings.learning_rate
        within = 0.0 if self.steps_an_epoch is None else (self.step % self.steps_an_epoch) / self.steps_an_epoch
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
            _copy_rows(self.stack.state(), self.best, np.flatnonzero(better), networks)
        self.waited[self.alive] = np.where(better, 0, self.waited[self.alive] + 1)
        self.epoch += 1
        self.steps_an_epoch = self.step // self.epoch
        self._drop_stopped()

    def _drop_stopped(self) -> None:
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
            "alive": torch.from_numpy(self.alive),
            "network": self.stack.state(),
            "optimiser": self.optimiser.state,
            "optimiser_steps": self.optimiser.steps,
            "best": self.best,
            "best_j": torch.from_numpy(self.best_j),
            "best_epoch": torch.from_numpy(self.best_epoch),
            "waited": torch.from_numpy(self.waited),
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
        self.alive = contents["alive"].cpu().numpy()
        self.stack.replace_state(contents["network"])
        self.optimiser.state, self.optimiser.steps = contents["optimiser"], contents["optimiser_steps"]
        self.best = contents["best"]
        self.best_j, self.best_epoch, self.waited = (
            contents[name].cpu().numpy() for name in ("best_j", "best_epoch", "waited")
        )
        self.history = list(contents["history"].cpu().numpy())

    def finish(self, interrupted: bool) -> History:
        """Put the best state of every network back into the stack."""
        self.stack.replace_state(self.best)
        rows = np.stack(self.history) if self.history else np.full((1, 4, self.best_j.size), np.nan)
        return History(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], self.best_epoch, interrupted)


class HeldOut:
    """Rows that each network of a stack is judged by.

    Networks may hold out different numbers of rows: rows are padded to the longest for one forward pass, and the loss
    is taken over networks with equal numbers together, without the padding.
    """

    def __init__(self, rows: Rows, splits: Sequence[Split]) -> None:
        self.rows = rows
        self.index, _ = padded_rows([np.concatenate([s.held_p, s.held_u]) for s in splits])
        self.sizes = np.array([[s.held_p.size, s.held_u.size] for s in splits])

    def judge(self, stack: StackedMLP, loss: Loss, networks: Indices) -> tuple[Tensor, Tensor]:
        """Loss and J of the given networks on their held-out rows, each of shape (M,); NaN where there are none."""
        if not self.index.shape[1]:
            nothing = torch.full((2, stack.size), torch.nan, device=stack.device)
            return nothing[0], nothing[1]
        z = outputs_of(stack, self.rows, self.index[torch.from_numpy(networks)])
        sizes = self.sizes[networks]
        value, information = z.new_empty(stack.size), z.new_empty(stack.size)
        for n_p, n_u in np.unique(sizes, axis=0):
            same = torch.from_numpy(np.flatnonzero((sizes == (n_p, n_u)).all(axis=1))).to(z.device)
            z_p, z_u = z[same, :n_p], z[same, n_p : n_p + n_u]
            own_loss = _loss_of(loss, networks[same.cpu().numpy()])
            value[same] = own_loss(z_p, z_u).value
            information[same] = own_loss.information(z_p, z_u)
        return value, information


@torch.no_grad()
def outputs_of(stack: StackedMLP, rows: Rows, index: Tensor) -> Tensor:
    """Outputs of network m for the rows ``index[m]``, shape (M, n[, n_outputs])."""
    step = max(1, EVALUATION_ELEMENTS // (index.shape[0] * rows.n_features))
    blocks = index.unsqueeze(1).split(step, dim=2)
    return torch.cat([stack.forward(x).float() for block in blocks for x in rows.batches(block)], dim=1)


def resolve_device(device: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda"; "auto" is a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device not in ("cpu", "cuda") and not device.startswith("cuda:"):
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda'; {device!r} was given.")
    if device != "cpu" and not torch.cuda.is_available():
        raise ValueError(f"device {device!r} was given, but torch finds no CUDA device here; use 'auto' or 'cpu'.")
    return torch.device(device)


def _loss_of(loss: Loss, networks: Indices) -> Loss:
    """The loss for some networks of the stack; most losses are the same for all."""
    chosen: Loss = loss.of_networks(networks) if hasattr(loss, "of_networks") else loss
    return chosen


def _copy_rows(source: dict[str, Tensor], target: dict[str, Tensor], rows: Any, places: Any) -> None:
    for name, tensor in source.items():
        from_rows, to_rows = (torch.from_numpy(i).to(tensor.device) for i in (rows, places))
        target[name].index_copy_(0, to_rows, tensor.index_select(0, from_rows))
