"""The only reader of positive-unlabelled labels.

Every estimator gets its labels from :func:`read_labels`, so one coding rule holds everywhere:

- 1 or True is a labelled positive; 0, -1 and False are unlabelled;
- for any other pair of values the greater is the positive one;
- anything else is refused with a sentence that says what to do.

Two sampling scenarios exist, and a class prior means something else in each, so the conversion between
the numbers is a named type, :class:`ClassPriors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar, column_or_1d

__all__ = ["ClassPriors", "PULabels", "Scenario", "check_class_prior", "check_scenario", "read_labels", "stack"]

Scenario = Literal["case-control", "single-sample"]

_HOW_TO_LABEL = "Mark labelled positives with 1 and unlabelled rows with 0."


@dataclass(frozen=True)
class PULabels:
    """Labels as they were read: which rows are labelled positives, and the coding they came in.

    Attributes
    ----------
    positive : ndarray of bool, shape (n,)
        True where the row is a labelled positive.
    classes : ndarray, shape (2,)
        The two values found: the unlabelled one, then the positive one. Predictions are returned in this coding.
    """

    positive: NDArray[np.bool_]
    classes: NDArray[Any]

    @property
    def n_positive(self) -> int:
        """Number of labelled positives."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_unlabelled(self) -> int:
        """Number of unlabelled rows."""
        return int(self.positive.size - self.n_positive)

    def encode(self, positive: NDArray[np.bool_]) -> NDArray[Any]:
        """Put a mask of positives into the coding the labels came in."""
        return self.classes[np.asarray(positive, dtype=np.intp)]


def read_labels(
    y: ArrayLike, *, classes: ArrayLike | None = None, min_positive: int = 1, min_unlabelled: int = 1
) -> PULabels:
    """Read positive-unlabelled labels.

    Parameters
    ----------
    y : array-like of shape (n,)
        1/True for a labelled positive, 0, -1 or False for an unlabelled row; for any other two values the greater
        one is positive.
    classes : array-like of two values, optional
        The coding, where it is known beforehand; a batch of a stream may then hold one kind of row only.
    min_positive, min_unlabelled : int, default=1
        The fewest rows of each kind the caller can work with.

    Returns
    -------
    PULabels

    Examples
    --------
    >>> from purely.labels import read_labels
    >>> read_labels([1, -1, -1]).positive
    array([ True, False, False])
    >>> read_labels(["fraud", "unknown", "unknown"]).classes
    array(['fraud', 'unknown'], dtype='<U7')
    """
    values = column_or_1d(_as_array(y), warn=True)
    if values.size == 0:
        raise ValueError(f"y is empty: there are no labels to read. {_HOW_TO_LABEL}")
    _refuse_missing(values)
    if classes is not None:
        return _read_known(values, read_labels(classes).classes)
    try:
        classes = np.unique(values)
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in values.tolist()})
        raise TypeError(
            f"y mixes values that cannot be ordered ({', '.join(kinds)}), so the positive one cannot be told. "
            + _HOW_TO_LABEL
        ) from error
    if classes.size > 2:
        _refuse_many(values, classes)
    if classes.size == 1:
        _refuse_one_class(classes)
    if _equals(classes[0], -1) and _equals(classes[1], 0):
        raise ValueError(
            "y has only the values -1 and 0, both of which mean unlabelled: there is no labelled positive. "
            + _HOW_TO_LABEL
        )
    labels = PULabels(positive=np.asarray(values == classes[1], dtype=bool), classes=classes)
    _refuse_too_few(labels, min_positive, min_unlabelled)
    return labels


def _read_known(values: NDArray[Any], classes: NDArray[Any]) -> PULabels:
    foreign = ~np.isin(values, classes)
    if foreign.any():
        found, unlabelled, positive = (_plain(v) for v in (values[foreign][0], *classes))
        raise ValueError(
            f"y has the value {found!r}, but the labels so far were {unlabelled!r} (unlabelled) and "
            f"{positive!r} (positive). Keep one coding for all batches."
        )
    return PULabels(positive=np.asarray(values == classes[1], dtype=bool), classes=classes)


def _as_array(y: ArrayLike) -> Any:
    if y is None:
        raise ValueError(f"requires y to be passed, but the target y is None. {_HOW_TO_LABEL}")
    if sp.issparse(y):
        raise TypeError(f"y is a sparse matrix; a plain one-dimensional array of labels is needed. {_HOW_TO_LABEL}")
    values = np.asarray(y)
    if values.dtype.kind in "US" and isinstance(y, (list, tuple)) and not all(isinstance(v, (str, bytes)) for v in y):
        # NumPy turned None, NaN or numbers among strings into strings: take them as they came
        values = np.array(y, dtype=object)
    return values


def _refuse_missing(values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" or values.dtype.kind == "c":
        missing = np.isnan(values)
        infinite = np.isinf(values)
    elif values.dtype.kind in "mM":
        missing, infinite = np.isnat(values), np.zeros(values.size, dtype=bool)
    elif values.dtype.kind == "O":
        missing = np.fromiter((_is_missing(v) for v in values.tolist()), dtype=bool, count=values.size)
        infinite = np.fromiter((isinstance(v, float) and abs(v) == np.inf for v in values.tolist()), dtype=bool)
    else:
        return
    if missing.any():
        raise ValueError(
            f"y has {int(missing.sum())} missing label(s) (NaN or None); an unlabelled row is not a missing value. "
            + _HOW_TO_LABEL
        )
    if infinite.any():
        raise ValueError(f"y has infinite values (inf); they are not labels. {_HOW_TO_LABEL}")


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _refuse_many(values: NDArray[Any], classes: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and np.any(values != np.round(values)):
        raise ValueError(
            f"Unknown label type: continuous. y has {classes.size} different real values; labels of positive and "
            f"unlabelled rows have two. {_HOW_TO_LABEL}"
        )
    shown = ", ".join(str(c) for c in classes[:5]) + (", ..." if classes.size > 5 else "")
    raise ValueError(
        f"y has {classes.size} different values ({shown}); labels of positive and unlabelled rows have two. "
        "Turn the classes of interest into 1 and everything without a label into 0, "
        "for example y = (label == 'fraud').astype(int)."
    )


def _refuse_one_class(classes: NDArray[Any]) -> None:
    only = classes[0]
    if _equals(only, 1):
        kind = "every row is a labelled positive and there are no unlabelled rows"
    elif _equals(only, 0) or _equals(only, -1):
        kind = "every row is unlabelled and there is no labelled positive"
    else:
        kind = f"every label is {_plain(only)!r}, so positives and unlabelled rows cannot be told apart"
    raise ValueError(f"y has only one class: {kind}. {_HOW_TO_LABEL}")


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own, whose repr is the value and nothing else."""
    return value.item() if isinstance(value, np.generic) else value


def _equals(value: Any, number: int) -> bool:
    return isinstance(value, (bool, np.bool_, int, float, np.number)) and bool(value == number)


def _refuse_too_few(labels: PULabels, min_positive: int, min_unlabelled: int) -> None:
    for found, needed, kind in (
        (labels.n_positive, min_positive, "labelled positive"),
        (labels.n_unlabelled, min_unlabelled, "unlabelled"),
    ):
        if found < needed:
            raise ValueError(
                f"y has {found} {kind} row(s) (n_samples={labels.positive.size} in all), "
                f"but at least {needed} are needed."
            )


def stack(P: Any, U: Any) -> tuple[Any, NDArray[np.intp]]:
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


def _concatenate(parts: Sequence[Any]) -> Any:
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


def _same_columns(columns: Sequence[list[Any]]) -> None:
    if columns[0] != columns[1]:
        differing = sorted({str(c) for c in set(columns[0]) ^ set(columns[1])}) or ["the order"]
        raise ValueError(f"P and U have different columns: {', '.join(differing[:5])}. Give both the same columns.")


def check_scenario(scenario: object) -> Scenario:
    """Return the scenario if it is one of the two known, refuse it otherwise."""
    if isinstance(scenario, str) and scenario == "case-control":
        return "case-control"
    if isinstance(scenario, str) and scenario == "single-sample":
        return "single-sample"
    allowed = " or ".join(repr(s) for s in get_args(Scenario))
    raise ValueError(f"scenario must be {allowed}; {scenario!r} was given.")


def check_class_prior(class_prior: object, name: str = "class_prior") -> float:
    """Return a class prior as a float strictly between 0 and 1, refuse anything else.

    Examples
    --------
    >>> from purely.labels import check_class_prior
    >>> check_class_prior(0.3)
    0.3
    >>> check_class_prior(1.3)
    Traceback (most recent call last):
        ...
    ValueError: class_prior must lie strictly between 0 and 1; 1.3 was given.
    """
    if isinstance(class_prior, (bool, np.bool_)) or not isinstance(class_prior, (int, float, np.number)):
        raise TypeError(f"{name} must be a number strictly between 0 and 1; {class_prior!r} was given.")
    value = float(class_prior)
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1; {value:g} was given.")
    return value


@dataclass(frozen=True)
class ClassPriors:
    r"""The three numbers that are all called "prior", kept apart.

    With :math:`\pi = p(y = 1)` in the population, :math:`\pi_U` the share of positives among the unlabelled rows and
    :math:`c = p(\text{labelled} \mid y = 1)` the labelling frequency:

    - *case-control* (two samples; positives drawn apart from the population): :math:`\pi_U = \pi`, and *c* refers to
      the pooled rows, :math:`c = n_P / (n_P + \pi n_U)`;
    - *single-sample* (one sample, some positives of which got a label; the unlabelled rows are what is left):
      :math:`\pi = (n_P + \pi_U n_U) / (n_P + n_U)` and :math:`c = n_P / (n_P + \pi_U n_U)`.

    Attributes
    ----------
    population : float
        :math:`p(y=1)`, what ``class_prior`` means everywhere in this package.
    unlabelled : float
        Share of positives among the unlabelled rows.
    label_frequency : float
        Share of labelled rows among the positives at hand.
    scenario : {"case-control", "single-sample"}

    Examples
    --------
    >>> from purely.labels import ClassPriors
    >>> priors = ClassPriors.from_unlabelled(0.25, n_positive=100, n_unlabelled=300, scenario="single-sample")
    >>> priors.population, round(priors.label_frequency, 3)
    (0.4375, 0.571)
    """

    population: float
    unlabelled: float
    label_frequency: float
    scenario: Scenario

    @classmethod
    def from_unlabelled(
        cls, unlabelled: float, *, n_positive: int, n_unlabelled: int, scenario: Scenario = "case-control"
    ) -> ClassPriors:
        """All three numbers from the share of positives among the unlabelled rows."""
        scenario = check_scenario(scenario)
        n_p, n_u = _counts(n_positive, n_unlabelled)
        share = _share(unlabelled, "unlabelled")
        hidden = share * n_u
        population = share if scenario == "case-control" else (n_p + hidden) / (n_p + n_u)
        return cls(population, share, n_p / (n_p + hidden), scenario)

    @classmethod
    def from_population(
        cls, population: float, *, n_positive: int, n_unlabelled: int, scenario: Scenario = "case-control"
    ) -> ClassPriors:
        """All three numbers from the population's class prior."""
        scenario = check_scenario(scenario)
        n_p, n_u = _counts(n_positive, n_unlabelled)
        prior = _share(population, "population")
        if scenario == "case-control":
            share = prior
        else:
            share = (prior * (n_p + n_u) - n_p) / n_u
            if share < -1e-12:
                raise ValueError(
                    f"a population prior of {prior:g} is below the labelled share {n_p / (n_p + n_u):g}: in the "
                    "single-sample scenario the labelled rows alone are more positives than that."
                )
            share = max(share, 0.0)
        return cls.from_unlabelled(share, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)

    @classmethod
    def from_label_frequency(
        cls, label_frequency: float, *, n_positive: int, n_unlabelled: int, scenario: Scenario = "single-sample"
    ) -> ClassPriors:
        """All three numbers from the labelling frequency, the way Elkan and Noto's method gives them."""
        n_p, n_u = _counts(n_positive, n_unlabelled)
        frequency = _share(label_frequency, "label_frequency")
        if frequency == 0.0:
            raise ValueError("label_frequency must be above 0: there are labelled positives.")
        share = n_p * (1.0 / frequency - 1.0) / n_u
        if share > 1.0:
            raise ValueError(
                f"a label_frequency of {frequency:g} with {n_p} labelled rows means {share * n_u:.0f} further "
                f"positives, but there are only {n_u} unlabelled rows."
            )
        return cls.from_unlabelled(share, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)


def _share(value: object, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be a number between 0 and 1; {value!r} was given.")
    share = float(value)
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"{name} must lie between 0 and 1; {share:g} was given.")
    return share


def _counts(n_positive: int, n_unlabelled: int) -> tuple[int, int]:
    n_p = check_scalar(n_positive, "n_positive", (int, np.integer), min_val=1)
    n_u = check_scalar(n_unlabelled, "n_unlabelled", (int, np.integer), min_val=1)
    return int(n_p), int(n_u)
