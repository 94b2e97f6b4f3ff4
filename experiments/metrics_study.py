"""How far are metrics from positive and unlabelled rows off the truth? The 21 cells, with the true prior.

    PURELY_DATA=folder python -m experiments.metrics_study --trials 2 --jobs 2
    PURELY_DATA=folder python -m experiments.metrics_study --trials 4 --first-trial 2 --name metrics_study_fresh

The factor by which out-of-fold intervals are made longer was chosen with the first two trials of each cell in view;
the second command draws others.

In each cell (seven sets, priors .3, .5 and .7; 1000 labelled positives, 2000 unlabelled rows) a logistic regression and
a random forest of P against U score every row out of fold; p = prior * ratio is thresholded at one half. Two truths:

- ``truth_test``: the five fold models on up to 4000 test rows with their classes, all scores pooled as the out-of-fold
  scores are; what the estimate aims at, up to the test set's own sampling error (``error_test``, by bootstrap).
  'Covered' counts truths within the interval, each arm widened by 1.96 test errors (root of the sum of squares), for
  the interval as it is and as ``pu_report(..., out_of_fold=True)`` makes it; rows hold the first.
- ``truth_unlabelled``: the true classes of the very unlabelled rows, with their out-of-fold scores; what a user would
  learn by labelling the pool.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import purely.datasets as datasets
from experiments.records import read_rows, write_rows
from purely.metrics import pu_report
from purely.metrics._estimate import OUT_OF_FOLD
from purely.model_selection import PUStratifiedKFold

SETS = {
    "a9a": "fetch_a9a",
    "ijcnn1": "fetch_ijcnn1",
    "mushrooms": "fetch_mushrooms",
    "phishing": "fetch_phishing",
    "mnist": "fetch_mnist",
    "fashion-mnist": "fetch_fashion_mnist",
    "20news": "fetch_20newsgroups_comp_sci",
}
PRIORS = (0.3, 0.5, 0.7)
METRICS = ("accuracy", "f1", "roc_auc", "average_precision")
N_POSITIVE, N_UNLABELLED, N_FOLDS, LEVEL = 1000, 2000, 5, 0.95
MOST_TEST_ROWS, N_TEST_DRAWS = 4000, 40


def models(seed: int) -> dict[str, Any]:
    return {
        "logistic": make_pipeline(MaxAbsScaler(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=200)),
        "forest": RandomForestClassifier(
            100, min_samples_leaf=5, max_features="sqrt", class_weight="balanced", random_state=seed
        ),
    }


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, Any]:
    return getattr(datasets, SETS[name])(return_X_y=True)


def posterior(model: Any, X: Any, prior: float) -> Any:
    """The prior times P's share over U's, from a model that weights P and U equally."""
    g = np.clip(model.predict_proba(X)[:, 1], 1e-6, 1.0 - 1e-6)
    return prior * g / (1.0 - g)  # not clipped at 1: the ranking stays whole


def spare_rows(y: Any, prior: float) -> int:
    """Test rows that the set can spare beside the draw, with a margin for binomial counts."""
    n_pos, n_neg = int(np.sum(y == 1)), int(np.sum(y != 1))
    spare = min((n_pos - N_POSITIVE - prior * N_UNLABELLED) / prior, (n_neg - (1 - prior) * N_UNLABELLED) / (1 - prior))
    return min(MOST_TEST_ROWS, int(0.9 * spare))


def true_metrics(truth: Any, score: Any, weight: Any = None) -> dict[str, float]:
    predicted = score > 0.5
    return {
        "accuracy": float(accuracy_score(truth, predicted, sample_weight=weight)),
        "f1": float(f1_score(truth, predicted, sample_weight=weight)),
        "roc_auc": float(roc_auc_score(truth, score, sample_weight=weight)),
        "average_precision": float(average_precision_score(truth, score, sample_weight=weight)),
    }


def errors_of_truth(truth: Any, score: Any, seed: int) -> dict[str, float]:
    """Standard errors of the test set's metrics: its rows are drawn anew, each with all its scores."""
    rng = np.random.default_rng(seed)
    draws = [
        true_metrics(truth, score, np.tile(rng.standard_exponential(truth.size // N_FOLDS), N_FOLDS))
        for _ in range(N_TEST_DRAWS)
    ]
    return {metric: float(np.std([d[metric] for d in draws], ddof=1)) for metric in METRICS}


def one_draw(name: str, prior: float, trial: int) -> list[dict[str, Any]]:
    seed = 1_000_000 + 10_000 * list(SETS).index(name) + 1000 * PRIORS.index(prior) + trial
    X, y = load(name)
    draw = datasets.make_pu(
        X,
        y,
        n_positive=N_POSITIVE,
        n_unlabelled=N_UNLABELLED,
        class_prior=prior,
        counts="binomial",
        n_test=spare_rows(y, prior),
        random_state=seed,
    )
    rows = []
    for model_name, model in models(seed).items():
        score, on_test = np.empty(draw.y.size), []
        for train, test in PUStratifiedKFold(N_FOLDS, random_state=seed).split(draw.X, draw.y):
            fitted = clone(model).fit(draw.X[train], draw.y[train])
            score[test] = posterior(fitted, draw.X[test], prior)
            on_test.append(posterior(fitted, draw.X_test, prior))
        report = pu_report(draw.y, score, prior, 0.5, level=LEVEL, random_state=seed)
        hidden = draw.y == 0
        of_unlabelled = true_metrics(draw.y_true[hidden], score[hidden])
        tiled = np.tile(draw.y_test, N_FOLDS), np.concatenate(on_test)
        of_test, errors = true_metrics(*tiled), errors_of_truth(*tiled, seed)
        for metric in METRICS:
            estimate = report[metric]
            rows.append(
                {
                    "dataset": name,
                    "class_prior": prior,
                    "trial": trial,
                    "seed": seed,
                    "model": model_name,
                    "metric": metric,
                    "estimate": estimate.value,
                    "standard_error": estimate.standard_error,
                    "low": estimate.low,
                    "high": estimate.high,
                    "truth_test": of_test[metric],
                    "error_test": errors[metric],
                    "truth_unlabelled": of_unlabelled[metric],
                }
            )
    return rows


def report(name: str) -> None:
    rows = read_rows(name)
    head = f"{'gap to test':>13}{'covered':>9}{'widened':>9}{'gap to U':>10}{'error':>8}"
    print(f"{'metric':20}{'model':10}{'rows':>6}" + head)
    for metric in METRICS:
        for model in ("logistic", "forest"):
            chosen = [r for r in rows if r["metric"] == metric and r["model"] == model]
            print(f"{metric:20}{model:10}{len(chosen):6}" + _summary(chosen))
    print(f"{'all':30}{len(rows):6}" + _summary(rows))
    print("by cell, mean absolute gap to the test set over metrics and models")
    for cell in dict.fromkeys((r["dataset"], r["class_prior"]) for r in rows):
        chosen = [r for r in rows if (r["dataset"], r["class_prior"]) == cell]
        print(f"{cell[0]:20}{cell[1]:10}{len(chosen):6}" + _summary(chosen))


def _summary(rows: list[dict[str, str]]) -> str:
    columns = {
        c: np.array([float(r[c]) for r in rows])
        for c in ("estimate", "standard_error", "low", "high", "truth_test", "error_test", "truth_unlabelled")
    }
    above = columns["truth_test"] > columns["estimate"]
    arm = np.where(above, columns["high"] - columns["estimate"], columns["estimate"] - columns["low"])
    gap = np.abs(columns["estimate"] - columns["truth_test"])
    to_pool = np.abs(columns["estimate"] - columns["truth_unlabelled"]).mean()
    covered, widened = (np.mean(gap <= np.hypot(f * arm, 1.96 * columns["error_test"])) for f in (1.0, OUT_OF_FOLD))
    return f"{gap.mean():13.4f}{covered:9.2f}{widened:9.2f}{to_pool:10.4f}{columns['standard_error'].mean():8.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--first-trial", type=int, default=0)
    parser.add_argument("--name", default="metrics_study", help="name of the results")
    parser.add_argument("--datasets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report-only", action="store_true")
    args = parser.parse_args()
    if not args.report_only:
        trials = range(args.first_trial, args.first_trial + args.trials)
        cells = [(n, p, t) for n in args.datasets for p in PRIORS for t in trials]
        parts = Parallel(n_jobs=args.jobs)(delayed(one_draw)(*cell) for cell in cells)
        write_rows(args.name, [row for part in parts for row in part])
    report(args.name)


if __name__ == "__main__":
    main()
