"""Malformed tables given to ``inspect``, ``fit --size fast`` and ``predict``: a sentence or the right number of rows.

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
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.fuzz.malformed import ENDINGS, MUTATIONS, OWN_LABEL, expected_rows, well_formed

ROOT = Path(__file__).parents[2]
#: Longest time of a case, in seconds, and address space of a worker.
HANG, ROOM = 60.0, 24 << 30
NOT_THOUGHT_OF = ("Traceback", "unexpected", "Exception ignored", "Warning:")


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


def try_case(case: int, seed: int, folder: Path) -> dict[str, object]:
    """Make a table, and see what the commands make of it."""
    rng = np.random.default_rng([seed, case])
    ending = ENDINGS[case % len(ENDINGS)]
    chosen = [MUTATIONS[int(rng.integers(len(MUTATIONS)))]]
    if rng.random() < 0.25:
        chosen.append(MUTATIONS[int(rng.integers(len(MUTATIONS)))])
    data = well_formed(rng, ending)
    for mutation in chosen:
        data = mutation(rng, data) if data else data
    path, model, out = folder / f"case.{ending}", folder / "m.purely", folder / "out.parquet"
    path.write_bytes(data)
    label = [] if ending in OWN_LABEL else ["--label", "fraud"]
    problems, statuses = [], []

    def note(done, command):
        statuses.append(done["status"])
        said = str(done["err"])
        if done["status"] not in (0, 1, 2) or any(word in said for word in NOT_THOUGHT_OF):
            problems.append(f"{command}: status {done['status']}, {said[-2000:]}")
        elif done["status"] and not said.startswith(("purely: ", "Usage: ")):
            problems.append(f"{command}: no sentence, {said!r}")
        return done["status"] == 0

    if note(attempt(["inspect", str(path), *label]), "inspect"):
        fit = ["fit", str(path), *label, "--size", "fast", "--class-prior", "0.3", "--device", "cpu", "-o", str(model)]
        if note(attempt(fit), "fit") and note(attempt(["predict", str(model), str(path), "-o", str(out)]), "predict"):
            found, expected = pq.read_metadata(out).num_rows, expected_rows(path)
            if expected is not None and found != expected:
                problems.append(f"rows: {found} were scored, {expected} are in the file")
    left = sorted(p.name for p in folder.iterdir())
    allowed = {path.name} | ({model.name} if len(statuses) > 1 and not statuses[1] else set())
    allowed |= {out.name} if len(statuses) > 2 and not statuses[2] else set()
    if path.read_bytes() != data or set(left) != allowed:
        problems.append(f"files: {left} are left, {sorted(allowed)} are expected")
    if problems:
        keep = ROOT / "build" / "fuzz"
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{seed}-{case}.{ending}").write_bytes(data)
    for file in folder.iterdir():
        file.unlink()
    what = f"{' and '.join(m.__name__ for m in chosen)} {ending}"
    return {"case": case, "what": what, "statuses": statuses, "problems": problems}


def work(seed: int, first: int, n: int, end: float) -> None:
    """Try cases one after another, a line each."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        for case in range(first, n):
            if time.time() > end:
                break
            print(json.dumps(try_case(case, seed, Path(name))), flush=True)


def fuzz_tables(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Run `n` cases; the counts, and every case with a problem."""
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
        threading.Thread(
            target=lambda w=worker, q=lines: [q.put(line) for line in [*w.stdout, ""]], daemon=True
        ).start()
        while True:
            try:
                line = lines.get(timeout=HANG)
            except queue.Empty:
                line = None
            if not line:
                break
            found.append(json.loads(line))
            first += 1
        worker.kill()
        status = worker.wait()
        if first < n and time.time() < end:
            what = "it hung" if line is None else f"the process ended with {status}"
            found.append({"case": first, "what": what, "statuses": [], "problems": [what]})
            first += 1
    passed = [case for case in found if case["statuses"] == [0, 0, 0]]
    return {
        "cases": len(found),
        "read, fitted and scored": len(passed),
        "refused with a sentence": len(found) - len(passed) - sum(bool(case["problems"]) for case in found),
        "problems": [case for case in found if case["problems"]],
    }
