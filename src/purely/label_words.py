"""What the values of a label say of their rows: the rule for words and numbers, see :mod:`purely.labels`."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

#: A value of a label: a number, a truth value or a text, of Python or of NumPy.
Value: TypeAlias = Any
#: What a value says of its row. "no" is an unlabelled row in a column of two values, a known negative in one of three.
Saying = Literal["positive", "unlabelled", "no", "negative", "other"]

#: What words say, in lower case and without spaces and hyphens.
WORDS: dict[Saying, str] = {
    "positive": "1 true t yes y positive pos p labelled labeled ja oui sí sim positiv positif positivo",
    "unlabelled": "unlabelled unlabeled notlabelled notlabeled nolabel unknown unk u none null nan na n/a missing ? "
    "unbekannt inconnu desconocido",
    "no": "0 -1 false f no n nein nee non não",
    "negative": "negative neg negativ negatif negativo",
}
_SAYINGS: dict[str, Saying] = {"": "unlabelled"}
_SAYINGS |= {word: saying for saying, words in WORDS.items() for word in words.split()}
_NO_SPACES = str.maketrans("", "", " \t-_")


@dataclass(frozen=True)
class LabelMeaning:
    """What the values of a label mean.

    Attributes
    ----------
    positive : object
        The value of labelled positives.
    unlabelled : object
        The value of unlabelled rows.
    negative : object or None
        The value of known negatives, if there is one.
    guessed : bool
        True where no value says what it means and the greater was taken as positive.
    """

    positive: Value
    unlabelled: Value
    negative: Value = None
    guessed: bool = False


def find_meaning(values: Collection[Value]) -> LabelMeaning:
    """Tell the positive from the unlabelled value, by the rule of this module.

    Parameters
    ----------
    values : collection of two or three different values
        Numbers or texts; an empty text is an unlabelled row.

    Raises
    ------
    ValueError
        Where the rule cannot tell; the sentence lists the values.

    Examples
    --------
    >>> from purely.label_words import find_meaning
    >>> find_meaning(["fraud", "unknown"]).positive
    'fraud'
    >>> find_meaning(["1", "0", ""]).negative
    '0'
    """
    said: dict[str, list[Value]] = {kind: [] for kind in get_args(Saying)}
    for value in values:
        said[says(value)].append(value)
    candidates = said["positive"] or said["other"]
    unlabelled = said["unlabelled"] or said["no"] or said["negative"]
    if len(values) == 2:
        if not candidates:
            raise ValueError(f"only the values {listed(values, ' and ')}, neither of which marks a labelled positive")
        if len(said["positive"]) == 1 and not _all_numbers(values):
            return LabelMeaning(candidates[0], next(v for v in values if v is not candidates[0]))
        if len(candidates) == 1 and unlabelled:
            return LabelMeaning(candidates[0], unlabelled[0])
        low, high = sorted(values, key=float if _all_numbers(values) else None)
        return LabelMeaning(high, low, guessed=True)
    negative = said["no"] + said["negative"]
    if len(values) == 3 and len(candidates) == len(said["unlabelled"]) == len(negative) == 1:
        return LabelMeaning(candidates[0], said["unlabelled"][0], negative[0])
    raise ValueError(f"{len(values)} different values ({listed(values)})")


def says(value: Value) -> Saying:
    """What one value says of its row, by the words of this module.

    Examples
    --------
    >>> from purely.label_words import says
    >>> says("Not labelled"), says(1.0), says("fraud")
    ('unlabelled', 'positive', 'other')
    """
    text = plain(value)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    number = as_number(text)
    if number is not None and np.isfinite(number) and number == int(number):
        word = str(int(number))  # 1, 1.0, True and "1.00" are one label
    else:
        word = str(text).casefold().translate(_NO_SPACES)
    return _SAYINGS.get(word, "other")


def as_number(value: Value) -> float | None:
    """The number that a value is, or that a text spells; None where it is none."""
    with suppress(TypeError, ValueError):
        return float(value)
    return None


def _all_numbers(values: Collection[Value]) -> bool:
    return all(as_number(v) is not None for v in values)


def listed(values: Collection[Value], between: str = ", ") -> str:
    """The first five values, for a sentence."""
    shown = [str(plain(v)) or "an empty text" for v in list(values)[:5]]
    return between.join(shown) + (", ..." if len(values) > 5 else "")


def plain(value: Value) -> Value:
    """A NumPy scalar as Python's own, whose repr is the value and nothing else."""
    return value.item() if isinstance(value, np.generic) else value
