"""TableEncoder: every kind of column, what is reported, and that batches give what the whole gives."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("pyarrow")

import pyarrow as pa
from sklearn.base import clone

from purely.tables import TableEncoder, TableError

N = 200


def fitted(column, **settings):
    return TableEncoder(**settings).fit(pa.table({"c": column}))


def kind_of(column):
    return TableEncoder().fit(pa.table({"c": column, "other": np.arange(len(column)) % 7})).report_.columns[0].kind


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.arange(N) % 9 * 0.5, "number"),
        ([str(i % 11) for i in range(N)], "number"),
        ([True, False] * (N // 2), "boolean"),
        (["yes", "No"] * (N // 2), "boolean"),
        (["a", "b", "c", "d"] * (N // 4), "category"),
        (pa.array(["a", "b"] * (N // 2)).dictionary_encode(), "category"),
        ([f"2024-01-{i % 28 + 1:02d}" for i in range(N)], "date"),
        ([f"{i % 28 + 1:02d}.03.2024" for i in range(N)], "date"),
        (np.datetime64("2020-01-01T00:00:00") + 3600 * np.arange(N), "date"),
        ([f"the word number {i % 31} and others" for i in range(N)], "text"),
        ([f"name{i}" for i in range(N)], "dropped"),
        (["same"] * N, "dropped"),
        ([None] * N, "dropped"),
        ([b"\x00\x01"] * N, "dropped"),
        (pa.array([[1.0, float(i)] for i in range(N)], type=pa.list_(pa.float64(), 2)), "vector"),
    ],
)
@pytest.mark.filterwarnings("ignore::purely.PurelyWarning")
def test_kinds(column, kind):
    assert kind_of(column) == kind


def test_numbers_are_imputed_by_the_median_scaled_and_flagged():
    values = np.array([1.0, 2.0, 3.0, 10.0] * 25)
    column = pa.array(values, mask=np.arange(100) < 10)
    encoder = fitted(column)
    assert list(encoder.get_feature_names_out()) == ["c", "c is missing"]
    X = encoder.transform(pa.table({"c": column}))
    filled = np.where(np.arange(100) < 10, np.median(values[10:]), values)
    np.testing.assert_allclose(X[:, 0], (filled - filled.mean()) / filled.std())
    np.testing.assert_array_equal(X[:, 1], np.arange(100) < 10)
    assert "10.0% missing" in encoder.report_.columns[0].action


def test_infinite_values_are_missing_and_counted():
    encoder = fitted(np.arange(100.0))
    encoded = encoder.encode(pa.table({"c": [np.inf, -1e200, np.nan, 3.0]}))
    assert np.isfinite(encoded.matrix).all()
    assert encoded.unreadable == {"c": 2}


def test_rare_levels_share_a_column_and_unseen_ones_join_them():
    levels = ["big"] * 100 + ["small"] * 80 + [f"rare{i}" for i in range(20)]
    encoder = fitted(levels)
    assert list(encoder.get_feature_names_out()) == ["c=big", "c=small", "c=(other)"]
    X = encoder.transform(pa.table({"c": ["big", "rare3", "never seen", None]}))
    np.testing.assert_array_equal(X, [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]])


def test_unseen_levels_without_rare_ones_are_ignored_and_counted():
    encoder = fitted(["a", "b"] * 50)
    encoded = encoder.encode(pa.table({"c": ["a", "z", None]}))
    np.testing.assert_array_equal(encoded.matrix, [[1, 0], [0, 0], [0, 0]])
    assert encoded.unseen == {"c": 1}


def test_text_is_what_tfidf_of_scikit_learn_gives():
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["red", "green", "blue", "white", "grey"], 6)) for _ in range(80)]
    encoder = fitted(texts, sparse=True)
    expected = TfidfVectorizer(min_df=2).fit_transform(texts)
    np.testing.assert_allclose(encoder.transform(pa.table({"c": texts})).toarray(), expected.toarray())


def test_date_parts_are_those_of_the_calendar():
    dates = np.datetime64("2024-02-26T05:00:00") + np.arange(N) * 7 * 3600
    encoder = fitted(dates, scale=False)
    X = encoder.transform(pa.table({"c": dates}))
    names = [name.removeprefix("c ") for name in encoder.get_feature_names_out()]
    python = [d.astype("datetime64[s]").item() for d in dates]
    expected = {
        "month": [d.month for d in python],
        "day of week": [d.weekday() for d in python],
        "hour": [d.hour for d in python],
        "elapsed days": [(d - python[0]).total_seconds() / 86400 for d in python],
    }
    assert names == list(expected)
    np.testing.assert_allclose(X, np.array(list(expected.values())).T)


def mixed_table(seed):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "x": pa.array(rng.normal(size=N), mask=rng.random(N) < 0.2),
            "n": rng.integers(0, 50, N).astype(str),
            "k": pa.array(rng.choice(["a", "b", "c"], N), mask=rng.random(N) < 0.1),
            "d": np.datetime64("2021-05-01") + rng.integers(0, 400, N),
            "t": [" ".join(rng.choice(["w1", "w2", "w3", "w4"], 5)) for _ in range(N)],
        }
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_batches_give_what_the_whole_gives(seed, sparse):
    table = mixed_table(seed)
    encoder = TableEncoder(sparse=sparse).fit(table)
    whole = encoder.transform(table)
    assert sp.issparse(whole) == sparse
    parts = [encoder.transform(batch) for batch in table.to_batches(max_chunksize=33)]
    stacked = sp.vstack(parts).toarray() if sparse else np.concatenate(parts)
    np.testing.assert_array_equal(stacked, whole.toarray() if sparse else whole)
    assert whole.shape[1] == len(encoder.get_feature_names_out()) == encoder.report_.n_features
    widths = [c.n_features for c in encoder.report_.columns]
    np.testing.assert_array_equal(np.bincount(encoder.feature_owner_), widths)
    fitted = TableEncoder(sparse=sparse).fit_transform(table)
    np.testing.assert_array_equal(fitted.toarray() if sparse else fitted, whole.toarray() if sparse else whole)


def test_frames_and_tables_agree_and_the_order_of_columns_does_not_matter():
    table = mixed_table(3)
    encoder = TableEncoder().fit(table)
    X = encoder.transform(table)
    np.testing.assert_allclose(encoder.transform(table.to_pandas()), X)
    np.testing.assert_array_equal(encoder.transform(table.select(["t", "d", "k", "x", "n"])), X)
    polars = pytest.importorskip("polars")
    np.testing.assert_allclose(encoder.transform(polars.from_arrow(table)), X)


def test_it_is_cloned_pickled_and_saved(tmp_path):
    import purely

    table = mixed_table(4)
    encoder = TableEncoder(max_levels=2).fit(table)
    assert clone(encoder).max_levels == 2
    X = encoder.transform(table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(table), X)
    purely.save(encoder, tmp_path / "e.purely")
    loaded = purely.load(tmp_path / "e.purely")
    np.testing.assert_array_equal(loaded.transform(table), X)
    assert [c.action for c in loaded.report_.columns] == [c.action for c in encoder.report_.columns]


def test_what_cannot_be_used_is_refused():
    with pytest.raises(TableError, match="no column is of use"):
        TableEncoder().fit(pa.table({"a": [1, 1, 1]}))
    with pytest.raises(TableError, match="no rows or no columns"):
        TableEncoder().fit(pa.table({"a": pa.array([], type=pa.float64())}))
    with pytest.raises(TableError, match="no column 'x' and 1 more"):
        TableEncoder().fit(pa.table({"x": np.arange(9), "z": np.arange(9) % 2})).transform(pa.table({"y": [1]}))
    with pytest.raises(TypeError, match="a table must be"):
        TableEncoder().fit([[1, 2]])
    with pytest.raises(ValueError, match="max_levels must be an integer of at least 1; 0 was given"):
        TableEncoder(max_levels=0).fit(mixed_table(0))
