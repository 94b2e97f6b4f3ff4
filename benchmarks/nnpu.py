"""nnPU: NNPUClassifier against a bare torch loop, and against pu-toolbox where it is installed.

The paper's size and settings: 1,000 positives, 2,000 unlabelled rows, 784 columns, one network 784-300-300-300-1 with
batch norm, sigmoid loss, Adam, 200 epochs, minibatches of 250 rows. ``python -m benchmarks.nnpu [--epochs 200]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from experiments.records import write_rows
from torch import nn

from benchmarks.timing import RESULTS
from purely import stack
from purely.classifiers import NNPUClassifier

N_POSITIVE, N_UNLABELLED, N_COLUMNS, PRIOR, BATCH = 1_000, 2_000, 784, 0.5, 250


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    P = rng.normal(size=(N_POSITIVE, N_COLUMNS)).astype(np.float32)
    U = rng.normal(size=(N_UNLABELLED, N_COLUMNS)).astype(np.float32)
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


def bare(X: Any, y: Any, epochs: int) -> None:
    """What one writes by hand: modules, torch's Adam, a permutation an epoch."""
    torch.manual_seed(0)
    widths = (N_COLUMNS, 300, 300, 300)
    hidden = [part for a, b in pairwise(widths) for part in (nn.Linear(a, b, bias=False), nn.BatchNorm1d(b), nn.ReLU())]
    model = nn.Sequential(*hidden, nn.Linear(300, 1))
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
    from pu_toolbox import NNPU  # type: ignore[import-not-found]

    NNPU(prior=PRIOR, epochs=epochs, batch_size=BATCH).fit(X, y)


def seconds(task: Callable[[Any, Any, int], None], X: Any, y: Any, epochs: int) -> float:
    task(X, y, 1)
    start = time.perf_counter()
    task(X, y, epochs)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    X, y = data()
    tasks: dict[str, Callable[[Any, Any, int], None]] = {"bare torch loop": bare, "purely": ours}
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(args.repeats):  # in turn, so that a busy machine slows both
        for name, task in tasks.items():
            times[name].append(seconds(task, X, y, args.epochs))
    try:
        times["pu-toolbox"] = [seconds(peer, X, y, args.epochs)]
    except ImportError:
        print("pu-toolbox is not installed")
    base = min(times["bare torch loop"])
    rows = []
    for name, values in times.items():
        rows.append({"what": name, "epochs": args.epochs, "seconds": min(values), "ratio": min(values) / base})
        print(f"{name:20} {min(values):8.2f} s   {min(values) / base:6.2f} times the bare loop")
    write_rows("nnpu", rows, folder=RESULTS)


if __name__ == "__main__":
    main()
