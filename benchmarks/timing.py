"""Shared by the benchmarks: options, timing in turns, peak memory of a child process."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.entry import Options, option

RESULTS = Path(__file__).parent / "results"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class BenchmarkOptions(Options):
    """Options of every benchmark."""

    out: Path = option(RESULTS, "folder of the results")
    repeats: int = option(5, "how often each task is timed")
    clock: str = option("wall", "cpu: the processor's time of all threads, for a busy machine", choices=CLOCKS)


def in_turn(tasks: Mapping[str, Callable[[], Any]], repeats: int, clock: str = "wall") -> dict[str, list[float]]:
    """Seconds of each repeat of each task, after one that is not counted.

    The tasks take turns, so that a busy machine slows all of them alike; their minima say most.
    """
    now = CLOCKS[clock]
    for task in tasks.values():
        task()
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            start = now()
            task()
            times[name].append(now() - start)
    return times


def in_child(code: str, *, limit: float = float("inf"), first: str = "") -> dict[str, Any]:
    """Run Python code in a process of its own; it prints one JSON object, to which its peak memory is added.

    It has `limit` seconds, and finds modules in the folder `first` before any other. Its errors are printed.
    """
    tail = (
        "\nimport resource, json as _json\n"
        "result.setdefault('peak_gib', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)\n"
        "print(_json.dumps(result))\n"
    )
    path = os.pathsep.join(part for part in (first, os.environ.get("PYTHONPATH", "")) if part)
    out = subprocess.run(
        [sys.executable, "-c", code + tail],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=None if math.isinf(limit) else limit,
        env={**os.environ, "PYTHONPATH": path},
    )
    result: dict[str, Any] = json.loads(out.stdout.splitlines()[-1])
    return result
