"""What a GPU is worth: fits whose members are networks, and the distilled network, on CUDA against the processor.

``python -m benchmarks.gpu [--device cuda] [--parts fit distilled]`` needs torch and scikit-learn only. "fit" trains
``NNPUClassifier()`` and ``PUClassifier()`` on the processor and on the device: 64 columns or more, so that networks are
members; trees and kernels stay on the processor. "distilled" scores rows by the small network that imitates a stack: in
NumPy, as :meth:`purely.PUClassifier.distil` does it, and in torch on the device, with rows that are sent there and with
rows that are there already.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from experiments.entry import option, read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions, in_turn
from purely import PUClassifier, stack
from purely.classifiers import NNPUClassifier
from purely.classifiers.imitation import Imitation, train

PARTS = ("fit", "distilled")
SMOKE = {"device": "cpu", "rows": 400, "columns": 64, "new_rows": 2_000, "repeats": 1, "parts": ("distilled",)}


@dataclass(frozen=True)
class GPU(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 3
    device: str = option("cuda", "what the processor is compared with")
    parts: tuple[str, ...] = option(PARTS, "what is measured", choices=PARTS)
    rows: int = option(20_000, "rows of the fits, a tenth of them positives")
    columns: int = option(100, "64 or more: networks are members")
    new_rows: int = option(2_000_000, "rows that are scored, of 20 columns")


def draw(n: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    P, U = rng.normal(size=(n // 10, columns)), rng.normal(size=(n - n // 10, columns))
    P[:, :5] += 1.0
    U[: len(U) // 4, :5] += 1.0
    return stack(P, U)


def seconds(task: Callable[[], Any]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def fits(options: GPU) -> list[dict[str, Any]]:
    X, y = draw(options.rows, options.columns)
    found = []
    for name, kind in (("NNPUClassifier", NNPUClassifier), ("PUClassifier", PUClassifier)):
        for device in dict.fromkeys(("cpu", options.device)):
            model = kind(0.25, device=device, random_state=0)
            model.fit(X[::50], y[::50])  # what the first use of a device takes is not counted
            taken = seconds(lambda model=model: model.fit(X, y))
            found.append({"part": name, "where": device, "rows": len(X), "columns": X.shape[1], "seconds": taken})
            print(found[-1], flush=True)
    return found


def on_device(imitation: Imitation, device: str) -> Callable[[Any], Any]:
    """The same network in torch; rows may be an array, which is sent to the device, or lie there."""
    layers = [
        (torch.as_tensor(weights, device=device), torch.as_tensor(bias, device=device), relu)
        for weights, bias, relu in imitation.network.head
    ]

    def log_odds(rows: Any) -> Any:
        x = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(rows).to(device)
        for weights, bias, relu in layers:
            x = torch.addmm(bias, x, weights)
            x = torch.relu_(x) if relu else x
        return torch.clamp(x[:, 0], imitation.low, imitation.high)

    return log_odds


def distilled(options: GPU) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20_000, 20))
    imitation = train(rows, rows[:, :5].sum(axis=1) - 2.0, rng, 500)
    new = rng.normal(size=(options.new_rows, 20)).astype(np.float32)
    network, there = on_device(imitation, options.device), torch.as_tensor(new, device=options.device)
    with torch.inference_mode():
        difference = float(np.abs(network(new).cpu().numpy() - imitation(new)).max())
        times = in_turn(
            {
                "NumPy": lambda: imitation(new),
                f"{options.device}, rows sent": lambda: network(new).cpu(),
                f"{options.device}, rows there": lambda: network(there).sum().item(),
            },
            options.repeats,
        )
    found = []
    for name, taken in times.items():
        row = {"part": "distilled network", "where": name, "rows": len(new), "columns": 20, "seconds": min(taken)}
        found.append(row | {"nanoseconds_a_row": 1e9 * min(taken) / len(new), "largest_difference": difference})
        print(found[-1], flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(GPU, __doc__, SMOKE, arguments)
    warnings.simplefilter("ignore")
    parts = {"fit": fits, "distilled": distilled}
    rows = [row for name in options.parts for row in parts[name](options)]
    columns = dict.fromkeys(key for row in rows for key in row)
    write_rows("gpu", [{key: row.get(key, "") for key in columns} for row in rows], options.out)


if __name__ == "__main__":
    main()
