"""Run what a configuration asks for and the store does not have yet.

Work that needs no network goes to processes, one draw at a time; networks are trained here, those of all draws of a
data set as one stack. Both go on at the same time. A finished unit is stored at once, so a run that was killed is taken
up where it was.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.paper.config import COLUMNS, Config
from experiments.paper.datasets import dataset
from experiments.paper.draws import Draw, Key, draw, load
from experiments.paper.methods import Rows, error_of, fda, kernel_mean, nnpu, none, ours, pca, scores, tice
from experiments.paper.store import Store
from experiments.records import provenance

LINEAR = ("none", "pca_d4", "pca_d2", "pca_3d4", "fda")
LEARNT = ("pnrl", "purl")
#: Units of one draw that need no network.
FOREST = ("best_bin", "dedpul", "alphamax")


@dataclass
class Run:
    """A run under way: what it is, where its rows go, and who works."""

    config: Config
    store: Store
    device: str
    pool: ProcessPoolExecutor
    quick: ProcessPoolExecutor
    threads: ThreadPoolExecutor
    scratch: Path
    pending: list[Future[Any]]
    jobs: dict[Any, Any]
    spent: dict[str, float]

    def keys(self, name: str) -> list[Key]:
        """Draws of a data set."""
        return [Key(name, prior, trial) for prior in self.config.priors for trial in range(self.config.trials)]

    def submit(self, pool: Any, unit: tuple[Any, ...], work: Callable[..., Any], *args: Any) -> Future[Any] | None:
        """Have a unit done, unless it has been, and store its rows when it is."""
        if unit in self.store:
            return None
        job: Future[Any] = pool.submit(work, *args)
        self.pending.append(job)

        def keep(done: Future[Any]) -> None:
            if done.exception() is None:
                self.store.add(unit, done.result())

        job.add_done_callback(keep)
        return job


#: What a run can be limited to: the columns without a network, those with one, our defaults, other estimators.
PARTS = ("linear", "learnt", "ours", "peers")


def run(config: Config, store: Store, device: str = "auto", jobs: int = 2, parts: tuple[str, ...] = PARTS) -> None:
    """Do what is left of a configuration, or of some parts of it."""
    start = time.perf_counter()
    load(config)
    context = multiprocessing.get_context("fork")  # workers share the data sets; torch is not loaded yet
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        few = max(1, jobs // 5)
        pools = [ProcessPoolExecutor(n, mp_context=context, initializer=one_thread) for n in (max(1, jobs - few), few)]
        for pool in pools:
            stack.callback(pool.shutdown, wait=False, cancel_futures=True)
            list(pool.map(int, range(jobs)))
        threads = stack.enter_context(ThreadPoolExecutor(max(1, jobs // 2)))
        this = Run(config, store, resolve(device), pools[0], pools[1], threads, scratch, [], {}, {})
        for name in config.datasets:
            if "ours" in parts:
                begun(this, name)
            if "linear" in parts:
                linear(this, name)
        if "peers" in parts:
            peers(this)
        work_off(this, network_tasks(this, parts))
        for job in this.pending:
            job.result()
        this.spent["everything"] = time.perf_counter() - start
        for part, seconds in this.spent.items():
            print(f"{part:24s} {seconds:7.1f} s", flush=True)


@dataclass(frozen=True)
class Task:
    """Training of one stack: what it waits for, and what it does."""

    units: tuple[tuple[Any, ...], ...]
    jobs: tuple[Any, ...]
    work: Callable[[], None]

    def ready(self, this: Run) -> bool:
        """Whether all that it needs has been done."""
        return all(unit in this.store for unit in self.units) and all(this.jobs[j].done() for j in self.jobs)


def network_tasks(this: Run, parts: tuple[str, ...]) -> list[Task]:
    """All stacks that are left to train, the most wanted first."""
    tasks: list[Task] = []
    names = this.config.datasets
    if "learnt" in parts:
        tasks += [Task((), (), partial(learnt, this, name, column)) for name in names for column in LEARNT]
    if "ours" in parts:
        for name in names:
            if ("pu_classifier", name) not in this.store:
                tasks.append(Task((), tuple(this.keys(name)), partial(finish_ours, this, name)))
    for column in COLUMNS:
        for name in names:
            if ("nnpu", name, column) in this.store or ("learnt" if column in LEARNT else "linear") not in parts:
                continue
            jobs = tuple(j for k in this.keys(name) if (j := ("linear", k)) in this.jobs) if column in LINEAR else ()
            units = tuple(prior_unit(column, key) for key in this.keys(name))
            tasks.append(Task(units, jobs, partial(column_classifier, this, name, column)))
    if "ours" in parts:
        for method in ("oracle", "nnpu", "nnpu_true"):
            for name in names:
                if ("ours", name, method) not in this.store:
                    tasks.append(Task((("pu_classifier", name),), (), partial(raw_classifier, this, name, method)))
    return tasks


def work_off(this: Run, tasks: list[Task]) -> None:
    """Do the tasks here, always the first that is ready."""
    while tasks:
        for job in this.pending:
            if job.done():
                job.result()  # an error in a process ends the run
        for task in tasks:
            if task.ready(this):
                task.work()
                tasks.remove(task)
                break
        else:
            time.sleep(0.05)


def one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def resolve(device: str) -> str:
    """The device, after torch has been loaded: no process is to be forked from here on."""
    import torch

    provenance()
    torch.set_float32_matmul_precision("high")  # TF32 on a GPU: half as long, and nothing here hangs on the digits
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def timed(this: Run, part: str, start: float) -> None:
    took = time.perf_counter() - start
    this.spent[part] = this.spent.get(part, 0.0) + took
    print(f"{part}: {took:.1f} s", flush=True)


# Rows.


def prior_row(key: Key, method: str, estimate: float, share: float, seconds: float, **more: Any) -> dict[str, Any]:
    """One row of table 1."""
    return {
        "table": "prior",
        "dataset": key.dataset,
        "prior": key.prior,
        "method": method,
        "trial": key.trial,
        "seed": key.seed,
        "estimate": estimate,
        "error": abs(estimate - share),
        "seconds": round(seconds, 4),
        **more,
    }


def class_row(d: Draw, method: str, probability: Any, prior: float, seconds: float) -> dict[str, Any]:
    """One row of table 2."""
    return {
        "table": "classification",
        "dataset": d.key.dataset,
        "prior": d.key.prior,
        "method": method,
        "trial": d.key.trial,
        "seed": d.key.seed,
        "estimate": prior,
        **error_of(np.asarray(probability, dtype=float), d.y_test, d.key.prior),
        "seconds": round(seconds, 4),
        "n_test": int(d.y_test.size),
    }


# Work for processes.


def linear_work(config: Config, key: Key, path: str) -> list[dict[str, Any]]:
    """KM1 on the columns without a network; their rows are left in a file for the classifiers."""
    d = draw(config, key)
    found: dict[str, Rows] = {}
    taken: dict[str, float] = {}
    for method in (none, pca, fda):
        start = time.perf_counter()
        made = method.represent(d)
        taken |= dict.fromkeys(made, time.perf_counter() - start)
        found |= made
    save_linear(found, path)
    rows = []
    for name, r in found.items():
        start = time.perf_counter()
        estimate = kernel_mean.estimate(r.train, d.y)
        rows.append(prior_row(key, name, estimate, d.share, taken[name] + time.perf_counter() - start))
    return rows


def save_linear(found: dict[str, Rows], path: str) -> None:
    widest, projected = found["pca_3d4"], found["fda"]
    np.savez(
        path,
        pca_train=widest.train.astype(np.float32),
        pca_test=widest.test.astype(np.float32),
        fda_train=projected.train,
        fda_test=projected.test,
        widths=[found[name].train.shape[1] for name in LINEAR[1:4]],
    )


def represent_again(config: Config, key: Key, path: str) -> None:
    """Rows of the columns without a network, where a run is resumed and only the classifiers are left."""
    d = draw(config, key)
    save_linear({**pca.represent(d), **fda.represent(d)}, path)


def kernel_mean_work(key: Key, method: str, features: Any, y: Any, share: float, seconds: float) -> list[Any]:
    start = time.perf_counter()
    estimate = kernel_mean.estimate(features, y)
    return [prior_row(key, method, estimate, share, seconds + time.perf_counter() - start)]


def begin_work(config: Config, key: Key, device: str) -> tuple[Any, list[dict[str, Any]]]:
    d = draw(config, key)
    start = time.perf_counter()
    model = ours.begin(d, device, config.ours)
    seconds = time.perf_counter() - start
    low, high = model.class_prior_interval_
    row = prior_row(key, "class_prior", model.class_prior_, d.share, seconds)
    found = model.prior_estimator_.diagnostics_
    warned = not found.identifiable or found.bound is not None
    return model, [{**row, "low": low, "high": high, "covered": int(low <= d.share <= high), "warned": int(warned)}]


def peer_work(config: Config, key: Key, model: str) -> list[dict[str, Any]]:
    d = draw(config, key)
    start = time.perf_counter()
    methods = FOREST if model == "forest" else ("best_bin",)
    told, probability = scores.estimate(d, model, methods)
    seconds = time.perf_counter() - start
    short = {"forest": "forest", "linear": "logistic"}[model]
    rows = [prior_row(key, f"{name}_{short}", value, d.share, seconds) for name, value in told.items()]
    return [*rows, class_row(d, f"naive_{short}", probability, told["best_bin"], seconds)]


def tice_work(config: Config, key: Key) -> list[dict[str, Any]]:
    d = draw(config, key)
    start = time.perf_counter()
    value = tice.estimate(d)
    return [prior_row(key, "tice", value, d.share, time.perf_counter() - start)]


# Parts.


def begun(this: Run, name: str) -> None:
    """Class priors and ratios of our classifier."""
    if ("pu_classifier", name) in this.store:
        return
    for key in this.keys(name):
        this.jobs[key] = this.pool.submit(begin_work, this.config, key, this.device)
        this.pending.append(this.jobs[key])


def linear(this: Run, name: str) -> None:
    """KM1 on the columns without a network."""
    for key in this.keys(name):
        path = str(this.scratch / f"{name}-{key.prior}-{key.trial}.npz")
        unit = prior_unit("none", key)
        job = this.submit(this.pool, unit, linear_work, this.config, key, path)
        if job is None and any(("nnpu", name, c) not in this.store for c in LINEAR):
            job = this.pool.submit(represent_again, this.config, key, path)
            this.pending.append(job)
        if job is not None:
            this.jobs["linear", key] = job


def prior_unit(column: str, key: Key) -> tuple[Any, ...]:
    """The unit that holds KM1's estimate for a column."""
    where = (key.dataset, key.prior, key.trial)
    return ("km", column, *where) if column in LEARNT else ("linear", *where)


def learnt(this: Run, name: str, column: str) -> None:
    """PNRL or PURL of all draws, and KM1 on their features."""
    from experiments.paper.methods import pnrl, purl

    units = [prior_unit(column, key) for key in this.keys(name)]
    if all(u in this.store for u in units) and ("nnpu", name, column) in this.store:
        return
    start = time.perf_counter()
    draws = [draw(this.config, k) for k in this.keys(name)]
    method = {"pnrl": pnrl, "purl": purl}[column]
    rows = method.represent(draws, dataset(name).TEXT, this.device, this.config.representation)
    seconds = (time.perf_counter() - start) / len(draws)
    for unit, d, r in zip(units, draws, rows, strict=True):
        this.submit(this.quick, unit, kernel_mean_work, d.key, column, r.train, d.y, d.share, seconds)
    this.jobs[name, column] = rows
    timed(this, f"{column} {name}", start)


def finish_ours(this: Run, name: str) -> None:
    """Networks of PUClassifier, calibration, and what it says of the test rows."""
    start = time.perf_counter()
    keys = this.keys(name)
    done = [this.jobs[key].result() for key in keys]
    draws = [draw(this.config, key) for key in keys]
    models = [model for model, _ in done]
    by_size: dict[Any, list[int]] = {}
    for i, d in enumerate(draws):
        by_size.setdefault((d.X.shape[0], int(d.y.sum())), []).append(i)
    for members in by_size.values():
        ours.finish([models[i] for i in members], [draws[i] for i in members])
    network_seconds = (time.perf_counter() - start) / len(draws)
    told = list(this.threads.map(ours.probabilities, models, draws))
    rows = [r for _, own in done for r in own]
    for d, model, own, (_, first) in zip(draws, models, told, done, strict=True):
        for method, probability in own.items():
            prior = d.share if method.endswith("true") else model.class_prior_
            rows.append(class_row(d, method, probability, prior, first[0]["seconds"] + network_seconds))
    this.store.add(("pu_classifier", name), rows)
    for key in keys:  # fitted trees are large
        this.pending.remove(this.jobs.pop(key))
    timed(this, f"PUClassifier {name}", start)


def column_classifier(this: Run, name: str, column: str) -> None:
    """The paper's nnPU on a column, with KM1's prior."""
    start = time.perf_counter()
    keys = this.keys(name)
    draws = [draw(this.config, key) for key in keys]
    priors = [r["estimate"] for k in keys for r in this.store.get(prior_unit(column, k)) if r["method"] == column]
    settings = {**nnpu.paper_settings(dataset(name).TEXT), **this.config.classifier}
    if this.config.classifier:
        settings["preset"] = None
    classified(this, ("nnpu", name, column), draws, column_rows(this, column, draws), priors, settings, start)


def raw_classifier(this: Run, name: str, method: str) -> None:
    """Our NNPUClassifier on the rows as they are, with ClassPrior's estimate or the truth, or with all labels."""
    start = time.perf_counter()
    draws = [draw(this.config, key) for key in this.keys(name)]
    found = {(r["prior"], r["trial"]): r["estimate"] for r in this.store.get(("pu_classifier", name)) if "low" in r}
    priors = [found[d.key.prior, d.key.trial] if method == "nnpu" else d.share for d in draws]
    settings = {**this.config.classifier, **({"risk": "pn"} if method == "oracle" else {})}
    rows = [Rows(d.X, d.X_test) for d in draws]
    classified(this, ("ours", name, method), draws, rows, priors, settings, start)


def classified(
    this: Run,
    unit: tuple[Any, ...],
    draws: list[Draw],
    rows: list[Rows],
    priors: list[float],
    settings: dict[str, Any],
    start: float,
) -> None:
    """Train one classifier a draw as one stack, and store how they do."""
    method = str(unit[-1])
    labels = [d.truth if method == "oracle" else d.y for d in draws]
    told = nnpu.classify(rows, labels, priors, [d.key.seed for d in draws], this.device, settings)
    seconds = (time.perf_counter() - start) / len(draws)
    this.store.add(unit, [class_row(d, method, p, e, seconds) for d, p, e in zip(draws, told, priors, strict=True)])
    timed(this, " ".join(map(str, unit)), start)


def column_rows(this: Run, column: str, draws: list[Draw]) -> list[Rows]:
    """Rows of all draws in a column's representation."""
    if column == "none":
        return [Rows(d.X, d.X_test) for d in draws]
    if column in LEARNT:
        return list(this.jobs.pop((draws[0].key.dataset, column)))
    rows = []
    for d in draws:
        with np.load(this.scratch / f"{d.key.dataset}-{d.key.prior}-{d.key.trial}.npz") as file:
            if column == "fda":
                rows.append(Rows(file["fda_train"], file["fda_test"]))
            else:
                k = int(file["widths"][LINEAR.index(column) - 1])
                rows.append(Rows(file["pca_train"][:, :k], file["pca_test"][:, :k]))
    return rows


def peers(this: Run) -> None:
    """Estimators that read forest or regression scores, the naive classifiers, and TIcE."""
    for name in this.config.datasets:
        for key in this.keys(name):
            where = (name, key.prior, key.trial)
            for model in ("forest", "linear"):
                this.submit(this.pool, ("peer", model, *where), peer_work, this.config, key, model)
            this.submit(this.quick, ("tice", *where), tice_work, this.config, key)
