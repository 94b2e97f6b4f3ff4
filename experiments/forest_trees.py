"""How many trees the forests need whose scores best bin, DEDPUL and AlphaMax read.

Rows come from the half of each data set that the reported tables do not use.

    PURELY_DATA=folder python -m experiments.forest_trees --trials 2 --jobs 2
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from experiments.paper.config import FULL
from experiments.paper.draws import Key, draw
from experiments.paper.methods import scores
from experiments.records import write_rows

FIRST_TRIAL = 900
TREES = (50, 100, 200)


def rows_of(name: str, prior: float, trial: int) -> list[dict[str, Any]]:
    """Errors of all three estimators with each number of trees, on one draw."""
    d = draw(FULL, Key(name, prior, FIRST_TRIAL + trial), "choose")
    found = []
    for n_trees in TREES:
        told, _ = scores.estimate(d, "forest", tuple(scores.READERS), n_trees)
        for method, value in told.items():
            row = {"dataset": name, "prior": prior, "seed": d.key.seed, "method": method, "n_trees": n_trees}
            found.append({**row, "estimate": value, "error": abs(value - d.share)})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    todo = [(name, prior, t) for name in FULL.datasets for prior in FULL.priors for t in range(args.trials)]
    done = Parallel(args.jobs, verbose=5)(delayed(rows_of)(*one) for one in todo)
    rows = [row for one in done for row in one]
    print(write_rows("forest_trees", rows))
    for n_trees in TREES:
        errors = {
            m: np.mean([r["error"] for r in rows if (r["method"], r["n_trees"]) == (m, n_trees)])
            for m in scores.READERS
        }
        print(f"{n_trees:4d} trees: " + ", ".join(f"{m} {e:.4f}" for m, e in errors.items()))


if __name__ == "__main__":
    main()
