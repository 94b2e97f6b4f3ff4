"""Scores of any number of rows in bounded memory: read, encode and score in two threads, in order."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from purely.cli._session import CommandError, Session

if TYPE_CHECKING:
    from purely.tables import TableEncoder, TableSource

__all__ = ["ScoreSketch", "Scored", "Scorer", "load_model", "map_ordered", "scored_batches"]

Floats = NDArray[np.float64]
In = TypeVar("In")
Out = TypeVar("Out")

#: Rows that a model sees at a time: its intermediate arrays stay in the cache, and small.
MODEL_ROWS = 4096
#: Threads, and batches that may be under way.
WORKERS, AHEAD = 2, 4


def load_model(path: Any) -> Any:
    """A pipeline of an encoder and a classifier from a model file."""
    import purely
    from purely.tables import TableEncoder

    model = purely.load(path)
    steps = [step for _, step in getattr(model, "steps", [])]
    if len(steps) < 2 or not isinstance(steps[0], TableEncoder) or not hasattr(steps[-1], "predict_proba"):
        raise CommandError(
            f"{str(path)!r} holds a {type(model).__name__}, not what 'purely fit' writes (a table encoder and a "
            "classifier); use it from Python with purely.load."
        )
    return model


@dataclass
class Scorer:
    """A fitted pipeline as a function of record batches; counts what it could not use."""

    model: Any
    unseen: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)

    @property
    def encoder(self) -> TableEncoder:
        """The pipeline's first step."""
        encoder: TableEncoder = self.model.steps[0][1]
        return encoder

    @property
    def classifier(self) -> Any:
        """The pipeline's last step."""
        return self.model.steps[-1][1]

    def __call__(self, batch: Any) -> Scored:
        """Log-odds of the positive class of each row; safe in several threads."""
        encoded = self.encoder.encode(batch)
        X = encoded.matrix
        for _, step in self.model.steps[1:-1]:
            X = step.transform(X)
        from purely.crossfit import model_says

        log_odds = np.empty(X.shape[0])
        for start in range(0, X.shape[0], MODEL_ROWS):
            log_odds[start : start + MODEL_ROWS] = model_says(
                self.classifier, X[start : start + MODEL_ROWS], "log-odds"
            )
        return Scored(batch, log_odds, encoded.unseen, encoded.unreadable)

    def count(self, scored: Scored) -> None:
        """Remember what a batch had that could not be used."""
        self.unseen.update(scored.unseen)
        self.unreadable.update(scored.unreadable)

    def notes(self, session: Session) -> None:
        """Say what was ignored."""
        for counts, what in (
            (self.unseen, "values that the model has not seen and ignores"),
            (self.unreadable, "values that cannot be read and count as missing"),
        ):
            if counts:
                listed = ", ".join(f"{name!r} ({n:,})" for name, n in counts.most_common(4))
                session.note(f"{what}: {listed}{', ...' if len(counts) > 4 else ''}.")


@dataclass(frozen=True)
class Scored:
    """A batch and the log-odds of its rows."""

    batch: Any
    log_odds: Floats
    unseen: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)

    @property
    def probability(self) -> Floats:
        """Probability of the positive class."""
        return np.asarray(expit(self.log_odds))


def scored_batches(scorer: Scorer, source: TableSource, extra: Sequence[str]) -> Iterator[Scored]:
    """Batches in the file's order, scored; `extra` columns are read too."""
    absent = [name for name in scorer.encoder.columns_ if name not in source.names]
    if absent:
        _explain_schema(scorer.encoder, source, absent)
    columns = list(dict.fromkeys([*extra, *scorer.encoder.columns_]))
    batches = source.batches(columns, scorer.encoder.arrow_types())
    from purely.threads import one_blas_thread

    with one_blas_thread():
        for scored in map_ordered(scorer, batches):
            scorer.count(scored)
            yield scored


def _explain_schema(encoder: TableEncoder, source: TableSource, absent: list[str]) -> None:
    from purely.tables._errors import nearest, shown

    several = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
    raise CommandError(
        f"{source.file.name} has no column {shown(absent[0])!r}{several}, which the model was trained on "
        f"({len(encoder.columns_)} columns); {nearest(absent[0], source.names)}"
    )


def map_ordered(function: Callable[[In], Out], items: Iterable[In]) -> Iterator[Out]:
    """``map`` in two threads with few items under way; results come in order."""
    waiting: deque[Future[Out]] = deque()
    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class ScoreSketch:
    """Counts of log-odds in fine bins: thresholds of any stream in bounded memory.

    A bin is a set of single-precision numbers with the same leading 20 bits, so its width is at most 2^-11 of the
    log-odds there; sums of probabilities are kept beside the counts.
    """

    BITS = 20

    def __init__(self) -> None:
        self.count = np.zeros(1 << self.BITS, dtype=np.int64)
        self.mass = np.zeros(1 << self.BITS)

    def add(self, log_odds: Floats) -> None:
        """Count rows."""
        bins = self._bins(log_odds)
        self.count += np.bincount(bins, minlength=self.count.size)
        self.mass += np.bincount(bins, expit(log_odds), minlength=self.count.size)

    def threshold(self, *, precision: float | None, recall: float | None, share: float | None) -> float:
        """The probability above which rows are called positive for an aim; exact up to a bin's width."""
        count, mass = np.cumsum(self.count[::-1]), np.cumsum(self.mass[::-1])
        occupied = np.flatnonzero(self.count[::-1])
        if precision is not None:
            reached = occupied[mass[occupied] >= precision * count[occupied] * (1.0 - 1e-12)]
            place = reached[-1] if reached.size else occupied[0]
        elif recall is not None:
            place = occupied[np.searchsorted(mass[occupied], recall * mass[-1] * (1.0 - 1e-12))]
        else:
            wanted = max(1, round((share or 0.0) * int(count[-1])))
            place = occupied[np.searchsorted(count[occupied], wanted)]
        return float(expit(self._lower_edge(self.count.size - 1 - int(place))))

    def _bins(self, log_odds: Floats) -> NDArray[np.int64]:
        bits = np.asarray(log_odds, dtype=np.float32).view(np.uint32)
        negative = bits >> np.uint32(31) == 1
        ordered = np.where(negative, ~bits, bits | np.uint32(0x80000000))  # unsigned order is that of the numbers
        return (ordered >> np.uint32(32 - self.BITS)).astype(np.int64)

    def _lower_edge(self, place: int) -> float:
        """A number just below all of a bin."""
        ordered = np.uint32(place << (32 - self.BITS))
        bits = ordered & np.uint32(0x7FFFFFFF) if ordered >> np.uint32(31) else ~ordered
        edge = np.asarray(bits, dtype=np.uint32).reshape(1).view(np.float32)[0]
        return float(np.nextafter(np.float64(edge), -np.inf)) - 1e-12
