"""``import purely`` against ``import sklearn.linear_model``, each in fresh processes, alternating.

``python -m benchmarks.import_time``.
"""

from __future__ import annotations

import subprocess
import sys
import time

from experiments.records import write_rows

from benchmarks.timing import RESULTS

REPEATS = 11


def once(statement: str) -> float:
    """Seconds of a process that runs one statement, less nothing: start-up is part of both sides."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main() -> None:
    statements = ["pass", "import sklearn.linear_model", "import purely", "import purely; purely.PUSMI"]
    times: dict[str, list[float]] = {s: [] for s in statements}
    for repeat in range(REPEATS + 1):
        for statement in statements:
            taken = once(statement)
            if repeat:  # the first round warms the disk cache
                times[statement].append(taken)
    start_up = min(times["pass"])
    base = min(times["import sklearn.linear_model"]) - start_up
    rows = []
    for statement in statements[1:]:
        net = min(times[statement]) - start_up
        rows.append({"statement": statement, "seconds": net, "ratio": net / base})
        print(f"{statement:32} {net:.3f} s   {net / base:.2f} times sklearn.linear_model")
    write_rows("import_time", rows, folder=RESULTS)


if __name__ == "__main__":
    main()
