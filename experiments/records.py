"""Tidy rows with their provenance: seed, commit, versions, hardware."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

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
        "hardware": f"{_cpu()}, {os.cpu_count()} cores" + _gpu(),
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
    import sys

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
    partial = path.with_suffix(".csv.part")
    with partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    partial.replace(path)
    return path


def read_rows(name: str, folder: Path = RESULTS) -> list[dict[str, str]]:
    """Read rows that :func:`write_rows` wrote."""
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))
