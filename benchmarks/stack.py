"""Speed of the stacked engine, as ratios in one run.

- A stack of 20 networks against 20 fits one after another, at the paper's sizes (n_P = 1000, n_U = 2000), for d = 22,
  123 and 784, dropout as in the default.
- One network against the same loop in bare torch (``nn.Sequential``, ``torch.optim.Adam``, the same minibatches and
  held-out evaluation).
- With ``--many 100``: 100 networks of MNIST size on the device, beside the least time that their arithmetic and memory
  traffic take.

    python -m benchmarks.stack --device cpu --threads 2
    python -m benchmarks.stack --device cuda --many 100
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from experiments.entry import option, read_options
from experiments.records import write_rows
from torch import nn

from benchmarks.timing import BenchmarkOptions, in_turn
from purely.nn.losses import LogisticLoss, logistic_loss
from purely.nn.networks import StackedMLP
from purely.nn.plan import Split
from purely.nn.recipe import Architecture, TrainingSettings
from purely.nn.sources import ArrayRows, BatchShape, RowBatches
from purely.nn.training import HeldOut, train

N_POSITIVE, N_UNLABELLED, BATCH, HELD = 1000, 2000, 250, 6
HIDDEN, COMPONENTS = 60, 20

#: (operations a second in float32, bytes a second) of devices whose floor is printed; from the vendor's data sheet.
PEAKS = {"NVIDIA H200": (67e12, 4.8e12)}


SMOKE = {"networks": 2, "epochs": 1, "repeats": 1, "threads": 1, "columns": (22,), "many": 2, "many_epochs": 1}


@dataclass(frozen=True)
class Stack(BenchmarkOptions):
    """Options of this benchmark."""

    device: str = option("cpu", choices=("cpu", "cuda"))
    repeats: int = 3
    threads: int = 2
    networks: int = 20
    epochs: int = 10
    columns: tuple[int, ...] = (22, 123, 784)
    many: int = option(0, "also time so many networks of MNIST size, such as 100")
    many_epochs: int = 100


@dataclass(frozen=True)
class Problem:
    """Rows, and what each network of a stack sees of them."""

    rows: ArrayRows
    splits: list[Split]
    shape: BatchShape


def problem(n_networks: int, d: int, device: torch.device) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_POSITIVE + N_UNLABELLED, d))
    X[:N_POSITIVE] += 0.5 / np.sqrt(d)
    splits = []
    for m in range(n_networks):
        own = np.random.default_rng(m)
        p, u = own.permutation(N_POSITIVE), N_POSITIVE + own.permutation(N_UNLABELLED)
        a, b = N_POSITIVE // HELD, N_UNLABELLED // HELD
        splits.append(Split(p[a:], u[b:], p[:a], u[:b]))
    shape = BatchShape.of(splits[0].train_p.size, splits[0].train_u.size, BATCH)
    return Problem(ArrayRows(X, device), splits, shape)


def fit_stack(prob: Problem, networks: list[int], settings: TrainingSettings, device: torch.device) -> StackedMLP:
    splits = [prob.splits[m] for m in networks]
    stack = StackedMLP(Architecture.representation(prob.rows.n_features, (HIDDEN,), COMPONENTS), networks, device)
    batches = RowBatches(prob.rows, splits, networks, prob.shape)
    train(stack, batches, HeldOut(prob.rows, splits), LogisticLoss(0.1), settings, networks)
    return stack


def fit_bare(prob: Problem, m: int, settings: TrainingSettings, device: torch.device) -> nn.Module:
    """The loop as it is usually written, for one network."""
    d = prob.rows.n_features
    net = nn.Sequential(
        nn.Dropout(settings.dropout),
        nn.Linear(d, HIDDEN, bias=False),
        nn.BatchNorm1d(HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, COMPONENTS, bias=False),
        nn.BatchNorm1d(COMPONENTS),
        nn.ReLU(),
        nn.Linear(COMPONENTS, 1),
    ).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=settings.learning_rate)
    split, X, n_p = prob.splits[m], prob.rows.tensor, prob.shape.n_p
    rng = np.random.default_rng(m)
    held = torch.from_numpy(np.concatenate([split.held_p, split.held_u])).to(device)
    best, best_state = np.inf, None
    for _ in range(settings.max_epochs):
        net.train()
        p = np.resize(rng.permutation(split.train_p), prob.shape.steps * n_p).reshape(-1, n_p)
        u = np.resize(rng.permutation(split.train_u), prob.shape.steps * prob.shape.n_u).reshape(-1, prob.shape.n_u)
        index = torch.from_numpy(np.concatenate([p, u], axis=1)).to(device)
        total = torch.zeros((), device=device)
        for rows in index:
            z = net(X[rows])[:, 0]
            loss = logistic_loss(z[:n_p], z[n_p:])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.detach()
        net.eval()
        with torch.no_grad():
            w = net(X[held])[:, 0].clamp(max=30.0).exp()
            j = float(0.5 * w[split.held_p.size :].square().mean() - w[: split.held_p.size].mean())
        float(total)
        if j < best:
            best, best_state = j, {name: value.clone() for name, value in net.state_dict().items()}
    if best_state is not None:
        net.load_state_dict(best_state)
    return net


def whole(run: Callable[[], Any], device: torch.device) -> Callable[[], None]:
    """A run that ends when the device has done all of it."""

    def wait() -> None:
        run()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return wait


def compare(
    d: int, n_networks: int, repeats: int, settings: TrainingSettings, device: torch.device
) -> dict[str, float]:
    """Times of the stack, of its networks one after another, and of bare torch: medians over interleaved repeats."""
    prob = problem(n_networks, d, device)
    everyone = list(range(n_networks))
    runs: dict[str, Callable[[], Any]] = {
        "stack": lambda: fit_stack(prob, everyone, settings, device),
        "alone": lambda: [fit_stack(prob, [m], settings, device) for m in everyone],
        "bare": lambda: [fit_bare(prob, m, settings, device) for m in everyone],
    }
    times = in_turn({name: whole(run, device) for name, run in runs.items()}, repeats)
    stack, alone, bare = (float(np.median(values)) for values in times.values())
    print(
        f"d = {d:3d}: stack {stack:.2f} s, one after another {alone:.2f} s, bare torch {bare:.2f} s | stack is "
        f"{alone / stack:.1f} times as fast as one after another; one network: {alone / bare:.2f} times bare torch",
        flush=True,
    )
    return {
        "d": d,
        "networks": n_networks,
        "epochs": settings.max_epochs,
        "seconds_stack": stack,
        "seconds_one_after_another": alone,
        "seconds_bare_torch": bare,
        "speed_up": alone / stack,
        "cost_over_bare_torch": alone / bare,
    }


def floor(n_networks: int, d: int, shape: BatchShape, epochs: int, device: torch.device) -> str:
    """Least time of the arithmetic and of the memory traffic, where the device is known."""
    if device.type != "cuda":
        return ""
    name = torch.cuda.get_device_name(device)
    peak = next((values for key, values in PEAKS.items() if name.startswith(key)), None)
    b = shape.n_p + shape.n_u
    steps = epochs * shape.steps
    # Forward, gradient of the weights, gradient of the inputs of all but the first layer: 2 b in out operations each.
    flops = n_networks * steps * 2 * b * (2 * d * HIDDEN + 3 * HIDDEN * COMPONENTS + 3 * COMPONENTS)
    parameters = d * HIDDEN + HIDDEN * COMPONENTS + COMPONENTS
    # The batch is gathered (read, written) and read by two products; Adam reads and writes three states and a gradient.
    traffic = n_networks * steps * 4 * (4 * b * d + 8 * parameters)
    text = f"{flops / 1e12:.2f} Tflop, {traffic / 1e12:.3f} TB"
    if peak is None:
        return text
    return f"{text}; floor {flops / peak[0]:.2f} s of arithmetic, {traffic / peak[1]:.2f} s of memory traffic"


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Stack, __doc__, SMOKE, arguments)
    torch.set_num_threads(options.threads)
    device = torch.device(options.device)
    settings = TrainingSettings(max_epochs=options.epochs, patience=10**6, dropout=0.2)
    named = torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {options.threads} threads"
    print(f"torch {torch.__version__}, {named}; {options.networks} networks, {options.epochs} epochs")
    rows = [
        {"device": named, **compare(d, options.networks, options.repeats, settings, device)} for d in options.columns
    ]
    print(write_rows(f"stack_{device.type}", rows, options.out))
    if n := options.many:
        prob = problem(n, 784, device)
        many = replace(settings, max_epochs=options.many_epochs)
        (took,) = in_turn({"many": whole(lambda: fit_stack(prob, list(range(n)), many, device), device)}, 1)["many"]
        least = floor(n, 784, prob.shape, options.many_epochs, device)
        print(f"{n} networks, d = 784, {options.many_epochs} epochs: {took:.2f} s ({least})")


if __name__ == "__main__":
    main()
