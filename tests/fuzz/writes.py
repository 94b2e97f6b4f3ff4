"""Kills inside the write window, and storms: full disks, read-only folders, lost permissions, outputs that close.

Each run starts a command that replaces a whole output of an earlier run. Whatever happens, the output is the old file
or the new one, inputs are as they were, nothing but a sentence is said, and after the next run nothing is
left beside it.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import signal
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.csv as pacsv

from tests.cli.conftest import make_customers
from tests.cli.processes import HUNG, Ended, ended, preload, start

LABELLED = ("--label", "fraud", "--drop", "truth")
FAST = ("--size", "fast", "--class-prior", "0.3")
#: What commands import when they need it: loaded once, so that a command starts in milliseconds.
LATE = (
    "torch", "purely.nn.training", "pydantic.type_adapter", "purely.cli._represent", "purely.plotting",
    "matplotlib.backends.backend_agg", "purely.report", "jinja2", "sklearn.gaussian_process", "sklearn.multiclass",
)  # fmt: skip
NOT_THOUGHT_OF = ("Traceback", "unexpected", "Exception ignored")
#: What a fit that was stopped leaves, for --resume.
RESUME = ".new.purely.purely-resume"


@dataclass
class Ground:
    """A folder with inputs, whole outputs of every command, and what they held."""

    folder: Path
    commands: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @classmethod
    def prepared(cls, folder: Path) -> Ground:
        """Run every command once."""
        preload(*LATE)
        ground = cls(folder)
        table, many, model = (str(folder / name) for name in ("t.csv", "many.csv", "m.purely"))
        pacsv.write_csv(make_customers(30, 90), table)
        pacsv.write_csv(make_customers(600, 6000, seed=1), many)
        ground.run("fit", table, *LABELLED, *FAST, "-o", model, "-q")
        for name, *command in (
            ("s.csv", "predict", model, many, "-o"),
            ("s.parquet", "predict", model, many, "-o"),
            ("aim.csv", "predict", model, many, "--recall", "0.5", "-o"),
            ("top.csv", "predict", model, many, "--top", "500", "-o"),
            ("new.purely", "fit", table, *LABELLED, *FAST, "-o"),
            ("map.csv", "represent", table, *LABELLED, "--epochs", "2", "--plot", str(folder / "map.png"), "-o"),
            ("r.html", "report", table, *LABELLED, "-m", model, "-o"),
        ):
            begin = time.monotonic()
            ground.commands.append((name, (*command, str(folder / name))))
            ground.run(*ground.commands[-1][1])
            ground.seconds[name] = time.monotonic() - begin
        ground.before = ground.hashes()
        return ground

    def run(self, *arguments: str) -> None:
        """Run a command that has to end well."""
        done = ended(*arguments)
        if done.status:
            raise RuntimeError(f"{arguments}: {done.status} {done.err}")

    def hashes(self) -> dict[str, str]:
        """What every file holds."""
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(self.folder.iterdir())}

    def check(self, what: str, done: Ended) -> None:
        """Compare with how it was. The next run then has to leave nothing but inputs and outputs."""
        if any(word in done.err for word in NOT_THOUGHT_OF) or done.status == HUNG:
            self.problems.append(f"{what}: {done.status} {done.err[-1500:]}")
        found = self.hashes()
        for name, expected in self.before.items():
            if name not in found:
                self.problems.append(f"{what}: {name} is lost")
            elif found[name] != expected and not _is_whole(self.folder / name):
                self.problems.append(f"{what}: {name} is destroyed")
        self.before |= {name: found[name] for name in self.before if name in found}
        extra = self.folder / "next.csv"
        self.run("predict", str(self.folder / "m.purely"), str(self.folder / "t.csv"), "-o", str(extra), "-q")
        extra.unlink()
        left = sorted(set(self.hashes()) - set(self.before) - {RESUME})
        if left:
            self.problems.append(f"{what}: {left} are left after the next run")
            for name in left:
                (self.folder / name).unlink()


def _is_whole(path: Path) -> bool:
    """Whether an output is a whole one of another run: a report says when it was made."""
    data = path.read_bytes()
    return path.suffix == ".html" and data.startswith(b"<!") and data.rstrip().endswith(b"</html>")


def partials(folder: Path) -> bool:
    """Whether a file is being written."""
    return any(p.name.endswith(".purely-part") for p in folder.iterdir())


def fuzz_kills(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Kill `n` commands, on a ground of their own; `minutes` bound the run, and nothing is asserted of time."""
    with tempfile.TemporaryDirectory() as name:
        return kill_commands(Ground.prepared(Path(name)), n, seed, minutes)


def kill_commands(ground: Ground, n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Kill `n` commands while their partial file is there, at a random moment or at a step of the file system."""
    rng = np.random.default_rng(seed)
    end, killed, whole = time.time() + 60.0 * minutes, 0, 0
    for number in itertools.count():
        if killed == n or time.time() > end:
            break
        out, command = ground.commands[number % len(ground.commands)]
        sign = signal.SIGKILL if rng.random() < 0.7 else signal.SIGTERM
        at_step = int(rng.integers(1, 12)) if rng.random() < 0.5 else 0
        running = start(*command, die=(str(ground.folder), at_step, int(sign)) if at_step else None)
        while running.process.is_alive() and not partials(ground.folder):
            time.sleep(0.0005)
        if not at_step:
            late = rng.random() < 0.5
            time.sleep(ground.seconds[out] * (rng.uniform(0.8, 1.0) if late else rng.random()))
            running.kill(sign)
        done = running.wait()
        stopped = done.status in (-sign, 143)
        killed, whole = killed + stopped, whole + (done.status == 0)
        ground.check(f"kill {number} {sign.name} step {at_step} {command[0]} {out}", done)
    return {"runs": killed + whole, "killed": killed, "ended before": whole, "problems": ground.problems}


STORMS = ("full", "size", "folder", "file", "stdout", "reader")


def fuzz_storms(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Let `n` storms blow, on a ground of their own."""
    with tempfile.TemporaryDirectory() as name:
        return raise_storms(Ground.prepared(Path(name)), n, seed, minutes)


def raise_storms(ground: Ground, n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Let the disk fill up, the folder become read-only, permissions go, or the output close."""
    rng = np.random.default_rng(seed)
    end, failed, whole = time.time() + 60.0 * minutes, 0, 0
    os.chmod(ground.folder, 0o777)
    for number in range(n):
        if time.time() > end:
            break
        storm = STORMS[number % len(STORMS)]
        out, command = ground.commands[int(rng.integers(len(ground.commands)))]
        done = _storm(ground, storm, out, command, rng)
        failed, whole = failed + (done.status != 0), whole + (done.status == 0)
        os.chmod(ground.folder, 0o777)
        for path in ground.folder.iterdir():
            os.chmod(path, 0o666)
        ground.check(f"storm {number} {storm} {command[0]} {out}", done)
    return {"runs": failed + whole, "failed": failed, "ended well": whole, "problems": ground.problems}


def _storm(ground: Ground, storm: str, out: str, command: tuple[str, ...], rng: np.random.Generator) -> Ended:
    wait = rng.random() * ground.seconds[out]
    if storm == "full":  # at a random step of the file system there is no space left
        return ended(*command, fail=(str(ground.folder), int(rng.integers(1, 8))))
    if storm == "size":
        return ended(*command, file_size=int(rng.integers(0, 200_000)))
    if storm in ("folder", "file"):
        running = start(*command, powerless=True)
        time.sleep(wait)
        os.chmod(ground.folder if storm == "folder" else ground.folder / out, int(rng.choice([0o000, 0o555, 0o111])))
        return running.wait()
    if storm == "stdout":
        return ended(*command, stdout=str(rng.choice(["/dev/full", "closed"])))
    pipe = Path(tempfile.mkdtemp()) / "pipe"
    os.mkfifo(pipe)

    def leave() -> None:
        with open(pipe, "rb") as stream:
            time.sleep(wait)
            stream.read(1)

    reader = threading.Thread(target=leave)
    reader.start()
    # rows go to the pipe where nothing says otherwise
    done = ended(*(command[:-2] if command[0] == "predict" else command), stdout=pipe)
    reader.join()
    shutil.rmtree(pipe.parent)
    return done
