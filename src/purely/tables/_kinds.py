"""What a column holds: numbers, truth values, dates, categories, text, vectors, or nothing of use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["DATE_FORMATS", "Guess", "guess_kind", "to_dates", "to_numbers"]

Floats = NDArray[np.float64]

#: Text is numeric, or a date, where at least this share of its values can be read so; the rest counts as missing.
MOSTLY = 0.95
#: A text column has at least this many words on average and this many different values; otherwise it is a category.
TEXT_WORDS, TEXT_VALUES = 4.0, 20
#: Strings of which this share are different from all others are identifiers.
UNIQUE_SHARE, UNIQUE_ROWS = 0.95, 50
#: Forms of dates beside ISO 8601.
DATE_FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M")
#: Larger numbers overflow when squared.
LARGEST = 1e100

_TRUE, _FALSE = {"true", "t", "yes", "y"}, {"false", "f", "no", "n"}
_ID_NAME = re.compile(r"(^|[_\s.\-])(id|uuid|guid|key|index|rowid|rownum)$|^(id|uuid|unnamed.*|column 1)$|[a-z]I[dD]$")


@dataclass(frozen=True)
class Guess:
    """A column's kind, with what its reader has to know.

    Attributes
    ----------
    kind : str
        "number", "boolean", "date", "category", "text", "vector", "sparse" or "dropped".
    detail : dict
        For example the date format.
    reason : str
        Why the column is dropped.
    warning : str
        What the user should look at.
    """

    kind: str
    detail: dict[str, Any]
    reason: str = ""
    warning: str = ""


def guess_kind(name: str, column: Any) -> Guess:
    """What a column (an Arrow array) holds."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return guess_kind(name, column.cast(kind.value_type))
    if column.null_count == len(column):
        return Guess("dropped", {}, reason="all values are missing")
    if pa.types.is_boolean(kind):
        return Guess("boolean", {})
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _guess_number(name, column)
    if pa.types.is_temporal(kind) and not (pa.types.is_duration(kind) or pa.types.is_time(kind)):
        return Guess("date", {"format": "arrow"})
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        return Guess("number", {"lenient": False})
    if pa.types.is_fixed_size_list(kind) and _is_number_type(kind.value_type):
        return Guess("vector", {"width": kind.list_size})
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        return Guess("sparse", {})
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or "string_view" in str(kind):
        return _guess_text(name, column)
    return Guess("dropped", {}, reason=f"values of type {kind} are not used", warning="its type is not supported")


def _is_number_type(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _guess_number(name: str, column: Any) -> Guess:
    if pa.types.is_integer(column.type) and _ID_NAME.search(name):
        values = column.drop_null()
        if len(values) >= UNIQUE_ROWS and pc.count_distinct(values).as_py() > UNIQUE_SHARE * len(values):
            return _identifier()
    return Guess("number", {"lenient": False})


def _identifier() -> Guess:
    return Guess(
        "dropped",
        {"identifier": True},
        reason="nearly every row has a value of its own: an identifier",
        warning="it looks like an identifier; name it with --id to carry it to the output",
    )


def _guess_text(name: str, column: Any) -> Guess:
    values = pc.utf8_trim_whitespace(column.cast(pa.string()).drop_null())
    distinct = pc.unique(values)
    sample = values if len(values) <= 20_000 else values.take(pa.array(_spread(len(values), 20_000)))
    numbers = to_numbers(sample)
    share = float(np.mean(~np.isnan(numbers))) if len(sample) else 0.0
    if share >= MOSTLY:
        whole = np.isfinite(numbers).all() and bool((numbers == np.round(numbers)).all())
        unique = len(values) >= UNIQUE_ROWS and len(distinct) > UNIQUE_SHARE * len(values)
        if whole and unique and _ID_NAME.search(name):
            return _identifier()
        exact = share == 1.0 and not np.isnan(to_numbers(values)).any()
        odd = "" if exact else f"{1 - share:.1%} of its values are not numbers and count as missing"
        return Guess("number", {"lenient": not exact}, warning=odd)
    if len(distinct) <= 8:
        words = {str(v).casefold() for v in distinct.to_pylist()}
        if words <= _TRUE | _FALSE and words & _TRUE and words & _FALSE:
            return Guess("boolean", {"words": True})
    form, ambiguous = _date_format(sample)
    if form:
        doubt = "its dates are read as month/day/year; day/month/year would fit too" if ambiguous else ""
        return Guess("date", {"format": form}, warning=doubt)
    words_each = float(np.mean([len(str(t).split()) for t in sample.to_pylist()]))
    if words_each >= TEXT_WORDS and len(distinct) >= TEXT_VALUES:
        return Guess("text", {"words": round(words_each, 1)})
    if len(values) >= UNIQUE_ROWS and len(distinct) > UNIQUE_SHARE * len(values):
        return _identifier()
    return Guess("category", {})


def _spread(n: int, k: int) -> NDArray[np.int64]:
    return np.linspace(0, n - 1, k).astype(np.int64)


def to_numbers(column: Any) -> Floats:
    """Numbers from text or from any numeric column; NaN where a value is missing or is no number."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_number_type(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    if pa.types.is_boolean(column.type):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        if pa.types.is_duration(column.type) or pa.types.is_time(column.type):
            column = column.cast(pa.int32() if pa.types.is_time32(column.type) else pa.int64())
        try:
            return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        except pa.ArrowException:
            return np.full(len(column), np.nan)
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        return np.asarray(trimmed.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowException:
        return np.fromiter((_number(t) for t in trimmed.to_pylist()), dtype=np.float64, count=len(trimmed))


def _number(text: str | None) -> float:
    try:
        return float(text) if text is not None and "_" not in text else np.nan
    except ValueError:
        return np.nan


def _date_format(values: Any) -> tuple[str, bool]:
    """The one form of date that (nearly) all values have, and whether another fits as well."""
    first = str(values[0].as_py()) if len(values) else ""
    if not re.match(r"\d{1,4}[-/.]\d", first):
        return "", False
    share = {form: _share_of_dates(values, form) for form in ("iso", *DATE_FORMATS)}
    fitting = [form for form, part in share.items() if part >= MOSTLY]
    if not fitting:
        return "", False
    best = max(fitting, key=lambda form: share[form])
    return best, best == "%m/%d/%Y" and share["%d/%m/%Y"] == share[best]


def _share_of_dates(values: Any, form: str) -> float:
    return float(np.mean(~np.isnat(to_dates(values, form))))


def to_dates(column: Any, form: str) -> NDArray[np.datetime64]:
    """Dates as ``datetime64[s]``; NaT where a value is missing or is no date of that form."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_temporal(column.type):
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp(column.type.unit))
        try:
            seconds = column.cast(pa.timestamp("s"), safe=False)
        except pa.ArrowException:
            return np.full(len(column), np.datetime64("NaT"), dtype="datetime64[s]")
    else:
        seconds = _parsed_dates(column, "iso" if form == "arrow" else form)
    return np.asarray(seconds.to_numpy(zero_copy_only=False)).astype("datetime64[s]")


def _parsed_dates(column: Any, form: str) -> Any:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return pa.nulls(len(column), pa.timestamp("s"))
    text = pc.utf8_trim_whitespace(column)
    if form != "iso":
        return pc.strptime(text, format=form, unit="s", error_is_null=True)
    try:
        return text.cast(pa.timestamp("us")).cast(pa.timestamp("s"), safe=False)
    except pa.ArrowException:
        return pa.array([_iso(t) for t in text.to_pylist()], type=pa.timestamp("s"))


def _iso(text: str | None) -> Any:
    import datetime

    try:
        found = datetime.datetime.fromisoformat(text) if text and len(text) >= 8 and "-" in text else None
    except ValueError:
        return None
    return found.replace(tzinfo=None, microsecond=0) if found else None
