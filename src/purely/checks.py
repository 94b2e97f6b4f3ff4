"""One check for one kind of parameter; each refusal names the parameter, what is allowed and what was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.utils import check_random_state, column_or_1d

from purely.typing import Floats, Matrix

Choice = TypeVar("Choice")
#: What decides about everything that is drawn: an int, a generator of NumPy's older kind, or None for its global one.
RandomState = int | np.random.RandomState | None

#: Squares of values up to here, summed over a million columns, stay within a double's range.
LARGEST_VALUE = 1e150


def check_choice(name: str, value: object, allowed: Sequence[Choice]) -> Choice:
    """Return `value` if it is one of `allowed`, refuse it otherwise."""
    value = bool(value) if isinstance(value, np.bool_) else value  # as a search over settings gives them
    for known in allowed:
        if value is known or (isinstance(value, str) and value == known):
            return known
    raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; {value!r} was given.")


@overload
def check_number(
    name: str, value: object, low: float, high: float = ..., *, integer: Literal[True], open_low: bool = ...
) -> int: ...
@overload
def check_number(name: str, value: object, low: float, high: float = ..., *, open_low: bool = ...) -> float: ...


def check_number(
    name: str, value: object, low: float, high: float = np.inf, *, integer: bool = False, open_low: bool = False
) -> float:
    """Return `value` as a number of at least `low` (above it if `open_low`) and at most `high`, refuse it otherwise."""
    kind = Integral if integer else Real
    if isinstance(value, kind) and not isinstance(value, (bool, np.bool_)):
        number = float(value)
        if low <= number <= high and not (open_low and number == low):
            return int(value) if integer else number  # type: ignore[call-overload]
    what = "an integer" if integer else "a number"
    bounds = f"{'above' if open_low else 'of at least'} {low:g}" + ("" if high == np.inf else f" and at most {high:g}")
    raise ValueError(f"{name} must be {what} {bounds}; {value!r} was given.")


def check_share(name: str, value: object, hint: str = "") -> float:
    """Return `value` as a number strictly between 0 and 1, refuse it otherwise."""
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and 0.0 < float(value) < 1.0:
        return float(value)
    raise ValueError(f"{name} must be a number strictly between 0 and 1{hint}; {value!r} was given.")


def check_threshold(threshold: object) -> float:
    """A probability strictly between 0 and 1 from a `threshold` parameter: a number, or a pair of costs."""
    if isinstance(threshold, (tuple, list)) and len(threshold) == 2:
        costs = zip(("the cost false_positive", "the cost false_negative"), threshold, strict=True)
        largest = np.finfo(float).max
        of_positive, of_negative = (check_number(name, cost, 0.0, largest, open_low=True) for name, cost in costs)
        return of_positive / (of_positive + of_negative)
    if isinstance(threshold, (int, float, np.number)) and not isinstance(threshold, bool) and 0.0 < threshold < 1.0:
        return float(threshold)
    raise ValueError(
        "threshold must be a number strictly between 0 and 1, or a pair of costs (false positive, false negative); "
        f"{threshold!r} was given."
    )


def check_column(name: str, values: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return one finite number a row, refuse anything else."""
    numbers = np.asarray(column_or_1d(np.asarray(values)), dtype=np.float64)
    refuse_length(name, numbers.size, n_rows)
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise ValueError(f"{name} has {bad} NaN or infinite value(s); it must be finite.")
    return numbers


def refuse_length(name: str, n_found: int, n_rows: int) -> None:
    """Refuse values that are more or fewer than the labels."""
    if n_found != n_rows:
        raise ValueError(f"{name} and y must have the same length; they have {n_found} and {n_rows} rows.")


def check_widths(name: str, widths: object) -> tuple[int, ...]:
    """Return the widths of layers as a tuple of integers, refuse anything else."""
    values = tuple(widths) if isinstance(widths, Iterable) and not isinstance(widths, str) else None
    if values is None or not all(isinstance(w, Integral) and not isinstance(w, bool) and int(w) >= 1 for w in values):
        raise ValueError(
            f"{name} must be a sequence of integers of at least 1, such as (60,) or (); {widths!r} was given."
        )
    return tuple(int(w) for w in values)


def level_to_z(level: object) -> float:
    """Two-sided normal quantile of a confidence level strictly between 0 and 1."""
    return float(ndtri(0.5 + check_share("level", level, ", such as 0.95") / 2.0))


def draw_seed(random_state: RandomState) -> int:
    """One integer from whatever scikit-learn accepts as `random_state`; no global state is touched by an int."""
    return int(check_random_state(random_state).randint(0, np.iinfo(np.int32).max))


def dense(X: Matrix) -> Floats:
    """Rows as an array, also those of a sparse matrix."""
    return np.asarray(sp.csr_matrix(X).toarray() if sp.issparse(X) else X, dtype=np.float64)


def refuse_huge(X: Matrix, name: str = "X") -> None:
    """Refuse values whose squares would overflow: distances between such rows are infinite."""
    data = np.asarray(X.data if sp.issparse(X) else X)
    if data.size == 0:
        return
    largest = max(abs(float(data.max())), abs(float(data.min())))
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"{name} has values as large as {largest:.3g}; distances between rows overflow beyond {LARGEST_VALUE:g}. "
            "Rescale the columns, for example with sklearn.preprocessing.StandardScaler."
        )


def refuse_masked(values: Any, name: str = "X") -> None:
    """Refuse a masked array in which something is masked: what is below a mask would be taken for data."""
    hidden = np.ma.count_masked(values) if isinstance(values, np.ma.MaskedArray) else 0
    if hidden:
        raise ValueError(
            f"{name} is a masked array with {hidden:,} masked value(s). Leave those rows out, or say what stands in "
            f"for them with {name}.filled(...)."
        )


@contextmanager
def words_named(X: Matrix) -> Iterator[None]:
    """Where the block cannot use a data frame: name its columns that are no numbers, and what makes numbers of them."""
    try:
        yield
    except (TypeError, ValueError):
        words = [column for column in getattr(X, "columns", ()) if not _holds_numbers(X[column])]
        if not words:
            raise
        several = "columns that are" if len(words) > 1 else "a column that is"
        listed = ", ".join(repr(word) for word in words[:5]) + (", ..." if len(words) > 5 else "")
        raise ValueError(
            f"X has {several} not numbers: {listed}. Make numbers of them first, for example with "
            "make_pipeline(purely.tables.TableEncoder(), ...)."
        ) from None


def _holds_numbers(column: Any) -> bool:
    """Whether what is not missing in a column of a data frame is numbers; dates are none."""
    drop = getattr(column, "dropna", None) or getattr(column, "drop_nulls", None)
    values = np.asarray(column if drop is None else drop())
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return values.dtype.kind not in "mM"
