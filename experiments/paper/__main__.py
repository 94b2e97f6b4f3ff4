"""Command line of the reproduction.

    python -m experiments.paper run [--config full|smoke] [--device cuda] [--jobs 16]    both tables
    python -m experiments.paper tables [--config full|smoke]                             the tables again, from the rows
    python -m experiments.paper figure3 [--trials 10]                                    appendix D
    python -m experiments.paper others [--trials 1] [--datasets mnist] [--methods nnpu]  other classifiers, a core each
    python -m experiments.paper floor                                                    least time of the largest part

Data sets are read from the folder in PURELY_DATA, or downloaded. Rows are in experiments/results/paper/.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path

from experiments.paper.config import CONFIGS, DATASETS
from experiments.paper.runner import PARTS, run
from experiments.paper.store import Store
from experiments.records import RESULTS

FOLDER = RESULTS / "paper"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables", "figure3", "others", "floor"))
    parser.add_argument("--config", choices=tuple(CONFIGS), default="full")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--trainers", type=int, help="processes that train networks; 3, or 1 with fewer than 8 jobs")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--trials", type=int, help="fewer than the configuration's; of figure 3; of the others")
    parser.add_argument("--sizes", nargs="*", type=int, default=[], help="of figure 3")
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS), choices=DATASETS, help="of the others")
    parser.add_argument("--methods", nargs="*", help="of the others; all where none is named")
    args = parser.parse_args()
    config = CONFIGS[args.config]
    if args.trials and args.what == "run":
        config = replace(config, trials=args.trials)
    path = args.out / f"{config.name}.jsonl"
    if args.what == "run":
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        run(config, Store(path), args.device, args.jobs, tuple(args.parts), args.trainers)
    if args.what == "floor":
        from experiments.paper.floor import print_floor

        print_floor(config)
        return
    if args.what == "figure3":
        from experiments.paper.figure3 import SIZES, run_figure3

        run_figure3(args.out, args.trials or 10, tuple(args.sizes) or SIZES)
        return
    if args.what == "others":
        from experiments.paper.others import run_others

        run_others(args.out, args.trials or 1, args.datasets, args.methods, args.jobs)
        return
    from experiments.paper.tables import write_tables

    for written in write_tables(config, args.out):
        print(written)


if __name__ == "__main__":
    main()
