"""How many trees the forests need whose scores best bin, DEDPUL and AlphaMax read.

Rows come from the half of each data set that the reported tables do not use.

    PURELY_DATA=folder python -m experiments.forest_trees --trials 2 --jobs 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.entry import in_parallel, read_options
from experiments.paper.config import CONFIGS, SMOKE_DRAWS, DrawOptions
from experiments.paper.draws import Key, draw
from experiments.paper.methods import scores
from experiments.records import write_rows

FIRST_TRIAL = 900
SMOKE = {**SMOKE_DRAWS, "trees": (5, 10)}


@dataclass(frozen=True)
class ForestTrees(DrawOptions):
    """Options of this study."""

    trees: tuple[int, ...] = (50, 100, 200)


def rows_of(config: str, name: str, prior: float, trial: int, trees: tuple[int, ...]) -> list[dict[str, Any]]:
    """Errors of all three estimators with each number of trees, on one draw."""
    d = draw(CONFIGS[config], Key(name, prior, FIRST_TRIAL + trial), "choose")
    found = []
    for n_trees in trees:
        told, _ = scores.estimate(d, "forest", tuple(scores.READERS), n_trees)
        for method, value in told.items():
            row = {"dataset": name, "prior": prior, "seed": d.key.seed, "method": method, "n_trees": n_trees}
            found.append({**row, "estimate": value, "error": abs(value - d.share)})
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(ForestTrees, __doc__, SMOKE, arguments)
    cells = [
        (options.config, name, prior, t, options.trees)
        for name in options.datasets
        for prior in options.priors
        for t in range(options.trials)
    ]
    rows = [row for one in in_parallel(rows_of, cells, options.jobs) for row in one]
    print(write_rows("forest_trees", rows, options.out))
    for n_trees in options.trees:
        errors = {
            m: np.mean([r["error"] for r in rows if (r["method"], r["n_trees"]) == (m, n_trees)])
            for m in scores.READERS
        }
        print(f"{n_trees:4d} trees: " + ", ".join(f"{m} {e:.4f}" for m, e in errors.items()))


if __name__ == "__main__":
    main()
