"""Finished rows on disk.

A unit of work is one line of JSON with all of its rows, appended and flushed to the disk at once: after a kill, a line
is there as a whole or, cut off, is dropped when the file is opened again.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from experiments.records import provenance

Unit = tuple[Any, ...]


class Store:
    """Append-only rows of a run.

    Parameters
    ----------
    path : Path
        File of JSON lines; made where it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._units: dict[Unit, list[dict[str, Any]]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._read()

    def _read(self) -> None:
        good = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                entry = json.loads(line)
                self._units[tuple(entry["unit"])] = entry["rows"]
                good += len(line)
        if good < self.path.stat().st_size:
            os.truncate(self.path, good)

    def __len__(self) -> int:
        return len(self._units)

    def __contains__(self, unit: Unit) -> bool:
        return unit in self._units

    def add(self, unit: Unit, rows: list[dict[str, Any]]) -> None:
        """Keep the rows of a finished unit."""
        line = json.dumps({"unit": unit, "rows": rows, **provenance()}, allow_nan=True) + "\n"
        with self._lock:
            self._units[unit] = rows
            with self.path.open("ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())

    def get(self, unit: Unit) -> list[dict[str, Any]]:
        """Rows of a unit."""
        return self._units[unit]

    def tidy(self) -> list[dict[str, Any]]:
        """All rows, in an order that does not depend on how they came about, with seed, commit and so on."""
        rows = []
        with self.path.open() as file:
            for line in file:
                entry = json.loads(line)
                made = {k: entry[k] for k in ("commit", "versions", "hardware")}
                rows += [{**row, **made} for row in entry["rows"]]
        return sorted(rows, key=lambda r: (r["table"], r["dataset"], r["prior"], r["method"], r["trial"]))
