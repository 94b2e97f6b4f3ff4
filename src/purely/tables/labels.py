"""Which rows of a label column are labelled positives, by the one rule of :mod:`purely.labels`.

What a file adds to that rule: a missing label is an empty text, so an unlabelled row; spellings that differ in case and
blanks are one value; several values that say unlabelled ("unknown", "NA", nothing) are one meaning; ``--positive`` and
``--negative`` name values that the rule could not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from purely.files import shown
from purely.label_words import as_number, find_meaning, says
from purely.tables.cells import plain
from purely.tables.errors import TableError, nearest
from purely.typing import Indices

#: A column of more values than this holds no labels, unless one of them is named with --positive.
MOST_VALUES = 20
#: What --negative says where no value marks known negatives.
NO_NEGATIVES = "none"


def label_key(value: object) -> str:
    """One key for all spellings of a label: 1, 1.0 and " 1.00" are "1", "Fraud " and "FRAUD" are "fraud"."""
    text = " ".join(str(value).split()).casefold()
    number = as_number(text) if len(text) < 40 and text[:1] in "+-.0123456789" else None
    if number is not None and np.isfinite(number):
        number += 0.0  # -0 is 0
        return f"{number:.0f}" if abs(number) < 1e15 and number == int(number) else repr(number)
    return "" if text == "nan" else text


class LabelValues:
    """The values of a label column, met batch by batch.

    Each value has a number in the order of meeting; 0 is the missing label.

    Attributes
    ----------
    keys : dict of str to int
        The numbers of the values.
    counts : list of int
        Rows by number.
    """

    def __init__(self, column: str, file: str = "the table", most: int = MOST_VALUES) -> None:
        self.column, self.file, self.most = column, file, most
        self.keys = {"": 0}
        self.counts = [0]
        self._spellings: list[Counter[str]] = [Counter()]

    def read(self, column: pa.Array) -> Indices:
        """The number of each row's value."""
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise TableError(
                f"{self.file}: a label has to be a number or a word; {shown(self.column)!r} has values of type {kind}."
            )
        coded = pc.fill_null(plain(column).cast(pa.string()), "").dictionary_encode()
        places = np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.intp)
        spelt = coded.dictionary.to_pylist()
        often = np.bincount(places, minlength=len(spelt))
        numbers = np.array([self._number(text, int(n)) for text, n in zip(spelt, often, strict=True)], dtype=np.intp)
        return numbers[places]

    def _number(self, text: str, often: int) -> int:
        key = label_key(text)
        number = self.keys.setdefault(key, len(self.keys))
        if number == len(self.counts):
            if number > self.most:
                raise TableError(
                    f"{self.file}: the label column {shown(self.column)!r} has more than {self.most} different values "
                    f"({_listed(list(self.keys)[1:])}); say which one marks labelled positives with --positive."
                )
            self.counts.append(0)
            self._spellings.append(Counter())
        self.counts[number] += often
        self._spellings[number][" ".join(text.split())] += often
        return number

    def spelt(self) -> dict[str, int]:
        """Rows by value, each word as it is spelt most often, in the order of the numbers."""
        words = [spelt.most_common(1)[0][0] if spelt else "" for spelt in self._spellings]
        values = (word if word.casefold() == key else key for key, word in zip(self.keys, words, strict=True))
        return dict(zip(values, self.counts, strict=True))


@dataclass(frozen=True)
class LabelRule:
    """How a label column is read.

    Attributes
    ----------
    column : str
    positive : str
        The value of labelled positives.
    negative : str or None
        The value of known negatives, where there is one.
    counts : dict of str to int
        Rows by value; "" counts the missing labels.
    explicit : bool
        Whether the positive value was asked for.
    guessed : bool
        True where no value says what it means and the greater was taken as positive.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from purely.tables import find_label_rule
    >>> rule = find_label_rule("fraud", {"1": 90, "0": 20, "": 400})
    >>> rule.positive, rule.n_positive, rule.negative
    ('1', 90, '0')
    >>> rule.of(pa.array(["1", "0", None])).tolist()
    [1, -1, 0]
    """

    column: str
    positive: str
    negative: str | None
    counts: dict[str, int]
    explicit: bool = False
    guessed: bool = False

    @property
    def kinds(self) -> NDArray[np.int8]:
        """What each value marks, in the order of `counts`: 1 positives, 0 unlabelled rows, -1 known negatives."""
        return np.array([(v == self.positive) - (v == self.negative) for v in self.counts], dtype=np.int8)

    def of(self, column: pa.Array) -> NDArray[np.int8]:
        """What each row of a column is: 1 a labelled positive, 0 an unlabelled row, -1 a known negative."""
        values = LabelValues(self.column, most=1 << 62)
        places = values.read(column)
        kinds = {label_key(v): k for v, k in zip(self.counts, self.kinds.tolist(), strict=True)}
        return np.array([kinds.get(key, 0) for key in values.keys], dtype=np.int8)[places]

    @property
    def n_positive(self) -> int:
        """Labelled positives."""
        return self.counts[self.positive]

    @property
    def n_negative(self) -> int:
        """Known negatives."""
        return 0 if self.negative is None else self.counts[self.negative]

    @property
    def n_unlabelled(self) -> int:
        """Rows that are neither."""
        return sum(self.counts.values()) - self.n_positive - self.n_negative

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of rows of each kind."""
        return {"positives": self.n_positive, "unlabelled": self.n_unlabelled, "negatives": self.n_negative}

    def __str__(self) -> str:
        negative = f", {self.n_negative:,} known negatives" if self.n_negative else ""
        return f"{self.n_positive:,} labelled positives, {self.n_unlabelled:,} unlabelled rows{negative}"

    @property
    def n_missing(self) -> int:
        """Rows with an empty label."""
        return self.counts.get("", 0)

    @property
    def notes(self) -> list[str]:
        """What a reader should know of the reading, a sentence each."""
        column, positive, found = shown(self.column), shown(self.positive, 20), []
        if self.guessed:
            other = next(v for v in self.counts if v and v != self.positive)
            found.append(
                f"the label column {column!r} has the values {shown(other, 20)!r} and {positive!r}, neither of which "
                f"says what it means: {positive!r}, the greater, is taken as positive (--positive names the other)."
            )
        if self.negative is not None:
            found.append(
                f"{self.n_negative:,} rows are known negatives ({column!r} is {shown(self.negative, 20)!r}): they are "
                "not used for learning, and 'purely evaluate' tests on them (--negative none counts them as "
                "unlabelled)."
            )
        others = {
            v: n
            for v, n in self.counts.items()
            if v and n and v not in (self.positive, self.negative) and says(v) == "other" and not self.guessed
        }
        if others:
            listed = ", ".join(f"{shown(v, 20)!r} ({n:,} rows)" for v, n in list(others.items())[:3])
            found.append(
                f"rows whose {column!r} is not {positive!r} count as unlabelled, also those with "
                f"{listed}{', ...' if len(others) > 3 else ''}."
            )
        return found


def find_label_rule(
    column: str,
    counts: Mapping[str, int],
    positive: str | None = None,
    negative: str | None = None,
    *,
    file: str = "the table",
) -> LabelRule:
    """What the values of a label column mean.

    Parameters
    ----------
    column : str
    counts : mapping of str to int
        Rows by value; "" counts the missing ones.
    positive, negative : str, optional
        The values of labelled positives and of known negatives where they are known; ``negative="none"`` says that
        there are no known negatives.
    file : str
        For messages.

    Returns
    -------
    LabelRule

    Examples
    --------
    >>> from purely.tables import find_label_rule
    >>> find_label_rule("fraud", {"1": 90, "0": 400}).positive
    '1'
    >>> find_label_rule("status", {"fraud": 90, "": 400}).positive
    'fraud'
    >>> find_label_rule("fraud", {"1": 90, "0": 20, "": 400}).n_negative
    20
    """
    found = {value: n for value, n in counts.items() if n}
    where = f"{file}: the label column {shown(column)!r}"
    if not found.keys() - {""}:
        raise TableError(f"{where} is empty in every row; labelled positives need a value, such as 1.")
    none = negative is not None and label_key(negative) == NO_NEGATIVES
    asked_negative = None if negative is None or none else _asked(negative, found, where, "--negative")
    guessed = False
    if positive is not None:
        taken = _asked(positive, found, where, "--positive")
        # beside values that say unlabelled, those that say no are known negatives, as find_meaning has it
        unlabelled = any(says(v) == "unlabelled" for v in found if v != taken)
        negatives = [v for v in found if v != taken and says(v) in ("no", "negative")] if unlabelled else []
        known = negatives[0] if len(negatives) == 1 else None
    else:
        taken, known, guessed = _told(found, asked_negative, where)
    chosen = asked_negative if asked_negative is not None else None if none else known
    if chosen == taken:
        raise TableError(f"{where}: {shown(taken)!r} cannot mark positives and negatives at once.")
    rule = LabelRule(column, taken, chosen, dict(counts), positive is not None, guessed)
    if rule.n_unlabelled == 0:
        raise TableError(
            f"{where} has no unlabelled rows ({_listed(found)}); add the pool of unlabelled rows with an empty label "
            "or 0."
        )
    return rule


def _asked(value: str, found: Mapping[str, int], where: str, option: str) -> str:
    key = label_key(value)
    match = next((v for v in found if label_key(v) == key), None)
    if match is None:
        raise TableError(f"{where} has no value {shown(value)!r} ({option}); {nearest(value, found)}")
    return match


def _told(found: Mapping[str, int], negative: str | None, where: str) -> tuple[str, str | None, bool]:
    """Positive and negative value by what the values say, and whether the positive one was guessed."""
    blank = any(says(v) == "unlabelled" for v in found)
    values = [v for v in found if says(v) != "unlabelled" and v != negative] + ([""] if blank else [])
    nobody = "there is no labelled positive; mark them with 1, or name their value with --positive"
    if len(values) == 1:
        told = {
            "positive": "there are no unlabelled rows; add the pool with an empty label or 0",
            "other": "leave the label of unlabelled rows empty, or 0",
        }
        raise TableError(f"{where} has {_listed(found)} in every row: {told.get(says(values[0]), nobody)}.")
    try:
        meaning = find_meaning(values)
    except ValueError:
        if not any(says(v) in ("positive", "other") for v in values):
            raise TableError(f"{where} has only {_listed(found)}: {nobody}.") from None
        likely = next((v for v in values if says(v) == "positive"), values[0])
        raise TableError(
            f"{where} has {_listed(found)}; say which one marks labelled positives, for example "
            f"--positive {shown(likely)!r}, and name known negatives, if there are any, with --negative."
        ) from None
    return meaning.positive, meaning.negative, meaning.guessed


def _listed(found: Mapping[str, int] | list[str]) -> str:
    names = ["an empty label" if v == "" else repr(shown(v, 20)) for v in list(found)[:4]]
    several = ", ".join(names) + (", ..." if len(found) > 4 else "")
    return f"the value {several}" if len(found) == 1 else f"{len(found):,} values ({several})"
