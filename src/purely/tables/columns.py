"""One column: what an encoder keeps of it, and how cells become features with that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from purely.files import shown
from purely.tables.cells import FORMS, LARGEST, Cells, Kind, guess, read
from purely.typing import Floats, Matrix

Places = NDArray[np.int64]

#: Columns that vary by less are not scaled.
SMALLEST = 1e-150
#: Parts of a date.
_PARTS = ("year", "month", "day of week", "hour", "elapsed days")
_SCALED = ("places", "fill", "centre", "scale", "missing")
#: What the plan of a kind of column has; all else is empty.
_HELD = {
    "category": ("levels", "other", "missing"),
    "text": ("levels", "weights"),
    "sparse": ("places",),
    "dropped": (),
    **dict.fromkeys(("number", "boolean", "date", "vector"), _SCALED),
}


@dataclass(frozen=True)
class Settings:
    """What :class:`purely.tables.TableEncoder` is told; see there."""

    max_levels: int
    min_count: int
    max_words: int
    scale: bool


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """How the values of one column become features.

    Attributes
    ----------
    name : str
    kind : {"number", "boolean", "date", "category", "text", "vector", "sparse", "dropped"}
    action : str
        In words, for a reader.
    warning : str
        What to look at; empty where all is well.
    n_missing : int
    form : str
        How its cells are written.
    missing : bool
        Whether a feature says that the value is missing.
    places : ndarray of int
        Of dates the parts that are used, of vectors and sparse rows the columns.
    fill, centre, scale : ndarray of float
        Of each place: what a missing value becomes, what is subtracted then, and what it is divided by.
    origin : int
        The first date, in seconds since 1970.
    levels : tuple of str
        Of categories the levels, of text the words.
    other : bool
        Whether rare and unseen levels share a feature.
    weights : ndarray of float
        Of words the inverse document frequencies.

    Examples
    --------
    >>> import pandas as pd
    >>> from purely.tables import TableEncoder
    >>> encoder = TableEncoder().fit(pd.DataFrame({"city": ["Rome", "Oslo", "Rome", "Oslo"]}))
    >>> plan = encoder.report_.columns[0]
    >>> plan.name, plan.kind, plan.levels
    ('city', 'category', ('Oslo', 'Rome'))
    """

    name: str
    kind: Kind
    action: str = ""
    warning: str = ""
    n_missing: int = 0
    form: str = ""
    missing: bool = False
    places: Places = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    fill: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    centre: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    scale: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    origin: int = 0
    levels: tuple[str, ...] = ()
    other: bool = False
    weights: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    def check(self) -> None:
        """Refuse a plan that no column has: one that comes from a file may say anything."""
        places, levels = self.places, self.levels
        width = {"number": 1, "boolean": 1, "date": len(_PARTS), "vector": places.size, "sparse": 2**31}
        last = width.get(self.kind, 0) - 1
        forms = (str(places.size),) if self.kind == "vector" else FORMS[self.kind]
        sizes = {self.fill.size, self.centre.size, self.scale.size}
        right = not places.size or (places[0] >= 0 and places[-1] <= last and (np.diff(places) > 0).all())
        faults = {"it is written in a way that its kind does not know": self.form not in forms}
        faults |= {
            f"it has {name}, which its kind has not": np.size(held := getattr(self, name)) > 0 and held is not False
            for name in {"levels", "other", "weights", *_SCALED} - {*_HELD[self.kind]}
        }
        faults |= {
            "it has another width than it says": sizes != {0 if self.kind == "sparse" else places.size},
            "it has parts that its kind has not": not right,
            "it has another number of words than it says": self.kind == "text" and self.weights.size != len(levels),
            "it has a level or a word twice": len(set(levels)) < len(levels),
        }
        for words, wrong in faults.items():
            if wrong:
                raise ValueError(words)

    @property
    def n_features(self) -> int:
        """Columns of the matrix that it gives."""
        return len(self.places) + len(self.levels) + self.other + self.missing

    @property
    def features(self) -> list[str]:
        """A name for each of them."""
        name = self.name
        if self.kind in ("number", "boolean"):
            found = [name] * len(self.places)
        elif self.kind == "date":
            found = [f"{name} {_PARTS[j]}" for j in self.places]
        elif self.kind == "vector":
            found = [f"{name}[{j}]" for j in self.places]
        elif self.kind == "sparse":
            found = [f"x{j + 1}" if name == "features" else f"{name} x{j + 1}" for j in self.places]
        else:
            mark = ": " if self.kind == "text" else "="
            found = [f"{name}{mark}{shown(level, 60)}" for level in self.levels]
        return found + [f"{name}=(other)"] * self.other + [f"{name} is missing"] * self.missing


@dataclass(frozen=True)
class Block:
    """Features of a column's cells, and how many values did not occur in `fit` or could not be read."""

    features: Matrix
    n_unseen: int = 0
    n_unreadable: int = 0


# -- fit --------------------------------------------------------------------------------------------------------------


def fit_column(name: str, column: pa.Array, settings: Settings) -> tuple[ColumnPlan, Cells]:
    """What becomes of a column, and its cells."""
    found = guess(name, column)
    plan = ColumnPlan(name, found.kind, f"dropped: {found.reason}", found.warning, int(column.null_count), found.form)
    cells = found.cells
    if cells is None:
        return plan, Cells(None, plan.n_missing)
    plan = replace(plan, n_missing=cells.n_missing)
    if plan.kind == "text":
        plan, cells = _fit_text(plan, cells, settings)
    else:
        fitters = {"category": _fit_category, "sparse": _fit_sparse}
        plan = fitters.get(plan.kind, _fit_numbers)(plan, cells.values, settings)
    if not plan.n_features:
        plan = replace(plan, kind="dropped", action=f"dropped: {plan.action}")
    return plan, cells


def _fit_numbers(plan: ColumnPlan, values: np.ndarray, settings: Settings) -> ColumnPlan:
    """Numbers, truth values, the parts of dates, vectors: all are numbers with holes."""
    if plan.kind == "date":
        known = values[~np.isnat(values)]
        plan = replace(plan, origin=int(known.min().astype(np.int64)) if known.size else 0)
        values = _date_parts(values, plan.origin)
    n, width = values.shape
    usable = np.abs(values) <= LARGEST
    n_missing = int(n - usable.all(axis=1).sum())
    infinite = int(np.count_nonzero(~usable & ~np.isnan(values)))
    if plan.kind == "vector":
        zeros, ones = np.zeros(width), np.ones(width)
        places = np.arange(width)
        return replace(plan, action=f"{width} numbers a row", places=places, fill=zeros, centre=zeros, scale=ones)
    if not usable.any():
        return replace(plan, action=f"no usable {plan.kind}", n_missing=n_missing)
    whole = np.where(usable, values, np.nan)
    places = np.flatnonzero(np.nanmax(whole, axis=0) > np.nanmin(whole, axis=0))
    missing = n_missing > 0 and (places.size > 0 or plan.kind != "date")
    fill = np.nanmedian(whole[:, places], axis=0)
    filled = np.where(usable[:, places], values[:, places], fill)
    centre, scale = np.zeros(places.size), np.ones(places.size)
    if settings.scale and places.size:
        centre, scale = filled.mean(axis=0), filled.std(axis=0)
        scale[scale < SMALLEST] = 1.0  # dividing by the least numbers that there are gives infinities
    plan = replace(plan, missing=missing, n_missing=n_missing, places=places, fill=fill, centre=centre, scale=scale)
    return replace(plan, action=_said_of_numbers(plan, n, infinite))


def _said_of_numbers(plan: ColumnPlan, n: int, infinite: int) -> str:
    lost = [f"{_share(plan.n_missing, n)} missing"] if plan.missing else []
    if plan.kind == "date":
        parts = ", ".join(_PARTS[j] for j in plan.places)
        return "; ".join([parts, *lost]) if parts else "one date in every row"
    if plan.missing and plan.places.size:
        lost = [f"{lost[0]}, set to the median {plan.fill[0]:g}"]
    if infinite:
        lost.append(f"{infinite:,} infinite or beyond 1e100, taken as missing")
    if not plan.places.size:
        return "only whether it is missing: " + "; ".join(lost) if lost else "one value in every row"
    written = {"marks": "thousands marks (1,234.5)", "comma": "decimal commas (3,5)"}
    form = plan.form.rstrip("%¤")
    marks = {"%": ["per cent"], "¤": ["currency"]}.get(plan.form[-1:], [])
    said = marks + [text for known, text in written.items() if form == known] + lost
    return "; ".join(said) or ("0 and 1" if plan.kind == "boolean" else "as it is")


def _share(count: int, n: int) -> str:
    return f"{count / n:.1%}" if count >= 0.001 * n else f"{count:,}"


def _date_parts(dates: NDArray[np.datetime64], first: int) -> Floats:
    """Year, month, day of the week (Monday 0), hour, days since the first date of the table."""
    days = dates.astype("datetime64[D]")
    parts = np.stack(
        [
            dates.astype("datetime64[Y]").astype(np.int64) + 1970.0,
            dates.astype("datetime64[M]").astype(np.int64) % 12 + 1.0,
            (days.astype(np.int64) + 3) % 7 + 0.0,
            (dates - days).astype(np.int64) // 3600 + 0.0,
            (dates.astype(np.int64).astype(np.float64) - first) / 86400.0,
        ],
        axis=1,
    )
    parts[np.isnat(dates)] = np.nan
    return parts


def _fit_category(plan: ColumnPlan, texts: pa.Array, settings: Settings) -> ColumnPlan:
    n, missing = len(texts), texts.null_count
    counted = ((str(item["values"]), int(item["counts"])) for item in pc.value_counts(texts.drop_null()).to_pylist())
    levels = sorted(counted, key=lambda level: (-level[1], level[0]))
    # A level of a small table needs fewer rows; twice is the least that can recur.
    least = max(2, min(settings.min_count, n // 1000 + 2))
    kept = sorted(level for level, count in levels[: settings.max_levels] if count >= least)
    if len(levels) == 1 and not missing:
        return replace(plan, action="one value in every row")
    if not kept:
        return replace(plan, action=f"none of its {len(levels):,} levels recurs often enough")
    others = len(levels) - len(kept)
    text = f"{len(kept)} level{'s' if len(kept) != 1 else ''}" + (f", {others:,} rarer ones together" if others else "")
    text += f"; {_share(missing, n)} missing" if missing else ""
    return replace(plan, action=text, levels=tuple(kept), other=others > 0, missing=missing > 0)


def _fit_text(plan: ColumnPlan, cells: Cells, settings: Settings) -> tuple[ColumnPlan, Cells]:
    texts = cells.values.fill_null("").to_pylist()
    vectoriser = CountVectorizer(max_features=settings.max_words, min_df=2 if len(texts) >= 20 else 1)
    try:
        counts = sp.csr_matrix(vectoriser.fit_transform(texts))
    except ValueError:  # no word is left
        return replace(plan, action="no word recurs"), cells
    words = tuple(vectoriser.get_feature_names_out().tolist())
    in_texts = np.bincount(counts.indices, minlength=len(words))
    weights = np.log((1.0 + len(texts)) / (1.0 + in_texts)) + 1.0  # tf-idf as scikit-learn has it
    lost = f"; {_share(cells.n_missing, len(texts))} missing, taken as empty" if cells.n_missing else ""
    plan = replace(plan, action=f"tf-idf of {len(words):,} words{lost}", levels=words, weights=weights)
    return plan, Cells(counts, cells.n_missing)


def _fit_sparse(plan: ColumnPlan, rows: sp.csr_matrix, settings: Settings) -> ColumnPlan:
    """Columns that occur: what an index may be is not bounded, what is built is bounded by what the file holds."""
    places = np.unique(rows.indices).astype(np.int64)
    if not places.size:
        return replace(plan, action="all rows are empty")
    filled = rows.nnz / (rows.shape[0] * places.size)
    return replace(plan, action=f"sparse rows of {places.size:,} numbers, {filled:.1%} of them not zero", places=places)


# -- encode -----------------------------------------------------------------------------------------------------------


def read_column(plan: ColumnPlan, column: pa.Array) -> Cells:
    """The cells of new rows, read as those of the fit were."""
    cells = read(column, plan.kind, plan.form)
    if plan.kind != "text":
        return cells
    counter = CountVectorizer(vocabulary=plan.levels)
    return Cells(sp.csr_matrix(counter.transform(cells.values.fill_null("").to_pylist())), cells.n_missing)


def encode_column(plan: ColumnPlan, cells: Cells) -> Block:
    """Features of cells, as an array or a CSR matrix."""
    encoders = {"category": _encode_category, "text": _encode_text, "sparse": _encode_sparse}
    return encoders.get(plan.kind, _encode_numbers)(plan, cells)


def _encode_numbers(plan: ColumnPlan, cells: Cells) -> Block:
    values = _date_parts(cells.values, plan.origin) if plan.kind == "date" else cells.values
    out = np.zeros((len(values), plan.n_features))
    usable = np.abs(values[:, plan.places if plan.places.size else [0]]) <= LARGEST  # NaN is in no range
    filled = np.where(usable, values[:, plan.places], plan.fill)
    out[:, : plan.places.size] = (filled - plan.centre) * (1.0 / plan.scale)
    lost = ~usable.all(axis=1)
    if plan.missing:
        out[:, -1] = lost
    return Block(out, n_unreadable=max(0, int(lost.sum()) - cells.n_missing))


def _encode_category(plan: ColumnPlan, cells: Cells) -> Block:
    place = pc.index_in(cells.values, value_set=pa.array(plan.levels, type=pa.string()))
    codes = np.asarray(pc.fill_null(place, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    absent = np.asarray(cells.values.is_null().to_numpy(zero_copy_only=False))
    unknown = (codes < 0) & ~absent
    if plan.other:  # an unseen level is a rare one as far as anyone knows
        codes[unknown] = len(plan.levels)
    if plan.missing:
        codes[absent] = plan.n_features - 1
    told = codes >= 0
    indptr = np.concatenate([[0], np.cumsum(told)])
    block = sp.csr_matrix((np.ones(indptr[-1]), codes[told], indptr), shape=(len(codes), plan.n_features))
    return Block(block, n_unseen=0 if plan.other else int(unknown.sum()))


def _encode_text(plan: ColumnPlan, cells: Cells) -> Block:
    return Block(sp.csr_matrix(normalize(cells.values.astype(np.float64) @ sp.diags(plan.weights))))


def _encode_sparse(plan: ColumnPlan, cells: Cells) -> Block:
    rows = cells.values
    at = np.minimum(np.searchsorted(plan.places, rows.indices), plan.places.size - 1)
    known = plan.places[at] == rows.indices
    good = np.abs(rows.data) <= LARGEST
    kept = known & good
    indptr = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    block = sp.csr_matrix((rows.data[kept], at[kept], indptr), shape=(rows.shape[0], plan.places.size))
    return Block(block, int(np.count_nonzero(~known)), int(np.count_nonzero(~good)))
