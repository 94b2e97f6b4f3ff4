"""One column at a time: what `fit` keeps of it as a plain dictionary, and how rows are encoded with that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.tables._errors import shown
from purely.tables._kinds import LARGEST, guess_kind, to_dates, to_numbers

if TYPE_CHECKING:
    from purely.tables.encoder import ColumnPlan

__all__ = ["Done", "encode_column", "fit_column"]

Floats = NDArray[np.float64]
Plan = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """A column's features, where they were not written into a given array, and counts of what was ignored."""

    block: Any = None
    unseen: int = 0
    unreadable: int = 0


# -- fit --------------------------------------------------------------------------------------------------------------


def fit_column(name: str, column: Any, settings: dict[str, Any]) -> tuple[Plan, ColumnPlan]:
    """State of a column's encoding, and what is said about it."""
    from purely.tables.encoder import ColumnPlan

    guess = guess_kind(name, column)
    missing = int(column.null_count)
    if guess.kind == "dropped":
        return _dropped(name), ColumnPlan(name, "dropped", 0, missing, f"dropped: {guess.reason}", guess.warning)
    fitter = {
        "number": _fit_numbers,
        "boolean": _fit_numbers,
        "date": _fit_dates,
        "category": _fit_category,
        "text": _fit_text,
        "vector": _fit_vector,
        "sparse": _fit_sparse,
    }[guess.kind]
    plan: Plan = {"name": name, "kind": guess.kind, "lenient": False, **guess.detail}
    action = fitter(plan, column, settings)
    missing = plan.get("n_missing", missing)
    if not plan["n_features"]:
        return _dropped(name), ColumnPlan(name, "dropped", 0, missing, f"dropped: {action}", guess.warning)
    return plan, ColumnPlan(name, guess.kind, plan["n_features"], missing, action, guess.warning)


def _dropped(name: str) -> Plan:
    return {"name": name, "kind": "dropped", "n_features": 0}


def _fit_numbers(plan: Plan, column: Any, settings: dict[str, Any]) -> str:
    values = _boolean_numbers(column) if plan.get("words") else to_numbers(column)
    usable = np.abs(values) <= LARGEST
    known = values[usable]
    infinite = int(np.count_nonzero(~usable & ~np.isnan(values)))
    plan["n_missing"] = int(values.size - known.size)
    if known.size == 0 or (np.ptp(known) == 0.0 and not 0 < plan["n_missing"] < values.size):
        plan["n_features"] = 0
        return "one value in every row" if known.size else "no usable number"
    plan["median"] = float(np.median(known))
    filled = np.where(usable, values, plan["median"])
    plan["mean"], plan["std"] = _standard(filled, settings["scale"])
    plan["missing"] = plan["n_missing"] > 0
    varies = np.ptp(known) > 0.0
    plan["varies"] = varies
    plan["features"] = [
        *([plan["name"]] if varies else []),
        *([f"{plan['name']} is missing"] if plan["missing"] else []),
    ]
    plan["n_features"] = len(plan["features"])
    parts = []
    if plan["missing"]:
        parts.append(f"{_share(plan['n_missing'], values.size)} missing, set to the median {plan['median']:g}")
    if infinite:
        parts.append(f"{infinite:,} infinite or beyond 1e100, taken as missing")
    if not varies:
        return "only whether it is missing: " + "; ".join(parts)
    return "; ".join(parts) or ("0 and 1" if plan["kind"] == "boolean" else "as it is")


def _boolean_numbers(column: Any) -> Floats:
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
    true = pc.is_in(lower, value_set=pa.array(["true", "t", "yes", "y", "1"]))
    false = pc.is_in(lower, value_set=pa.array(["false", "f", "no", "n", "0"]))
    values = np.where(true.to_numpy(zero_copy_only=False), 1.0, np.nan)
    return np.where(false.to_numpy(zero_copy_only=False), 0.0, values)


def _standard(values: Floats, scale: bool) -> tuple[float, float]:
    """Mean and standard deviation to take out; 0 and 1 where columns are left as they are."""
    if not scale:
        return 0.0, 1.0
    return float(values.mean()), float(values.std()) or 1.0


def _share(count: int, n: int) -> str:
    share = count / n
    return f"{share:.1%}" if share >= 0.001 else f"{count:,}"


_PARTS = ("year", "month", "day of week", "hour", "elapsed days")


def _fit_dates(plan: Plan, column: Any, settings: dict[str, Any]) -> str:
    dates = to_dates(column, plan["format"])
    known = dates[~np.isnat(dates)]
    plan["n_missing"] = int(dates.size - known.size)
    if known.size == 0:
        plan["n_features"] = 0
        return "no usable date"
    plan["first"] = int(known.min().astype(np.int64))
    parts = _date_parts(dates, plan["first"])
    kept = [j for j in range(len(_PARTS)) if np.nanmax(parts[:, j]) > np.nanmin(parts[:, j])]
    plan["parts"] = kept
    plan["medians"] = np.nanmedian(parts[:, kept], axis=0) if kept else np.zeros(0)
    filled = np.where(np.isnan(parts[:, kept]), plan["medians"], parts[:, kept])
    moments = [_standard(filled[:, j], settings["scale"]) for j in range(len(kept))]
    plan["mean"], plan["std"] = np.array([m for m, _ in moments]), np.array([s for _, s in moments])
    plan["missing"] = plan["n_missing"] > 0
    named = [f"{plan['name']} {_PARTS[j]}" for j in kept]
    plan["features"] = [*named, *([f"{plan['name']} is missing"] if plan["missing"] and named else [])]
    plan["n_features"] = len(plan["features"])
    if not named:
        return "one date in every row"
    text = ", ".join(_PARTS[j] for j in kept)
    return text + (f"; {_share(plan['n_missing'], dates.size)} missing" if plan["missing"] else "")


def _date_parts(dates: NDArray[np.datetime64], first: int) -> Floats:
    """Year, month, day of the week (Monday 0), hour, days since the first date of the table."""
    empty = np.isnat(dates)
    days = dates.astype("datetime64[D]")
    seconds = dates.astype(np.int64).astype(np.float64)
    parts = np.stack(
        [
            dates.astype("datetime64[Y]").astype(np.int64) + 1970.0,
            dates.astype("datetime64[M]").astype(np.int64) % 12 + 1.0,
            (days.astype(np.int64) + 3) % 7 + 0.0,
            (dates - days).astype(np.int64) // 3600 + 0.0,
            (seconds - first) / 86400.0,
        ],
        axis=1,
    )
    parts[empty] = np.nan
    return parts


def _fit_category(plan: Plan, column: Any, settings: dict[str, Any]) -> str:
    counted = pc.value_counts(_texts(column).drop_null())
    levels = sorted(
        ((str(item["values"]), int(item["counts"])) for item in counted.to_pylist()), key=lambda lc: (-lc[1], lc[0])
    )
    n = len(column)
    # A level of a small table needs fewer rows; twice is the least that can recur.
    least = max(2, min(settings["min_count"], n // 1000 + 2))
    kept = sorted(level for level, count in levels[: settings["max_levels"]] if count >= least)
    others = len(levels) - len(kept)
    missing = int(column.null_count)
    plan.update(levels=kept, other=others > 0 and bool(kept), missing=missing > 0, n_missing=missing)
    if (len(levels) == 1 and not missing) or not kept:
        plan["n_features"] = 0
        return (
            "one value in every row" if len(levels) == 1 else f"none of its {len(levels):,} levels recurs often enough"
        )
    names = [f"{plan['name']}={shown(level, 60)}" for level in kept]
    names += [f"{plan['name']}=(other)"] if plan["other"] else []
    plan["features"] = [*names, *([f"{plan['name']} is missing"] if missing else [])]
    plan["n_features"] = len(plan["features"])
    text = f"{len(kept)} level{'s' if len(kept) != 1 else ''}" + (f", {others:,} rarer ones together" if others else "")
    return text + (f"; {_share(missing, n)} missing" if missing else "")


def _fit_text(plan: Plan, column: Any, settings: dict[str, Any]) -> str:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [t or "" for t in _texts(column).to_pylist()]
    vectoriser = TfidfVectorizer(max_features=settings["max_words"], min_df=2 if len(texts) >= 20 else 1)
    try:
        vectoriser.fit(texts)
    except ValueError:  # no word is left
        plan["n_features"] = 0
        return "no word recurs"
    words = vectoriser.get_feature_names_out().tolist()
    plan.update(words=words, idf=np.asarray(vectoriser.idf_), n_missing=int(column.null_count))
    plan["features"] = [f"{plan['name']}: {word}" for word in words]
    plan["n_features"] = len(words)
    lost = f"; {_share(plan['n_missing'], len(texts))} missing, taken as empty" if plan["n_missing"] else ""
    return f"tf-idf of {len(words):,} words{lost}"


def _fit_vector(plan: Plan, column: Any, settings: dict[str, Any]) -> str:
    width = int(plan["width"])
    plan["features"] = [f"{plan['name']}[{j}]" for j in range(width)]
    plan["n_features"], plan["n_missing"] = width, int(column.null_count)
    return f"{width} numbers a row"


def _fit_sparse(plan: Plan, column: Any, settings: dict[str, Any]) -> str:
    indices = column.flatten().field("index").to_numpy(zero_copy_only=False)
    width = int(indices.max()) + 1 if indices.size else 0
    plan["n_features"], plan["n_missing"] = width, int(column.null_count)
    prefix = "x" if plan["name"] == "features" else f"{plan['name']} x"
    plan["features"] = [f"{prefix}{j + 1}" for j in range(width)]
    filled = indices.size / max(1, len(column) * width)
    return f"sparse rows of {width:,} numbers, {filled:.1%} of them not zero" if width else "all rows are empty"


# -- encode -----------------------------------------------------------------------------------------------------------


def encode_column(plan: Plan, column: Any, into: Any) -> Done:
    """Features of a column's rows, written into a dense array, or as a sparse block where there is none."""
    encode = {
        "number": _encode_numbers,
        "boolean": _encode_numbers,
        "date": _encode_dates,
        "category": _encode_category,
        "text": _encode_text,
        "vector": _encode_vector,
        "sparse": _encode_sparse,
    }[plan["kind"]]
    return encode(plan, column, into)


def _target(plan: Plan, column: Any, into: Any) -> Any:
    return np.zeros((len(column), plan["n_features"])) if into is None else into


def _finished(block: Any, into: Any, **counts: int) -> Done:
    return Done(sp.csr_matrix(block) if into is None else None, **counts)


def _encode_numbers(plan: Plan, column: Any, into: Any) -> Done:
    values = _boolean_numbers(column) if plan.get("words") else to_numbers(column)
    out = _target(plan, column, into)
    # NaN is in no range: one look at the extremes is enough where all is well
    clean = bool(values.size and values.min() >= -LARGEST and values.max() <= LARGEST)
    usable = None if clean else np.abs(values) <= LARGEST
    unreadable = 0 if usable is None else int(np.count_nonzero(~usable)) - int(column.null_count + _nans(column))
    if plan["varies"]:
        filled = values if usable is None else np.where(usable, values, plan["median"])
        np.subtract(filled, plan["mean"], out=out[:, 0], casting="same_kind")
        out[:, 0] *= 1.0 / plan["std"]
    if plan["missing"] and usable is not None:
        out[:, -1] = ~usable
    return _finished(out, into, unreadable=max(0, unreadable))


def _nans(column: Any) -> int:
    if not pa.types.is_floating(column.type):
        return 0
    found = pc.sum(pc.is_nan(column)).as_py()
    return int(found or 0)


def _encode_dates(plan: Plan, column: Any, into: Any) -> Done:
    dates = to_dates(column, plan["format"])
    out = _target(plan, column, into)
    parts = _date_parts(dates, plan["first"])[:, plan["parts"]]
    missing = np.isnat(dates)
    parts[missing] = plan["medians"]
    out[:, : parts.shape[1]] = (parts - plan["mean"]) / plan["std"]
    if plan["missing"]:
        out[:, -1] = missing
    return _finished(out, into, unreadable=max(0, int(missing.sum()) - int(column.null_count)))


def _texts(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            column = pa.array([None if v is None else str(v) for v in column.to_pylist()], type=pa.string())
    trimmed = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def _encode_category(plan: Plan, column: Any, into: Any) -> Done:
    texts = _texts(column)
    place = pc.index_in(texts, value_set=pa.array(plan["levels"], type=pa.string()))
    codes = np.asarray(pc.fill_null(place, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    absent = np.asarray(texts.is_null().to_numpy(zero_copy_only=False))
    unknown = (codes < 0) & ~absent
    if plan["other"]:  # an unseen level is a rare one as far as anyone knows
        codes[unknown] = len(plan["levels"])
    if plan["missing"]:
        codes[absent] = plan["n_features"] - 1
    rows = np.flatnonzero(codes >= 0)
    unseen = 0 if plan["other"] else int(unknown.sum())
    if into is not None:
        into[rows, codes[rows]] = 1.0
        return Done(unseen=unseen)
    shape = (len(column), plan["n_features"])
    return Done(sp.csr_matrix((np.ones(rows.size), (rows, codes[rows])), shape=shape), unseen=unseen)


def _encode_text(plan: Plan, column: Any, into: Any) -> Done:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    texts = [t or "" for t in _texts(column).to_pylist()]
    counts = CountVectorizer(vocabulary=plan["words"]).transform(texts)
    weighted = normalize(sp.csr_matrix(counts.astype(np.float64) @ sp.diags(plan["idf"])))
    if into is not None:
        into[:] = weighted.toarray()
        return Done()
    return Done(sp.csr_matrix(weighted))


def _encode_vector(plan: Plan, column: Any, into: Any) -> Done:
    out = _target(plan, column, into)
    if not pa.types.is_fixed_size_list(column.type) or column.type.list_size != plan["width"]:
        return _finished(out, into, unreadable=len(column))
    known = np.flatnonzero(~np.asarray(column.is_null().to_numpy(zero_copy_only=False)))
    values = to_numbers(column.flatten()).reshape(-1, plan["width"])
    good = np.abs(values) <= LARGEST
    out[known] = np.where(good, values, 0.0)
    return _finished(out, into, unreadable=int(np.count_nonzero(~good)))


def _encode_sparse(plan: Plan, column: Any, into: Any) -> Done:
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    pairs = column.flatten()
    indices = np.asarray(pairs.field("index").to_numpy(zero_copy_only=False), dtype=np.int64)
    values = to_numbers(pairs.field("value"))
    rows = np.repeat(np.arange(len(column)), lengths)
    good = np.abs(values) <= LARGEST
    inside = (indices >= 0) & (indices < plan["n_features"])
    kept = good & inside
    matrix = sp.csr_matrix((values[kept], (rows[kept], indices[kept])), shape=(len(column), plan["n_features"]))
    counts = {"unseen": int(np.count_nonzero(~inside)), "unreadable": int(np.count_nonzero(~good))}
    if into is not None:
        into[:] = matrix.toarray()
        return Done(**counts)
    return Done(matrix, **counts)
