"""Classifiers of other packages on PyPI, on the same draws as ours.

The peers are optional and live in an environment of their own:

    python -m venv peers
    peers/bin/pip install torch pulearn pu-toolbox pywsl scikit-learn
    PYTHONPATH=src:. PURELY_DATA=folder peers/bin/python -m experiments.classifier_peers --trials 1

Draws, test rows and error are those of ``experiments/paper``; errors of PUClassifier on the same draws are read from
the full run's rows. A peer gets the rows as dense arrays, as the data's source scales them, its defaults and, where it
takes a class prior, the true share of positives among the unlabelled rows; where it needs a base classifier, the one of
the package's own documentation. Each fit is a process of its own, of one thread, with a limit on its time; a peer that
has twice run out of time is not asked again. Times are the processor's, so that a busy machine changes little. Rows,
failures too, are appended to ``results/classifier_peers.csv`` as they come; a run that was stopped is taken up there.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from experiments.entry import option, read_options
from experiments.limits import TIME_LIMIT, limited
from experiments.paper.config import CONFIGS, DATASETS, SMOKE_DRAWS, DrawOptions
from experiments.paper.draws import Draw, Key, draw
from experiments.paper.methods import dense, error_of
from experiments.paper.store import Store
from experiments.records import RESULTS, RowLog, read_rows
from purely import PUClassifier

NAME = "classifier_peers"
OURS = "purely PUClassifier"
#: Peers that take more than a few seconds on hundreds of columns.
SLOW = (
    *(f"pulearn {name}" for name in ("Elkanoto", "WeightedElkanoto", "PositiveTAN", "WeightedTAN")),
    *(f"pu-toolbox {name}" for name in ("LLSVM", "SelfPU", "NonNegativePU", "InfoMaxPU", "PUSBKernel", "KLDCE")),
    *(f"pu-toolbox {name}" for name in ("LDCE", "WeightedContrastive")),
)
FIELDS = ("dataset", "prior", "trial", "seed", "method", "error", "seconds", "failure")

SMOKE = {**SMOKE_DRAWS, "timed": ("mushrooms",), "members": "light"}

#: A draw to the classifier, and what its fit is given beside rows and labels.
Make = Callable[[Draw], tuple[Any, dict[str, Any]]]


@dataclass(frozen=True)
class ClassifierPeers(DrawOptions):
    """Options of this comparison."""

    trials: int = 1
    timed: tuple[str, ...] = option(("phishing", "mnist"), "data sets to time PUClassifier on", choices=DATASETS)
    members: str = option("auto", "of PUClassifier")
    limit: int = option(60, "seconds that a fit may take")
    only: tuple[str, ...] = option(("",), "beginnings of the names of methods, such as pulearn")
    summarise: bool = option(False, "only print the means of the rows that are there")


def pulearn_methods() -> dict[str, Make]:
    import pulearn as pl  # type: ignore[import-not-found]

    def svc(d: Draw) -> Any:
        return SVC(probability=True, random_state=d.key.seed)

    def weighted(d: Draw) -> Any:
        return pl.WeightedElkanotoPuClassifier(svc(d), int((d.y == 1).sum()), int((d.y == 0).sum()))

    return {
        "pulearn ElkanotoPuClassifier": lambda d: (pl.ElkanotoPuClassifier(svc(d)), {}),
        "pulearn WeightedElkanotoPuClassifier": lambda d: (weighted(d), {}),
        "pulearn BaggingPuClassifier": lambda d: (pl.BaggingPuClassifier(random_state=d.key.seed), {}),
        "pulearn NNPUClassifier, true prior": lambda d: (pl.NNPUClassifier(d.share, random_state=d.key.seed), {}),
        "pulearn PositiveNaiveBayesClassifier": lambda d: (pl.PositiveNaiveBayesClassifier(), {}),
        "pulearn WeightedNaiveBayesClassifier": lambda d: (pl.WeightedNaiveBayesClassifier(), {}),
        "pulearn PositiveTANClassifier": lambda d: (pl.PositiveTANClassifier(), {}),
        "pulearn WeightedTANClassifier": lambda d: (pl.WeightedTANClassifier(), {}),
    }


def toolbox_methods() -> dict[str, Make]:
    import pu_toolbox as pt  # type: ignore[import-not-found]

    def flipped(d: Draw) -> float:
        """Share of all positives that have no label."""
        return float(np.mean(d.y[d.truth == 1] == 0))

    return {
        "pu-toolbox ElkanNotoClassifier": lambda d: (pt.ElkanNotoClassifier(random_state=d.key.seed), {}),
        "pu-toolbox UPUClassifier, true prior": lambda d: (pt.UPUClassifier(d.share, random_state=d.key.seed), {}),
        "pu-toolbox PUSBClassifier": lambda d: (pt.PUSBClassifier(), {}),
        "pu-toolbox LBEClassifier": lambda d: (pt.LBEClassifier(), {}),
        "pu-toolbox LLSVMClassifier": lambda d: (pt.LLSVMClassifier(random_state=d.key.seed), {}),
        "pu-toolbox DistPUClassifier, true prior": lambda d: (pt.DistPUClassifier(d.share), {}),
        "pu-toolbox SelfPUClassifier, true prior": lambda d: (
            pt.SelfPUClassifier(d.share, random_state=d.key.seed),
            {},
        ),
        "pu-toolbox NonNegativePUClassifier, true prior": lambda d: (
            pt.NonNegativePUClassifier(class_prior=d.share, random_state=d.key.seed),
            {},
        ),
        "pu-toolbox InfoMaxPUClassifier": lambda d: (pt.InfoMaxPUClassifier(random_state=d.key.seed), {}),
        "pu-toolbox InfoMaxPUClassifier, true prior": lambda d: (
            pt.InfoMaxPUClassifier(class_prior=d.share, random_state=d.key.seed),
            {},
        ),
        "pu-toolbox PUSBKernelClassifier, true prior": lambda d: (
            pt.PUSBKernelClassifier(),
            {"class_prior": d.share},
        ),
        "pu-toolbox KLDCEClassifier, true share": lambda d: (pt.KLDCEClassifier(flipped(d)), {}),
        "pu-toolbox LDCEClassifier, true share": lambda d: (pt.LDCEClassifier(flipped(d)), {}),
        "pu-toolbox WeightedContrastivePUClassifier, true prior": lambda d: (
            pt.WeightedContrastivePUClassifier(d.share, random_state=d.key.seed),
            {},
        ),
    }


def pywsl_methods() -> dict[str, Make]:
    """Its least-squares classifier; its nnPU is a loss for chainer, its class prior needs labelled negatives."""
    from pywsl.pul.pu_mr import PU_SL  # type: ignore[import-not-found]

    def searched(d: Draw) -> Any:
        """The widths and strengths that the package's own search names; that search does not run."""
        unlabelled = d.X[d.y == 0]
        some = np.random.default_rng(d.key.seed).permutation(len(unlabelled))[:500]
        widths = np.median(pdist(unlabelled[some])) * np.logspace(-1, 1, 11)
        return GridSearchCV(PU_SL(d.share), {"sigma": widths, "lam": np.logspace(-3, 1, 11)}, cv=5)

    return {
        "pywsl PU_SL, true prior": lambda d: (PU_SL(d.share), {}),
        "pywsl PU_SL in a grid search, true prior": lambda d: (searched(d), {}),
    }


PACKAGES = {"pulearn": pulearn_methods, "pu_toolbox": toolbox_methods, "pywsl": pywsl_methods}


def error_on(make: Make, d: Draw) -> float:
    """Error of the test rows."""
    model, more = make(d)
    model.fit(d.X, d.y, **more)
    called = np.asarray(model.predict(d.X_test)).ravel() == 1
    return error_of(called.astype(float), d.y_test, d.key.prior)["error"]


def run(options: ClassifierPeers) -> None:
    methods: dict[str, Make] = {}
    for package, made in PACKAGES.items():
        if find_spec(package):
            methods |= made()
        else:
            print(f"{package} is not installed; skipped")
    ours: Make = lambda d: (PUClassifier(members=options.members, random_state=d.key.seed, device="cpu"), {})  # noqa: E731
    log = RowLog(NAME, FIELDS, options.out, resume=True)
    done = {(r["method"], r["dataset"], float(r["prior"]), int(r["trial"])) for r in log.rows}
    late = Counter(r["method"] for r in log.rows if r["failure"] == TIME_LIMIT)
    keys = [Key(n, p, t) for t in range(options.trials) for n in options.datasets for p in options.priors]
    for slow, key in itertools.product((False, True), keys):  # a run that is cut short has all the quick ones
        asked = {m: make for m, make in methods.items() if m.startswith(SLOW) == slow}
        if slow and key.prior == 0.5 and key.dataset in options.timed:
            asked[OURS] = ours
        asked = {
            m: make
            for m, make in asked.items()
            if m.startswith(options.only) and (m, key.dataset, key.prior, key.trial) not in done and late[m] < 2
        }
        if not asked:
            continue
        raw = draw(CONFIGS[options.config], key)
        d = replace(raw, X=dense(raw.X), X_test=dense(raw.X_test))
        for method, make in asked.items():
            is_ours = method == OURS  # it takes a sparse matrix as it is
            outcome = limited(
                lambda make=make, d=raw if is_ours else d: error_on(make, d), options.limit * (10 if is_ours else 1)
            )
            late[method] += outcome.failure == TIME_LIMIT
            error = "nan" if outcome.value is None else round(outcome.value, 5)
            row = {"dataset": key.dataset, "prior": key.prior, "trial": key.trial, "seed": key.seed, "method": method}
            log.add(row | {"error": error, "seconds": outcome.seconds, "failure": outcome.failure})
        print(f"{key.dataset}, prior {key.prior}, trial {key.trial}{', slow ones' if slow else ''}", flush=True)


@dataclass(frozen=True)
class Comparison:
    """A peer beside PUClassifier on the same draws; errors are means over the cells in which the peer did not fail."""

    method: str
    error: float
    ours: float
    cells: int
    ours_better: int
    failures: int
    seconds: float


def compared(folder: Path) -> list[Comparison]:
    """Every peer that has rows, beside the rows of the full run."""
    ours: dict[tuple[str, float, int], float] = {
        (r["dataset"], r["prior"], r["trial"]): r["error"]
        for r in Store(RESULTS / "paper" / "full.jsonl").tidy()
        if r["table"] == "classification" and r["method"] == "pu_classifier"
    }
    cells: dict[str, dict[tuple[str, float], list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    failures: Counter[str] = Counter()
    times = defaultdict(list)
    for r in read_rows(NAME, folder):
        times[r["method"]].append(float(r["seconds"]))
        key = r["dataset"], float(r["prior"]), int(r["trial"])
        if r["failure"]:
            failures[r["method"]] += 1
        else:
            cells[r["method"]][key[:2]].append((float(r["error"]), ours.get(key, float("nan"))))
    found = []
    for method, taken in times.items():
        means = np.array([np.mean(v, axis=0) for v in cells[method].values()]).reshape(-1, 2)
        error, own = means.mean(axis=0) if len(means) else (float("nan"), float("nan"))
        better = int(np.sum(means[:, 1] < means[:, 0]))
        found.append(
            Comparison(method, float(error), float(own), len(means), better, failures[method], float(np.median(taken)))
        )
    return found


def summarise(folder: Path) -> None:
    """Mean error over the cells, seconds, failures, and in how many cells PUClassifier errs less."""
    print(
        f"{'method':55s} {'error':>6s} {'ours':>6s} {'cells':>5s} {'ours better':>11s} {'failed':>6s} {'median s':>8s}"
    )
    for p in compared(folder):
        numbers = f"{100 * p.error:6.2f} {100 * p.ours:6.2f} {p.cells:5d} {p.ours_better:11d} {p.failures:6d}"
        print(f"{p.method:55s} {numbers} {p.seconds:8.2f}")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(ClassifierPeers, __doc__, SMOKE, arguments)
    if not options.summarise:
        run(options)
    summarise(options.out)


if __name__ == "__main__":
    main()
