"""Which networks PUClassifier averages with the ratio: settings compared on rows that the reported tables do not use.

For every draw of the choosing half the ratio member of PUClassifier is fitted once, with its class prior; each setting
of the networks is trained on all draws of a data set as one stack, with that prior, and averaged with the ratio as
PUClassifier does.

    PURELY_DATA=folder python -m experiments.classifier_choice --device cuda --trials 3 --jobs 16
    python -m experiments.classifier_choice --priors .03 .1 .2 --name classifier_choice_rare
    python -m experiments.classifier_choice --summarise
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from experiments.entry import DeviceOptions, option, read_options, worker_pool
from experiments.paper.config import CONFIGS, SMOKE_DRAWS, DrawOptions
from experiments.paper.draws import Draw, Key, draw
from experiments.paper.methods import error_of
from experiments.records import read_rows, write_rows
from purely import fit_together
from purely.calibration import calibrate_scores
from purely.classifiers import NNPUClassifier, PUClassifier

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
SMOKE = {**SMOKE_DRAWS, "settings": ("5 networks",), "max_epochs": 2}


@dataclass(frozen=True)
class ClassifierChoice(DrawOptions, DeviceOptions):
    """Options of this study."""

    trials: int = 3
    settings: tuple[str, ...] = option(tuple(SETTINGS), choices=SETTINGS)
    max_epochs: int = option(0, "of all settings; 0 leaves their own")
    name: str = option("classifier_choice", "name of the rows")
    tf32: bool = option(False, "let a GPU multiply in TF32")
    summarise: bool = option(False, "only print the means of the rows that are there")


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
    model = PUClassifier(members=["trees"], random_state=d.key.seed).fit(d.X, d.y)
    test = model.member_log_odds(d.X_test)[0]
    seconds = time.perf_counter() - start
    return Ratio(model.class_prior_, model.unlabelled_prior_, model.oof_member_log_odds_[0], test, seconds)


def networks(draws: list[Draw], ratios: list[Ratio], device: str, **settings: Any) -> list[tuple[Any, Any]]:
    """Log-odds of training rows, out of fold, and of test rows."""
    models = [
        NNPUClassifier(r.prior, cv=5, random_state=d.key.seed, device=device, **settings)
        for d, r in zip(draws, ratios, strict=True)
    ]
    fit_together(models, [(d.X, d.y) for d in draws])
    limit = 1e-6
    return [
        (logit(np.clip(m.oof_probability_, limit, 1.0 - limit)), m.decision_function(d.X_test))
        for m, d in zip(models, draws, strict=True)
    ]


def judged(d: Draw, ratio: Ratio, out_of_fold: Any, test: Any) -> dict[str, float]:
    """Error, its two parts, calibration error and area under the ROC curve of the test rows, at the class prior."""
    found = calibrate_scores(out_of_fold[d.y == 1], out_of_fold[d.y == 0], ratio.share)
    probability, positive = expit(found(test)), d.y_test == 1
    wrong = (probability > 0.5) != positive
    return {
        **error_of(probability, d.y_test, d.key.prior),
        "false_negative_rate": float(wrong[positive].mean()),
        "false_positive_rate": float(wrong[~positive].mean()),
        "auc": float(roc_auc_score(d.y_test, probability)),
    }


def row_of(method: str, d: Draw, found: dict[str, float], seconds: float, r: Ratio) -> dict[str, Any]:
    where = {"dataset": d.key.dataset, "prior": d.key.prior, "trial": d.key.trial, "seed": d.key.seed, "method": method}
    figures = {k: round(v, 5) for k, v in found.items()}
    estimate = {"class_prior": round(r.prior, 5), "prior_error": round(r.prior - d.share, 5)}
    return {**where, **figures, **estimate, "seconds": round(seconds, 3)}


def run(options: ClassifierChoice) -> None:
    warnings.simplefilter("ignore")
    table: list[dict[str, Any]] = []
    start = time.perf_counter()
    with worker_pool(options.jobs) as pool:
        drawn = {
            name: [
                draw(CONFIGS[options.config], Key(name, prior, trial), "choose")
                for prior in options.priors
                for trial in range(options.trials)
            ]
            for name in options.datasets
        }
        jobs: dict[str, list[Future[Ratio]]] = {
            name: [pool.submit(ratio_member, d) for d in draws] for name, draws in drawn.items()
        }
        if options.tf32:
            import torch

            torch.set_float32_matmul_precision("high")
        for name, draws in drawn.items():
            ratios = [job.result() for job in jobs[name]]
            print(f"{name}: ratios after {time.perf_counter() - start:.0f} s", flush=True)
            for d, r in zip(draws, ratios, strict=True):
                table.append(row_of("ratio", d, judged(d, r, r.out_of_fold, r.test), r.seconds, r))
            for method in options.settings:
                settings = SETTINGS[method] | ({"max_epochs": options.max_epochs} if options.max_epochs else {})
                before = time.perf_counter()
                told = networks(draws, ratios, options.device, **settings)
                seconds = (time.perf_counter() - before) / len(draws)
                for d, r, (out_of_fold, test) in zip(draws, ratios, told, strict=True):
                    alone = judged(d, r, out_of_fold, test)
                    both = judged(d, r, 0.5 * (out_of_fold + r.out_of_fold), 0.5 * (test + r.test))
                    table.append(row_of(f"{method}, alone", d, alone, seconds, r))
                    table.append(row_of(f"{method}, with ratio", d, both, seconds, r))
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
            write_rows(options.name, table, options.out)
    summarise(options.name, options.out)


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


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(ClassifierChoice, __doc__, SMOKE, arguments)
    summarise(options.name, options.out) if options.summarise else run(options)


if __name__ == "__main__":
    main()
