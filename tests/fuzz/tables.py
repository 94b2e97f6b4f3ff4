"""Malformed tables given to ``inspect``, ``fit --size fast`` and ``predict``: a sentence, or the right number of rows.

A worker process does the work and writes one JSON line a case, so that a crash of the interpreter or a hang is seen as
one: the parent notes it and goes on with the next case in a new worker.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow.parquet as pq

from tests.fuzz.malformed import ENDINGS, MUTATIONS, OWN_LABEL, expected_rows, well_formed

ROOT = Path(__file__).parents[2]
#: Longest computing of a case, and longest wait for it on a busy machine, in seconds; address space of a worker.
HANG, PATIENCE, ROOM = 60.0, 600.0, 24 << 30
NOT_THOUGHT_OF = ("Traceback", "purely: unexpected", "Exception ignored", "Warning:")


def attempt(arguments: list[str]) -> dict[str, object]:
    """One command: its status and what it said; an escaped exception is a traceback."""
    from purely.cli._app import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = run(arguments)
        except BaseException:
            return {"status": -1, "err": traceback.format_exc()}
    return {"status": status, "err": err.getvalue()}


@dataclass
class Case:
    """A table, and what the commands made of it."""

    number: int
    what: str
    path: Path
    data: bytes
    label: list[str]
    statuses: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def run(self, *arguments: object) -> bool:
        """Run a command; whether it went well. It may refuse the table, with a sentence."""
        command = [str(a) for a in arguments]
        done = attempt(command)
        status, said = int(str(done["status"])), str(done["err"])
        self.statuses.append(status)
        if status not in (0, 1, 2) or any(word in said for word in NOT_THOUGHT_OF):
            self.problems.append(f"{command[0]}: status {status}, {said[-2000:]}")
        elif status and not said.startswith(("purely: ", "Usage: ")):
            self.problems.append(f"{command[0]}: no sentence, {said!r}")
        return status == 0

    def count(self, out: Path) -> None:
        """Compare the rows that were written with those that another reader finds."""
        found, expected = pq.read_metadata(out).num_rows, expected_rows(self.path)
        if expected is not None and found != expected:
            self.problems.append(f"rows: {found} were scored, {expected} are in the file")


def make_case(number: int, seed: int, folder: Path) -> Case:
    """A table with one or two mutations."""
    rng = np.random.default_rng([seed, number])
    ending = ENDINGS[number % len(ENDINGS)]
    chosen = [MUTATIONS[int(rng.integers(len(MUTATIONS)))]]
    if rng.random() < 0.25:
        chosen.append(MUTATIONS[int(rng.integers(len(MUTATIONS)))])
    data = well_formed(rng, ending)
    for mutation in chosen:
        data = mutation(rng, data) if data else data
    path = folder / f"case.{ending}"
    path.write_bytes(data)
    what = f"{' and '.join(m.__name__ for m in chosen)} {ending}"
    return Case(number, what, path, data, [] if ending in OWN_LABEL else ["--label", "fraud"])


def try_case(number: int, seed: int, folder: Path, models: Path) -> dict[str, object]:
    """Make a table; inspect it, fit a model to it and score it, and score it with a model of a table in order."""
    case = make_case(number, seed, folder)
    path, model, out, again = case.path, folder / "m.purely", folder / "out.parquet", folder / "again.parquet"
    fast = [*case.label, "--size", "fast", "--class-prior", "0.3", "--device", "cpu", "-o"]
    fitted = case.run("inspect", path, *case.label) and case.run("fit", path, *fast, model)
    if fitted and case.run("predict", model, path, "-o", out):
        case.count(out)
    if case.run("predict", model_of(path.name.partition(".")[2], models), path, "-o", again):
        case.count(again)
    allowed = {path.name} | ({model.name} if fitted else set())
    allowed |= {out.name} if fitted and not case.statuses[2] else set()
    allowed |= {again.name} if not case.statuses[-1] else set()
    left = sorted(p.name for p in folder.iterdir())
    if path.read_bytes() != case.data or set(left) != allowed:
        case.problems.append(f"files: {left} are left, {sorted(allowed)} are expected")
    if case.problems:
        keep = ROOT / "build" / "fuzz"
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{seed}-{number}.{path.name.partition('.')[2]}").write_bytes(case.data)
    for file in folder.iterdir():
        file.unlink()
    return {
        "case": number,
        "what": case.what,
        "fitted": fitted,
        "scored": case.statuses[-1] == 0,
        "problems": case.problems,
    }


def model_of(ending: str, models: Path) -> Path:
    """A model of a table of this format that is in order."""
    path, model = models / f"t.{ending}", models / f"{ending}.purely"
    if not model.exists():
        path.write_bytes(well_formed(np.random.default_rng(1), ending))
        label = [] if ending in OWN_LABEL else ["--label", "fraud"]
        done = attempt(["fit", str(path), *label, "--size", "fast", "--class-prior", "0.3", "-o", str(model)])
        if done["status"]:
            raise RuntimeError(f"no model of {ending}: {done['err']}")
    return model


def work(seed: int, first: int, n: int, end: float) -> None:
    """Try cases one after another, a line each."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as models:
        for number in range(first, n):
            if time.time() > end:
                break
            print(json.dumps(try_case(number, seed, Path(name), Path(models))), flush=True)


def _say(found: list[dict[str, object]]) -> None:
    """A line for each problem as it comes and for each 500 tables: a run that is cut off has said how far it came."""
    if found[-1]["problems"]:
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    if len(found) % 500 == 0:
        print(f"{len(found):,} tables", file=sys.stderr, flush=True)


def _pass_on(stream: IO[str], lines: queue.Queue[str]) -> None:
    """Put the lines of a stream into a queue as they come, and "" after the last."""
    for line in stream:
        lines.put(line)
    lines.put("")


def _next_line(lines: queue.Queue[str], pid: int) -> str | None:
    """The next line of a worker, "" where it has ended, None where it computes or waits for too long."""
    computed, begin = _seconds_of(pid), time.monotonic()
    while _seconds_of(pid) - computed < HANG and time.monotonic() - begin < PATIENCE:
        with contextlib.suppress(queue.Empty):
            return lines.get(timeout=2.0)
    return None


def _seconds_of(pid: int) -> float:
    """Seconds that a process has computed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fuzz_tables(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Run `n` cases, or as many as `minutes` allow (nothing is asserted of time); the counts, and all problems."""
    found: list[dict[str, object]] = []
    end = time.time() + 60.0 * minutes
    first = 0
    while first < n and time.time() < end:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz", "worker", str(seed), str(first), str(n), str(end)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_pass_on, args=[worker.stdout, lines], daemon=True).start()
        while line := _next_line(lines, worker.pid):
            found.append(json.loads(line))
            first += 1
            _say(found)
        worker.kill()
        status = worker.wait()
        if first < n and time.time() < end:
            what = "it hung" if line is None else f"the process ended with {status}"
            found.append({"case": first, "what": what, "fitted": False, "scored": False, "problems": [what]})
            first += 1
            _say(found)
    return {
        "tables": len(found),
        "fitted and scored": sum(bool(case["fitted"]) for case in found),
        "scored by a model of another table": sum(bool(case["scored"]) for case in found),
        "problems": [case for case in found if case["problems"]],
    }
