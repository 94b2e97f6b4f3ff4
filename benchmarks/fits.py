"""One fit beside one fit of boosting, in the process that calls it: what `benchmarks.size` runs in child processes.

It imports public names only, those that the first build has too, so that another checkout's can be timed by it.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier

from purely import ClassPrior, PUClassifier

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
SHARE = 0.23
MODELS: dict[str, Callable[[], Any]] = {
    "prior": ClassPrior,
    "light": lambda: PUClassifier(members="light"),
    "auto": PUClassifier,
}


def draw(rng: np.random.Generator, n: int, columns: int, share: float) -> Any:
    """Rows whose first five columns are shifted where they are positive."""
    X = rng.normal(size=(n, columns))
    X[rng.random(n) < share, :5] += 1.0
    return X


def boosting() -> Any:
    """The unit: scikit-learn's boosting with 60 rounds and 15 leaves."""
    return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, early_stopping=False)


def seconds(task: Callable[[], Any], clock: str) -> tuple[float, Any]:
    now = CLOCKS[clock]
    start = now()
    made = task()
    return now() - start, made


def least(task: Callable[[], Any], repeats: int, clock: str) -> float:
    return min(seconds(task, clock)[0] for _ in range(repeats))


def measure(
    part: str, rows: int, columns: int, *, repeats: int, jobs: int, clock: str, new_rows: int = 0
) -> dict[str, Any]:
    """Seconds of a part's fit and of boosting's, which take turns; of the classifiers, predictions of `new_rows` too.

    Peak memory is read after the fits and before the predictions.
    """
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    n_p = rows // 10
    X = draw(rng, rows, columns, SHARE)
    X[:n_p] = draw(rng, n_p, columns, 1.0)
    y = (np.arange(rows) < n_p).astype(int)
    model = MODELS[part]()
    splits = "n_jobs" in model.get_params()  # the first build has none
    if splits:
        model.set_params(n_jobs=jobs)
    units, own = [], []
    for _ in range(repeats):
        unit, plain = seconds(lambda: boosting().fit(X, y), clock)
        taken, fitted = seconds(lambda: model.fit(X, y), clock)
        units.append(unit)
        own.append(taken)
    low, high = fitted.class_prior_interval_
    found = {
        "boosting_seconds": min(units),
        "seconds": min(own),
        "times_boosting": min(own) / min(units),
        "prior": fitted.class_prior_,
        "prior_low": low,
        "prior_high": high,
        **peak_memory(jobs if splits else 1),
    }
    if part != "prior" and new_rows and hasattr(fitted, "distil"):
        found |= predictions(plain, fitted, draw(rng, new_rows, columns, SHARE), jobs=jobs, clock=clock)
    return found


def peak_memory(jobs: int) -> dict[str, float]:
    """GiB of this process, and of the largest of joblib's workers, which live on after a fit."""
    workers = Parallel(n_jobs=jobs)(delayed(peak_gib)(0.1) for _ in range(2 * jobs)) if jobs > 1 else [0.0]
    return {"peak_gib": peak_gib(), "worker_gib": max(workers)}


def peak_gib(wait: float = 0.0) -> float:
    time.sleep(wait)  # so that every worker is asked
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def predictions(plain: Any, fitted: Any, new: Any, *, jobs: int, clock: str) -> dict[str, Any]:
    """Time a row of boosting, of the stack and of its distilled form; of one row alone."""
    fast = fitted.distil(new[:5_000])
    few, single = new[:20_000], new[:1]
    for model in (plain, fast):
        model.predict_proba(new)  # the first time is not counted
    alone = {
        f"single_ms_{name}": 1e3 * least(lambda model=model: model.predict_proba(single), 50, clock)
        for name, model in (("boosting", plain), ("stack", fitted), ("distilled", fast))
    }
    fast.set_params(n_jobs=jobs)
    rounds = [
        (seconds(lambda: plain.predict_proba(new), clock)[0], seconds(lambda: fast.predict_proba(new), clock)[0])
        for _ in range(5)
    ]
    a, b = (min(side) / len(new) for side in zip(*rounds, strict=True))
    c = seconds(lambda: fitted.predict_proba(few), clock)[0] / len(few)
    return {
        "predict_us_boosting": 1e6 * a,
        "predict_distilled": b / a,
        "predict_stack": c / a,
        **alone,
        "difference": fast.difference_.mean,
        "network": fast.imitation_ is not None,
    }
