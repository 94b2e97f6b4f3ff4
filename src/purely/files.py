"""One way to read a file and one way to write it, so that nothing is lost.

**Writing.** :func:`replacing` hands out a partial file beside the target, named after it (``.scores.csv.purely-part``),
and puts it in the target's place when it is whole: whatever happens, the target is the old file or the new one. The
partial file is locked while its process lives, so a second process that writes the same target is refused, and what a
killed process has left is recognised and removed by the next one that writes into the folder. A pipe or a device is
written to as it is; a symbolic link is followed.

**Reading.** :func:`open_input` gives a file that can be read from the start as often as needed: a regular file as it
is, a pipe or the standard input (``-``) from a copy without a name, which the system removes when the process ends.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed or renamed over anyway
    fcntl = None  # type: ignore[assignment]

PathLike = str | os.PathLike[str]

#: The name that stands for the standard input.
STDIN = "-"
#: How the name of a partial file ends; only files of this ending are ever removed.
ENDING = ".purely-part"
#: Longest name of a file that all usual file systems allow, in bytes.
_LONGEST_NAME = 255
#: How names of what the shell has opened start; other files below /dev, such as those of /dev/shm, are files.
_OPENED = ("/dev/std", "/dev/fd/", "/proc/")
#: Targets that this process is writing, with their partial files: writing may be nested.
_writing: ContextVar[dict[str, Path] | None] = ContextVar("writing", default=None)


class FileError(OSError):
    """A file that cannot be read or written, said in one sentence."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file or folder."""


def printable(text: str) -> str:
    r"""Text without anything that a terminal would act upon: escapes, bells, halves of characters; lines stay lines.

    Examples
    --------
    >>> from purely.files import printable
    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def shown(value: object, width: int = 40) -> str:
    """A value for a message: printable, on one line, not longer than `width`.

    Examples
    --------
    >>> from purely.files import shown
    >>> shown("a" * 50)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'
    """
    text = str(value)
    text = text if len(text) <= width else text[: width - 3] + "..."
    return printable(text).replace("\n", "\\n")


# -- writing ----------------------------------------------------------------------------------------------------------


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """A partial file that takes the place of `path` when the block ends well, and is removed otherwise.

    Enter it before the work starts: a target that cannot be written, or that another process is writing, is refused at
    once, and stays reserved. Within the block, `replacing` of the same target gives the same partial file, so a
    function that writes for itself may be called inside.

    Parameters
    ----------
    path : path
        A file; a link is followed. A pipe or a device is yielded as it is, and written to directly.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from purely.files import replacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "numbers.txt"
    ...     with replacing(target) as partial:
    ...         _ = partial.write_text("1 2 3")
    ...     (target.read_text(), len(list(Path(folder).iterdir())))
    ('1 2 3', 1)
    """
    if is_stream(path):
        yield Path(path)
        return
    target = os.path.realpath(os.fspath(path))
    held = _writing.get() or {}
    if target in held:
        yield held[target]
        return
    partial, lock = _start(Path(target))
    token = _writing.set({**held, target: partial})
    try:
        yield partial
        os.fsync(lock)
        if fcntl is None:  # Windows renames no file that is open
            os.close(lock)
        _publish(partial, target)
    finally:
        _writing.reset(token)
        with suppress(OSError):
            if _names(partial, lock):  # not published; another process's file of that name is not ours to remove
                partial.unlink()
        with suppress(OSError):
            os.close(lock)


def is_stream(path: PathLike) -> bool:
    """Whether a path names a pipe or a device, which is written to as it is."""
    if os.fspath(path).startswith(_OPENED):  # also where it stands for a regular file
        return True
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _start(target: Path) -> tuple[Path, int]:
    """Make and lock the partial file of a target; the folder is rid of what dead processes have left."""
    if target.is_dir():
        raise FileError(f"{shown(target, 120)!r} is a folder; name a file.")
    if target.exists() and not os.access(target, os.W_OK):
        raise FileError(f"{shown(target, 120)!r} may not be written; change its permissions or name another file.")
    name = f".{target.name}{ENDING}"
    if len(os.fsencode(name)) > _LONGEST_NAME:
        raise FileError(f"the name {shown(target.name)!r} is too long; name a file in at most 240 characters.")
    partial = target.with_name(name)
    try:
        sweep(target.parent)
        while True:
            with suppress(FileExistsError):
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
                handle = os.open(partial, flags, 0o666)
                if _lock(handle) and _names(partial, handle):
                    return partial, handle
                os.close(handle)  # a sweep of another process was faster than the lock
            if os.path.lexists(partial) and not _remove_if_dead(partial):
                raise FileError(f"{shown(target, 120)!r} is being written by another process; wait for it to end.")
    except FileNotFoundError as error:
        raise MissingFileError(f"the folder {shown(target.parent, 120)!r} does not exist; make it first.") from error
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{shown(target, 120)!r} cannot be written: {reason(error)}.") from error


def _publish(partial: Path, target: str) -> None:
    """Put the partial file in the target's place, so that it lasts through a power failure."""
    with suppress(OSError):
        os.chmod(partial, stat.S_IMODE(os.stat(target).st_mode))  # a file that is replaced keeps its permissions
    os.replace(partial, target)
    with suppress(OSError, AttributeError):
        folder = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sweep(folder: PathLike) -> None:
    """Remove the partial files of processes that were killed; those of living processes are locked and stay."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(ENDING):
                _remove_if_dead(Path(entry.path))


def _remove_if_dead(partial: Path) -> bool:
    """Remove a partial file unless its process lives; whether it is gone."""
    try:
        handle = os.open(partial, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if not _lock(handle):
            return False
        if _names(partial, handle):
            partial.unlink()
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock an open file for as long as this process has it open; False where another process has."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # a file system without locks must not keep anyone from writing
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _names(path: Path, handle: int) -> bool:
    """Whether a path is the name of an open file."""
    with suppress(OSError):
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(handle))
    return False


# -- reading ----------------------------------------------------------------------------------------------------------


def open_input(path: PathLike) -> IO[bytes]:
    """Open a file for reading, as bytes; what is returned can be read again from the start.

    Parameters
    ----------
    path : path
        A regular file, a pipe, or "-" for the standard input.

    Returns
    -------
    binary file

    Raises
    ------
    FileError
        Where there is no such file, or where it is a folder, a terminal or a device that never ends.
    """
    name = os.fspath(path)
    what = "the standard input" if name == STDIN else shown(name, 120)
    try:
        number = os.dup(0) if name == STDIN else os.open(name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        opened = os.fdopen(number, "rb")
    except OSError as error:
        if os.path.isdir(name):
            raise FileError(f"{what} is a folder; name a file.") from error
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        raise kind(f"{what} cannot be read: {reason(error)}.") from error
    try:
        mode = os.fstat(opened.fileno()).st_mode
        if stat.S_ISREG(mode) and opened.tell() == 0:
            return opened
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISDIR(mode):
            what_it_is = "a terminal; send it a file" if opened.isatty() else "a device; name a file"
            raise FileError(f"{what} is {what_it_is}.")
        copy: IO[bytes] = tempfile.TemporaryFile(prefix=".purely-")  # noqa: SIM115
        with opened:
            shutil.copyfileobj(opened, copy, 1 << 20)
        copy.seek(0)
        return copy
    except FileError:
        opened.close()
        raise
    except OSError as error:
        opened.close()
        raise FileError(f"{what} cannot be read: {reason(error)}.") from error


def is_same_file(path: PathLike, other: PathLike) -> bool:
    """Whether two names are of one file: by links, in other cases of letters, or as the standard input."""
    with suppress(OSError, ValueError):
        first, second = (os.fstat(0) if os.fspath(p) == STDIN else os.stat(p) for p in (path, other))
        return os.path.samestat(first, second) and stat.S_ISREG(first.st_mode)
    return False


def reason(error: OSError) -> str:
    """What the system says of an error, for the end of a sentence."""
    return shown(error.strerror or error, 100).lower().rstrip(".")
