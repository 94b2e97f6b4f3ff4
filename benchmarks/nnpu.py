"""nnPU: NNPUClassifier against a bare torch loop, and against pu-toolbox where it is installed.

The paper's size and settings: 1,000 positives, 2,000 unlabelled rows, 784 columns, one network 784-300-300-300-1 with
batch norm, sigmoid loss, Adam, 200 epochs, minibatches of 250 rows. ``python -m benchmarks.nnpu [--epochs 200]``

On a machine that others use, short pieces in turn and their minima say more than one long run:
``--epochs 20 --repeats 10 --threads 1 --clock cpu``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from experiments.entry import read_options
from experiments.records import write_rows
from torch import nn

from benchmarks.timing import BenchmarkOptions, in_turn
from purely import stack
from purely.classifiers import NNPUClassifier

N_POSITIVE, N_UNLABELLED, PRIOR, BATCH = 1_000, 2_000, 0.5, 250
SMOKE = {"epochs": 1, "repeats": 1, "threads": 1, "columns": 10}


@dataclass(frozen=True)
class NNPU(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 3
    epochs: int = 200
    threads: int = 2
    columns: int = 784


def data(n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    P = rng.normal(size=(N_POSITIVE, n_columns)).astype(np.float32)
    U = rng.normal(size=(N_UNLABELLED, n_columns)).astype(np.float32)
    P[:, :5] += 1.0
    U[: N_UNLABELLED // 2, :5] += 1.0
    return stack(P, U)


def ours(X: Any, y: Any, epochs: int) -> None:
    # The preset's own numbers but for the epochs, which are the benchmark's.
    NNPUClassifier(
        PRIOR,
        max_epochs=epochs,
        schedule="constant",
        weight_decay=0.0,
        dropout=0.0,
        n_ensemble=1,
        standardize=False,
        batch_size=BATCH,
        device="cpu",
        random_state=0,
    ).fit(X, y)


def network(n_columns: int) -> nn.Sequential:
    torch.manual_seed(0)
    widths = (n_columns, 300, 300, 300)
    hidden = [part for a, b in pairwise(widths) for part in (nn.Linear(a, b, bias=False), nn.BatchNorm1d(b), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(300, 1))


def bare(X: Any, y: Any, epochs: int) -> None:
    """What one writes by hand: modules, torch's Adam, a permutation an epoch."""
    model = network(X.shape[1])
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    P, U = torch.from_numpy(X[y == 1]), torch.from_numpy(X[y == 0])
    steps = round((len(P) + len(U)) / BATCH)
    for _ in range(epochs):
        order_p, order_u = torch.randperm(len(P)).chunk(steps), torch.randperm(len(U)).chunk(steps)
        for rows_p, rows_u in zip(order_p, order_u, strict=True):
            z = model(torch.cat([P[rows_p], U[rows_u]]))[:, 0]
            z_p, z_u = z[: len(rows_p)], z[len(rows_p) :]
            own = PRIOR * torch.sigmoid(-z_p).mean()
            rest = torch.sigmoid(z_u).mean() - PRIOR * torch.sigmoid(z_p).mean()
            loss = own + rest if rest.item() >= 0 else -rest
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def peer(X: Any, y: Any, epochs: int) -> None:
    from pu_toolbox import NonNegativePUClassifier  # type: ignore[import-not-found]

    # Its batches are of P and of U apart, and an epoch is one of the larger: as many steps as ours take.
    size = -(-N_UNLABELLED // round((N_POSITIVE + N_UNLABELLED) / BATCH))
    NonNegativePUClassifier(
        network(X.shape[1]), class_prior=PRIOR, max_epochs=epochs, patience=epochs + 1, batch_size=size, device="cpu"
    ).fit(X, y)


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(NNPU, __doc__, SMOKE, arguments)
    torch.set_num_threads(options.threads)
    X, y = data(options.columns)
    tasks: dict[str, Callable[[Any, Any, int], None]] = {"bare torch loop": bare, "purely": ours}
    if find_spec("pu_toolbox"):
        tasks["pu-toolbox"] = peer
    else:
        print("pu-toolbox is not installed")
    calls = {name: partial(task, X, y, options.epochs) for name, task in tasks.items()}
    times = in_turn(calls, options.repeats, options.clock)
    base = min(times["bare torch loop"])
    rows = []
    for name, values in times.items():
        row = {"what": name, "epochs": options.epochs, "repeats": options.repeats, "threads": options.threads}
        rows.append({**row, "clock": options.clock, "seconds": min(values), "ratio": min(values) / base})
        print(f"{name:20} {min(values):8.2f} s   {min(values) / base:6.2f} times the bare loop")
    write_rows("nnpu", rows, options.out)


if __name__ == "__main__":
    main()
