"""From files to rows and labels, and to outputs that destroy nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from purely.cli import _options as o
from purely.cli._session import CommandError, Session
from purely.files import STDIN, is_same_file, is_stream, replacing, shown
from purely.folds import row_keys
from purely.label_words import as_number, find_meaning, says
from purely.labels import Scenario
from purely.persistence import ModelFileError, describe
from purely.tables import LabelRule, Origin, TableEncoder, TableError, TableSource
from purely.tables.errors import listed
from purely.tables.labels import LabelValues
from purely.tables.leaks import Copies, Leak, count_copies, find_leaks, said_of_leaks
from purely.tables.rows import draw_rows
from purely.tables.source import Pair
from purely.typing import Indices, Keys, Matrix

if TYPE_CHECKING:  # most commands draw nothing
    from purely.plotting.common import Display

#: Names of label columns that are taken without being asked for.
USUAL_LABELS = ("label", "y")
#: Words in the names of other columns that may hold labels.
LABEL_NAMES = re.compile(
    r"(?<![a-z])(label|class|klasse|target|status|outcome|fraud|betrug|flag|churn|is)(l?ed|s)?(?![a-z])", re.IGNORECASE
)
#: The fewest rows of a kind that anything can be learnt from; fewer positives than the second are worth a note.
FEWEST, FEW = 10, 100
#: What the first bytes of a file that may be replaced are, by the output's ending.
SIGNATURES = {
    **dict.fromkeys((".parquet", ".pq"), (b"PAR1",)),
    ".onnx": (b"\x08",),  # the version of the format comes first
    ".png": (b"\x89PNG",),
    ".pdf": (b"%PDF",),
    ".svg": (b"<?xml", b"<svg"),
    **dict.fromkeys((".html", ".htm"), (b"<!DOCTYPE html", b"<!doctype html", b"<html")),
}


@dataclass(frozen=True)
class TrainingData:
    """Rows for learning.

    Attributes
    ----------
    X : array or CSR matrix
    y : ndarray of int
        1 for labelled positives, 0 for unlabelled rows.
    table : pyarrow.Table
        The same rows as they were in the file.
    number : ndarray of int
        The number of each record in its file, from 1.
    keys : ndarray of shape (n,)
        The rows' keys (:func:`purely.folds.row_keys`, seed 0).
    encoder : TableEncoder
    rule : LabelRule
        With the counts of the whole file.
    source : TableSource
    scenario : {"case-control", "single-sample"}
    leaks : list of Leak
        Columns that may know the label.
    copies : Copies
        Rows that are equal in every feature.
    """

    X: Matrix
    y: Indices
    table: pa.Table
    number: NDArray[np.int64]
    keys: Keys
    encoder: TableEncoder
    rule: LabelRule
    source: TableSource
    scenario: Scenario
    leaks: list[Leak]
    copies: Copies

    @property
    def n_rows(self) -> int:
        """Rows of the file or files."""
        return sum(self.rule.counts.values())

    @property
    def used(self) -> tuple[int, int]:
        """Labelled positives and unlabelled rows that are used."""
        positives = int(self.y.sum())
        return positives, self.y.size - positives

    @property
    def sampled(self) -> bool:
        """Whether some rows were left out."""
        return self.y.size < self.n_rows - self.rule.n_negative

    def summary(self) -> dict[str, object]:
        """For JSON."""
        return {
            "rows": self.n_rows,
            **self.rule.numbers,
            **dict(zip(("positives_used", "unlabelled_used"), self.used, strict=True)),
            "features": int(self.X.shape[1]),
            "label": self.rule.column,
            "positive_value": self.rule.positive,
        }

    def line(self) -> str:
        """For people."""
        line = f"{self.rule}, {self.X.shape[1]:,} features"
        positives, unlabelled = self.used
        used = f"{positives:,} and {unlabelled:,} of them, drawn at random, are used (--max-rows)"
        return f"{line}\n{used}" if self.sampled else line


def load_training(
    session: Session, files: o.Files, reading: o.Reading, sampling: o.Sampling, *, warn: bool = True
) -> TrainingData:
    """Read files once: labels and rows, of each kind at most `max_rows`; then encode the rows."""
    source = reading.open_all(files)
    label = find_label(source, sampling.label)
    ids, drop = tuple(dict.fromkeys(sampling.id or ())), tuple(sampling.drop or ())
    columns = _feature_columns(source, label, ids, drop)
    with session.step("Reading rows") as step:
        rows = draw_rows(
            source,
            label,
            list(dict.fromkeys([label, *ids, *columns])),
            positive=sampling.positive,
            negative=sampling.negative,
            max_rows=sampling.max_rows,
            seed=session.seed,
            progress=step.reach,
        )
    rule = rows.rule
    session.note(*source.notes, *rule.notes)
    for count, kind in ((rule.n_positive, "labelled positives"), (rule.n_unlabelled, "unlabelled rows")):
        if count < FEWEST:
            raise CommandError(f"{source.name} has {count} {kind}; at least {FEWEST} are needed to learn anything.")
    if rule.n_positive < FEW:
        session.note(f"there are only {rule.n_positive} labelled positives; estimates will be rough.")
    with session.step("Encoding columns"):
        encoder = TableEncoder()
        try:
            X = encoder.fit_transform(rows.table.select(columns))
        except TableError as error:
            raise TableError(f"{source.name}: {error}") from error
    encoder.origin_ = Origin(files.name, sum(rule.counts.values()), negative=rule.negative, ids=ids)
    if not isinstance(source, Pair):
        encoder.origin_ = replace(encoder.origin_, label=label, positive=rule.positive)
    keys = row_keys(X, seed=0)
    leaks, copies = find_leaks(X, rows.positive, encoder, session.seed), count_copies(keys, rows.positive)
    if leaks and warn:
        session.note(said_of_leaks(leaks))
    if sampling.scenario is None and files.pool is None and warn:
        session.note(
            "the unlabelled rows are taken as a sample of the whole population (case-control). If the labelled rows "
            "were found among the rows of this file, as reported frauds are, add --scenario single-sample."
        )
    scenario: Scenario = (sampling.scenario or o.Scenario.case_control).value
    y = rows.positive.astype(np.intp)
    data = TrainingData(X, y, rows.table, rows.number, keys, encoder, rule, source, scenario, leaks, copies)
    session.note(*_said_of_kinds(data))
    return data


def _said_of_kinds(data: TrainingData) -> list[str]:
    """What to look at where positives and pool look exchanged or mixed, a sentence each."""
    rule, copies, (positives, unlabelled), said = data.rule, data.copies, data.used, []
    if rule.n_unlabelled < rule.n_positive:
        n = f"{rule.n_positive:,} rows, and the second, the pool, only {rule.n_unlabelled:,}"
        said.append(
            f"the first file, which holds the positives, has {n}: if that is the wrong way round, exchange the files."
            if isinstance(data.source, Pair)
            else "there are fewer unlabelled rows than positives; usually the pool is much larger."
        )
    # where rows of one kind repeat each other, the columns tell few rows apart: then copies are no sign
    if copies.shared / positives > 2.0 * copies.unlabelled / unlabelled:
        said.append(
            f"{copies.shared:,} of {positives:,} labelled rows equal unlabelled ones in all columns that are used. If "
            "they are the same records, they will be on the list of 'purely predict'. If the unlabelled rows are what "
            "is left after labelling (single-sample), delete them there first."
        )
    return said


def find_label(source: TableSource, asked: str | None) -> str:
    """The label column: the one asked for, or one of a usual name."""
    if isinstance(source, Pair):
        if asked is not None:
            raise CommandError("with positives and pool in two files there is no label column: leave out --label.", 2)
        return Pair.LABEL
    if asked is not None:
        source.check_columns([asked], "label column")
        return asked
    if found := [name for name in USUAL_LABELS if name in source.names]:
        return found[0]
    tell = _offered(source) or source.nearest("")
    raise CommandError(f"which column of {source.name} holds the labels? Name it with --label; {tell}", 2)


def _offered(source: TableSource) -> str:
    """A half-sentence about the columns that may hold the labels, by the first rows; empty where none looks so.

    Sure are those with positives in a minority and the others empty or saying no; others have a label's name, or few
    words.
    """
    batch = next(source.batches(), None) if len(source.names) > 1 else None
    likely, named, short = dict[str, str](), dict[str, str](), dict[str, str]()
    for name, column in zip(source.names, [] if batch is None else batch.columns, strict=False):
        values = LabelValues(name)
        with suppress(ValueError):  # too many values, or none that can be labels
            values.read(column)
            present = [value for value, n in values.spelt().items() if n]
            has_name, words = LABEL_NAMES.search(name) is not None, [value for value in present if value]
            numbers = [as_number(word.replace(",", ".")) for word in words]
            worded = all(number is None or not math.isfinite(number) for number in numbers)
            said = f"{shown(name)!r} (with {listed(words, 4)})"
            if has_name and len(present) > 1:
                named[name] = said
            elif 2 <= len(words) <= 3 and worded and all(says(word) == "other" for word in words):
                short[name] = said
            meaning = find_meaning(present)
            if not meaning.guessed and 2 * values.spelt()[meaning.positive] < sum(values.counts):
                likely[name] = repr(shown(name))
    sure = [said for name, said in likely.items() if name in named] or list(likely.values())
    if sure:
        return f"likely it is {' or '.join(sure[:3])}."
    unsure = list((named or short).values())
    return (
        f"perhaps it is {' or '.join(unsure[:2])}; say with --positive which value marks positives." if unsure else ""
    )


def _feature_columns(source: TableSource, label: str, ids: Sequence[str], drop: Sequence[str]) -> list[str]:
    """Columns that are neither label nor id nor dropped."""
    source.check_columns(ids, "id column")
    source.check_columns(drop, "column to drop")
    if label in (*ids, *drop):
        raise CommandError(f"the label column {shown(label)!r} is also named with --id or --drop.", 2)
    columns = [name for name in source.names if name not in {label, *ids, *drop}]
    if not columns:
        raise CommandError(f"{source.name} has no column left to learn from.")
    return columns


def check_output(out: Path | None, inputs: Sequence[Path | None], *, endings: Sequence[str], force: bool) -> None:
    """Refuse an output that would destroy something: an input, or a file that is not of the output's kind.

    `endings` are those it may have; none stands for a model.
    """
    if out is None:
        return
    name, ending = shown(out, 120), out.suffix.lower()
    for path in inputs:
        if path is not None and is_same_file(out, path):
            what = "the standard input" if str(path) == STDIN else "an input of this command"
            raise CommandError(f"the output {name!r} is {what}, which it would replace; name another file.")
    if is_stream(out):
        return
    if out.is_dir():
        raise CommandError(f"the output {name!r} is a folder; name a file in it.", 2)
    if not out.parent.is_dir():
        raise CommandError(f"the folder {shown(out.parent, 120)!r} does not exist; make it first.")
    if endings and ending not in endings:
        raise CommandError(f"the output {name!r} must end in {', '.join(endings)}.", 2)
    if not endings and ending in (".csv", ".tsv", ".txt", ".parquet", ".npz", ".html", ".xlsx"):
        raise CommandError(f"{name!r} is named like a table; name the model for example {out.stem + '.purely'!r}.")
    if not force and out.is_file() and out.stat().st_size and not (_is_of(out, ending) if endings else is_model(out)):
        kind = "a model" if not endings else f"a {ending.removeprefix('.')} file"
        raise CommandError(f"{name!r} exists and is not {kind}; name another file, or replace it with --force.")


def save_picture(display: Display, path: Path) -> None:
    """Draw a display into a file, in the format of the file's ending."""
    import matplotlib as mpl

    mpl.use("Agg")
    with replacing(path) as partial:
        display.plot().figure_.savefig(partial, format=path.suffix.lower().removeprefix("."), dpi=150)


def is_model(path: Path) -> bool:
    """Whether a file holds a model."""
    try:
        return path.is_file() and bool(describe(path))
    except ModelFileError:
        return False


def _is_of(path: Path, ending: str) -> bool:
    """Whether a file begins as files of an ending do."""
    with path.open("rb") as stream:
        start = stream.read(4096)
    if ending in SIGNATURES:
        return start.startswith(SIGNATURES[ending])
    return b"\x00" not in start and start[:4] not in (b"%PDF", b"PAR1")
