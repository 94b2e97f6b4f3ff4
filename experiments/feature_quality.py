"""How well the cross-fitted ratio of PURL ranks the unlabelled rows, beside two classifiers of P against U.

For every data set of the paper, prior and trial: n_P = 1000 and n_U = 2000 rows; the area under the ROC curve of the
out-of-fold score for the true classes of the unlabelled rows, of

- PURL with its default settings, ``cv=5``;
- PURL with the paper's preset, ``cv=5``;
- logistic regression and a random forest of P against U, 5 folds.

Also checks, for every default fit, that the restored networks are the best on held-out rows, and that no fit whose
training J leaves the range of the population optimum, [-1/(2 prior), -1/2], went without a warning.

    PURELY_DATA=folder python -m experiments.feature_quality --device cuda --trials 20 --jobs 16

All trials and priors of a data set are trained as one stack.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from experiments.entry import option, read_options, worker_pool
from experiments.records import write_rows
from experiments.sets import SMOKE_CELLS, CellOptions, load
from purely.datasets import make_pu
from purely.representation import PURL, fit_together

FOLDS = 5
SMOKE = {**SMOKE_CELLS, "max_epochs": 2, "n_trees": 5}
BASELINES = ("logistic regression", "random forest")
COLUMNS = (
    "dataset", "prior", "trial", "seed", "method", "auc", "information", "train_information", "held_out_j_above_best",
    "train_j_below_range", "warned", "epochs", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class FeatureQuality(CellOptions):
    """Options of this study."""

    max_epochs: int = option(0, "of all networks; 0 leaves the settings' own")
    n_trees: int = option(200, "of the random forest")
    no_baselines: bool = False
    no_paper: bool = option(False, "leave out the paper's preset")


def baseline(method: str, draw: Any, seed: int, n_trees: int) -> dict[str, float]:
    """Out-of-fold score of a classifier of P against U."""
    model = LogisticRegression(max_iter=1000)
    if method == "random forest":
        model = RandomForestClassifier(n_estimators=n_trees, random_state=seed)
    start = time.perf_counter()
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = cross_val_predict(model, draw.X, draw.y, cv=folds, method="predict_proba")[:, 1]
    unlabelled = draw.y == 0
    return {
        "auc": float(roc_auc_score(draw.y_true[unlabelled], score[unlabelled])),
        "seconds": time.perf_counter() - start,
    }


def purl_rows(method: str, draws: dict[tuple[float, int], Any], device: str, settings: dict[str, Any]) -> list[Any]:
    """Fit one PURL a draw, as one stack, and judge each."""
    models = [PURL(cv=FOLDS, device=device, random_state=trial, **settings) for _, trial in draws]
    data = [(draw.X, draw.y) for draw in draws.values()]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_together(models, data)
    seconds = (time.perf_counter() - start) / len(models)
    rows = []
    for (prior, trial), draw, model in zip(draws, draws.values(), models, strict=True):
        unlabelled = draw.y == 0
        history = model.history_
        above_best = history.best_held_j - np.nanmin(history.held_j, axis=0)
        below_range = model.train_information_ - 0.5 * (1.0 / prior - 1.0)  # J = -information - 1/2
        rows.append(
            {
                "prior": prior,
                "trial": trial,
                "method": method,
                "auc": float(roc_auc_score(draw.y_true[unlabelled], model.oof_density_ratio_[unlabelled])),
                "information": model.oof_information_,
                "train_information": model.train_information_,
                "held_out_j_above_best": float(above_best.max()),
                "train_j_below_range": max(0.0, below_range),
                "warned": model.overfitting_,
                "epochs": float(history.best_epoch.mean()),
                "seconds": seconds,
            }
        )
    return rows


def summarise(name: str, rows: list[dict[str, Any]]) -> None:
    """Print the means of one data set."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for prior in sorted({row["prior"] for row in rows}):
        cells = {}
        for method in methods:
            values = [row["auc"] for row in rows if row["method"] == method and row["prior"] == prior]
            if values:
                cells[method] = float(np.mean(values))
        if "PURL" not in cells:
            continue
        rivals = [cells[m] for m in BASELINES if m in cells]
        gap = cells["PURL"] - max(rivals) if rivals else float("nan")
        text = "  ".join(f"{method} {value:.3f}" for method, value in cells.items())
        info = {
            m: np.mean([r["information"] for r in rows if r["method"] == m and r["prior"] == prior])
            for m in methods
            if m.startswith("PURL")
        }
        informed = "  ".join(f"{method} {value:.3f}" for method, value in info.items())
        print(
            f"{name:14s} prior {prior}: AUC {text}  (PURL - better rival {gap:+.3f}) | information {informed}",
            flush=True,
        )
    default = [row for row in rows if row["method"] == "PURL"]
    worst = max(row["held_out_j_above_best"] for row in default)
    left = [row for row in default if row["train_j_below_range"] > 0]
    silent = [row["train_j_below_range"] for row in left if not row["warned"]]
    print(
        f"{name:14s} held-out J of restored networks above their best: at most {worst:.4f}; training J left the range "
        f"in {len(left)} of {len(default)} fits, {len(silent)} without a warning "
        f"(by at most {max(silent, default=0.0):.3f})",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(FeatureQuality, __doc__, SMOKE, arguments)
    start = time.perf_counter()
    drawn: dict[str, dict[tuple[float, int], Any]] = {}
    jobs: dict[tuple[str, float, int, str], Future[dict[str, float]]] = {}
    table: list[dict[str, Any]] = []
    with worker_pool(options.jobs) as pool:
        for name in options.datasets:
            X, y = load(name)
            sizes = {"n_positive": options.n_positive, "n_unlabelled": options.n_unlabelled}
            drawn[name] = {
                (prior, trial): make_pu(X, y, **sizes, class_prior=prior, random_state=trial)
                for prior in options.priors
                for trial in range(options.trials)
            }
            for (prior, trial), draw in drawn[name].items():
                for method in () if options.no_baselines else BASELINES:
                    job = pool.submit(baseline, method, draw, trial, options.n_trees)
                    jobs[name, prior, trial, method] = job
        print(f"data drawn after {time.perf_counter() - start:.0f} s", flush=True)
        for name, draws in drawn.items():
            before = time.perf_counter()
            preset = "paper-text" if name == "20news" else "paper"
            runs: dict[str, dict[str, Any]] = {"PURL": {}, "PURL (paper)": {"preset": preset, "patience": 200}}
            if options.no_paper:
                del runs["PURL (paper)"]
            for method, settings in runs.items():
                settings |= {"max_epochs": options.max_epochs} if options.max_epochs else {}
                table += [{"dataset": name, **row} for row in purl_rows(method, draws, options.device, settings)]
            print(f"{name:14s} PURL took {time.perf_counter() - before:.1f} s", flush=True)
        for (name, prior, trial, method), job in jobs.items():
            table.append({"dataset": name, "prior": prior, "trial": trial, "method": method, **job.result()})
    for name in options.datasets:
        summarise(name, [row for row in table if row["dataset"] == name])
    tidy = [{name: row.get(name, row["trial"] if name == "seed" else "") for name in COLUMNS} for row in table]
    print(f"{write_rows('feature_quality', tidy, options.out)} after {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
