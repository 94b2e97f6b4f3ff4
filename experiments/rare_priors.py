"""Rare positives: the error of the class prior where 1 to 5 of 100 rows are positive, beside that of another build.

From every table of ``PURELY_DATA/tabular`` draws with 300 positives and 2,000 unlabelled rows at priors .01, .02 and
.05 (fewer where the table is small). `ClassPrior` with its defaults is fitted to each, by this checkout and by that
whose folder `src` is given:

    PURELY_DATA=folder python -m experiments.rare_priors --baseline ../first/src --jobs 2
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from experiments.entry import Options, option, read_options
from experiments.promises import Cell, draw, tables
from experiments.records import write_rows

NAME = "rare_priors"
PRIORS = (0.01, 0.02, 0.05)
N_POSITIVE, N_UNLABELLED = 300, 2000
SMOKE: dict[str, Any] = {"only": ("banknote_authentication",), "priors": (0.05,)}
#: Fits the class prior to the rows in a file, with whatever build the path holds.
CODE = """
import json, sys, warnings
import numpy as np
from purely import ClassPrior
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
found = ClassPrior(random_state=0).fit(data["X"], data["y"])
print(json.dumps([found.class_prior_, *found.class_prior_interval_]))
"""


@dataclass(frozen=True)
class RarePriors(Options):
    """Options of this comparison."""

    baseline: str = option("", "the folder src of another checkout")
    only: tuple[str, ...] = option((), "names of tables")
    priors: tuple[float, ...] = PRIORS
    seeds: int = option(1, "draws of each table and prior")


def fitted(source: str, path: Path) -> list[float]:
    """Estimate and interval by the build in a folder; this checkout's where it is empty."""
    own = str(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(path)],
        env={**os.environ, "PYTHONPATH": source or own},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(value) for value in json.loads(done.stdout.splitlines()[-1])]


def judge(table: str, prior: float, seed: int, baseline: str) -> list[dict[str, Any]]:
    """Rows of one draw, a build each."""
    drawn = draw(Cell(table, prior, N_POSITIVE, N_UNLABELLED, seed, "report"))
    if drawn is None:
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draw.npz"
        np.savez(path, X=drawn.X, y=drawn.y)
        for build in ("this", *(["baseline"] if baseline else [])):
            estimate, low, high = fitted(baseline if build == "baseline" else "", path)
            rows.append(
                {"table": table, "asked_prior": prior, "seed": seed, "build": build, "prior": drawn.prior}
                | {"n_positive": int(drawn.y.sum()), "n_unlabelled": int((1 - drawn.y).sum())}
                | {"estimate": estimate, "low": low, "high": high, "error": abs(estimate - drawn.prior)}
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(RarePriors, __doc__, SMOKE, arguments)
    wanted = [
        (table, prior, seed)
        for table in options.only or tables()
        for prior in options.priors
        for seed in range(options.seeds)
    ]
    found = Parallel(options.jobs)(delayed(judge)(*cell, options.baseline) for cell in wanted)
    rows = [row for one in found for row in one]
    write_rows(NAME, rows, options.out)
    for build in sorted({row["build"] for row in rows}):
        own = [row for row in rows if row["build"] == build]
        held = np.mean([row["low"] <= row["prior"] <= row["high"] for row in own])
        error = np.mean([row["error"] for row in own])
        print(f"{build:10s} {len(own)} draws: mean error {error:.4f}, the interval holds {held:.0%}")


if __name__ == "__main__":
    main()
