"""Files that come from elsewhere: an offline folder, a cache folder, or a download that is checked or refused.

A file counts as present only under its final name, which it gets by an atomic rename after its checksum was verified.
What a killed process leaves under a temporary name is removed by the next download into the same folder.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, TextIO

__all__ = [
    "ChecksumError",
    "DownloadError",
    "RemoteFile",
    "find_local",
    "get_data_home",
    "load_file",
    "partial_file",
    "publish",
    "sweep_partial",
]

#: Folder of files that are already there, laid out like the cache; only read.
OFFLINE_VARIABLE = "PURELY_DATA"
#: Folder that downloads go to.
CACHE_VARIABLE = "PURELY_CACHE"

_CHUNK_BYTES = 1 << 16
_TIMEOUT_SECONDS = 30.0
_PARTIAL_SUFFIX = ".part"
_OPENERS = {
    b"BZh": (".bz2", bz2.decompress),
    b"\x1f\x8b": (".gz", gzip.decompress),
    b"\xfd7zXZ": (".xz", lzma.decompress),
}
#: Answers that a later attempt may change.
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class DownloadError(OSError):
    """A file could not be downloaded."""


class ChecksumError(DownloadError):
    """A file is not the one that was asked for."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of known content.

    Attributes
    ----------
    path : str
        Its place in the cache and in the offline folder. Without its compression suffix where `of_text` is True.
    urls : tuple of str
        Where to get it, in order of preference.
    sha256 : str
        Checksum of the content.
    of_text : bool
        False: the content is the file, byte for byte. True: the content is the uncompressed text with LF line ends, so
        that a plain and a compressed copy are the same.
    """

    path: str
    urls: tuple[str, ...]
    sha256: str
    of_text: bool = False


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Folder that downloads go to: the argument, else the variable ``PURELY_CACHE``, else the platform's cache folder.

    Examples
    --------
    >>> from purely.datasets import get_data_home
    >>> get_data_home("my_cache").name
    'my_cache'
    """
    if data_home is None:
        data_home = os.environ.get(CACHE_VARIABLE) or None
    if data_home is not None:
        return Path(data_home).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "purely"


def load_file(
    remote: RemoteFile,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> bytes:
    """The verified content of a file: from the offline folder, from the cache, or downloaded into the cache.

    Parameters
    ----------
    remote : RemoteFile
    data_home : path, default=None
        The cache folder, see :func:`get_data_home`.
    download_if_missing : bool, default=True
        False refuses where a download would be needed.
    n_retries : int, default=3
        Further attempts after a failure that may pass.
    delay : float, default=1.0
        Seconds before the first further attempt; doubled for each one after it.
    """
    offline = os.environ.get(OFFLINE_VARIABLE)
    if offline and (path := find_local(remote, Path(offline))):
        content = _content(remote, path.read_bytes())
        _refuse_wrong(remote, content, f"{path} (in the folder of {OFFLINE_VARIABLE})")
        return content
    home = get_data_home(data_home)
    if path := find_local(remote, home):
        try:
            content = _content(remote, path.read_bytes())
            _refuse_wrong(remote, content, str(path))
            return content
        except ChecksumError:
            if not download_if_missing:
                raise
            path.unlink(missing_ok=True)  # damaged since it was stored
    if not download_if_missing:
        raise FileNotFoundError(
            f"{remote.path} is neither in the folder of {OFFLINE_VARIABLE} ({offline or 'not set'}) nor in {home}, and "
            "download_if_missing=False forbids to download it."
        )
    return _download(remote, home, n_retries, delay)


def find_local(remote: RemoteFile, folder: Path) -> Path | None:
    """The file in a folder, under any of its names, or None."""
    suffixes = ["", *(suffix for suffix, _ in _OPENERS.values())] if remote.of_text else [""]
    candidates = (folder / f"{remote.path}{suffix}" for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def _content(remote: RemoteFile, stored: bytes) -> bytes:
    if not remote.of_text:
        return stored
    text = _uncompress(remote, stored).replace(b"\r\n", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def _uncompress(remote: RemoteFile, stored: bytes) -> bytes:
    for magic, (_, decompress) in _OPENERS.items():
        if stored.startswith(magic):
            try:
                return decompress(stored)
            except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
                raise ChecksumError(f"{remote.path} is damaged: it does not uncompress ({error}).") from error
    return stored


def _refuse_wrong(remote: RemoteFile, content: bytes, source: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != remote.sha256:
        raise ChecksumError(
            f"{source} has the SHA-256 checksum {found} where {remote.sha256} is expected; it is refused."
        )


def _download(remote: RemoteFile, home: Path, n_retries: int, delay: float) -> bytes:
    """Try the addresses in turn, `n_retries` further rounds over those whose failure may pass."""
    target = home / remote.path
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep_partial(target.parent)
    failures: dict[str, Exception] = {}
    urls = list(remote.urls)
    for round_ in range(n_retries + 1):
        if round_:
            time.sleep(delay * 2.0 ** (round_ - 1))
        for url in tuple(urls):
            try:
                return _attempt(remote, url, target)
            except (OSError, HTTPException) as error:
                failures[url] = error
                if not _may_pass(error):
                    urls.remove(url)
        if not urls:
            break
    reasons = "; ".join(f"{url}: {error}" for url, error in failures.items())
    kind = ChecksumError if any(isinstance(e, ChecksumError) for e in failures.values()) else DownloadError
    raise kind(
        f"{remote.path} could not be downloaded ({reasons}). Put it into the folder of {OFFLINE_VARIABLE} instead."
    )


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ChecksumError):
        return False
    if isinstance(error, urllib.error.HTTPError):
        return error.code in _TRANSIENT_STATUS
    return isinstance(error, (urllib.error.URLError, ConnectionError, TimeoutError, HTTPException, DownloadError))


def _attempt(remote: RemoteFile, url: str, target: Path) -> bytes:
    """One download into a temporary file beside the target, renamed once its checksum is right."""
    request = urllib.request.Request(url, headers={"User-Agent": "purely-datasets"})
    with partial_file(target) as (file, temporary):
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
            length = response.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            received = 0
            with _progress(remote.path, url, total) as report:
                while chunk := response.read(_CHUNK_BYTES):
                    file.write(chunk)
                    received += len(chunk)
                    report(received)
        if total is not None and received != total:
            raise DownloadError(f"the connection ended after {received} of {total} bytes")
        file.flush()
        stored = temporary.read_bytes()
        content = _content(remote, stored)
        _refuse_wrong(remote, content, f"what {url} sent")
        publish(file, temporary, _final_name(remote, target, stored))
    return content


def _final_name(remote: RemoteFile, target: Path, stored: bytes) -> Path:
    if remote.of_text:
        for magic, (suffix, _) in _OPENERS.items():
            if stored.startswith(magic):
                return target.with_name(target.name + suffix)
    return target


@contextmanager
def partial_file(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A locked temporary file in the target's folder; whatever happens, it is gone afterwards."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}{_PARTIAL_SUFFIX}")
    try:
        with open(temporary, "xb") as file:
            _lock(file)  # lives as long as this process: tells the living from the dead
            yield file, temporary
    finally:
        temporary.unlink(missing_ok=True)


def publish(file: IO[bytes], temporary: Path, target: Path) -> None:
    """Give a temporary file that is whole its final name, at once or not at all."""
    file.flush()
    os.fsync(file.fileno())
    if sys.platform == "win32":
        file.close()  # an open file cannot be renamed there; elsewhere closing would give up the lock too early
    os.replace(temporary, target)


def sweep_partial(folder: Path) -> None:
    """Remove the temporary files of downloads that died; those of a living process are locked and stay."""
    for path in folder.glob(f".*{_PARTIAL_SUFFIX}"):
        with suppress(OSError):
            with open(path, "rb") as file:
                _lock(file)
            path.unlink()


def _lock(file: IO[bytes]) -> None:
    """Take the file's lock, or raise OSError where another process holds it."""
    try:
        import fcntl
    except ImportError:  # Windows, where a file that is open cannot be removed anyway
        return
    fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


class _Report:
    """Progress on the standard error: one line that moves on a terminal, one line in all elsewhere."""

    def __init__(self, name: str, total: int | None, stream: TextIO) -> None:
        self.name, self.total, self.stream = name, total, stream
        self.moves = stream.isatty()
        self.shown_at = 0.0

    def __call__(self, received: int) -> None:
        now = time.monotonic()
        if not self.moves or (now - self.shown_at < 0.1 and received != self.total):
            return
        self.shown_at = now
        share = f"{100.0 * received / self.total:3.0f} % of {self.total / 1e6:.1f} MB" if self.total else ""
        self.stream.write(f"\r{self.name}: {share or f'{received / 1e6:.1f} MB'} ")
        self.stream.flush()


@contextmanager
def _progress(name: str, url: str, total: int | None) -> Iterator[_Report]:
    stream = sys.stderr
    size = f" ({total / 1e6:.1f} MB)" if total else ""
    stream.write(f"Downloading {name} from {url}{size}\n")
    report = _Report(name, total, stream)
    try:
        yield report
    finally:
        if report.moves:
            stream.write("\n")
        stream.flush()
