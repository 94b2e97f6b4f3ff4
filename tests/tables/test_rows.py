"""From a table to rows and labels: one pass, uniform draws, records' numbers; and signs of leaks."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from purely.folds import row_keys
from purely.tables import TableEncoder, TableError, open_table
from purely.tables.leaks import count_copies, find_leaks
from purely.tables.rows import draw_rows
from purely.tables.source import Pair


def labelled(path, n, share=0.2, seed=0, label=None):
    rng = np.random.default_rng(seed)
    value = np.where(rng.random(n) < share, "1", "") if label is None else label
    pq.write_table(pa.table({"x": np.arange(n), "label": value}), path, row_group_size=20_000)
    return open_table(path)


def test_all_rows_are_kept_in_order_where_they_fit(tmp_path):
    source = labelled(tmp_path / "t.parquet", 3000)
    rows = draw_rows(source, "label", ["x"], max_rows=5000)
    np.testing.assert_array_equal(rows.table["x"].to_numpy(), np.arange(3000))
    np.testing.assert_array_equal(rows.number, np.arange(1, 3001))
    assert rows.positive.sum() == rows.rule.n_positive


def test_a_file_is_read_once(tmp_path, monkeypatch):
    source = labelled(tmp_path / "t.parquet", 1000)
    passes = []
    read = source._read
    monkeypatch.setattr(source, "_read", lambda columns: passes.append(1) or read(columns))
    draw_rows(source, "label", ["x"], max_rows=100)
    assert len(passes) == 1


def test_draws_are_uniform_and_bounded(tmp_path):
    """Over many seeds every part of the file is drawn alike, also past the point where rows are let go."""
    n, k = 400_000, 300
    source = labelled(tmp_path / "t.parquet", n, share=0.3)
    found = [draw_rows(source, "label", ["x"], max_rows=k, seed=seed) for seed in range(12)]
    for rows in found:
        assert (rows.positive.sum(), (~rows.positive).sum()) == (k, k)
        np.testing.assert_array_equal(rows.number - 1, rows.table["x"].to_numpy())
        assert (np.diff(rows.number) > 0).all()
    places = np.concatenate([rows.number for rows in found]) / n
    expected = places.size / 10
    counts = np.histogram(places, bins=10, range=(0, 1))[0]
    assert ((counts - expected) ** 2 / expected).sum() < 33.7  # chi-squared of 9 degrees, 1 in 10,000


def test_several_values_that_say_unlabelled_are_one_kind(tmp_path):
    label = np.array(["1", "", "unknown", "NA", "0"])[np.random.default_rng(1).integers(0, 5, 50_000)]
    rows = draw_rows(labelled(tmp_path / "t.parquet", 50_000, label=label), "label", ["label", "x"], max_rows=900)
    assert rows.rule.n_negative == (label == "0").sum()
    assert (~rows.positive).sum() == 900
    kept = rows.table["label"].to_numpy(zero_copy_only=False)
    assert set(kept) == {"1", "", "unknown", "NA"}
    share = np.mean(kept[~rows.positive] == "unknown")
    assert abs(share - 1 / 3) < 5 * np.sqrt(2 / 9 / 900)


def test_two_files_are_one_table_of_what_both_have(tmp_path):
    (tmp_path / "p.csv").write_text("a,b,c,extra\n" + "1,x,2020-01-01,z\n" * 30)
    rng = np.random.default_rng(0)
    pool = pa.table(
        {"c": pa.array(["2021-05-05"] * 70), "a": rng.integers(0, 9, 70), "b": ["x", "y"] * 35, "d": [1] * 70}
    )
    pq.write_table(pool, tmp_path / "u.parquet")
    pair = Pair(open_table(tmp_path / "p.csv"), open_table(tmp_path / "u.parquet"))
    assert pair.names == ["a", "b", "c", Pair.LABEL]
    assert len(pair.notes) == 2
    assert "u.parquet does not have them: 'extra'" in pair.notes[1]
    rows = draw_rows(pair, Pair.LABEL, ["a", "b", "c"], max_rows=100)
    assert (rows.rule.n_positive, rows.rule.n_unlabelled) == (30, 70)
    np.testing.assert_array_equal(rows.number, [*range(1, 31), *range(1, 71)])
    assert rows.table["a"].to_pylist()[:1] == ["1"]  # text and numbers meet as text
    assert rows.table["c"].to_pylist()[-1] == "2021-05-05"
    with pytest.raises(TableError, match="no column in common"):
        Pair(open_table(tmp_path / "p.csv"), labelled(tmp_path / "t.parquet", 10))


def test_names_that_differ_in_case_or_blanks_only_are_one_where_that_is_clear(tmp_path):
    (tmp_path / "p.csv").write_text("Amount EUR,Id,AGE,Age,when\n" + "1,2,3,4,5\n" * 3)
    (tmp_path / "u.csv").write_text("id,age,amount_eur,when\n" + "20,30,10,50\n" * 2)
    pair = Pair(open_table(tmp_path / "p.csv"), open_table(tmp_path / "u.csv"))
    assert pair.names == ["amount_eur", "id", "when", Pair.LABEL]  # as the pool has them; 'age' may be AGE or Age
    assert pair.notes == [
        "columns whose names differ only in case, blanks, - or _ are taken as one: 'Amount EUR' as 'amount_eur', 'Id' "
        "as 'id'; give them other names if they are not the same.",
        f"left out, because {tmp_path / 'p.csv'} does not have them: 'age'.",
        f"left out, because {tmp_path / 'u.csv'} does not have them: 'AGE', 'Age'.",
    ]
    rows = pa.Table.from_batches(pair.batches(["id", "amount_eur"])).to_pydict()
    assert rows == {"id": ["2"] * 3 + ["20"] * 2, "amount_eur": ["1"] * 3 + ["10"] * 2}


# -- leaks -------------------------------------------------------------------------------------------------------------


def leaks_of(columns, positive):
    encoder = TableEncoder()
    X = encoder.fit_transform(pa.table(columns))
    return {leak.column: leak.sign for leak in find_leaks(X, positive, encoder)}


@pytest.mark.parametrize("seed", range(4))
def test_leaks_are_named_and_honest_columns_are_not(seed):
    rng = np.random.default_rng(seed)
    n_p, n_u = 150, 850
    positive = np.arange(n_p + n_u) < n_p
    truth = positive | (rng.random(positive.size) < 0.2)
    honest = {
        "shifted": rng.normal(truth * 2.0),
        "noise": rng.normal(size=positive.size),
        "rare flag": (rng.random(positive.size) < 0.01).astype(float),
        "level": rng.choice(["a", "b", "c"], positive.size),
        "gaps": pa.array(rng.normal(size=positive.size), mask=rng.random(positive.size) < 0.1),
        "half": np.where(truth, rng.choice(["p", "q"], positive.size), rng.choice(["q", "r"], positive.size)),
    }
    leaking = {
        "number": np.where(positive, 100.0, 0.0) + rng.normal(size=positive.size),
        "word": np.where(positive, rng.choice(["a", "b"], positive.size), rng.choice(["c", "d"], positive.size)),
        "absent": pa.array(rng.normal(size=positive.size), mask=~positive),
        "present": pa.array(rng.normal(size=positive.size), mask=positive),
        "constant": np.where(positive, 0.5, rng.normal(size=positive.size)),
        "never missing": pa.array(rng.normal(size=positive.size), mask=~positive & (rng.random(positive.size) < 0.2)),
    }
    found = leaks_of({**honest, **leaking}, positive)
    assert set(found) == set(leaking)
    assert "without error" in found["number"]
    assert "without error" in found["word"]
    assert found["absent"] == "is missing in 0% of the labelled rows and in 100% of the others"
    assert "one value in all labelled rows" in found["constant"]


def test_copies_are_counted():
    X = np.repeat(np.arange(10.0), [3, 1, 1, 1, 1, 2, 1, 1, 1, 1])[:, None]
    positive = np.arange(13) < 4  # 0 0 0 1 | 2 3 4 5 5 6 7 8 9
    assert vars(count_copies(row_keys(X, 0), positive)) == {"positive": 2, "unlabelled": 1, "shared": 0}
    assert count_copies(row_keys(np.zeros((5, 2)), 0), np.arange(5) < 2).shared == 2
