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

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from experiments.entry import Options, in_parallel, option, read_options
from experiments.records import read_rows, write_rows
from experiments.sets import load
from purely.datasets import make_pu
from purely.metrics import pu_report
from purely.model_selection import PUStratifiedKFold

#: The order decides on seeds.
SETS = ("a9a", "ijcnn1", "mushrooms", "phishing", "mnist", "fashion-mnist", "20news")
PRIORS = (0.3, 0.5, 0.7)
METRICS = ("accuracy", "f1", "roc_auc", "average_precision")
N_FOLDS, LEVEL = 5, 0.95
MOST_TEST_ROWS, N_TEST_DRAWS = 4000, 40
SMOKE = {"trials": 1, "datasets": ("mushrooms",), "priors": (0.5,), "n_positive": 100, "n_unlabelled": 200}


@dataclass(frozen=True)
class MetricsStudy(Options):
    """Options of this study."""

    trials: int = 5
    first_trial: int = 0
    name: str = option("metrics_study", "name of the rows")
    datasets: tuple[str, ...] = option(SETS, choices=SETS)
    priors: tuple[float, ...] = option(PRIORS, choices=PRIORS)
    n_positive: int = 1000
    n_unlabelled: int = 2000
    factor: float = option(1.25, "how much longer out-of-fold intervals are made; pu_report's own by default")
    report_only: bool = False


def models(seed: int) -> dict[str, Any]:
    return {
        "logistic": make_pipeline(MaxAbsScaler(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=200)),
        "forest": RandomForestClassifier(
            100, min_samples_leaf=5, max_features="sqrt", class_weight="balanced", random_state=seed
        ),
    }


def posterior(model: Any, X: Any, prior: float) -> Any:
    """The prior times P's share over U's, from a model that weights P and U equally."""
    g = np.clip(model.predict_proba(X)[:, 1], 1e-6, 1.0 - 1e-6)
    return prior * g / (1.0 - g)  # not clipped at 1: the ranking stays whole


def spare_rows(y: Any, prior: float, n_p: int, n_u: int) -> int:
    """Test rows that the set can spare beside the draw, with a margin for binomial counts."""
    n_pos, n_neg = int(np.sum(y == 1)), int(np.sum(y != 1))
    spare = min((n_pos - n_p - prior * n_u) / prior, (n_neg - (1 - prior) * n_u) / (1 - prior))
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


def one_draw(name: str, prior: float, trial: int, n_p: int, n_u: int) -> list[dict[str, Any]]:
    seed = 1_000_000 + 10_000 * SETS.index(name) + 1000 * PRIORS.index(prior) + trial
    X, y = load(name)
    draw = make_pu(
        X,
        y,
        n_positive=n_p,
        n_unlabelled=n_u,
        class_prior=prior,
        counts="binomial",
        n_test=spare_rows(y, prior, n_p, n_u),
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


def report(name: str, folder: Path, factor: float) -> None:
    rows = read_rows(name, folder)
    head = f"{'gap to test':>13}{'covered':>9}{'widened':>9}{'gap to U':>10}{'error':>8}"
    print(f"{'metric':20}{'model':10}{'rows':>6}" + head)
    for metric in METRICS:
        for model in ("logistic", "forest"):
            chosen = [r for r in rows if r["metric"] == metric and r["model"] == model]
            print(f"{metric:20}{model:10}{len(chosen):6}" + _summary(chosen, factor))
    print(f"{'all':30}{len(rows):6}" + _summary(rows, factor))
    print("by cell, mean absolute gap to the test set over metrics and models")
    for cell in dict.fromkeys((r["dataset"], r["class_prior"]) for r in rows):
        chosen = [r for r in rows if (r["dataset"], r["class_prior"]) == cell]
        print(f"{cell[0]:20}{cell[1]:10}{len(chosen):6}" + _summary(chosen, factor))


def _summary(rows: list[dict[str, str]], factor: float) -> str:
    columns = {
        c: np.array([float(r[c]) for r in rows])
        for c in ("estimate", "standard_error", "low", "high", "truth_test", "error_test", "truth_unlabelled")
    }
    above = columns["truth_test"] > columns["estimate"]
    arm = np.where(above, columns["high"] - columns["estimate"], columns["estimate"] - columns["low"])
    gap = np.abs(columns["estimate"] - columns["truth_test"])
    to_pool = np.abs(columns["estimate"] - columns["truth_unlabelled"]).mean()
    covered, widened = (np.mean(gap <= np.hypot(f * arm, 1.96 * columns["error_test"])) for f in (1.0, factor))
    return f"{gap.mean():13.4f}{covered:9.2f}{widened:9.2f}{to_pool:10.4f}{columns['standard_error'].mean():8.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(MetricsStudy, __doc__, SMOKE, arguments)
    if not options.report_only:
        trials = range(options.first_trial, options.first_trial + options.trials)
        sizes = options.n_positive, options.n_unlabelled
        cells = [(n, p, t, *sizes) for n in options.datasets for p in options.priors for t in trials]
        parts = in_parallel(one_draw, cells, options.jobs)
        write_rows(options.name, [row for part in parts for row in part], options.out)
    report(options.name, options.out, options.factor)


if __name__ == "__main__":
    main()
