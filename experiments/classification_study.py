"""Which ones? Errors of every classifier on the paper's 21 cells, and the study that chose PUClassifier.

Seven data sets, class priors .3, .5 and .7, 1,000 positives, 2,000 unlabelled rows. Rows for choosing and rows for
reporting come from different parts of each data set (the parts of `prior_study.py`); a part's rows that are not drawn
for training are the test rows, at most 1,000 a class, weighted to the class prior. Networks of all trials of a data set
train in one stack.

    export PYTHONPATH=src:. PURELY_DATA=data
    run="python -m experiments.classification_study --jobs 16"
    $run --half choosing --trials 8 --methods choosing
    $run --half reporting --trials 20 --methods networks
    $run --half reporting --trials 20 --methods others --priors classification_reporting_networks
    $run --half reporting --trials 20 --methods true
    $run --summarise classification_reporting_networks
    $run --figure classification_reporting_networks

Results are tidy rows in `experiments/results/`: one a fit, and one a bin of a reliability diagram (`..._bins`). A run
that was cut short is taken up again: data sets that its results hold are skipped.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from experiments.prior_study import DATASETS, half_of
from experiments.records import RESULTS, read_rows, write_rows
from purely.calibration import CalibratedPUClassifier, calibrate_scores
from purely.classifiers import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PULeastSquaresClassifier,
    ReweightedPUClassifier,
    SelfTrainingPUClassifier,
    TwoStepPUClassifier,
    fit_classifiers,
)
from purely.datasets import make_pu
from purely.prior import BestBinPrior, ClassPrior

N_POSITIVE, N_UNLABELLED = 1000, 2000
PRIORS = (0.3, 0.5, 0.7)
TEST_ROWS = 1000  # of each class, at most
RESERVED = 40  # of each class, at least: where a part has fewer rows, fewer are drawn for training
N_BINS = 10
TEXT = ("20news",)
CALIBRATIONS = ("averaged", "isotonic", "sigmoid")


@dataclass
class Draw:
    """One trial of one cell."""

    dataset: str
    prior: float
    trial: int
    seed: int
    X: Any
    y: Any
    y_true: Any
    X_test: Any
    y_test: Any
    estimate: float = float("nan")
    out_of_fold: Any = None  # probabilities of a PUClassifier with the true prior, of the training and of the test rows
    told: Any = None

    @property
    def share(self) -> float:
        """True share of positives among the unlabelled rows."""
        return float(self.y_true[self.y == 0].mean())


def draw(dataset: str, X: Any, truth: Any, prior: float, trial: int, half: str) -> Draw:
    seed = 1_000_000 * (half == "reporting") + 10_000 * round(100 * prior) + trial
    n_pos, n_neg = int(truth.sum()), int(truth.size - truth.sum())
    need_p, need_n = N_POSITIVE + prior * N_UNLABELLED, (1.0 - prior) * N_UNLABELLED
    fit = min(1.0, (n_pos - RESERVED) / need_p, (n_neg - RESERVED) / need_n)
    made = make_pu(
        X,
        truth,
        n_positive=int(N_POSITIVE * fit),
        n_unlabelled=int(N_UNLABELLED * fit),
        class_prior=prior,
        random_state=seed,
    )
    left = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(truth.size), made.indices))
    test = np.concatenate([left[truth[left] == c][:TEST_ROWS] for c in (1, 0)])
    return Draw(
        dataset, prior, trial, seed, made.X, made.y, made.y_true, X[test], truth[test].astype(int), float("nan")
    )


# Methods on networks: functions that fit all draws at once and return, for each, a function of rows to probabilities.


def nnpu(
    draws: list[Draw], device: str, *, true_prior: bool = False, oracle: bool = False, **settings: Any
) -> list[Any]:
    models = []
    for d in draws:
        prior = d.share if true_prior or oracle else d.estimate
        own = dict(settings)
        if own.get("preset") == "paper" and d.dataset in TEXT:
            own["preset"] = "paper-text"
        if oracle:
            own["risk"] = "pn"
        prior = float(np.clip(prior, 1e-3, 1.0 - 1e-3))
        models.append(NNPUClassifier(prior, random_state=d.seed, device=device, **own))
    fit_classifiers(models, [(d.X, d.y_true if oracle else d.y) for d in draws])
    return [positive_probability(m) for m in models]


def auto(draws: list[Draw], device: str, jobs: int, *, true_prior: bool = False, **settings: Any) -> list[PUClassifier]:
    models = []
    for d in draws:
        prior: Any = d.share if true_prior else ClassPrior()
        models.append(PUClassifier(prior, random_state=d.seed, device=device, **settings))
    fit_classifiers(models, [(d.X, d.y) for d in draws], n_jobs=jobs)
    for d, m in zip(draws, models, strict=True):
        if not true_prior:
            d.estimate = m.class_prior_
    return models


def positive_probability(model: Any) -> Callable[[Any], Any]:
    return lambda X: model.predict_proba(X)[:, 1]


NETWORKS: dict[str, dict[str, Any]] = {
    "nnpu": {},
    "nnpu-true": {"true_prior": True},
    "nnpu-paper": {"preset": "paper"},
    "nnpu-paper-true": {"preset": "paper", "true_prior": True},
    "pn-oracle": {"oracle": True},
}
#: Settings of the networks that the choice was between; probabilities are calibrated out of fold where it says so.
VARIANTS: dict[str, dict[str, Any]] = {
    "nnpu-logistic": {"loss": "logistic"},
    "nnpu-squared": {"loss": "squared"},
    "nnpu-upu": {"risk": "upu"},
    "nnpu-ten": {"n_ensemble": 10},
    "nnpu-80-epochs": {"max_epochs": 80},
    "nnpu-20-epochs": {"max_epochs": 20},
    "nnpu-batch-100": {"batch_size": 100},
    "nnpu-batch-500": {"batch_size": 500},
    "nnpu-dropout-40": {"dropout": 0.4},
    "nnpu-decay-1e-2": {"weight_decay": 1e-2},
    "nnpu-decay-1e-1": {"weight_decay": 1e-1},
    "nnpu-early": {"early_stopping": True, "max_epochs": 100, "schedule": "constant"},
    "nnpu-folds": {"cross_fit": 5, "refit": False, "n_ensemble": 1},
    "nnpu-crossfit": {"cross_fit": 5},
    "pn-oracle-logistic": {"oracle": True, "loss": "logistic"},
}

#: The recommended classifier, and what else it could be.
AUTOS: dict[str, dict[str, Any]] = {
    "auto": {},
    "auto-true": {"true_prior": True},
    "auto-folds": {"members": [NNPUClassifier(n_ensemble=1, refit=False), "ratio"]},
    "auto-folds-3": {"members": [NNPUClassifier(n_ensemble=3, refit=False), "ratio"]},
    "auto-logistic": {"members": [NNPUClassifier(loss="logistic"), "ratio"]},
}
#: For a run that only shows that everything works.
SMOKE = {"hidden": (16,), "max_epochs": 2, "preset": None}

# Methods over scikit-learn estimators, one draw at a time.


def naive(model: Any) -> Callable[[Draw, float], Callable[[Any], Any]]:
    """Positives against unlabelled rows; the share of U called positive is the prior."""

    def fit(d: Draw, prior: float) -> Callable[[Any], Any]:
        out_of_fold = cross_val_predict(model, d.X, d.y, cv=5, method="predict_proba")[:, 1]
        limit = float(np.quantile(out_of_fold[d.y == 0], 1.0 - prior))
        fitted = model.fit(d.X, d.y)

        def probability(X: Any) -> Any:
            g = fitted.predict_proba(X)[:, 1]
            # a piecewise-linear map that puts the threshold at one half
            return np.interp(g, [0.0, min(max(limit, 1e-6), 1.0 - 1e-6), 1.0], [0.0, 0.5, 1.0])

        return probability

    return fit


def plain(make: Callable[[Any, int], Any]) -> Callable[[Draw, float], Callable[[Any], Any]]:
    def fit(d: Draw, prior: float) -> Callable[[Any], Any]:
        return positive_probability(make(float(np.clip(prior, 1e-3, 1.0 - 1e-3)), d.seed).fit(d.X, d.y))

    return fit


def logistic() -> Any:
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=300))


OTHERS: dict[str, Callable[[Draw, float], Callable[[Any], Any]]] = {
    "least-squares": plain(lambda p, s: PULeastSquaresClassifier(p, random_state=s)),
    "elkan-noto": plain(lambda p, s: ElkanNotoClassifier(random_state=s)),
    "elkan-noto-weighted": plain(lambda p, s: ElkanNotoClassifier(weighted=True, random_state=s)),
    "elkan-noto-prior": plain(lambda p, s: ElkanNotoClassifier(class_prior=p, random_state=s)),
    "bagging": plain(lambda p, s: BaggingPUClassifier(class_prior=p, random_state=s)),
    "reweighted": plain(lambda p, s: ReweightedPUClassifier(class_prior=p, random_state=s)),
    "two-step": plain(lambda p, s: TwoStepPUClassifier(class_prior=p, random_state=s)),
    "self-training": plain(lambda p, s: SelfTrainingPUClassifier(class_prior=p, random_state=s)),
    "tedn": plain(lambda p, s: SelfTrainingPUClassifier(class_prior=BestBinPrior(), alternate=True, random_state=s)),
    "calibrated-logistic": plain(lambda p, s: CalibratedPUClassifier(logistic(), class_prior=p, random_state=s)),
    "naive-logistic": naive(logistic()),
    "naive-forest": naive(RandomForestClassifier(200)),
}
#: Groups of methods.
GROUPS = {
    "networks": ["auto", *NETWORKS],
    "others": list(OTHERS),
    "true": ["auto-true"],
    "choosing": ["auto", "nnpu", "nnpu-true", "pn-oracle", *VARIANTS],
    "choosing-auto": ["auto", "auto-folds", "auto-folds-3", "auto-logistic", "auto-true", "distilled-true"],
}


# What is measured.


def measures(d: Draw, probability: Any, prior: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Error, calibration error and area under the ROC curve at the class prior, and the reliability diagram's bins."""
    positive = d.y_test == 1
    weight = np.where(positive, prior / positive.sum(), (1.0 - prior) / (~positive).sum())
    wrong = (probability > 0.5) != positive
    place = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    total, hits, said = (np.bincount(place, w, N_BINS) for w in (weight, weight * positive, weight * probability))
    row = {
        "error": float(weight @ wrong),
        "false_negative_rate": float(wrong[positive].mean()),
        "false_positive_rate": float(wrong[~positive].mean()),
        "calibration_error": float(np.abs(hits - said).sum()),
        "auc": float(roc_auc_score(d.y_test, probability)),
    }
    bins = [
        {"bin": b, "weight": float(total[b]), "said": float(said[b]), "positive": float(hits[b])}
        for b in range(N_BINS)
        if total[b] > 0
    ]
    return row, bins


class Table:
    """Rows of a run."""

    def __init__(self, half: str) -> None:
        self.half = half
        self.rows: list[dict[str, Any]] = []
        self.bins: dict[tuple[Any, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, d: Draw, method: str, probability: Any, seconds: float, used_prior: float) -> None:
        """Measure one classifier on one draw's test rows."""
        row, bins = measures(d, np.asarray(probability, dtype=float), d.prior)
        where = {"dataset": d.dataset, "prior": d.prior, "half": self.half, "trial": d.trial, "method": method}
        sizes = {
            "n_positive": int(d.y.sum()),
            "n_unlabelled": int((d.y == 0).sum()),
            "n_test_positive": int(d.y_test.sum()),
            "n_test_negative": int((d.y_test == 0).sum()),
        }
        self.rows.append(
            {
                **where,
                **{k: round(v, 5) for k, v in row.items()},
                "class_prior": round(used_prior, 5),
                "prior_error": round(used_prior - d.share, 5),
                "seconds": round(seconds, 3),
                "seed": d.seed,
                **sizes,
            }
        )
        for b in bins:
            cell = self.bins[d.dataset, d.prior, method, b["bin"]]
            for name in ("weight", "said", "positive"):
                cell[name] += b[name]

    def resume(self, name: str) -> None:
        """Start from what an earlier run has left."""
        if not (RESULTS / f"{name}.csv").exists():
            return
        self.rows = list(read_rows(name))
        for row in read_rows(f"{name}_bins"):
            cell = self.bins[row["dataset"], float(row["prior"]), row["method"], int(row["bin"])]
            for field in ("weight", "said", "positive"):
                cell[field] += float(row[field])

    def save(self, name: str) -> None:
        """Write all rows so far."""
        write_rows(name, self.rows)
        fields = ("dataset", "prior", "method", "bin")
        bins = [
            {**dict(zip(fields, key, strict=True)), **{k: round(v, 5) for k, v in cell.items()}}
            for key, cell in self.bins.items()
        ]
        write_rows(f"{name}_bins", bins)


def run_networks(draws: list[Draw], methods: list[str], args: Any, table: Table) -> None:
    for method in methods:
        settings = {**NETWORKS, **VARIANTS}.get(method)
        if settings is None:
            continue
        settings = {**settings, **SMOKE} if args.smoke else settings
        start = time.perf_counter()
        predict = nnpu(draws, args.device, **settings)
        seconds = (time.perf_counter() - start) / len(draws)
        truth = settings.get("true_prior") or settings.get("oracle")
        for d, p in zip(draws, predict, strict=True):
            table.add(d, method, p(d.X_test), seconds, d.share if truth else d.estimate)


def run_auto(draws: list[Draw], method: str, args: Any, table: Table) -> None:
    start = time.perf_counter()
    settings = AUTOS[method]
    if args.smoke:
        settings = {**settings, "members": [NNPUClassifier(**SMOKE), "ratio"]}
    models = auto(draws, args.device, args.jobs, **settings)
    seconds = (time.perf_counter() - start) / len(draws)
    for d, m in zip(draws, models, strict=True):
        told = m.predict_proba(d.X_test)[:, 1]
        table.add(d, method, told, seconds, m.class_prior_)
        if method == "auto-true":
            d.out_of_fold, d.told = m.oof_probability_, told
        if table.half == "choosing" and method == "auto":
            dissect(d, m, method, seconds, table)


def run_distilled(draws: list[Draw], args: Any, table: Table) -> None:
    """Supervised networks on labels that PUClassifier gives the unlabelled rows, out of fold; true prior throughout."""
    start = time.perf_counter()
    models, data = [], []
    for d in draws:
        rest = np.flatnonzero(d.y == 0)
        taken = rest[np.argsort(-d.out_of_fold[rest], kind="stable")[: round(d.share * rest.size)]]
        labels = d.y.copy()
        labels[taken] = 1
        settings = SMOKE if args.smoke else {}
        models.append(NNPUClassifier(d.share, risk="pn", random_state=d.seed, device=args.device, **settings))
        data.append((d.X, labels))
    fit_classifiers(models, data)
    seconds = (time.perf_counter() - start) / len(draws)
    for d, m in zip(draws, models, strict=True):
        own = m.predict_proba(d.X_test)[:, 1]
        table.add(d, "distilled-true", own, seconds, d.share)
        both = expit(0.5 * (log_odds(own) + log_odds(d.told)))
        table.add(d, "distilled-true, averaged with auto-true", both, seconds, d.share)


def log_odds(probability: Any) -> Any:
    p = np.clip(probability, 1e-3, 1.0 - 1e-3)
    return np.log(p / (1.0 - p))


def dissect(d: Draw, model: PUClassifier, method: str, seconds: float, table: Table) -> None:
    """Members alone and with other weights, and other calibrations, from one fit."""
    out_of_fold, test = model.oof_member_log_odds_, model.member_log_odds(d.X_test)
    for weight in (0.0, 0.25, 0.5, 0.75, 1.0):
        mix = np.array([weight, 1.0 - weight])
        for calibration in CALIBRATIONS:
            score = mix @ out_of_fold
            found = calibrate_scores(score[d.y == 1], score[d.y == 0], model.unlabelled_prior_, method=calibration)
            name = f"{method}: networks {weight:g}, {calibration}"
            table.add(d, name, expit(found(mix @ test)), seconds, model.class_prior_)
        table.add(d, f"{method}: networks {weight:g}, none", expit(mix @ test), seconds, model.class_prior_)


def one_other(d: Draw, method: str) -> tuple[Any, float]:
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    probability = OTHERS[method](d, d.estimate)(d.X_test)
    return probability, time.perf_counter() - start


def estimate_priors(draws: list[Draw], args: Any) -> None:
    """Estimated class priors: known from a fit of PUClassifier, from an earlier run's rows, or anew."""
    if args.priors:
        known = {
            (r["dataset"], float(r["prior"]), int(r["trial"])): float(r["class_prior"])
            for r in read_rows(args.priors)
            if r["method"] == "auto" and r["half"] == args.half
        }
        for d in draws:
            d.estimate = known.get((d.dataset, d.prior, d.trial), float("nan"))
    missing = [d for d in draws if not np.isfinite(d.estimate)]
    found = Parallel(args.jobs)(delayed(fit_prior)(d.X, d.y) for d in missing)
    for d, value in zip(missing, found, strict=True):
        d.estimate = value


def fit_prior(X: Any, y: Any) -> float:
    warnings.simplefilter("ignore")
    return float(ClassPrior().fit(X, y).class_prior_)


def chunks(draws: list[Draw], size: int) -> list[list[Draw]]:
    """Draws that can share a stack, as many as wanted at a time."""
    by_size: dict[Any, list[Draw]] = defaultdict(list)
    for d in draws:
        by_size[d.X.shape, int(d.y.sum()), int(d.y_true.sum())].append(d)
    return [group[i : i + size] for group in by_size.values() for i in range(0, len(group), size)]


def run(args: argparse.Namespace) -> None:
    methods = [m for name in args.methods for m in GROUPS.get(name, [name])]
    unknown = [m for m in methods if m not in {*NETWORKS, *VARIANTS, *OTHERS, *AUTOS, "distilled-true"}]
    if unknown:
        raise SystemExit(f"unknown methods: {', '.join(unknown)}")
    table = Table(args.half)
    name = args.out or f"classification_{args.half}_{args.methods[0]}"
    table.resume(name)
    done_before = {row["dataset"] for row in table.rows}
    for dataset in args.datasets or DATASETS:
        if dataset in done_before:
            continue
        start = time.perf_counter()
        X, y = DATASETS[dataset](return_X_y=True)
        rows = half_of(y, {"choosing": "choose", "reporting": "report"}[args.half])
        trials = range(args.first_trial, args.first_trial + args.trials)
        X, truth = X[rows], np.asarray(y)[rows]
        draws = [draw(dataset, X, truth, p, t, args.half) for p in args.class_priors for t in trials]
        for group in chunks(draws, args.chunk):
            for method in [m for m in AUTOS if m in methods]:
                run_auto(group, method, args, table)
            if any(m not in {*AUTOS, "nnpu-true", "nnpu-paper-true", "pn-oracle", "distilled-true"} for m in methods):
                estimate_priors(group, args)
            if "distilled-true" in methods:
                run_distilled(group, args, table)
            run_networks(group, methods, args, table)
            jobs = [(d, m) for d in group for m in methods if m in OTHERS]
            done = Parallel(args.jobs, batch_size=1)(delayed(one_other)(d, m) for d, m in jobs)
            for (d, m), (probability, seconds) in zip(jobs, done, strict=True):
                table.add(d, m, probability, seconds, d.estimate)
        table.save(name)
        print(f"{dataset}: {time.perf_counter() - start:.0f} s", flush=True)
    summarise(name)


def summarise(name: str) -> None:
    """Mean error by data set, and mean calibration error, area and prior error, of every method; then the paper's."""
    cells: dict[str, dict[tuple[str, float], list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(name):
        cells[row["method"]][row["dataset"], float(row["prior"])].append(row)
    datasets = list(dict.fromkeys(d for by in cells.values() for d, _ in by))
    head = " ".join(n[:8].rjust(8) for n in datasets)
    print(f"{'method':38s} {'error':>6s} {'ECE':>6s} {'AUC':>6s} {'prior':>6s} {'s':>7s} {head}")

    def mean(by: Any, field: str, only: str | None = None) -> float:
        values = [np.mean([abs(float(r[field])) for r in rows]) for (d, _), rows in by.items() if only in (None, d)]
        return float(np.mean(values))

    for method, by in sorted(cells.items(), key=lambda item: mean(item[1], "error")):
        fields = [mean(by, f) for f in ("calibration_error", "auc", "prior_error")]
        columns = " ".join(f"{100 * mean(by, 'error', d):8.2f}" for d in datasets)
        text = " ".join(f"{v:6.4f}" for v in fields)
        print(f"{method:38s} {100 * mean(by, 'error'):6.2f} {text} {mean(by, 'seconds'):7.2f} {columns}")


def figure(name: str, methods: tuple[str, ...] = ("auto", "nnpu", "naive-logistic", "elkan-noto")) -> None:
    """Reliability diagrams, a panel a data set, all priors together."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sums: dict[tuple[str, str, int], Any] = defaultdict(lambda: np.zeros(3))
    for row in read_rows(f"{name}_bins"):
        place = sums[row["dataset"], row["method"], int(row["bin"])]
        place += [float(row[field]) for field in ("weight", "said", "positive")]
    datasets = list(dict.fromkeys(d for d, _, _ in sums))
    fig, axes = plt.subplots(2, -(-len(datasets) // 2), figsize=(3 * -(-len(datasets) // 2), 6), squeeze=False)
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for method in methods:
            points = np.array([sums[dataset, method, b] for b in range(N_BINS) if (dataset, method, b) in sums])
            if points.size:
                ax.plot(points[:, 1] / points[:, 0], points[:, 2] / points[:, 0], marker=".", label=method)
        ax.set(title=dataset, xlabel="probability", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1))
    for ax in axes.flat[len(datasets) :]:
        ax.axis("off")
    axes.flat[0].legend(fontsize=7)
    fig.tight_layout()
    fig.savefig(RESULTS / f"{name}_reliability.png", dpi=150)
    print(RESULTS / f"{name}_reliability.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("choosing", "reporting"), default="choosing")
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--first-trial", type=int, default=0)
    parser.add_argument("--datasets", nargs="*", default=[], choices=list(DATASETS))
    parser.add_argument("--class-priors", nargs="*", type=float, default=list(PRIORS))
    parser.add_argument("--methods", nargs="*", default=["networks"], help=f"names, or groups: {', '.join(GROUPS)}")
    parser.add_argument("--priors", help="name of earlier results to take estimated class priors from")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=20, help="trials in one stack")
    parser.add_argument("--out", help="name of the results; default: classification_<half>_<methods>")
    parser.add_argument("--smoke", action="store_true", help="tiny networks, to see that everything works")
    parser.add_argument("--figure", metavar="NAME", help="draw the reliability diagrams of earlier results")
    parser.add_argument("--summarise", metavar="NAME", help="print the table of earlier results")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.summarise:
        summarise(args.summarise)
    elif args.figure:
        figure(args.figure)
    else:
        run(args)


if __name__ == "__main__":
    main()
