"""Model files loaded in a forked child whose memory and time are limited: a file that gets through ends only that."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import purely
from purely.persistence import ModelFileError, describe
from tests.persistence.models import answers

#: Seconds of computing, and of waiting on a busy machine.
SECONDS, PATIENCE = 10, 120
#: A load may take this many times the size of its file, and this much more.
TIMES, MORE = 10, 200 * 2**20
#: What no load has any business to do.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.remove", "os.rename", "subprocess.", "socket.", "pickle.")

trespasses: list[str] = []
watching = False


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if watching and event.startswith(FORBIDDEN):
        trespasses.append(event)


sys.addaudithook(_watch)


def outcome(path: Path, rows: Any) -> tuple[str, str]:
    """What becomes of a file: "refused", or what the loaded model answers."""
    try:
        try:
            describe(path)
        except ModelFileError as error:
            assert_printable(error)
        model = purely.load(path)
    except ModelFileError as error:
        assert_printable(error)
        return "refused", str(error)
    except MemoryError:
        return "memory", ""
    except BaseException:
        return "escaped", traceback.format_exc()
    try:
        said = answers(model, rows) if rows is not None else []
        numbers = [a for a in ((s.data if sp.issparse(s) else np.asarray(s)) for s in said) if a.dtype.kind == "f"]
        return ("answered" if all(np.isfinite(a).all() for a in numbers) else "not finite"), ""
    except MemoryError:
        return "memory", ""
    except Exception as error:
        return "cannot answer", f"{type(error).__name__}: {error}"


def assert_printable(error: Exception) -> None:
    words = str(error)
    assert words.isprintable(), words
    assert words.endswith("."), words


def in_a_child(path: Path, rows: Any = None, seconds: int = SECONDS) -> tuple[str, str]:
    """The outcome of a file in a child: one of those above, or "crash" or "hang"."""
    global watching
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(PATIENCE)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = used + TIMES * path.stat().st_size + MORE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        watching = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = outcome(path, rows)
        if trespasses:
            found = "escaped", f"{trespasses} {found}"
        os.write(write, json.dumps([found[0], found[1][:4000]]).encode())
        os._exit(0)
    os.close(write)
    said = b"".join(iter(lambda: os.read(read, 65536), b""))
    os.close(read)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return (
            "hang" if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF) else "crash"
        ), f"signal {os.WTERMSIG(status)}"
    became, why = json.loads(said)
    return became, why


def timed(path: Path, rows: Any = None) -> tuple[str, str, float]:
    start = time.perf_counter()
    return *in_a_child(path, rows), time.perf_counter() - start
