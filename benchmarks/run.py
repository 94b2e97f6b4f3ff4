"""Run every benchmark, one after another: ``make bench``, or name some: ``python -m benchmarks.run smi``."""

from __future__ import annotations

import importlib
import sys

ALL = ("import_time", "smi", "predict")


def main() -> None:
    for name in sys.argv[1:] or ALL:
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
