"""Run what a configuration asks for and the store does not have yet.

Work is done in processes of three kinds: those that need no network, one draw at a time; those that train networks, of
all draws of a data set as one stack (several processes keep one GPU busy: while one prepares its rows or reads its
networks, another computes); and a few for what the networks' results wait for. Here is only decided what is next. A
finished unit is stored at once, so a run that was killed is taken up where it was.
"""

from __future__ import annotations

import multiprocessing
import pickle
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.paper.config import COLUMNS, Config
from experiments.paper.draws import Draw, Key, draw, load_all
from experiments.paper.methods import Rows, error_of, fda, kernel_mean, nnpu, none, ours, pca, pnrl, purl, scores, tice
from experiments.paper.store import Store
from experiments.records import provenance, write_rows
from experiments.sets import PAPER_SETS
from purely.exceptions import ClassPriorWarning

LINEAR = ("none", "pca_d4", "pca_d2", "pca_3d4", "fda")
LEARNT = ("pnrl", "purl")
#: Units of one draw that need no network.
FOREST = ("best_bin", "dedpul", "alphamax")
#: What a run can be limited to: the columns without a network, those with one, our defaults, other estimators.
PARTS = ("linear", "learnt", "ours", "peers")


@dataclass
class Run:
    """A run under way: what it is, where its rows go, and who works."""

    config: Config
    store: Store
    device: str
    pool: ProcessPoolExecutor
    quick: ProcessPoolExecutor
    networks: ProcessPoolExecutor
    scratch: Path
    pending: list[tuple[Future[Any], Callable[[Any], None]]] = field(default_factory=list)
    jobs: dict[Any, Future[Any]] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def keys(self, name: str) -> list[Key]:
        """Draws of a data set."""
        return keys_of(self.config, name)

    def submit(self, pool: Any, work: Callable[..., Any], *args: Any, then: Callable[[Any], None]) -> Future[Any]:
        """Have something done, and then something with what comes of it."""
        job: Future[Any] = pool.submit(work, *args)
        self.pending.append((job, then))
        return job

    def keep(self, part: str, unit: tuple[Any, ...]) -> Callable[[Any], None]:
        """Store the rows of a unit; the seconds of its work go to a part of the whole."""

        def store(done: tuple[list[dict[str, Any]], float]) -> None:
            self.store.add(unit, done[0])
            self.spent[part] += done[1]
            self.show(part, unit, done[1])

        return store

    def show(self, part: str, what: tuple[Any, ...], seconds: float) -> None:
        """Print a line for each stack of networks that is done."""
        if part.startswith("networks"):
            print(f"{' '.join(map(str, what))}: {seconds:.1f} s; {len(self.store)} units are stored", flush=True)


def keys_of(config: Config, name: str) -> list[Key]:
    """Draws of a data set."""
    return [Key(name, prior, trial) for prior in config.priors for trial in range(config.trials)]


def run(
    config: Config,
    store: Store,
    device: str = "auto",
    jobs: int = 2,
    parts: tuple[str, ...] = PARTS,
    trainers: int | None = None,
) -> None:
    """Do what is left of a configuration, or of some parts of it."""
    start, before = time.perf_counter(), len(store)
    load_all(config)
    context = multiprocessing.get_context("fork")  # processes share the data sets; torch is not loaded here yet
    few = max(1, jobs // 8)
    trainers = trainers or (1 if jobs < 8 else 3)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pools = []
        for n, threads in ((max(1, jobs - few), 1), (few, 1), (trainers, max(1, jobs // 4))):
            pools.append(ProcessPoolExecutor(n, mp_context=context, initializer=threadpool_limits, initargs=(threads,)))
            stack.callback(pools[-1].shutdown, wait=False, cancel_futures=True)
            list(pools[-1].map(int, range(n)))
        this = Run(config, store, resolve(device), *pools, scratch)
        for name in config.datasets:
            if "linear" in parts:
                linear(this, name)
            if "ours" in parts:
                begun(this, name)
        if "peers" in parts:
            peers(this)
        work_off(this, network_tasks(this, parts), trainers)
        note_time(this, time.perf_counter() - start, {"units_before": before, "jobs": jobs, "trainers": trainers})


@dataclass(frozen=True)
class Task:
    """Training of one stack: what it waits for, and how it is begun."""

    units: tuple[tuple[Any, ...], ...]
    jobs: tuple[Any, ...]
    begin: Callable[[], Future[Any]]

    def ready(self, this: Run) -> bool:
        """Whether all that it needs has been done."""
        return all(unit in this.store for unit in self.units) and all(
            j in this.jobs and this.jobs[j].done() for j in self.jobs
        )


def network_tasks(this: Run, parts: tuple[str, ...]) -> list[Task]:
    """All stacks that are left to train, the most wanted first."""
    tasks: list[Task] = []
    names = this.config.datasets
    if "learnt" in parts:
        for name in names:
            for column in LEARNT:
                units = [prior_unit(column, key) for key in this.keys(name)]
                if ("nnpu", name, column) not in this.store or any(u not in this.store for u in units):
                    tasks.append(Task((), (), partial(learnt, this, name, column)))
    if "ours" in parts:
        for name in names:
            if ("pu_classifier", name) not in this.store:
                tasks.append(Task((), tuple(this.keys(name)), partial(finish_ours, this, name)))
    for column in COLUMNS:
        for name in names:
            if ("nnpu", name, column) in this.store or ("learnt" if column in LEARNT else "linear") not in parts:
                continue
            jobs: tuple[Any, ...] = ((name, column),) if column in LEARNT else ()
            if column in LINEAR:
                jobs = tuple(j for k in this.keys(name) if (j := ("linear", k)) in this.jobs)
            units = tuple(prior_unit(column, key) for key in this.keys(name))
            tasks.append(Task(units, jobs, partial(column_classifier, this, name, column)))
    if "ours" in parts:
        for method in ("oracle", "nnpu", "nnpu_true"):
            for name in names:
                if ("ours", name, method) not in this.store:
                    tasks.append(Task((("pu_classifier", name),), (), partial(raw_classifier, this, name, method)))
    return tasks


def work_off(this: Run, tasks: list[Task], trainers: int) -> None:
    """Begin the tasks, always the first that is ready, as there is room for one more; wait for everything."""
    training: list[Future[Any]] = []
    while tasks or this.pending:
        for one in list(this.pending):  # what is done is asked once: a job may end at any moment
            job, then = one
            if job.done():
                this.pending.remove(one)
                then(job.result())  # an error in a process ends the run
        training = [job for job in training if not job.done()]
        ready = next((task for task in tasks if task.ready(this)), None) if len(training) < trainers else None
        if ready is None:
            time.sleep(0.05)
            continue
        training.append(ready.begin())
        tasks.remove(ready)


def resolve(device: str) -> str:
    """The device, after torch has been loaded: no process is to be forked from here on."""
    import torch

    provenance()
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def note_time(this: Run, seconds: float, how: dict[str, int]) -> None:
    """Print and write where the time went, summed over the processes."""
    spent = {"everything, by the clock": seconds, **dict(sorted(this.spent.items()))}
    for part, took in spent.items():
        print(f"{part:30s} {took:8.1f} s", flush=True)
    rows = [{"part": part, "seconds": round(took, 1), **how} for part, took in spent.items()]
    write_rows(f"{this.config.name}_time", rows, this.store.path.parent)


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


# Work for processes: rows, or what they are made of, and the seconds that it took.


def linear_work(config: Config, key: Key, scratch: Path) -> tuple[list[dict[str, Any]], float]:
    """KM1 on the columns without a network; their rows are left in a file for the classifiers."""
    start = time.perf_counter()
    d = draw(config, key)
    found: dict[str, Rows] = {}
    taken: dict[str, float] = {}
    for method in (none, pca, fda):
        begun = time.perf_counter()
        made = method.represent(d)
        taken |= dict.fromkeys(made, time.perf_counter() - begun)
        found |= made
    save_linear(found, scratch, key)
    rows = []
    for name, r in found.items():
        begun = time.perf_counter()
        estimate = kernel_mean.estimate(r.train, d.y)
        rows.append(prior_row(key, name, estimate, d.share, taken[name] + time.perf_counter() - begun))
    return rows, time.perf_counter() - start


def represent_again(config: Config, key: Key, scratch: Path) -> None:
    """Rows of the columns without a network, where a run is resumed and only the classifiers are left."""
    d = draw(config, key)
    save_linear({**pca.represent(d), **fda.represent(d)}, scratch, key)


def save_linear(found: dict[str, Rows], scratch: Path, key: Key) -> None:
    widest = found["pca_3d4"]
    save_rows(scratch, key, "pca", Rows(widest.train.astype(np.float32), widest.test.astype(np.float32)))
    save_rows(scratch, key, "fda", found["fda"])
    np.save(scratch_file(scratch, key, "widths.npy"), [found[name].train.shape[1] for name in LINEAR[1:4]])


def scratch_file(scratch: Path, key: Key, what: str) -> Path:
    return scratch / f"{key.dataset}-{key.prior}-{key.trial}-{what}"


def save_rows(scratch: Path, key: Key, what: str, rows: Rows) -> None:
    for part in ("train", "test"):
        np.save(scratch_file(scratch, key, f"{what}-{part}.npy"), getattr(rows, part))


def load_rows(scratch: Path, key: Key, what: str) -> Rows:
    return Rows(*(np.load(scratch_file(scratch, key, f"{what}-{part}.npy")) for part in ("train", "test")))


def kernel_mean_work(config: Config, key: Key, column: str, scratch: Path, seconds: float) -> tuple[list[Any], float]:
    """KM1 on features that were learnt."""
    start = time.perf_counter()
    d = draw(config, key)
    estimate = kernel_mean.estimate(load_rows(scratch, key, column).train, d.y)
    taken = time.perf_counter() - start
    return [prior_row(key, column, estimate, d.share, seconds + taken)], taken


def begin_work(config: Config, key: Key, device: str, scratch: Path) -> tuple[list[dict[str, Any]], float]:
    """PUClassifier up to its networks, which is left in a file: fitted trees are large. Seconds are those of all."""
    d = draw(config, key)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prepared = ours.begin(d, device, config.ours)
    model = prepared[0]
    seconds = time.perf_counter() - start
    with scratch_file(scratch, key, "begun").open("wb") as file:
        pickle.dump(prepared, file)
    low, high = model.class_prior_interval_
    row = prior_row(key, "class_prior", model.class_prior_, d.share, seconds)
    warned = any(issubclass(w.category, ClassPriorWarning) for w in caught)
    row |= {"low": low, "high": high, "covered": int(low <= d.share <= high), "warned": int(warned)}
    return [row], seconds


def peer_work(config: Config, key: Key, model: str) -> tuple[list[dict[str, Any]], float]:
    """What reads scores of a forest or of logistic regression."""
    d = draw(config, key)
    start = time.perf_counter()
    methods = FOREST if model == "forest" else ("best_bin",)
    told, probability = scores.estimate(d, model, methods)
    seconds = time.perf_counter() - start
    short = {"forest": "forest", "linear": "logistic"}[model]
    rows = [prior_row(key, f"{name}_{short}", value, d.share, seconds) for name, value in told.items()]
    return [*rows, class_row(d, f"naive_{short}", probability, told["best_bin"], seconds)], seconds


def tice_work(config: Config, key: Key) -> tuple[list[dict[str, Any]], float]:
    d = draw(config, key)
    start = time.perf_counter()
    value = tice.estimate(d)
    seconds = time.perf_counter() - start
    return [prior_row(key, "tice", value, d.share, seconds)], seconds


# Work for processes that train networks.


def on_device(device: str) -> None:
    if device != "cpu":
        import torch

        torch.set_float32_matmul_precision("high")  # TF32: half as long, and nothing here hangs on the digits


def learnt_work(config: Config, name: str, column: str, device: str, scratch: Path) -> float:
    """PNRL or PURL of all draws, left in files; the seconds."""
    start = time.perf_counter()
    on_device(device)
    draws = [draw(config, key) for key in keys_of(config, name)]
    method = {"pnrl": pnrl, "purl": purl}[column]
    for d, r in zip(draws, method.represent(draws, PAPER_SETS[name].text, device, config.representation), strict=True):
        save_rows(scratch, d.key, column, r)
    return time.perf_counter() - start


def finish_work(
    config: Config, name: str, first: list[dict[str, Any]], device: str, threads: int, scratch: Path
) -> tuple[list[dict[str, Any]], float]:
    """Networks of PUClassifier, calibration, and what it says of the test rows."""
    start = time.perf_counter()
    on_device(device)
    draws = [draw(config, key) for key in keys_of(config, name)]
    models = ours.finish([pickle.loads(scratch_file(scratch, d.key, "begun").read_bytes()) for d in draws])
    network_seconds = (time.perf_counter() - start) / len(draws)
    with ThreadPoolExecutor(threads) as pool:
        told = list(pool.map(ours.probabilities, models, draws))
    rows = list(first)
    for d, model, own, row in zip(draws, models, told, first, strict=True):
        for method, probability in own.items():
            prior = d.share if method.endswith("true") else model.class_prior_
            rows.append(class_row(d, method, probability, prior, row["seconds"] + network_seconds))
    return rows, time.perf_counter() - start


def classify_work(
    config: Config, name: str, method: str, priors: list[float], device: str, scratch: Path
) -> tuple[list[dict[str, Any]], float]:
    """The paper's nnPU on a column, or ours on the rows as they are, of all draws as one stack."""
    start = time.perf_counter()
    on_device(device)
    draws = [draw(config, key) for key in keys_of(config, name)]
    if method in COLUMNS:
        settings = {**nnpu.paper_settings(PAPER_SETS[name].text), **config.classifier}
        if config.classifier:
            settings["preset"] = None
        rows = [column_rows(d, method, scratch) for d in draws]
    else:
        settings = {**config.classifier, **({"risk": "pn"} if method == "oracle" else {})}
        rows = [Rows(d.X, d.X_test) for d in draws]
        priors = priors if method == "nnpu" else [d.share for d in draws]
    labels = [d.truth if method == "oracle" else d.y for d in draws]
    told = nnpu.classify(rows, labels, priors, [d.key.seed for d in draws], device, settings)
    seconds = time.perf_counter() - start
    each = seconds / len(draws)
    return [class_row(d, method, p, e, each) for d, p, e in zip(draws, told, priors, strict=True)], seconds


def column_rows(d: Draw, column: str, scratch: Path) -> Rows:
    """Rows of a draw in a column's representation."""
    if column == "none":
        return Rows(d.X, d.X_test)
    if not column.startswith("pca"):
        return load_rows(scratch, d.key, column)
    k = int(np.load(scratch_file(scratch, d.key, "widths.npy"))[LINEAR.index(column) - 1])
    rows = load_rows(scratch, d.key, "pca")
    return Rows(rows.train[:, :k], rows.test[:, :k])


# Parts.


def prior_unit(column: str, key: Key) -> tuple[Any, ...]:
    """The unit that holds KM1's estimate for a column."""
    where = (key.dataset, key.prior, key.trial)
    return ("km", column, *where) if column in LEARNT else ("linear", *where)


def begun(this: Run, name: str) -> None:
    """Class priors of our classifier, and its members but for the networks."""
    if ("pu_classifier", name) in this.store:
        return

    def counted(done: tuple[Any, float]) -> None:
        this.spent["ClassPrior, members without networks"] += done[1]

    for key in this.keys(name):
        this.jobs[key] = this.submit(this.pool, begin_work, this.config, key, this.device, this.scratch, then=counted)


def linear(this: Run, name: str) -> None:
    """KM1 on the columns without a network."""
    for key in this.keys(name):
        unit = prior_unit("none", key)
        if unit not in this.store:
            keep = this.keep("KM1, linear columns", unit)
            job = this.submit(this.pool, linear_work, this.config, key, this.scratch, then=keep)
        elif any(("nnpu", name, c) not in this.store for c in LINEAR):
            job = this.submit(this.pool, represent_again, this.config, key, this.scratch, then=lambda _: None)
        else:
            continue
        this.jobs["linear", key] = job


def peers(this: Run) -> None:
    """Estimators that read forest or regression scores, the naive classifiers, and TIcE."""
    for name in this.config.datasets:
        for key in this.keys(name):
            where = (name, key.prior, key.trial)
            work: list[tuple[tuple[Any, ...], Any, tuple[Any, ...]]] = [
                (("peer", model, *where), peer_work, (model,)) for model in ("forest", "linear")
            ]
            for unit, do, more in [*work, (("tice", *where), tice_work, ())]:
                if unit not in this.store:
                    this.submit(this.pool, do, this.config, key, *more, then=this.keep("peers", unit))


def learnt(this: Run, name: str, column: str) -> Future[Any]:
    """PNRL or PURL of all draws, then KM1 on their features."""

    def read(seconds: float) -> None:
        this.spent[f"networks, {column}"] += seconds
        this.show("networks", (column, name), seconds)
        for key in this.keys(name):
            unit = prior_unit(column, key)
            if unit not in this.store:
                keep = this.keep("KM1, learnt columns", unit)
                each = seconds / len(this.keys(name))
                this.submit(this.quick, kernel_mean_work, this.config, key, column, this.scratch, each, then=keep)

    job = this.submit(this.networks, learnt_work, this.config, name, column, this.device, this.scratch, then=read)
    this.jobs[name, column] = job
    return job


def finish_ours(this: Run, name: str) -> Future[Any]:
    """PUClassifier, from what has begun."""
    first = [this.jobs[key].result()[0][0] for key in this.keys(name)]
    keep = this.keep("networks, PUClassifier", ("pu_classifier", name))
    threads = 1 if this.device == "cpu" else 4
    return this.submit(
        this.networks, finish_work, this.config, name, first, this.device, threads, this.scratch, then=keep
    )


def column_classifier(this: Run, name: str, column: str) -> Future[Any]:
    """The paper's nnPU on a column, with KM1's prior."""
    units = [prior_unit(column, key) for key in this.keys(name)]
    priors = [r["estimate"] for unit in units for r in this.store.get(unit) if r["method"] == column]
    return classified(this, ("nnpu", name, column), priors)


def raw_classifier(this: Run, name: str, method: str) -> Future[Any]:
    """Our NNPUClassifier on the rows as they are, with ClassPrior's estimate or the truth, or with all labels."""
    found = {(r["prior"], r["trial"]): r["estimate"] for r in this.store.get(("pu_classifier", name)) if "low" in r}
    priors = [found[key.prior, key.trial] for key in this.keys(name)]
    return classified(this, ("ours", name, method), priors)


def classified(this: Run, unit: tuple[Any, ...], priors: list[float]) -> Future[Any]:
    """Train one classifier a draw as one stack, and store how they do."""
    kind, name, method = unit
    part = "networks, nnPU of the columns" if kind == "nnpu" else "networks, nnPU and oracle"
    return this.submit(
        this.networks,
        classify_work,
        this.config,
        name,
        method,
        priors,
        this.device,
        this.scratch,
        then=this.keep(part, unit),
    )
