"""A pool that no memory holds: its class prior and its scores on a Dask cluster of two workers, at two sizes.

``python -m benchmarks.pool [--rows 1000000] [--times 10]``: rows of 20 columns are generated partition by partition (a
quarter of a million each) on the workers; the class prior is read (``purely.scale.pool_prior``) and every row is scored
by the distilled recommended classifier. The second size is `times` the first. Processor seconds are those of the
workers: they say what a size needs where the machine is shared. What a row more costs is their difference between the
sizes, which leaves out what is done once; training is done once, where the cluster is asked from ("own").

``--rows 10000000`` is 10^7 rows and 10^8.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from experiments.entry import option, read_options
from experiments.records import write_rows

import purely
from benchmarks.timing import BenchmarkOptions
from purely import PUClassifier, stack
from purely.scale import BatchScorer, pool_prior

COLUMNS, PART_ROWS, SHARE = 20, 250_000, 0.2
SMOKE = {"rows": 4_000, "times": 2}


@dataclass(frozen=True)
class Pool(BenchmarkOptions):
    """Options of this benchmark."""

    rows: int = option(1_000_000, "rows of the first size")
    times: int = option(10, "how many times as large the second is")


def generate(seed: int, n: int, share: float) -> Any:
    rng = np.random.default_rng([seed, 7])
    X = rng.normal(size=(n, COLUMNS))
    X[rng.random(n) < share, :5] += 1.5
    return X


def score(part: Any, scorer: BatchScorer) -> tuple[int, float]:
    """Rows and the sum of their probabilities."""
    found = scorer(part)
    return len(part), float(found["probability"].sum())


def peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def processor_seconds(client: Client) -> float:
    """What the workers have spent so far."""
    return float(sum(client.run(time.process_time).values()))


def measure(client: Client, n: int, P: Any, model: Path) -> dict[str, Any]:
    sizes = [min(PART_ROWS, n - start) for start in range(0, n, PART_ROWS)]
    parts = [dask.delayed(generate)(i, size, SHARE) for i, size in enumerate(sizes)]
    start, spent, own = time.perf_counter(), processor_seconds(client), time.process_time()
    prior = pool_prior(P, parts)
    own = time.process_time() - own
    middle, prior_spent = time.perf_counter(), processor_seconds(client)
    scorer = BatchScorer(model)
    counted = dask.compute(*(dask.delayed(score)(part, scorer) for part in parts))
    end, all_spent = time.perf_counter(), processor_seconds(client)
    low, high = prior.class_prior_interval_
    return {
        "rows": n,
        "columns": COLUMNS,
        "prior_seconds": middle - start,
        "score_seconds": end - middle,
        "prior_own_seconds": own,
        "prior_processor_seconds": prior_spent - spent,
        "score_processor_seconds": all_spent - prior_spent,
        "scored": sum(rows for rows, _ in counted),
        "mean_probability": sum(mass for _, mass in counted) / n,
        "prior": prior.class_prior_,
        "prior_low": low,
        "prior_high": high,
        "worker_peak_gib": max(client.run(peak_gib).values()),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(Pool, __doc__, SMOKE, arguments)
    P = generate(10**6, 2_000, 1.0)
    found = []
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="2GiB") as cluster,
        Client(cluster) as client,
    ):
        U = generate(10**6 + 1, 5_000, SHARE)
        model = Path(name) / "model.purely"
        purely.save(PUClassifier(members="light").fit(*stack(P, U)).distil(U), model)
        for n in (options.rows, options.rows * options.times):
            found.append(measure(client, n, P, model))
            print(", ".join(f"{k} {v:.4g}" for k, v in found[-1].items()), flush=True)
        first, second = (row["prior_seconds"] + row["score_seconds"] for row in found)
        print(f"{options.times} times the rows took {second / first:.2f} times as long")
        for part in ("prior", "score"):
            more = found[1][f"{part}_processor_seconds"] - found[0][f"{part}_processor_seconds"]
            print(f"{part}: {1e6 * more / (found[1]['rows'] - found[0]['rows']):.2f} processor microseconds a row more")
    write_rows("pool", found, options.out)


if __name__ == "__main__":
    main()
