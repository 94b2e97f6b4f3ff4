"""The only reader of positive-unlabelled labels: one rule for arrays in Python and for columns of a file.

Of the values that a label takes, the rule finds the positive one:

- 1 and True are labelled positives; 0, -1 and False are unlabelled rows;
- of two words, one that says positive ("yes", "positive", "labelled", "P") or unlabelled ("unknown", "unlabelled",
  "U", "no", "none", an empty text) decides, in any case and spelling: "fraud" is positive beside "unknown";
- of two values that say neither, the greater is positive, as scikit-learn has it, with a warning that names it;
- a third value is refused, unless it marks known negatives ("negative" or "no" beside "unknown"; 0 beside an empty
  text): these are counted and set aside, since positive-unlabelled learning does not use them;
- anything else is refused with a sentence that says what to do.

Two sampling scenarios exist, see :func:`check_scenario`; a class prior means something else in each, so the conversion
between the numbers is a named type, :class:`purely.class_prior.ClassPriors`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from purely.checks import refuse_masked
from purely.exceptions import LabelWarning
from purely.label_words import LabelMeaning, find_meaning, listed, plain, says
from purely.typing import Floats, Indices, Mask, Matrix

__all__ = ["PULabels", "Scenario", "check_scenario", "read_labels", "stack"]

Scenario = Literal["case-control", "single-sample"]
#: Labels as they come: numbers, truth values or words.
Values: TypeAlias = np.ndarray

_HOW_TO_LABEL = "Mark labelled positives with 1 and unlabelled rows with 0."


@dataclass(frozen=True)
class PULabels:
    """Labels as they were read: which rows are labelled positives, and the coding they came in.

    Attributes
    ----------
    positive : ndarray of bool, shape (n,)
        True where the row is a labelled positive.
    classes : ndarray, shape (2,)
        The two values: the unlabelled one, then the positive one. Predictions are returned in this coding.
    negative : ndarray of bool, shape (n,), or None
        True where the row is a known negative; None where there are none.

    Examples
    --------
    >>> from purely.labels import read_labels
    >>> labels = read_labels(["fraud", "unknown", "unknown"])
    >>> labels.n_positive, labels.n_unlabelled, labels.classes.tolist()
    (1, 2, ['unknown', 'fraud'])
    >>> labels.encode([False, True]).tolist()
    ['unknown', 'fraud']
    """

    positive: Mask
    classes: Values
    negative: Mask | None = None

    @property
    def n_positive(self) -> int:
        """Number of labelled positives."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_unlabelled(self) -> int:
        """Number of unlabelled rows."""
        return int(self.positive.size - self.n_positive - self.n_negative)

    @property
    def n_negative(self) -> int:
        """Number of known negatives."""
        return 0 if self.negative is None else int(np.count_nonzero(self.negative))

    def counts(self, group: Indices, n_groups: int) -> tuple[Floats, Floats]:
        """Labelled positives and unlabelled rows in each of some groups of rows, which have no known negatives."""
        n_p, n_u = (np.bincount(group[rows], minlength=n_groups) for rows in (self.positive, ~self.positive))
        return n_p.astype(np.float64), n_u.astype(np.float64)

    def encode(self, positive: Mask) -> Values:
        """Put a mask of positives into the coding the labels came in."""
        return self.classes[np.asarray(positive, dtype=np.intp)]


def read_labels(
    y: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    min_positive: int = 1,
    min_unlabelled: int = 1,
    known_negatives: bool = False,
) -> PULabels:
    """Read positive-unlabelled labels.

    Parameters
    ----------
    y : array-like of shape (n,)
        1/True for a labelled positive, 0, -1 or False for an unlabelled row; words by what they say, see
        :mod:`purely.labels`.
    classes : array-like of two values, optional
        The two values where they are known beforehand; a batch of a stream may then hold one kind of row only.
    min_positive, min_unlabelled : int, default=1
        The fewest rows of each kind the caller can work with.
    known_negatives : bool, default=False
        Whether a third value may mark known negatives, for a caller that sets these rows aside.

    Returns
    -------
    PULabels

    Warns
    -----
    LabelWarning
        Where the greater of two values is taken as positive because neither says what it means, and where known
        negatives are set aside.

    Examples
    --------
    >>> from purely.labels import read_labels
    >>> read_labels([1, -1, -1]).positive
    array([ True, False, False])
    >>> read_labels(["fraud", "unknown", "unknown"]).positive
    array([ True, False, False])
    """
    values = column_or_1d(_as_array(y), warn=True)
    if values.size == 0:
        raise ValueError(f"y is empty: there are no labels to read. {_HOW_TO_LABEL}")
    _refuse_missing(values)
    if classes is not None:
        known = np.asarray(classes)
        meaning = _meaning_of(_distinct(known), known, known_negatives=False, quiet=True)
        return _read_known(values, _apply(known, meaning, list(known)).classes)
    found = _distinct(values)
    if len(found) == 1:
        _refuse_one_class(found[0])
    labels = _apply(values, _meaning_of(found, values, known_negatives), found)
    for n, needed, kind in (
        (labels.n_positive, min_positive, "labelled positive"),
        (labels.n_unlabelled, min_unlabelled, "unlabelled"),
    ):
        if n < needed:
            raise ValueError(
                f"y has {n} {kind} row(s) (n_samples={values.size} in all), but at least {needed} are needed."
            )
    return labels


def _distinct(values: Values) -> list[object]:
    try:
        return list(np.unique(values))
    except TypeError:  # numbers and texts cannot be ordered
        return list(dict.fromkeys(values.tolist()))


def _meaning_of(found: list[object], values: Values, known_negatives: bool, quiet: bool = False) -> LabelMeaning:
    try:
        meaning = find_meaning(found)
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in values.tolist()})
        raise TypeError(
            f"y mixes values that cannot be ordered ({', '.join(kinds)}), so the positive one cannot be told. "
            + _HOW_TO_LABEL
        ) from error
    except ValueError as error:
        if len(found) > 2:
            _refuse_many(values, found)
        raise ValueError(f"y has {error}. {_HOW_TO_LABEL}") from None
    if meaning.negative is not None and not known_negatives:
        raise ValueError(
            f"y marks known negatives ({plain(meaning.negative)!r}) beside positives and unlabelled rows; leave these "
            "rows out here."
        )
    if meaning.guessed and not quiet:
        warnings.warn(
            f"y has the values {plain(meaning.unlabelled)!r} and {plain(meaning.positive)!r}, neither of which says "
            f"what it means: {plain(meaning.positive)!r}, the greater, is taken as the labelled positive. "
            + _HOW_TO_LABEL,
            LabelWarning,
            stacklevel=4,
        )
    return meaning


def _apply(values: Values, meaning: LabelMeaning, found: list[object]) -> PULabels:
    kind = object if len({type(v) for v in found}) > 1 else values.dtype
    classes = np.array([meaning.unlabelled, meaning.positive], dtype=kind)
    positive = np.asarray(values == meaning.positive, dtype=bool)
    if meaning.negative is None:
        return PULabels(positive, classes)
    negative = np.asarray(values == meaning.negative, dtype=bool)
    warnings.warn(
        f"{int(negative.sum()):,} rows are known negatives ({plain(meaning.negative)!r}); they are set aside, because "
        "positive-unlabelled learning uses positives and unlabelled rows only.",
        LabelWarning,
        stacklevel=4,
    )
    return PULabels(positive, classes, negative)


def _read_known(values: Values, classes: Values) -> PULabels:
    foreign = ~np.isin(values, classes)
    if foreign.any():
        found, unlabelled, positive = (plain(v) for v in (values[foreign][0], *classes))
        raise ValueError(
            f"y has the value {found!r}, but the labels so far were {unlabelled!r} (unlabelled) and "
            f"{positive!r} (positive). Keep one coding for all batches."
        )
    return PULabels(positive=np.asarray(values == classes[1], dtype=bool), classes=classes)


def _as_array(y: ArrayLike) -> Values:
    if y is None:
        raise ValueError(f"requires y to be passed, but the target y is None. {_HOW_TO_LABEL}")
    if sp.issparse(y):
        raise TypeError(f"y is a sparse matrix; a plain one-dimensional array of labels is needed. {_HOW_TO_LABEL}")
    if hasattr(y, "predict"):
        raise TypeError(
            f"y is a {type(y).__name__}; labels are needed, one a row. Metrics take labels and scores, such as "
            "pu_report(y, model.predict_proba(X)[:, 1], class_prior)."
        )
    refuse_masked(y, "y")
    values = np.asarray(y)
    if values.dtype.kind in "US" and isinstance(y, (list, tuple)) and not all(isinstance(v, (str, bytes)) for v in y):
        # NumPy turned None, NaN or numbers among strings into strings: take them as they came
        values = np.array(y, dtype=object)
    return values


def _refuse_missing(values: Values) -> None:
    if values.dtype.kind == "O":  # only floats and what stands for a missing value matter
        nothing = ("NoneType", "NAType", "NaTType")  # None, and two values of pandas
        told = (np.nan if type(v).__name__ in nothing else v if isinstance(v, float) else 0.0 for v in values.tolist())
        values = np.fromiter(told, dtype=np.float64, count=values.size)
    if values.dtype.kind not in "fcmM":
        return
    if missing := np.count_nonzero(np.isnan(values)):
        raise ValueError(
            f"y has {missing} missing label(s) (NaN or None); an unlabelled row is not a missing value. {_HOW_TO_LABEL}"
        )
    if np.isinf(values).any():
        raise ValueError(f"y has infinite values (inf); they are not labels. {_HOW_TO_LABEL}")


def _refuse_many(values: Values, found: list[object]) -> NoReturn:
    if values.dtype.kind == "f" and np.any(values != np.round(values)):
        raise ValueError(
            f"Unknown label type: continuous. y has {len(found)} different real values; labels of positive and "
            f"unlabelled rows have two. {_HOW_TO_LABEL}"
        )
    raise ValueError(
        f"y has {len(found)} different values ({listed(found)}); labels of positive and unlabelled rows have two. "
        "Turn the classes of interest into 1 and everything without a label into 0, "
        "for example y = (label == 'fraud').astype(int)."
    )


def _refuse_one_class(only: object) -> NoReturn:
    kind = {
        "positive": "every row is a labelled positive and there are no unlabelled rows",
        "unlabelled": "every row is unlabelled and there is no labelled positive",
        "no": "every row is unlabelled and there is no labelled positive",
    }.get(says(only), f"every label is {plain(only)!r}, so positives and unlabelled rows cannot be told apart")
    raise ValueError(f"y has only one class: {kind}. {_HOW_TO_LABEL}")


def stack(P: Matrix, U: Matrix) -> tuple[Matrix, Indices]:
    """Stack positives and unlabelled rows into the ``(X, y)`` that every estimator takes.

    Parameters
    ----------
    P : array, sparse matrix or data frame of shape (n_P, d)
        Labelled positives.
    U : the same kind, of shape (n_U, d)
        Unlabelled rows.

    Returns
    -------
    X : of shape (n_P + n_U, d)
        The positives, then the unlabelled rows; of the kind that came in.
    y : ndarray of int, shape (n_P + n_U,)
        1 for the positives, 0 for the unlabelled rows.

    Examples
    --------
    >>> from purely import stack
    >>> X, y = stack([[0.0, 1.0]], [[2.0, 3.0], [4.0, 5.0]])
    >>> X.shape, y
    ((3, 2), array([1, 0, 0]))
    """
    P, U = (A if hasattr(A, "shape") else np.asarray(A) for A in (P, U))
    for name, rows in (("P", P), ("U", U)):
        refuse_masked(rows, name)
        if len(rows.shape) != 2:
            raise ValueError(
                f"{name} must have two dimensions (rows, columns); its shape is {tuple(rows.shape)}. "
                "Reshape a single column with .reshape(-1, 1)."
            )
        if rows.shape[0] == 0:
            raise ValueError(f"{name} has no rows; both P and U are needed.")
    if P.shape[1] != U.shape[1]:
        raise ValueError(f"P has {P.shape[1]} columns and U has {U.shape[1]}; they must have the same columns.")
    y = np.concatenate([np.ones(P.shape[0], dtype=np.intp), np.zeros(U.shape[0], dtype=np.intp)])
    return _concatenate([P, U]), y


def _concatenate(parts: Sequence[Any]) -> Matrix:
    if all(hasattr(part, "iloc") for part in parts):
        import pandas as pd

        _same_columns([list(part.columns) for part in parts])
        return pd.concat(parts, ignore_index=True)
    if all(type(part).__module__.split(".")[0] == "polars" for part in parts):
        import polars as pl

        _same_columns([list(part.columns) for part in parts])
        return pl.concat(parts)
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate([np.asarray(part) for part in parts])


def _same_columns(columns: Sequence[list[object]]) -> None:
    if columns[0] != columns[1]:
        differing = sorted({str(c) for c in set(columns[0]) ^ set(columns[1])}) or ["the order"]
        raise ValueError(f"P and U have different columns: {', '.join(differing[:5])}. Give both the same columns.")


def check_scenario(scenario: object) -> Scenario:
    """Return the scenario if it is one of the two known, refuse it otherwise.

    Examples
    --------
    >>> from purely.labels import check_scenario
    >>> check_scenario("single-sample")
    'single-sample'
    """
    known: tuple[Scenario, ...] = get_args(Scenario)
    if isinstance(scenario, str) and scenario in known:
        return known[known.index(scenario)]  # not the same for NumPy's texts
    allowed = " or ".join(map(repr, known))
    raise ValueError(f"scenario must be {allowed}; {scenario!r} was given.")
