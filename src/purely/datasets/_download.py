"""Files that come from elsewhere: an offline folder, a cache folder, or a download that is checked or refused.

A download is received in memory, checked, and only then written: under its name a file is whole and right, or it is
not there at all.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from purely.files import replacing

#: Folder of files that are already there, laid out like the cache; only read.
OFFLINE_VARIABLE = "PURELY_DATA"
#: Folder that downloads go to.
CACHE_VARIABLE = "PURELY_CACHE"

_TIMEOUT_SECONDS = 30.0
#: Beginning of a compressed file to its suffix and what uncompresses it.
_OPENERS: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
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

    def read(self, stored: bytes, source: str) -> bytes:
        """The content of what is stored somewhere, or a refusal that names the source."""
        content = self._text(stored) if self.of_text else stored
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise ChecksumError(
                f"{source} has the SHA-256 checksum {found} where {self.sha256} is expected; it is refused."
            )
        return content

    def _text(self, stored: bytes) -> bytes:
        suffix, uncompress = opener(stored)
        try:
            text = uncompress(stored).replace(b"\r\n", b"\n")
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            raise ChecksumError(f"{self.path}{suffix} is damaged: it does not uncompress ({error}).") from error
        return text if text.endswith(b"\n") else text + b"\n"


def opener(stored: bytes) -> tuple[str, Callable[[bytes], bytes]]:
    """Suffix of a compressed file and what uncompresses it; of another file, no suffix and nothing to do."""
    return next((how for magic, how in _OPENERS.items() if stored.startswith(magic)), ("", bytes))


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Folder that downloads go to: the argument, else the variable ``PURELY_CACHE``, else the platform's cache folder.

    Examples
    --------
    >>> from purely.datasets import get_data_home
    >>> get_data_home("my_cache").name
    'my_cache'
    """
    if chosen := data_home or os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
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
        return remote.read(path.read_bytes(), f"{path} (in the folder of {OFFLINE_VARIABLE})")
    home = get_data_home(data_home)
    if path := find_local(remote, home):
        try:
            return remote.read(path.read_bytes(), str(path))
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


def _download(remote: RemoteFile, home: Path, n_retries: int, delay: float) -> bytes:
    """Try the addresses in turn, `n_retries` further rounds over those whose failure may pass."""
    failures: dict[str, Exception] = {}
    for round_ in range(n_retries + 1):
        urls = [url for url in remote.urls if url not in failures or _may_pass(failures[url])]
        if round_ and urls:
            time.sleep(delay * 2.0 ** (round_ - 1))
        for url in urls:
            try:
                stored = _receive(url, remote.path)
                content = remote.read(stored, f"what {url} sent")
            except (OSError, HTTPException) as error:
                failures[url] = error
                continue
            target = home / (remote.path + (opener(stored)[0] if remote.of_text else ""))
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as partial:
                partial.write_bytes(stored)
            return content
    reasons = "; ".join(f"{url}: {error}" for url, error in failures.items())
    kind = ChecksumError if any(isinstance(e, ChecksumError) for e in failures.values()) else DownloadError
    raise kind(
        f"{remote.path} could not be downloaded ({reasons}). Put it into the folder of {OFFLINE_VARIABLE} instead."
    )


def _may_pass(error: Exception) -> bool:
    if isinstance(error, urllib.error.HTTPError):
        return error.code in _TRANSIENT_STATUS
    return not isinstance(error, ChecksumError)


def _receive(url: str, name: str) -> bytes:
    """What an address sends, whole: a body that is shorter than its announced length is an error of `read`."""
    request = urllib.request.Request(url, headers={"User-Agent": "purely-datasets"})
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
        length = response.headers.get("Content-Length") or ""
        size = f" ({int(length) / 1e6:.1f} MB)" if length.isdigit() else ""
        print(f"Downloading {name} from {url}{size}", file=sys.stderr, flush=True)
        return bytes(response.read())
