"""Every experiment and benchmark once, in its smallest size, with two jobs: ``make smoke``.

    python -m experiments.smoke [--only experiments.figure1 benchmarks]

Each entry point is a process of its own, as a user starts it, and writes to a folder of its own; two run at a time.
What reads data sets is left out, with a word, where ``PURELY_DATA`` names no folder. The end is a failure if an entry
point fails, if it writes no file, or if a tracked result has changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from experiments.entry import Options, option, read_options

ROOT = Path(__file__).parents[1]
#: Commands of entry points that have several; in this order, because the later ones read what the first has written.
COMMANDS = {
    "experiments.paper": (("run",), ("tables",), ("others",), ("floor",), ("figure3",)),
    "benchmarks.run": (("import_time",),),  # the others have their own turn
}
#: Entry points that read no data set.
WITHOUT_DATA = (
    "benchmarks",
    "experiments.coverage",
    "experiments.figure2",
    "experiments.paper.classifiers_report",
    "experiments.prior_study",
    "experiments.prior_tables",
    "experiments.theorem3",
)
#: What prints only, and what writes files again that are there.
WITHOUT_FILES = ("experiments.paper floor", "experiments.paper tables")
TRACKED = ("experiments/results", "benchmarks/results", "docs/theory", "docs/_static")


@dataclass(frozen=True)
class Smoke(Options):
    """Options of the smoke run."""

    out: Path = option(Path("build/smoke"), "folder of all results, one below it for each entry point")
    only: tuple[str, ...] = option((), "beginnings of the names of entry points")


@dataclass(frozen=True)
class Outcome:
    """How an entry point did: "" for well."""

    name: str
    failure: str
    seconds: float


def entry_points() -> list[str]:
    """Modules that are run as programmes, by name."""
    found = []
    for path in sorted([*ROOT.glob("experiments/**/*.py"), *ROOT.glob("benchmarks/*.py")]):
        if path != Path(__file__) and 'if __name__ == "__main__":' in path.read_text():
            found.append(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__"))
    return found


def run(module: str, folder: Path) -> list[Outcome]:
    """Run all commands of an entry point."""
    outcomes = []
    for command in COMMANDS.get(module, ((),)):
        name = " ".join([module, *command])
        before = set(folder.rglob("*"))
        start = time.perf_counter()
        words = [sys.executable, "-W", "ignore", "-m", module, *command, "--smoke", "--jobs", "2", "--out", str(folder)]
        search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": search}
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        failure = "\n".join(done.stderr.splitlines()[-8:]) if done.returncode else ""
        if not failure and name not in WITHOUT_FILES and set(folder.rglob("*")) == before:
            failure = "it wrote no file."
        outcomes.append(Outcome(name, failure, time.perf_counter() - start))
    return outcomes


def tracked_files() -> dict[Path, tuple[int, int]]:
    """Size and time of change of the files that only a run at full size may write."""
    files = [path for folder in TRACKED for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Smoke, __doc__, {}, arguments)
    start, before = time.perf_counter(), tracked_files()
    modules = [name for name in entry_points() if name.startswith(options.only or "")]
    if not os.environ.get("PURELY_DATA"):
        left_out = [name for name in modules if not name.startswith(WITHOUT_DATA)]
        print(f"left out, because PURELY_DATA names no folder of data sets: {', '.join(left_out)}")
        modules = [name for name in modules if name not in left_out]
    failures = []
    longest_first = sorted(modules, key=lambda name: name not in COMMANDS)
    with ThreadPoolExecutor(2) as pool:
        for outcomes in pool.map(run, longest_first, [options.out / name for name in longest_first]):
            for outcome in outcomes:
                print(f"{outcome.seconds:6.1f} s  {outcome.name}{'  FAILED' if outcome.failure else ''}", flush=True)
                failures += [outcome] if outcome.failure else []
    for path in set(before.items()) ^ set(tracked_files().items()):
        failures.append(Outcome(str(path[0]), "a tracked result has changed.", 0.0))
    print(f"{time.perf_counter() - start:6.1f} s in all")
    if failures:
        raise SystemExit("\n\n".join(f"{failure.name}: {failure.failure}" for failure in failures))


if __name__ == "__main__":
    main()
