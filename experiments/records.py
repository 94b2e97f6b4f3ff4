"""Tidy rows with their provenance: seed, commit, versions, hardware."""

from __future__ import annotations

import csv
import gzip
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import cpu_count

from purely.files import replacing

RESULTS = Path(__file__).parent / "results"


@lru_cache(maxsize=1)
def provenance() -> dict[str, str]:
    """Commit, versions and hardware of this run."""
    packages = []
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return {
        "commit": _commit(),
        "versions": f"python {platform.python_version()}, " + ", ".join(packages),
        "hardware": f"{_cpu()}, {cpu_count()} cores" + _gpu(),
    }


def _commit() -> str:
    if told := os.environ.get("PURELY_COMMIT"):  # a copy of the tree may lie in another repository, or in none
        return told
    here = Path(__file__).parent
    try:
        out = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=10"],
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return out.stdout.strip()


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _gpu() -> str:
    torch = sys.modules.get("torch")  # asked for only where the run itself uses it
    if torch is not None and torch.cuda.is_available():
        return f", {torch.cuda.get_device_name(0)}"
    return ""


def write_rows(name: str, rows: Iterable[Mapping[str, Any]], folder: Path = RESULTS) -> Path:
    """Write rows with the run's provenance to ``<folder>/<name>.csv`` through a temporary file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    table = [{**row, **provenance()} for row in rows]
    if not table:
        raise ValueError(f"no rows to write to {path}.")
    with replacing(path) as partial, partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    return path


def read_rows(name: str, folder: Path = RESULTS) -> list[dict[str, str]]:
    """Read rows that :func:`write_rows` wrote, compressed or not."""
    path = folder / f"{name}.csv"
    with gzip.open(f"{path}.gz", "rt", newline="") if not path.exists() else path.open(newline="") as file:
        return list(csv.DictReader(file))


class RowLog:
    """Rows of ``<folder>/<name>.csv``, appended as they come with the run's provenance: a stopped run keeps its rows.

    Attributes
    ----------
    rows : list of dict
        What the file held when it was opened.
    """

    def __init__(self, name: str, fields: Sequence[str], folder: Path, *, resume: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.csv"
        self.rows = read_rows(name, folder) if resume and path.exists() else []
        self._fields = [*fields, *provenance()]
        self._path = path
        if not self.rows:
            self._append([], header=True)

    def add(self, *rows: Mapping[str, Any]) -> None:
        """Append rows; columns that they do not have are empty."""
        self._append([{**row, **provenance()} for row in rows])

    def _append(self, rows: list[dict[str, Any]], *, header: bool = False) -> None:
        with self._path.open("w" if header else "a", newline="") as file:
            writer = csv.DictWriter(file, self._fields, lineterminator="\n")
            if header:
                writer.writeheader()
            writer.writerows(rows)
