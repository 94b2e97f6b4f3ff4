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

import argparse
import multiprocessing
import os
import time
import warnings
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from experiments.records import RESULTS, write_rows
from purely import datasets
from purely.datasets import make_pu
from purely.representation import PURL, fit_together

#: The paper's data sets, in its order.
DATASETS: dict[str, Any] = {
    "ijcnn1": datasets.fetch_ijcnn1,
    "phishing": datasets.fetch_phishing,
    "mushrooms": datasets.fetch_mushrooms,
    "a9a": datasets.fetch_a9a,
    "mnist": datasets.fetch_mnist,
    "fashion-mnist": datasets.fetch_fashion_mnist,
    "20newsgroups": datasets.fetch_20newsgroups_comp_sci,
}
PRIORS = (0.3, 0.5, 0.7)
N_POSITIVE, N_UNLABELLED = 1000, 2000
FOLDS = 5
COLUMNS = (
    "dataset", "prior", "trial", "seed", "method", "auc", "information", "train_information", "held_out_j_above_best",
    "train_j_below_range", "warned", "epochs", "seconds",
)  # fmt: skip


def baseline(method: str, X: Any, y: Any, y_true: Any, seed: int) -> dict[str, float]:
    """Out-of-fold score of a classifier of P against U."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    model = (
        LogisticRegression(max_iter=1000)
        if method == "logistic regression"
        else RandomForestClassifier(n_estimators=200, random_state=seed)
    )
    start = time.perf_counter()
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
    unlabelled = y == 0
    return {
        "auc": float(roc_auc_score(y_true[unlabelled], score[unlabelled])),
        "seconds": time.perf_counter() - start,
    }


def one_thread() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def purl_rows(method: str, draws: dict[tuple[float, int], Any], device: str, together: bool, **settings: Any) -> Any:
    """Fit one PURL a draw, as one stack, and judge each; also returns the out-of-fold ratios."""
    models = [PURL(cv=FOLDS, device=device, random_state=trial, **settings) for _, trial in draws]
    data = [(draw.X, draw.y) for draw in draws.values()]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if together:
            fit_together(models, data)
        else:
            for model, (X, y) in zip(models, data, strict=True):
                model.fit(X, y)
    seconds = (time.perf_counter() - start) / len(models)
    rows, ratios = [], {}
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
        ratios[f"{method} {prior} {trial}"] = model.oof_density_ratio_.astype(np.float32)
    return rows, ratios


def summarise(name: str, rows: list[dict[str, Any]]) -> None:
    """Print the means of one data set."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for prior in PRIORS:
        cells = {}
        for method in methods:
            values = [row["auc"] for row in rows if row["method"] == method and row["prior"] == prior]
            if values:
                cells[method] = float(np.mean(values))
        if "PURL" not in cells:
            continue
        rivals = [cells[m] for m in ("logistic regression", "random forest") if m in cells]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS), choices=list(DATASETS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument("--no-paper", action="store_true", help="leave out the paper's preset")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for feature_quality.csv")
    parser.add_argument("--ratios", type=Path, help="also save the out-of-fold ratios to this npz file")
    arguments = parser.parse_args()
    device = arguments.device
    if device == "auto":
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
    one_thread()
    start = time.perf_counter()
    all_draws: dict[str, dict[tuple[float, int], Any]] = {}
    jobs: dict[tuple[str, float, int, str], Future[dict[str, float]]] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=context, initializer=one_thread) as pool:
        for name in arguments.datasets:
            X, y = DATASETS[name](return_X_y=True)
            all_draws[name] = {
                (prior, trial): make_pu(
                    X, y, n_positive=N_POSITIVE, n_unlabelled=N_UNLABELLED, class_prior=prior, random_state=trial
                )
                for prior in PRIORS
                for trial in range(arguments.trials)
            }
            if not arguments.no_baselines:
                for (prior, trial), draw in all_draws[name].items():
                    for method in ("logistic regression", "random forest"):
                        jobs[name, prior, trial, method] = pool.submit(
                            baseline, method, draw.X, draw.y, draw.y_true, trial
                        )
        print(f"data drawn after {time.perf_counter() - start:.0f} s", flush=True)
        table: list[dict[str, Any]] = []
        ratios: dict[str, Any] = {}
        for name, draws in all_draws.items():
            before = time.perf_counter()
            text = name == "20newsgroups"
            runs: list[tuple[str, dict[str, Any]]] = [("PURL", {})]
            if not arguments.no_paper:
                preset = "paper-text" if text else "paper"
                runs.append(("PURL (paper)", {"preset": preset, "patience": 200}))
            for method, settings in runs:
                rows, saved = purl_rows(method, draws, device, together=device != "cpu", **settings)
                table += [{"dataset": name, **row} for row in rows]
                ratios.update({f"{name} {key}": value for key, value in saved.items()})
            print(f"{name:14s} PURL took {time.perf_counter() - before:.1f} s", flush=True)
        for (name, prior, trial, method), job in jobs.items():
            table.append({"dataset": name, "prior": prior, "trial": trial, "method": method, **job.result()})
    for name in arguments.datasets:
        summarise(name, [row for row in table if row["dataset"] == name])
    tidy = [{name: row.get(name, row["trial"] if name == "seed" else "") for name in COLUMNS} for row in table]
    path = write_rows("feature_quality", tidy, arguments.out)
    if arguments.ratios:
        np.savez_compressed(arguments.ratios, **ratios)
    print(f"{path} after {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
