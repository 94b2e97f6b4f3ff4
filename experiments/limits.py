"""A call in a process of its own, with a limit on the processor's time: packages of others may fail in any way."""

from __future__ import annotations

import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["TIME_LIMIT", "Outcome", "limited"]

TIME_LIMIT = "time limit"


@dataclass(frozen=True)
class Outcome:
    """What a call gave, what went wrong ("" for nothing), and the processor's seconds."""

    value: Any
    failure: str
    seconds: float


def limited(call: Callable[[], Any], limit: int) -> Outcome:
    """The outcome of a call that the system ends after `limit` seconds; times are the processor's."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(call, limit, there))
    process.start()
    there.close()
    try:
        outcome: Outcome = here.recv()
    except EOFError:  # ended without a word
        outcome = Outcome(None, TIME_LIMIT, float(limit))
    process.join()
    return outcome


def _work(call: Callable[[], Any], limit: int, pipe: Any) -> None:
    warnings.simplefilter("ignore")
    start = time.process_time()
    spent = int(start)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, spent + limit + 1))
    try:
        value, failure = call(), ""
    except Exception as error:  # the row says so
        value, failure = None, f"{type(error).__name__}: {str(error)[:120]}"
    pipe.send(Outcome(value, failure, round(time.process_time() - start, 3)))
