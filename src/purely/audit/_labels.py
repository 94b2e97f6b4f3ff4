"""Labels of an audit: positive, negative, or "could not tell"."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from purely.files import shown
from purely.label_words import find_meaning, says
from purely.typing import Floats

Objects: TypeAlias = NDArray[np.object_]
_HOW_TO_LABEL = "Write 1 or yes, 0 or no, and leave out what you could not tell."


def read_audit_labels(labels: ArrayLike) -> Floats:
    """Labels as 1 for positive, 0 for negative and NaN where the label is missing.

    Words mean what they mean everywhere (:mod:`purely.labels`), but here "no" is a negative, and an empty text, "?" or
    "unknown" stands for a row that could not be told. All labels may be the same.

    Examples
    --------
    >>> from purely.audit import read_audit_labels
    >>> read_audit_labels(["yes", "no", "?", ""])
    array([ 1.,  0., nan, nan])
    """
    values = np.asarray(labels, dtype=object).ravel()
    kinds = np.array([_kind(value) for value in values], dtype=object)
    if "other" in kinds:
        kinds = _named_classes(values, kinds)
    return np.select([kinds == "positive", kinds == "unlabelled"], [1.0, np.nan], 0.0).astype(np.float64)


def _kind(value: object) -> str:
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return "unlabelled"
    return says(value)


def _named_classes(values: Objects, kinds: Objects) -> Objects:
    """Kinds where a class has a name of its own, as in "fraud" and "no"."""
    told = kinds != "unlabelled"
    present = list(dict.fromkeys(str(v) for v in values[told]))
    listed = ", ".join(repr(shown(v)) for v in present[:5])
    if len(present) != 2:
        raise ValueError(f"labels must have two values; found {len(present)}: {listed}. {_HOW_TO_LABEL}")
    meaning = find_meaning(present)
    if meaning.guessed:
        raise ValueError(f"which of the labels {listed} marks a positive cannot be told. {_HOW_TO_LABEL}")
    named = np.where([str(v) == meaning.positive for v in values], "positive", "negative").astype(object)
    return np.where(told, named, "unlabelled")
