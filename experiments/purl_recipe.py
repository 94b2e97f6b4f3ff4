"""Training length, batch size and stopping of the paper's PURL, which the paper does not print.

PURL with the paper's preset is trained on all rows of a draw (n_P = 1000, n_U = 2000), KM1 reads the features of the
same rows, at several lengths of one training; with and without early stopping on held-out J. Rows come from the half of
each data set that the reported tables do not use.

    PURELY_DATA=folder python -m experiments.purl_recipe --device cuda --trials 4 --jobs 16
    python -m experiments.purl_recipe --summarise
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.entry import option, read_options, worker_pool
from experiments.paper.methods.kernel_mean import estimate as estimate_prior
from experiments.records import read_rows, write_rows
from experiments.sets import SMOKE_CELLS, CellOptions, half_of, load, share_that_fits
from purely import PURL, PurelyWarning, fit_together, make_pu

EPOCHS = (20, 30, 45, 65, 90, 130, 180, 250, 350, 500, 700, 1000)
SMOKE = {**SMOKE_CELLS, "batch_sizes": (250,), "epochs": (1, 2), "held_out": True}


@dataclass(frozen=True)
class PURLRecipe(CellOptions):
    """Options of this study."""

    trials: int = 4
    batch_sizes: tuple[int, ...] = (100, 250)
    epochs: tuple[int, ...] = option(EPOCHS, "of these, by default, those that suit the number of features")
    held_out: bool = option(False, "also stop on held-out J")
    summarise: bool = option(False, "only print the means of the rows that are there")


def lengths(n_features: int, epochs: tuple[int, ...]) -> tuple[int, ...]:
    """Those of the lengths that are worth a try: with batch norm, the more features the faster a network turns."""
    about = 30 * (2000 / n_features) ** 0.75
    return epochs if epochs != EPOCHS else tuple(e for e in epochs if 0.15 * about <= e <= 3.0 * about)


def draw(X: Any, truth: Any, prior: float, seed: int, options: PURLRecipe) -> Any:
    """The paper's size, or as much of it as the half has rows for (mushrooms at .7)."""
    fit = share_that_fits(truth, prior, options.n_positive, options.n_unlabelled)
    n_p, n_u = int(options.n_positive * fit), int(options.n_unlabelled * fit)
    return make_pu(X, truth, n_positive=n_p, n_unlabelled=n_u, class_prior=prior, random_state=seed)


def trained(draws: list[Any], **settings: Any) -> list[PURL]:
    """One PURL a draw, those of one size as one stack."""
    models = [PURL(random_state=i, **settings) for i in range(len(draws))]
    sizes = defaultdict(list)
    for i, d in enumerate(draws):
        sizes[d.X.shape[0]].append(i)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        for n, members in sizes.items():
            for i in members:
                if models[i].checkpoint:
                    models[i].checkpoint = f"{models[i].checkpoint}.{n}"
            fit_together([models[i] for i in members], [(draws[i].X, draws[i].y) for i in members])
    return models


def run(options: PURLRecipe) -> None:
    pending, table = [], []
    with worker_pool(options.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        for name in options.datasets:
            start = time.perf_counter()
            X, y = load(name)
            rows = half_of(y.size, "choose")
            X, truth = X[rows], y[rows]
            cells = [(prior, trial) for prior in options.priors for trial in range(options.trials)]
            draws = [draw(X, truth, prior, trial, options) for prior, trial in cells]
            preset = "paper-text" if name == "20news" else "paper"
            for batch_size in options.batch_sizes:
                epochs_tried = lengths(X.shape[1], options.epochs)
                runs = [("none", e) for e in epochs_tried] + [("held-out J", max(epochs_tried))] * options.held_out
                for stopping, epochs in runs:
                    settings: dict[str, Any] = {"early_stopping": stopping != "none", "max_epochs": epochs}
                    if stopping == "none":
                        settings["checkpoint"] = f"{folder}/{name}-{batch_size}"
                    else:
                        settings["patience"] = epochs
                    models = trained(draws, preset=preset, batch_size=batch_size, device=options.device, **settings)
                    for (prior, trial), d, m in zip(cells, draws, models, strict=True):
                        row = {
                            "dataset": name,
                            "prior": prior,
                            "trial": trial,
                            "seed": trial,
                            "batch_size": batch_size,
                            "stopping": stopping,
                            "epochs": epochs,
                            "information": round(m.information_, 4),
                            "train_information": round(m.train_information_, 4),
                        }
                        pending.append((row, d, pool.submit(estimate_prior, m.transform(d.X), d.y)))
            read = sum(job.done() for _, _, job in pending)
            print(f"{name}: {time.perf_counter() - start:.0f} s, {read} of {len(pending)} read", flush=True)
        for row, d, job in pending:
            estimate = job.result()
            table.append({**row, "estimate": round(estimate, 5), "error": round(estimate - d.unlabelled_prior, 5)})
    write_rows("purl_recipe", table, options.out)


def summarise(folder: Path) -> None:
    cells: dict[Any, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for r in read_rows("purl_recipe", folder):
        setting = r["batch_size"], r["stopping"], int(r["epochs"])
        cells[setting][r["dataset"], r["prior"]].append(float(r["error"]))
    for setting, by in cells.items():
        mean = np.mean([np.nanmean(np.abs(v)) for v in by.values()])
        print(setting, f"mean absolute error {mean:.4f}")
        for name in dict.fromkeys(d for d, _ in by):
            text = " ".join(
                f"{np.nanmean(np.abs(v)):.3f} ({np.nanmean(v):+.3f})" for (d, _), v in by.items() if d == name
            )
            print(f"    {name:14s} {text}")

    features = {"ijcnn1": 22, "phishing": 68, "mushrooms": 112, "a9a": 123, "mnist": 784, "fashion-mnist": 784}
    rows = [r for r in read_rows("purl_recipe", folder) if r["stopping"] == "none" and r["batch_size"] == "250"]
    print("epochs e (2000 / d) ** p, errors interpolated between the lengths that were tried:")
    for power in (0.5, 0.6, 2 / 3, 0.75, 1.0):
        found = {e: rule_error(rows, features, power, e) for e in (22, 24, 26, 27, 28, 30, 33)}
        print(f"    p = {power:.2f}: " + " ".join(f"e {e}: {v:.4f}" for e, v in found.items()))


def rule_error(rows: list[dict[str, str]], features: dict[str, int], power: float, at_2000: float) -> float:
    """Mean over cells of the mean absolute error with a number of epochs that follows the number of features."""
    draws: dict[Any, list[tuple[float, float]]] = defaultdict(list)
    for r in rows:
        draws[r["dataset"], r["prior"], r["trial"]].append((float(r["epochs"]), float(r["error"])))
    cells: dict[Any, list[float]] = defaultdict(list)
    for (name, prior, _), tried in draws.items():
        epochs, errors = np.array(sorted(tried)).T
        wanted = at_2000 * (2000 / features.get(name, 2000)) ** power
        cells[name, prior].append(abs(float(np.interp(np.log(wanted), np.log(epochs), errors))))
    return float(np.mean([np.mean(v) for v in cells.values()]))


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(PURLRecipe, __doc__, SMOKE, arguments)
    if not options.summarise:
        run(options)
    summarise(options.out)


if __name__ == "__main__":
    main()
