"""Kills inside the write window, and storms: full disks, read-only folders, lost permissions, outputs that close.

Each run starts a command that replaces a whole output of an earlier run. Whatever happens, the output is the old file
or the new one, inputs are as they were, nothing but a sentence is said, and after the next run nothing is left beside
it.
"""

from __future__ import annotations

import hashlib
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
from tests.cli.processes import ended, start

LABELLED = ("--label", "fraud", "--drop", "truth")
LIGHT = ("--size", "light", "--class-prior", "0.3")
NOT_THOUGHT_OF = ("Traceback", "unexpected", "Exception ignored")


@dataclass
class Field:
    """A folder with inputs, and the commands that write into it."""

    folder: Path
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        pacsv.write_csv(make_customers(60, 240), self.folder / "t.csv")
        pacsv.write_csv(make_customers(600, 6000, seed=1), self.folder / "many.csv")
        self.run("fit", "t.csv", *LABELLED, *LIGHT, "-o", "m.purely", "-q")
        self.commands = [
            ("s.csv", ("predict", "m.purely", "many.csv", "-o", "s.csv")),
            ("s.parquet", ("predict", "m.purely", "many.csv", "-o", "s.parquet")),
            ("aim.csv", ("predict", "m.purely", "many.csv", "--recall", "0.5", "-o", "aim.csv")),
            ("top.csv", ("predict", "m.purely", "many.csv", "--top", "500", "-o", "top.csv")),
            ("new.purely", ("fit", "t.csv", *LABELLED, *LIGHT, "-o", "new.purely")),
            ("map.csv", ("represent", "t.csv", *LABELLED, "--epochs", "2", "-o", "map.csv", "--plot", "map.png")),
            ("r.html", ("report", "t.csv", *LABELLED, "-m", "m.purely", "-o", "r.html")),
        ]
        self.before: dict[str, str] = {}
        self.whole: dict[str, float] = {}
        for name, command in self.commands:
            begin = time.monotonic()
            self.run(*command)
            self.whole[name] = time.monotonic() - begin
        self.before = self.hashes()

    def full(self, arguments):
        known = {p.name for p in self.folder.iterdir()} | {name for name, _ in getattr(self, "commands", [])}
        known |= {"s.csv", "s.parquet", "aim.csv", "top.csv", "new.purely", "map.csv", "map.png", "r.html", "m.purely"}
        return [str(self.folder / a) if a in known else a for a in arguments]

    def run(self, *arguments) -> None:
        done = ended(*self.full(arguments))
        if done.status:
            raise RuntimeError(f"{arguments}: {done.err}")

    def hashes(self) -> dict[str, str]:
        """What every file holds; an output that names its seconds or its versions is the same file to the byte too."""
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(self.folder.iterdir())}

    def check(self, what: str, done) -> None:
        """Compare with how it was; the next run then cleans up."""
        if any(word in done.err for word in NOT_THOUGHT_OF) or done.status == -1000:
            self.problems.append(f"{what}: {done.status} {done.err[-1500:]}")
        found = self.hashes()
        for name, expected in self.before.items():
            if found.get(name) != expected:
                self.problems.append(f"{what}: {name} is {'lost' if name not in found else 'another file'}")
        self.run("predict", "m.purely", "t.csv", "--top", "1", "-o", "next.csv", "-q")
        (self.folder / "next.csv").unlink()
        left = sorted(set(self.hashes()) - set(self.before) - {".new.purely.purely-resume"})
        if left:
            self.problems.append(f"{what}: {left} are left after the next run")
            for name in left:
                (self.folder / name).unlink()


def partials(folder: Path) -> bool:
    return any(p.name.endswith(".purely-part") for p in folder.iterdir())


def fuzz_kills(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Kill commands while their partial file is there: at a random moment, or at a random step of the file system."""
    rng = np.random.default_rng(seed)
    end, killed, whole = time.time() + 60.0 * minutes, 0, 0
    with tempfile.TemporaryDirectory() as name:
        ground = Field(Path(name))
        for number in range(n):
            if time.time() > end:
                break
            out, command = ground.commands[number % len(ground.commands)]
            sign = signal.SIGKILL if rng.random() < 0.7 else signal.SIGTERM
            at_step = int(rng.integers(1, 12)) if rng.random() < 0.5 else 0
            running = start(*ground.full(command), die=(str(ground.folder), at_step, int(sign)) if at_step else None)
            while running.process.is_alive() and not partials(ground.folder):
                time.sleep(0.0005)
            if not at_step:
                late = rng.random() < 0.5
                time.sleep(ground.whole[out] * (rng.uniform(0.8, 1.0) if late else rng.random()))
                running.kill(sign)
            done = running.wait()
            stopped = done.status in (-sign, 143)
            killed, whole = killed + stopped, whole + (done.status == 0)
            ground.check(f"kill {number} {sign.name} step {at_step} {command[0]} {out}", done)
        return {"runs": killed + whole, "killed": killed, "ended before": whole, "problems": ground.problems}


STORMS = ("full", "size", "folder", "file", "stdout", "reader")


def fuzz_storms(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Let the disk fill up, the folder become read-only, permissions go, or the output close."""
    rng = np.random.default_rng(seed)
    end, failed, whole = time.time() + 60.0 * minutes, 0, 0
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        ground = Field(Path(name))
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


def _storm(ground: Field, storm: str, out: str, command: tuple[str, ...], rng: np.random.Generator):
    arguments = ground.full(command)
    wait = rng.random() * ground.whole[out]
    if storm == "full":  # at a random step of the file system there is no space left
        return ended(*arguments, fail=(str(ground.folder), int(rng.integers(1, 8))))
    if storm == "size":
        return ended(*arguments, file_size=int(rng.integers(0, 200_000)))
    if storm in ("folder", "file"):
        for path in ground.folder.iterdir():
            os.chmod(path, 0o666)
        running = start(*arguments, user=65534)
        time.sleep(wait)
        os.chmod(ground.folder if storm == "folder" else ground.folder / out, int(rng.choice([0o000, 0o555, 0o111])))
        return running.wait()
    if storm == "stdout":
        return ended(*arguments, stdout=str(rng.choice(["/dev/full", "closed"])))
    pipe = Path(tempfile.mkdtemp()) / "pipe"
    os.mkfifo(pipe)

    def leave():
        with open(pipe, "rb") as stream:
            time.sleep(wait)
            stream.read(1)

    reader = threading.Thread(target=leave)
    reader.start()
    done = ended(
        *(a for a in arguments if a not in ("-o", str(ground.folder / out))) if command[0] == "predict" else arguments,
        stdout=pipe,
    )
    reader.join()
    shutil.rmtree(pipe.parent)
    return done
