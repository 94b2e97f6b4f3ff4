"""``python -m tests.fuzz models|tables|kills|storms|all [-n N] [--seed S] [--minutes M]``."""

from __future__ import annotations

import argparse
import json
import sys

from tests.fuzz.tables import fuzz_tables, work
from tests.fuzz.writes import fuzz_kills, fuzz_storms
from tests.persistence.forge import fuzz_models

#: What is run, with the size that is asked for before a release.
FUZZERS = {
    "models": (fuzz_models, 10_000),
    "tables": (fuzz_tables, 10_000),
    "kills": (fuzz_kills, 200),
    "storms": (fuzz_storms, 100),
}


def main() -> int:
    """Print the counts of each fuzzer, and every problem; 1 where there is one."""
    if sys.argv[1:2] == ["worker"]:
        seed, first, n, end = sys.argv[2:]
        work(int(seed), int(first), int(n), float(end))
        return 0
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("what", choices=[*FUZZERS, "all"])
    parser.add_argument("-n", type=int, help="runs; the default is the size of a release")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after so many minutes")
    asked = parser.parse_args()
    bad = 0
    for name, (fuzzer, size) in FUZZERS.items():
        if asked.what in (name, "all"):
            found = fuzzer(asked.n or size, asked.seed, asked.minutes)
            problems = found.pop("problems")
            print(f"{name}, seed {asked.seed}: " + ", ".join(f"{n:,} {what}" for what, n in found.items()), end="")
            print(f"; {len(problems)} problems", flush=True)
            for problem in problems:
                print("  ", json.dumps(problem), flush=True)
            bad += len(problems)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
