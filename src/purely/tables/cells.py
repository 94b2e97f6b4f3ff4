"""What the cells of a column hold, and how they are read: numbers, truth values, dates, words, vectors.

:func:`guess` finds out once, when an encoder is fitted; :func:`read` then reads the cells of any rows in the same way.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.files import shown
from purely.typing import Floats

Kind = Literal["number", "boolean", "date", "category", "text", "vector", "sparse", "dropped"]

#: Cells that stand for a missing value.
MISSING = pa.array(["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?"])
#: Text is numeric, or a date, where at least this share of its values can be read so; the rest counts as missing.
MOSTLY = 0.95
#: Values of a column that are looked at to find out how they are written.
SAMPLE = 5000
#: A text column has at least this many words on average and this many different values; otherwise it is a category.
TEXT_WORDS, TEXT_VALUES = 4.0, 20
#: Strings of which this share are different from all others are identifiers.
UNIQUE_SHARE, UNIQUE_ROWS = 0.95, 50
#: Larger numbers overflow when squared.
LARGEST = 1e100

#: How numbers are written. "plain": as programs do; "marks": 1,234.5, 1 234 or 1'234; "comma": 3,5 or 1.234,5.
_BLANKS = "  \\x{00a0}\\x{202f}'’"
_NUMBERS = {
    "plain": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?([iI]nf(inity)?|[nN]a[nN])$",
    "marks": rf"^[+-]?(\d{{1,3}}([,{_BLANKS}]\d{{3}})+|\d+)(\.\d*)?$",
    "comma": rf"^[+-]?(\d{{1,3}}([.{_BLANKS}]\d{{3}})+|\d*)(,\d+)?([eE][+-]?\d+)?$",
}
#: How dates are written; the time of day, where there is one, follows as 14:05 or 14:05:59.
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y", "%d/%m/%y")
#: What is written with the numbers, the last letter of a form: nothing, a per cent sign, or a currency.
_MARKS = ("", "%", "¤")
_CURRENCY = r"(?:[€$£¥]|EUR|USD|GBP|CHF|JPY)"
_WRITTEN = ("typed", *(form + mark for mark in _MARKS for form in _NUMBERS))
#: How the cells of a kind of column may be written; a vector's form is its width.
FORMS: dict[str, tuple[str, ...]] = {
    "number": _WRITTEN,
    "date": ("typed", *_DATES),
    "dropped": ("", *_WRITTEN, *_DATES),
    "vector": (),
    **dict.fromkeys(("boolean", "category", "text", "sparse"), ("",)),
}
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_ID_NAME = re.compile(r"(^|[_\s.\-])(id|uuid|guid|key|index|rowid|rownum)$|^(id|uuid|unnamed.*|column 1)$|[a-z]I[dD]$")


@dataclass(frozen=True)
class Cells:
    """Cells that were read.

    Attributes
    ----------
    values : ndarray, pyarrow array or CSR matrix
        Numbers of shape (n, k) with NaN for what is missing or cannot be read; dates; texts; counts; sparse rows.
    n_missing : int
        Cells that are empty or say that nothing is known.
    """

    values: Any
    n_missing: int

    def __len__(self) -> int:
        return int(self.values.shape[0]) if sp.issparse(self.values) else len(self.values)


@dataclass(frozen=True)
class Guess:
    """What a column holds.

    Attributes
    ----------
    kind : str
    form : str
        How its cells are written, for :func:`read`.
    cells : Cells or None
    reason : str
        Why the column is dropped.
    warning : str
        What the user should look at.
    """

    kind: Kind
    form: str = ""
    cells: Cells | None = None
    reason: str = ""
    warning: str = ""


IDENTIFIER = Guess(
    "dropped",
    reason="nearly every row has a value of its own: an identifier",
    warning="it looks like an identifier and is left out",
)


def guess(name: str, column: pa.Array) -> Guess:
    """What a column holds, with its cells read."""
    column = plain(column)
    kind, form = column.type, "typed"
    if column.null_count == len(column):
        return Guess("dropped", reason="all values are missing")
    if is_text(kind):
        return _guess_text(name, column)
    if pa.types.is_boolean(kind):
        return Guess("boolean", "", read(column, "number", form))
    if _is_number(kind) or pa.types.is_decimal(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        whole = pa.types.is_integer(kind)
        unique = whole and _ID_NAME.search(name) and _is_unique(column.drop_null())
        return IDENTIFIER if unique else Guess("number", form, read(column, "number", form))
    if pa.types.is_temporal(kind):
        return Guess("date", form, read(column, "date", form))
    if pa.types.is_fixed_size_list(kind) and _is_number(kind.value_type):
        return Guess("vector", str(kind.list_size), read(column, "vector", str(kind.list_size)))
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        return Guess("sparse", "", read(column, "sparse", ""))
    return Guess("dropped", reason=f"values of type {kind} are not used", warning="its type is not supported")


def plain(column: pa.Array) -> pa.Array:
    """A column whose values stand in it, not in a dictionary beside it."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _guess_text(name: str, column: pa.Array) -> Guess:
    texts = _texts(column)
    n_missing = texts.null_count
    if n_missing == len(texts):
        return Guess("dropped", reason="all values are missing")
    known = texts.drop_null()
    sample = known if len(known) <= SAMPLE else known.take(pa.array(np.linspace(0, len(known) - 1, SAMPLE, dtype=int)))
    form, share, doubt = _number_form(sample)
    if form:
        numbers = _numbers_of_text(texts, form)
        if _ID_NAME.search(name) and share == 1.0 and _is_unique(known):
            return IDENTIFIER
        odd = np.flatnonzero(np.isnan(numbers) & texts.is_valid().to_numpy(zero_copy_only=False))
        if odd.size:
            example = shown(texts[int(odd[0])].as_py(), 20)
            doubt = (
                f"{odd.size / len(known):.1%} of its values are not numbers (such as {example!r}) and count as missing"
            )
        return Guess("number", form, Cells(numbers[:, None], n_missing), warning=doubt)
    met = {word.lower() for word in pc.unique(sample).to_pylist()}
    true, false = met & {*_TRUE[:4]}, met & {*_FALSE[:4]}
    if true and false and met == true | false:
        return Guess("boolean", "", Cells(_truth(texts)[:, None], n_missing))
    form, doubt = _date_form(sample)
    if form:
        return Guess("date", form, Cells(_dates_of_text(texts, form), n_missing), warning=doubt)
    words = pc.mean(pc.count_substring_regex(sample, r"\S+")).as_py()
    if words >= TEXT_WORDS and pc.count_distinct(sample).as_py() >= min(TEXT_VALUES, len(sample)):
        return Guess("text", "", Cells(texts, n_missing))
    if _is_unique(known):
        return IDENTIFIER
    return Guess("category", "", Cells(texts, n_missing))


def _is_unique(values: pa.Array) -> bool:
    return len(values) >= UNIQUE_ROWS and pc.count_distinct(values).as_py() > UNIQUE_SHARE * len(values)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or "string_view" in str(kind)


def read(column: pa.Array, kind: Kind, form: str) -> Cells:
    """The cells of any rows of a column whose kind is known."""
    column = plain(column)
    if kind == "vector":
        return _vectors(column, int(form))
    if kind == "sparse":
        return _sparse_rows(column)
    if is_text(column.type) or kind in ("category", "text"):
        texts = _texts(column)
        if kind in ("category", "text"):
            values = texts
        elif kind == "date":
            values = _dates_of_text(texts, _DATES[0] if form == "typed" else form)
        else:
            values = (_truth(texts) if kind == "boolean" else _numbers_of_text(texts, form))[:, None]
        return Cells(values, texts.null_count)
    if kind == "date":
        return Cells(_dates(column), column.null_count)
    numbers = _numbers(column)
    nans = np.count_nonzero(np.isnan(numbers)) if pa.types.is_floating(column.type) else column.null_count
    return Cells(numbers[:, None], int(nans))


def _texts(column: pa.Array) -> pa.Array:
    """Cells as text without blanks around it; what stands for a missing value is null."""
    if not pa.types.is_string(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            column = pa.array([None if v is None else str(v) for v in column.to_pylist()], type=pa.string())
    trimmed = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(trimmed, value_set=MISSING), None, trimmed)


# -- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(column: pa.Array) -> Floats:
    """Numbers of a column that is not text."""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        column = column.cast(pa.float64(), safe=False)
    elif pa.types.is_duration(kind) or pa.types.is_time(kind):
        column = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    elif not _is_number(kind):
        return np.full(len(column), np.nan)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _numbers_of_text(texts: pa.Array, form: str) -> Floats:
    percent, written = form.endswith("%"), "plain" if form == "typed" else form.rstrip("%¤")
    if form.endswith("¤"):
        texts = pc.replace_substring_regex(texts, r"^\((.*)\)$", r"-\1")  # below zero, in accounting
        texts = pc.replace_substring_regex(texts, rf"^([+-]?)\s*{_CURRENCY}\s*", r"\1")
        texts = pc.replace_substring_regex(texts, rf"\s*{_CURRENCY}$", "")
    if percent:
        marked = pc.if_else(pc.ends_with(texts, "%"), texts, None)
        texts = pc.utf8_trim_whitespace(pc.utf8_rtrim(marked, characters="%"))
    if written == "plain":
        with suppress(pa.ArrowException):  # some are no numbers
            return _scaled(texts.cast(pa.float64()), percent)
    fitting = pc.if_else(pc.match_substring_regex(texts, _NUMBERS[written]), texts, None)
    if written != "plain":
        marks = rf"[{',' if written == 'marks' else '.'}{_BLANKS}]"
        fitting = pc.replace_substring(pc.replace_substring_regex(fitting, marks, ""), ",", ".")
    fitting = pc.if_else(pc.is_in(fitting, value_set=pa.array(["", "+", "-"])), None, fitting)
    return _scaled(fitting.cast(pa.float64()), percent)


def _scaled(numbers: pa.Array, percent: bool) -> Floats:
    values = np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    return values / 100.0 if percent else values


def _number_form(sample: pa.Array) -> tuple[str, float, str]:
    """How numbers are written ("" where too few values are any), the share that are, and a doubt in words."""
    of_money = pc.any(pc.match_substring_regex(sample, rf"^\(.*\)$|^[+-]?\s*{_CURRENCY}|{_CURRENCY}$")).as_py()
    percent = pc.mean(pc.ends_with(sample, "%").cast(pa.int8())).as_py() >= MOSTLY
    mark = "%" if percent else "¤" if of_money else ""
    found = {form: _numbers_of_text(sample, form + mark) for form in _NUMBERS}
    share = {form: float(np.mean(~np.isnan(values))) for form, values in found.items()}
    best = max(share, key=lambda form: share[form])  # of equal ones the first
    if share[best] < MOSTLY:
        return "", 0.0, ""
    doubt = ""
    if (
        best == "marks"
        and share["comma"] == share["marks"]
        and not np.array_equal(found["comma"], found["marks"], True)
    ):
        doubt = "its commas are read as thousands marks; as decimal commas the numbers would be a thousandth"
    return best + mark, share[best], doubt


def _truth(texts: pa.Array) -> Floats:
    lower = pc.utf8_lower(texts)
    true, false = (
        pc.is_in(lower, value_set=pa.array(words)).to_numpy(zero_copy_only=False) for words in (_TRUE, _FALSE)
    )
    return np.where(true, 1.0, np.where(false, 0.0, np.nan))


# -- dates ------------------------------------------------------------------------------------------------------------


def _dates(column: pa.Array) -> NDArray[np.datetime64]:
    """Dates of a column that is not text."""
    if pa.types.is_temporal(column.type):
        with suppress(pa.ArrowException):
            return np.asarray(column.cast(pa.timestamp("s"), safe=False).to_numpy(zero_copy_only=False))
    return np.full(len(column), np.datetime64("NaT", "s"))


def _dates_of_text(texts: pa.Array, form: str) -> NDArray[np.datetime64]:
    if form == _DATES[0]:  # the usual form has a fast reader of its own
        with suppress(pa.ArrowException):
            return _dates(texts.cast(pa.timestamp("us")))
    # a four-digit year is asked for, since %Y takes "24" for the year 24; seconds' parts and time zones are left out
    year = r"(^|\D)\d{4}(\D|$)" if "%Y" in form else r"^\d{1,2}\D\d{1,2}\D\d\d(\D|$)"
    dated = pc.if_else(pc.match_substring_regex(texts, year), texts, None)
    dated = pc.replace_substring_regex(dated, r"[T ]+(\d{1,2}:\d\d(:\d\d)?)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?$", r" \1")
    found = pc.strptime(dated, format=form, unit="s", error_is_null=True)
    for time in (" %H:%M:%S", " %H:%M"):
        if found.null_count > texts.null_count:
            found = pc.coalesce(found, pc.strptime(dated, format=form + time, unit="s", error_is_null=True))
    return _dates(found)


def _date_form(sample: pa.Array) -> tuple[str, str]:
    """The form of date that (nearly) all values have ("" where none is), and a doubt in words."""
    if not re.match(r"\d{1,4}[-/.]\d", sample[0].as_py()):
        return "", ""
    share = {form: float(np.mean(~np.isnat(_dates_of_text(sample, form)))) for form in _DATES}
    best = max(share, key=lambda form: share[form])
    if share[best] < MOSTLY:
        return "", ""
    american = best.lower() == "%m/%d/%y"
    doubt = "its dates are read as month/day/year; day/month/year would fit too"
    if not american or share[best.replace("%m/%d", "%d/%m")] < share[best]:
        doubt = "" if "%Y" in best else "its years have two digits and are read as 1969 to 2068"
    return best, doubt


# -- vectors ----------------------------------------------------------------------------------------------------------


def _vectors(column: pa.Array, width: int) -> Cells:
    values = np.full((len(column), width), np.nan)
    if not pa.types.is_fixed_size_list(column.type) or column.type.list_size != width:
        return Cells(values, 0)
    known = ~np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    values[known] = _numbers(column.flatten()).reshape(-1, width)
    return Cells(values, column.null_count)


def _sparse_rows(column: pa.Array) -> Cells:
    """Sparse rows as a matrix as wide as its largest index says: a sparse matrix of any width takes no more room."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    pairs = column.flatten()
    indices = np.asarray(pairs.field("index").to_numpy(zero_copy_only=False), dtype=np.int64)
    values = _numbers(pairs.field("value"))
    inside = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    width = int(indices.max(initial=-1)) + 1
    kept = np.where(inside, values, 0.0), np.where(inside, indices, 0), indptr
    return Cells(sp.csr_matrix(kept, shape=(len(column), width)), column.null_count)
