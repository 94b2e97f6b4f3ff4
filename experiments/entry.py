"""What every entry point shares: options read off a dataclass, a smoke size, work in parallel, figures.

An entry point states its options as a frozen dataclass that derives from :class:`Options`, and what ``--smoke`` makes
smaller as a dictionary. So all have ``--out``, ``--jobs`` and ``--smoke``:

    python -m experiments.figure1 --smoke --out somewhere

``--smoke`` runs everything once in the smallest size, on CPU, into ``build/smoke`` unless ``--out`` says otherwise.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, cpu_count, delayed, parallel_config
from threadpoolctl import threadpool_limits

from experiments.records import RESULTS

__all__ = [
    "DeviceOptions",
    "Options",
    "in_parallel",
    "mean_and_error",
    "option",
    "read_options",
    "save_figure",
    "worker_pool",
]

T = TypeVar("T", bound="Options")


def option(default: Any, help: str = "", *, choices: Iterable[Any] = (), positional: bool = False) -> Any:
    """An option with a line of help; a tuple takes any number of values, of `choices` where there are some."""
    return field(default=default, metadata={"help": help, "choices": tuple(choices), "positional": positional})


@dataclass(frozen=True)
class Options:
    """Options of every entry point."""

    out: Path = option(RESULTS, "folder of the results")
    jobs: int = option(cpu_count(), "processes")
    smoke: bool = option(False, "the smallest size, on CPU, into build/smoke")


@dataclass(frozen=True)
class DeviceOptions(Options):
    """Options of what trains networks."""

    device: str = option("auto", "auto, cpu or cuda")


def read_options(
    kind: type[T], text: str | None, smoke: Mapping[str, Any], arguments: Sequence[str] | None = None
) -> T:
    """The options on the command line; what is not named has the default, or with ``--smoke`` the smoke size."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    small: dict[str, Any] = {}
    if "--smoke" in words:
        small = {"out": Path("build/smoke"), "jobs": 2, "device": "cpu", **smoke}
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for entry in fields(kind):
        default, told = small.get(entry.name, entry.default), dict(entry.metadata)
        positional, choices = told.pop("positional", False), told.pop("choices", ()) or None
        name = entry.name if positional else f"--{entry.name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(name, action="store_true", default=default, **told)
        elif isinstance(default, tuple):
            one = type((*default, *entry.default, "")[0])
            parser.add_argument(name, nargs="*", type=one, default=default, choices=choices, **told)
        elif positional:
            parser.add_argument(name, choices=choices, **told)
        else:
            parser.add_argument(name, type=type(default), default=default, choices=choices, **told)
    found = vars(parser.parse_args(words))
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in found.items()})


def in_parallel(work: Callable[..., Any], cells: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """What `work` makes of each cell, in their order, in processes of one BLAS thread.

    What a process keeps between cells, such as a data set, must lie in a module that it imports (``experiments.sets``):
    a cached function of the module that is run as a programme does not reach it.
    """
    with parallel_config("loky", inner_max_num_threads=1):
        yield from Parallel(jobs, return_as="generator")(delayed(work)(*cell) for cell in cells)


def worker_pool(jobs: int) -> ProcessPoolExecutor:
    """Processes of one BLAS thread that run already: they have to start before CUDA does."""
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=threadpool_limits, initargs=(1,))
    list(pool.map(int, range(jobs)))
    return pool


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """Mean, and its standard error; not a number where there is one value."""
    v = np.array(list(values), dtype=np.float64)
    return float(v.mean()), float(v.std(ddof=1) / np.sqrt(v.size)) if v.size > 1 else float("nan")


def save_figure(figure: Any, folder: Path, name: str, suffixes: Sequence[str] = ("png", "svg")) -> None:
    """Save a figure in each of the formats."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in suffixes:
        figure.savefig(folder / f"{name}.{suffix}", dpi=150)
