"""Commands in processes of their own, forked from a clean one that has loaded everything: milliseconds to start."""

from __future__ import annotations

import ctypes
import errno
import io
import multiprocessing as mp
import os
import resource
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CLOSED = "closed"
#: Status of a process that did not end.
HUNG = -1000
#: Longest time of a command, in seconds; a busy machine may need much of it.
PATIENCE = 300
COMMANDS = tuple(f"purely.cli._{name}" for name in ("app", "fit", "predict", "evaluate", "report", "inspect"))
_context = mp.get_context("forkserver")


def preload(*modules):
    """Load modules before the first process starts; all processes have them."""
    _context.set_forkserver_preload(["tests.cli.processes", *COMMANDS, *modules])


preload()


@dataclass(frozen=True)
class Ended:
    """Exit status (negative: the signal), output and error."""

    status: int
    out: bytes
    err: str


class Running:
    """A command that runs."""

    def __init__(self, arguments, stdin=os.devnull, stdout=None, **troubles):
        self.folder = tempfile.TemporaryDirectory()
        self.out, self.err = Path(self.folder.name) / "out", Path(self.folder.name) / "err"
        self.stdout = str(self.out) if stdout is None else str(stdout)
        streams = (str(stdin), self.stdout, str(self.err))
        self.process = _context.Process(target=_child, args=([os.fsdecode(a) for a in arguments], streams, troubles))
        self.process.start()

    def kill(self, number=signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def wait(self, timeout=PATIENCE):
        self.process.join(timeout)
        if self.process.is_alive():
            self.kill()
            self.process.join()
            return Ended(HUNG, b"", "it hung")
        out = self.out.read_bytes() if self.out.exists() else b""
        err = self.err.read_bytes().decode(errors="replace") if self.err.exists() else ""
        status = self.process.exitcode
        self.folder.cleanup()
        return Ended(status, out, err)


def start(*arguments, **options):
    return Running([a if isinstance(a, bytes) else str(a) for a in arguments], **options)


def ended(*arguments, data=None, timeout=PATIENCE, **options):
    """Run a command to its end; `data` comes through a pipe."""
    if data is None:
        return start(*arguments, **options).wait(timeout)
    with tempfile.TemporaryDirectory() as folder:
        pipe = Path(folder) / "pipe"
        os.mkfifo(pipe)
        running = start(*arguments, stdin=pipe, **options)
        handle = _open_when_read(pipe, running)
        if handle is not None:
            with suppress(BrokenPipeError), os.fdopen(handle, "wb") as stream:
                stream.write(data)
        return running.wait(timeout)


def _open_when_read(pipe, running):
    """Open a pipe for writing as soon as somebody reads; None where the reader is gone."""
    while running.process.is_alive():
        with suppress(OSError):
            handle = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(handle, True)
            return handle
        time.sleep(0.005)
    return None


def _child(arguments, streams, troubles):
    """Be the program ``purely`` with its streams as a shell would have made them, and with the troubles asked for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in enumerate(streams):
        if path == CLOSED:
            os.close(number)
            continue
        handle = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    for number, name in ((1, "stdout"), (2, "stderr")):
        raw = None if streams[number] == CLOSED else os.fdopen(number, "wb")
        setattr(sys, name, raw and io.TextIOWrapper(raw, line_buffering=number == 2))
    _trouble(**troubles)
    os._exit(_main(arguments))


def _trouble(limits=None, file_size=None, powerless=False, die=None, fail=None):
    """Bounds on memory and on files, permissions that bind root too, steps of the file system at which to die or fail.

    `die` is (folder, step, signal), `fail` is (folder, step): at that many events of the folder's files (opened for
    writing, renamed, removed) the process dies, or finds no space left.
    """
    for bound, kind in ((limits, resource.RLIMIT_AS), (file_size, resource.RLIMIT_FSIZE)):
        if bound is not None:
            resource.setrlimit(kind, (bound, bound))
    if powerless:
        _give_up_capabilities()
    if die is not None or fail is not None:
        folder, step = (die or fail)[:2]
        seen = []

        def watch(event, values):
            if event == "open" and (not isinstance(values[2], int) or not values[2] & (os.O_WRONLY | os.O_RDWR)):
                return
            if event in ("open", "os.rename", "os.remove", "os.chmod") and folder in os.fsdecode(str(values[0])):
                seen.append(event)
                if die is not None and len(seen) == step:
                    os.kill(os.getpid(), die[2])
                elif fail is not None and len(seen) >= step and event in ("open", "os.rename"):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        sys.addaudithook(watch)


def _give_up_capabilities():
    """Be root in name only: its files stay readable by their owner, and a lost permission is lost."""
    version, this_process, no_capability = 0x20080522, 0, (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(version, this_process)
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).capset(header, no_capability):
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")


def _main(arguments):
    from purely.cli import main

    status = 1
    try:
        main(arguments)
    except SystemExit as left:
        status = int(left.code or 0)
    except BaseException:
        import traceback

        if sys.stderr is not None:
            traceback.print_exc()
    with suppress(AttributeError):
        try:
            sys.stdout.flush()  # as the interpreter does when it ends
        except (OSError, ValueError):
            status = 120
    with suppress(Exception):
        sys.stderr.flush()
    return status
