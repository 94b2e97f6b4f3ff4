"""``import purely`` against ``import sklearn.linear_model``, each in fresh processes, alternating.

``python -m benchmarks.import_time``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from experiments.entry import read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions, in_turn

STATEMENTS = ("pass", "import sklearn.linear_model", "import purely", "import purely; purely.PUSMI")
SMOKE = {"repeats": 1, "statements": STATEMENTS[:3]}


@dataclass(frozen=True)
class ImportTime(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 11
    statements: tuple[str, ...] = STATEMENTS


def once(statement: str) -> None:
    """A process that runs one statement; its start-up is timed by "pass"."""
    subprocess.run([sys.executable, "-c", statement], check=True)


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(ImportTime, __doc__, SMOKE, arguments)
    times = in_turn({s: partial(once, s) for s in options.statements}, options.repeats)
    start_up, base, *_ = (min(values) for values in times.values())
    rows = []
    for statement in options.statements[1:]:
        net = min(times[statement]) - start_up
        rows.append({"statement": statement, "seconds": net, "ratio": net / (base - start_up)})
        print(f"{statement:32} {net:.3f} s   {net / (base - start_up):.2f} times sklearn.linear_model")
    write_rows("import_time", rows, options.out)


if __name__ == "__main__":
    main()
