"""Which networks PUClassifier averages with the ratio: settings compared on rows that the reported tables do not use.

For every draw of the choosing half the ratio member of PUClassifier is fitted once, with its class prior; each setting
of the networks is trained on all draws of a data set as one stack, with that prior, and averaged with the ratio as
PUClassifier does.

    PURELY_DATA=folder python -m experiments.classifier_choice --device cuda --trials 3 --jobs 16
    python -m experiments.classifier_choice --class-priors .03 .1 .2 --name classifier_choice_rare
    python -m experiments.classifier_choice --summarise
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import defaultdict
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

from experiments.classification_study import Draw, draw, measures
from experiments.prior_study import DATASETS, half_of
from experiments.records import RESULTS, read_rows, write_rows
from purely import fit_together
from purely.calibration import calibrate_scores
from purely.classifiers import NNPUClassifier, PUClassifier

PRIORS = (0.3, 0.5, 0.7)
FOLDS: dict[str, Any] = {"refit": False, "n_ensemble": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "5 + 25 networks": {"n_ensemble": 5},
    "5 networks": {**FOLDS, "n_ensemble": 1},
    "15 networks": FOLDS,
    "15, logistic": {**FOLDS, "loss": "logistic"},
    "15, 20 epochs": {**FOLDS, "max_epochs": 20},
    "15, 80 epochs": {**FOLDS, "max_epochs": 80},
    "15, dropout .4": {**FOLDS, "dropout": 0.4},
    "15, width 100": {**FOLDS, "hidden": (100, 100, 100)},
    "5, width 100": {**FOLDS, "hidden": (100, 100, 100), "n_ensemble": 1},
    "15, width 100 x 2": {**FOLDS, "hidden": (100, 100)},
    "15, width 100, logistic": {**FOLDS, "hidden": (100, 100, 100), "loss": "logistic"},
}


@dataclass(frozen=True)
class Ratio:
    """The ratio member of one draw: its prior, and its log-odds of training rows (out of fold) and test rows."""

    prior: float
    share: float
    out_of_fold: Any
    test: Any
    seconds: float


def ratio_member(d: Draw) -> Ratio:
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    model = PUClassifier(members=["trees"], random_state=d.seed).fit(d.X, d.y)
    test = model.member_log_odds(d.X_test)[0]
    seconds = time.perf_counter() - start
    return Ratio(model.class_prior_, model.unlabelled_prior_, model.oof_member_log_odds_[0], test, seconds)


def networks(draws: list[Draw], ratios: list[Ratio], device: str, **settings: Any) -> list[tuple[Any, Any]]:
    """Log-odds of training rows, out of fold, and of test rows."""
    models = [
        NNPUClassifier(r.prior, cv=5, random_state=d.seed, device=device, **settings)
        for d, r in zip(draws, ratios, strict=True)
    ]
    fit_together(models, [(d.X, d.y) for d in draws])
    limit = 1e-6
    return [
        (logit(np.clip(m.oof_probability_, limit, 1.0 - limit)), m.decision_function(d.X_test))
        for m, d in zip(models, draws, strict=True)
    ]


def judged(d: Draw, ratio: Ratio, out_of_fold: Any, test: Any) -> dict[str, float]:
    found = calibrate_scores(out_of_fold[d.y == 1], out_of_fold[d.y == 0], ratio.share)
    return measures(d, expit(found(test)), d.prior)


def run(args: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    table: list[dict[str, Any]] = []
    drawn: dict[str, list[Draw]] = {}
    jobs: dict[str, list[Future[Ratio]]] = {}
    start = time.perf_counter()
    with ProcessPoolExecutor(args.jobs, initializer=one_thread) as pool:
        list(pool.map(int, range(args.jobs)))  # the workers start before CUDA does
        for name in args.datasets:
            X, y = DATASETS[name](return_X_y=True)
            rows = half_of(y, "choose")
            X, truth = X[rows], np.asarray(y)[rows]
            drawn[name] = [
                draw(name, X, truth, p, t, "choosing") for p in args.class_priors for t in range(args.trials)
            ]
            jobs[name] = [pool.submit(ratio_member, d) for d in drawn[name]]
        if args.tf32:
            import torch

            torch.set_float32_matmul_precision("high")
        for name, draws in drawn.items():
            ratios = [job.result() for job in jobs[name]]
            print(f"{name}: ratios after {time.perf_counter() - start:.0f} s", flush=True)

            def add(method: str, d: Draw, row: dict[str, float], seconds: float, r: Ratio) -> None:
                where = {"dataset": d.dataset, "prior": d.prior, "trial": d.trial, "seed": d.seed, "method": method}
                figures = {k: round(v, 5) for k, v in row.items()}
                estimate = {"class_prior": round(r.prior, 5), "prior_error": round(r.prior - d.share, 5)}
                table.append({**where, **figures, **estimate, "seconds": round(seconds, 3)})

            for d, r in zip(draws, ratios, strict=True):
                add("ratio", d, judged(d, r, r.out_of_fold, r.test), r.seconds, r)
            for method in args.settings:
                settings = SETTINGS[method]
                before = time.perf_counter()
                told = networks(draws, ratios, args.device, **settings)
                seconds = (time.perf_counter() - before) / len(draws)
                for d, r, (out_of_fold, test) in zip(draws, ratios, told, strict=True):
                    add(f"{method}, alone", d, judged(d, r, out_of_fold, test), seconds, r)
                    both = judged(d, r, 0.5 * (out_of_fold + r.out_of_fold), 0.5 * (test + r.test))
                    add(f"{method}, with ratio", d, both, seconds, r)
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
            write_rows(args.name, table, args.out)
    summarise(args.name, args.out)


def one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def summarise(name: str, folder: Path) -> None:
    cells: dict[str, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for r in read_rows(name, folder):
        cells[r["method"]][r["dataset"], r["prior"]].append(
            [float(r[k]) for k in ("error", "calibration_error", "auc")]
        )
    names = list(dict.fromkeys(d for by in cells.values() for d, _ in by))
    print(f"{'':36s} error    ECE    AUC  " + " ".join(n[:8].rjust(8) for n in names))
    for method, by in sorted(cells.items(), key=lambda m: np.mean([np.mean(v, axis=0)[0] for v in m[1].values()])):
        error, ece, auc = np.mean([np.mean(v, axis=0) for v in by.values()], axis=0)
        own = [np.mean([np.mean(v, axis=0)[0] for (d, _), v in by.items() if d == n]) for n in names]
        print(f"{method:36s} {100 * error:5.2f} {ece:.4f} {auc:.4f}  " + " ".join(f"{100 * e:8.2f}" for e in own))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS), choices=list(DATASETS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--class-priors", nargs="*", type=float, default=list(PRIORS))
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--name", default="classifier_choice", help="name of the results")
    parser.add_argument("--tf32", action="store_true", help="let a GPU multiply in TF32")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--summarise", action="store_true")
    args = parser.parse_args()
    summarise(args.name, args.out) if args.summarise else run(args)


if __name__ == "__main__":
    main()
