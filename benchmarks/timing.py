"""Shared by the benchmarks: repeated timing, peak memory of a child process, rows with provenance."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def seconds(task: Callable[[], Any], repeats: int) -> list[float]:
    """Wall-clock seconds of each repeat, after one that is not counted."""
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return times


def in_child(code: str) -> dict[str, Any]:
    """Run Python code in a process of its own; it prints one JSON object, to which its peak memory is added."""
    tail = (
        "\nimport resource, json as _json\n"
        "result['peak_gib'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20\n"
        "print(_json.dumps(result))\n"
    )
    out = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(out.stdout.splitlines()[-1])
    return result
