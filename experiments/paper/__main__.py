"""Command line of the reproduction.

    python -m experiments.paper run [--config full|smoke] [--device cuda] [--jobs 16]    both tables
    python -m experiments.paper tables [--config full|smoke]                             the tables again, from the rows
    python -m experiments.paper figure3 [--trials 10]                                    appendix D
    python -m experiments.paper others [--trials 1] [--datasets mnist] [--methods nnpu]  other classifiers, a core each
    python -m experiments.paper floor                                                    least time of the largest part

Data sets are read from the folder in PURELY_DATA, or downloaded. Rows are in experiments/results/paper/. The other
classifiers take their class priors from the rows of a run.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.entry import DeviceOptions, option, read_options
from experiments.paper.config import CONFIGS, DATASETS
from experiments.paper.figure3 import SIZES, run_figure3
from experiments.paper.floor import print_floor
from experiments.paper.methods.others import METHODS
from experiments.paper.others import run_others
from experiments.paper.runner import PARTS, run
from experiments.paper.store import Store
from experiments.paper.tables import write_tables
from experiments.records import RESULTS

#: Classifiers that a core fits within a second at the smoke size.
QUICK = ("naive_logistic", "calibrated_logistic", "least_squares", "logistic", "bagging")
SMOKE = {"config": "smoke", "sizes": (100,), "methods": QUICK, "trials": 1, "datasets": ("mushrooms",)}


@dataclass(frozen=True)
class Paper(DeviceOptions):
    """Options of the reproduction."""

    out: Path = option(RESULTS / "paper", "folder of the results")
    what: str = option("", positional=True, choices=("run", "tables", "figure3", "others", "floor"))
    config: str = option("full", choices=CONFIGS)
    trainers: int = option(0, "processes that train networks; 0: 3, or 1 with fewer than 8 jobs")
    parts: tuple[str, ...] = option(PARTS, choices=PARTS)
    trials: int = option(0, "0: as many as the configuration says, 10 of figure 3, 1 of the others")
    sizes: tuple[int, ...] = option(SIZES, "of figure 3")
    datasets: tuple[str, ...] = option(DATASETS, "of those that the configuration has", choices=DATASETS)
    methods: tuple[str, ...] = option(tuple(METHODS), "of the others", choices=METHODS)


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Paper, __doc__, SMOKE, arguments)
    config = CONFIGS[options.config]
    config = replace(config, datasets=tuple(name for name in config.datasets if name in options.datasets))
    if options.what == "run":
        config = replace(config, trials=options.trials or config.trials)
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        store = Store(options.out / f"{config.name}.jsonl")
        run(config, store, options.device, options.jobs, options.parts, options.trainers or None)
    if options.what in ("run", "tables"):
        print(*write_tables(config, options.out), sep="\n")
    elif options.what == "figure3":
        run_figure3(options.out, options.trials or 10, options.sizes)
    elif options.what == "others":
        run_others(replace(config, trials=options.trials or 1), options.out, options.methods, options.jobs)
    elif options.what == "floor":
        print_floor(config)


if __name__ == "__main__":
    main()
