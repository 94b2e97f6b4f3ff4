"""Scores of any number of rows in bounded memory: read, encode and score in two threads, in order."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit

import purely
from purely.cli._session import CommandError, Session
from purely.crossfit import model_says
from purely.files import shown
from purely.progress import Bar
from purely.tables import Encoded, LabelRule, Origin, TableEncoder, TableSource, find_label_rule
from purely.tables.errors import refuse_absent
from purely.tables.labels import LabelValues
from purely.threads import one_blas_thread
from purely.typing import Floats, Indices

In = TypeVar("In")
Out = TypeVar("Out")

#: Rows that a model sees at a time: its intermediate arrays stay in the cache, and small.
MODEL_ROWS = 4096
#: Mean difference of probabilities below which two forms of a model say the same: rounding.
SAME = 1e-9
#: Threads, and batches that may be under way.
WORKERS, AHEAD = 2, 4


@dataclass(frozen=True)
class Scored:
    """A batch, its first record's number, the log-odds of its rows, and those by a plain forest where asked for."""

    batch: pa.RecordBatch
    first: int
    log_odds: Floats
    plain: Floats | None = None

    @property
    def probability(self) -> Floats:
        """Probability of the positive class."""
        return np.asarray(expit(self.log_odds))


@dataclass(frozen=True)
class ScoredFile:
    """A whole file: of each record its number, its probability, that by a plain forest, and the values of labels."""

    name: str
    number: NDArray[np.int64]
    probability: Floats
    plain: Floats | None
    values: dict[str, LabelValues]
    places: dict[str, Indices]

    def kinds(self, column: str, positive: str | None, negative: str | None) -> tuple[LabelRule, NDArray[np.int8]]:
        """What the values of a column mean, and what each record is: 1, 0, or -1 for a known negative."""
        rule = find_label_rule(column, self.values[column].spelt(), positive, negative, file=self.name)
        return rule, rule.kinds[self.places[column]]


@dataclass
class Scorer:
    """What 'purely fit' has written, as a function of tables; counts what it could not use."""

    encoder: TableEncoder
    classifier: Any
    distilled: bool = False
    with_plain: bool = False
    unseen: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    n_rows: int = 0
    may_be_empty: bool = False

    @property
    def origin(self) -> Origin:
        """The file that the model was fitted to."""
        return getattr(self.encoder, "origin_", None) or Origin("", 0)

    def ids(self, source: TableSource, asked: Sequence[str] | None) -> list[str]:
        """Columns that are carried to the output: those asked for, or those of the fit that are there."""
        source.check_columns(asked or [], "id column")
        return list(dict.fromkeys(asked or [name for name in self.origin.ids if name in source.names]))

    def fresh(self) -> Scorer:
        """The same model with nothing counted, for one file of a folder: it may be empty."""
        return Scorer(self.encoder, self.classifier, self.distilled, may_be_empty=True)

    def score(self, source: TableSource, extra: Sequence[str], step: Bar | None = None) -> Iterator[Scored]:
        """Batches in the file's order, scored; `extra` columns are read too, and `step` is told how far it has come."""
        n_before, start, bar = self.n_rows, time.perf_counter(), step or Bar()
        refuse_absent(self.encoder.columns_, set(source.names), source.name, source.nearest)
        columns = list(dict.fromkeys([*extra, *self.encoder.columns_]))
        with one_blas_thread():
            numbered = ((batch, source.first) for batch in source.batches(columns))
            for scored, encoded in map_ordered(self._score_batch, numbered):
                self.unseen.update(encoded.unseen)
                self.unreadable.update(encoded.unreadable)
                self.n_rows += scored.log_odds.size
                speed = (self.n_rows - n_before) / max(1e-9, time.perf_counter() - start)
                bar.reach(source.done, {"rows/s": f"{speed:,.0f}"})
                yield scored
        if self.n_rows > n_before:
            return
        if not self.may_be_empty:
            raise CommandError(f"{source.name} has no rows below its column names.")
        schema = pa.schema([source.schema.field(name) for name in columns])
        yield Scored(pa.RecordBatch.from_pylist([], schema=schema), 1, np.zeros(0))

    def score_file(self, source: TableSource, labels: Sequence[str] = (), step: Bar | None = None) -> ScoredFile:
        """Score a file in one pass; `labels` are columns whose values are read too."""
        values = {name: LabelValues(name, source.name, most=1 << 40) for name in labels}
        places: dict[str, list[Indices]] = {name: [] for name in labels}
        numbers, probabilities, plain = [], [], []
        for scored in self.score(source, labels, step):
            numbers.append(np.arange(scored.first, scored.first + scored.log_odds.size))
            probabilities.append(scored.probability)
            plain += [] if scored.plain is None else [scored.plain]
            for name, own in places.items():
                own.append(values[name].read(scored.batch.column(name)))
        return ScoredFile(
            source.name,
            np.concatenate(numbers),
            np.concatenate(probabilities),
            np.concatenate(plain, axis=1) if plain else None,
            values,
            {name: np.concatenate(own) for name, own in places.items()},
        )

    def _score_batch(self, item: tuple[pa.RecordBatch, int]) -> tuple[Scored, Encoded]:
        """Log-odds of the positive class of each row; safe in several threads."""
        batch, first = item
        encoded = self.encoder.encode(batch)
        X, log_odds = encoded.matrix, np.empty(batch.num_rows)
        step = batch.num_rows if self.distilled else MODEL_ROWS  # a distilled model finds its own blocks
        for at in range(0, batch.num_rows, step):
            log_odds[at : at + step] = model_says(self.classifier, X[at : at + step], "log-odds")
        plain = self.classifier.plain_log_odds(X) if self.with_plain else None
        return Scored(batch, first, log_odds, plain), encoded

    @property
    def kind(self) -> str:
        """Which form of the model was used, for people; nothing where there is one only."""
        if not self.distilled:
            return ""
        differs = self.classifier.difference_.mean
        said = "gives the same" if differs < SAME else f"differs by {differs:.0e} on average"
        return f" with the fast form of the model (--exact {said})"

    def say_ignored(self, session: Session) -> None:
        """Say what was ignored."""
        for counts, what in (
            (self.unseen, "values that the training rows did not have are ignored"),
            (self.unreadable, "values that are not a number, or not a date, count as missing"),
        ):
            if counts:
                listed = ", ".join(f"{shown(name)!r} {n:,}" for name, n in counts.most_common(4))
                session.note(
                    f"{what}; by column, of {self.n_rows:,} rows: {listed}{', ...' if len(counts) > 4 else ''}."
                )


def load_model(path: Path, *, exact: bool = True, promised: bool = False) -> Scorer:
    """Encoder and classifier from a model file; the distilled classifier, if it has one, unless `exact`.

    Where something is `promised` of the scores, no network is used that only imitates the model: promises are about the
    model's own scores, out of fold.
    """
    model = purely.load(path)
    steps = [step for _, step in getattr(model, "steps", [])]
    if len(steps) != 2 or not isinstance(steps[0], TableEncoder) or not hasattr(steps[1], "predict_proba"):
        raise CommandError(
            f"{shown(path, 120)!r} holds a {type(model).__name__}, not what 'purely fit' writes (a table encoder and a "
            "classifier); use it from Python with purely.load."
        )
    encoder, classifier = steps
    distilled = None if exact else getattr(classifier, "distilled_", None)
    if distilled is None:
        return Scorer(encoder, classifier)
    distilled.set_params(threshold=classifier.threshold)
    return Scorer(encoder, distilled.multiplied_out() if promised else distilled, True)


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
