"""Which rows of a label column are labelled positives.

The rule, in line with :mod:`purely.labels`: a missing label is an unlabelled row; 1, true and yes are positive and 0,
-1, false, no and unknown are not; of two other numbers the greater is positive; a word is positive where it is the only
one in the column. Anything else has to be said with ``--positive``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.tables._errors import TableError, nearest, shown

__all__ = ["LabelRule", "find_label_rule", "label_texts"]

POSITIVE_WORDS = frozenset({"1", "+1", "true", "t", "yes", "y", "positive", "pos", "p", "labelled", "labeled"})
UNLABELLED_WORDS = frozenset(
    {"0", "-1", "false", "f", "no", "n", "unlabelled", "unlabeled", "unknown", "u", "negative", "neg"}
)
#: More different labels than this are not counted one by one.
MOST_VALUES = 10_000


@dataclass(frozen=True)
class LabelRule:
    """How a label column is read.

    Attributes
    ----------
    column : str
    positive : str
        The value of labelled positives, as text.
    n_positive, n_unlabelled, n_missing : int
        Rows by what they are; those with a missing label are unlabelled, and counted there too.
    counts : dict
        Rows by value, the commonest first.
    explicit : bool
        Whether the value was asked for; otherwise the rule above found it.
    """

    column: str
    positive: str
    n_positive: int
    n_unlabelled: int
    n_missing: int
    counts: dict[str, int]
    explicit: bool

    def mask(self, column: Any) -> NDArray[np.bool_]:
        """Which rows of a batch are labelled positives."""
        return np.asarray(label_texts(column) == self.positive, dtype=bool)

    @property
    def others(self) -> dict[str, int]:
        """Values that count as unlabelled although they are not empty and not a usual word for it."""
        return {
            value: n
            for value, n in self.counts.items()
            if value != self.positive and value.casefold() not in UNLABELLED_WORDS
        }


def label_texts(column: Any) -> NDArray[Any]:
    """Labels as text, whole numbers without a decimal point; None where one is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        values = column.to_numpy(zero_copy_only=False)
        return np.array([None if v != v else _number_text(v) for v in values.tolist()], dtype=object)
    if pa.types.is_boolean(column.type):
        return np.array([None if v is None else str(v).lower() for v in column.to_pylist()], dtype=object)
    if pa.types.is_null(column.type):
        return np.full(len(column), None, dtype=object)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        raise TableError(f"a label has to be a number or a word; the label column holds values of type {column.type}.")
    texts = pc.utf8_trim_whitespace(column.cast(pa.string())).to_pylist()
    return np.array([None if t is None or t == "" else _number_text(t) for t in texts], dtype=object)


def _number_text(value: Any) -> str:
    """A number's shortest text, so that 1, 1.0 and "1.00" are one label; any other text as it is."""
    if isinstance(value, str) and not (value[:1] in "+-.0123456789" and len(value) < 40):
        return value
    try:
        number = float(value)
    except ValueError:
        return str(value)
    return f"{number:.0f}" if abs(number) < 1e15 and number == int(number) else repr(number)


def count_labels(counts: Counter[str | None], column: Any) -> None:
    """Add a batch's labels to the counts."""
    counts.update(label_texts(column).tolist())


def find_label_rule(
    column: str, counts: Mapping[str | None, int], positive: str | None = None, *, file: str = "the table"
) -> LabelRule:
    """The positive value of a label column from its values' counts.

    Parameters
    ----------
    column : str
    counts : mapping of text to int
        Rows by label; None counts the missing ones.
    positive : str, optional
        The positive value where it is known.
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
    >>> find_label_rule("status", {"fraud": 90, None: 400}).positive
    'fraud'
    """
    missing = counts.get(None, 0)
    ordered = sorted(((v, n) for v, n in counts.items() if v is not None), key=lambda pair: (-pair[1], pair[0]))
    found = dict(ordered)
    where = f"{file}: the label column {shown(column)!r}"
    if not found:
        raise TableError(f"{where} is empty in every row; labelled positives need a value, such as 1.")
    value = _asked(positive, found, where) if positive is not None else _default(found, missing, where)
    n_positive = found[value]
    n_unlabelled = missing + sum(found.values()) - n_positive
    if n_unlabelled == 0:
        raise TableError(
            f"{where} has the value {shown(value)!r} in every row, so there are no unlabelled rows; add the pool of "
            "unlabelled rows with an empty label or 0."
        )
    return LabelRule(column, value, n_positive, n_unlabelled, missing, found, positive is not None)


def _asked(positive: str, found: Mapping[str, int], where: str) -> str:
    value = _number_text(positive.strip())
    matches = [v for v in found if v == value] or [v for v in found if v.casefold() == value.casefold()]
    if not matches:
        raise TableError(f"{where} has no value {shown(positive)!r} (--positive); {nearest(positive, found)}")
    return matches[0]


def _default(found: Mapping[str, int], missing: int, where: str) -> str:
    words = [v for v in found if v.casefold() in POSITIVE_WORDS]
    rest = [v for v in found if v not in words and v.casefold() not in UNLABELLED_WORDS]
    if len(words) == 1 and not rest:
        return words[0]
    if not words and len(rest) == 1 and (missing or len(found) > 1):
        return rest[0]
    if not words and not rest:
        raise TableError(
            f"{where} has only {_listed(found)}, so there is no labelled positive; mark them with 1, or name their "
            "value with --positive."
        )
    if len(found) == 2 and all(_is_number(v) for v in found):
        return max(found, key=float)
    if len(found) == 1 and not missing:
        only = next(iter(found))
        raise TableError(
            f"{where} has the value {shown(only)!r} in every row; leave the label of unlabelled rows empty, or 0."
        )
    raise TableError(
        f"{where} has {_listed(found)}; say which one marks labelled positives, for example "
        f"--positive {shown((words or rest)[-1])!r}."
    )


def _listed(found: Mapping[str, int]) -> str:
    several = ", ".join(repr(shown(v, 20)) for v in list(found)[:4]) + (", ..." if len(found) > 4 else "")
    return f"the value {several}" if len(found) == 1 else f"{len(found):,} values ({several})"


def _is_number(value: str) -> bool:
    try:
        return np.isfinite(float(value)).item()
    except ValueError:
        return False
