"""Every other classifier on the draws of the full run, one core each, with the class priors that that run estimated.

Rows are in ``others.jsonl`` beside the full run's, in the same format; each holds its reliability diagram's bins as
well. A run that was stopped is taken up where it was: the first trial of all cells comes first, method by method.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from experiments.entry import worker_pool
from experiments.paper.config import Config
from experiments.paper.draws import Key, draw
from experiments.paper.methods import reliability_bins
from experiments.paper.methods.others import METHODS, TRUE_PRIOR
from experiments.paper.runner import class_row
from experiments.paper.store import Store

#: What the full run calls the recommended classifier, and its name in the table of the others.
OURS = "pu_classifier"


def run_others(config: Config, folder: Path, methods: tuple[str, ...], jobs: int) -> None:
    """Do what is left, and write the table."""
    full, store = Store(folder / f"{config.name}.jsonl"), Store(folder / "others.jsonl")
    estimates = {
        (r["dataset"], r["prior"], r["trial"]): r["estimate"]
        for r in full.tidy()
        if r["table"] == "prior" and r["method"] == "class_prior"
    }
    priors = sorted(config.priors, key=lambda p: abs(p - 0.5))  # what is cut short has all data sets at .5
    with worker_pool(jobs) as pool:
        waiting = {}
        for trial in range(config.trials):
            for method in methods:
                for key in (Key(name, prior, trial) for prior in priors for name in config.datasets):
                    unit = (method, key.dataset, key.prior, key.trial)
                    if unit not in store:
                        waiting[pool.submit(one_row, config, key, method, estimates[unit[1:]])] = unit
        for job in tqdm(as_completed(waiting), total=len(waiting), unit="fit"):
            store.add(waiting[job], [job.result()])
    print(write_table(folder, full, store))


def one_row(config: Config, key: Key, method: str, estimate: float) -> dict[str, Any]:
    """One classifier on one draw."""
    d = draw(config, key)
    prior = d.share if method in TRUE_PRIOR else estimate
    start = time.process_time()  # of one thread: a busy machine changes little
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probability = METHODS[method](d, prior)
    seconds = time.process_time() - start
    bins = reliability_bins(probability, d.y_test, d.key.prior)
    return {**class_row(d, method, probability, prior, seconds), "bins": np.round(bins, 5).tolist()}


def write_table(folder: Path, full: Store, store: Store) -> Path:
    """Mean error and calibration error of each method over the cells, beside the full run's on the same draws."""
    rows = store.tidy()
    done = {(r["dataset"], r["prior"], r["trial"]) for r in rows}
    rows += [
        r
        for r in full.tidy()
        if r["table"] == "classification"
        and r["method"].startswith(OURS)
        and (r["dataset"], r["prior"], r["trial"]) in done
    ]
    own = {(r["dataset"], r["prior"], r["trial"]): r["error"] for r in rows if r["method"] == OURS}
    cells: dict[str, dict[tuple[str, float], list[tuple[float, ...]]]] = defaultdict(lambda: defaultdict(list))
    for r in rows:
        beside = own.get((r["dataset"], r["prior"], r["trial"]), float("nan"))
        figures = r["error"], r["calibration_error"], r["seconds"], beside
        cells[r["method"]][r["dataset"], r["prior"]].append(figures)
    lines = ["method,cells,draws,error,calibration_error,seconds,pu_classifier,cells_better"]
    table = []
    for method, by in cells.items():
        means = np.array([np.mean(v, axis=0) for v in by.values()])
        error, calibration, seconds, beside = means.mean(axis=0)
        wins = int(np.sum(means[:, 0] < means[:, 3]))
        n_draws = sum(map(len, by.values()))
        measured = f"{error:.5f},{calibration:.5f},{seconds:.2f},{beside:.5f},{wins}"
        table.append((error, f"{method},{len(by)},{n_draws},{measured}"))
    path = folder / "others.csv"
    path.write_text("\n".join(lines + [line for _, line in sorted(table)]) + "\n")
    return path
