"""A file is whole under its name, or not there at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`; what is written there takes its place if all goes well, and is removed otherwise.

    The temporary name has the same suffix, because some writers read the format off it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> target = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> with atomic_path(target) as partial:
    ...     written = partial.write_text("a,b")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('a,b', 1)
    """
    partial = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.partial{path.suffix}")
    try:
        yield partial
        with partial.open("rb+") as written:  # on the disk before the name is, or a power cut leaves an empty file
            os.fsync(written.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
