"""How cells are written, and that new rows are read as those of the fit were."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from purely.tables import TableEncoder
from purely.tables.cells import guess, read

N = 60


def numbers(column):
    found = guess("c", pa.array(column))
    assert found.kind == "number", found
    return found, found.cells.values[:, 0]


@pytest.mark.parametrize(
    ("cells", "expected", "form"),
    [
        (["3.5", "-2", "1e3", ".5"], [3.5, -2, 1000, 0.5], "plain"),
        (["3,5", "-2", "1.234,56", "12.345.678"], [3.5, -2, 1234.56, 12345678], "comma"),
        (["1,234.5", "7", "12,345,678", "0.25"], [1234.5, 7, 12345678, 0.25], "marks"),
        (["1 234,5", "7", "12 345", "0,25"], [1234.5, 7, 12345, 0.25], "comma"),
        (["1 234.5", "7", "12\u202f345", "1\u00a0000"], [1234.5, 7, 12345, 1000], "marks"),
        (["1'234.5", "7", "12’345", "0.5"], [1234.5, 7, 12345, 0.5], "marks"),
        (["5%", "12.5 %", "-3%", "100 %"], [0.05, 0.125, -0.03, 1.0], "plain%"),
        (["5,5%", "12 %", "-3,25%", "100 %"], [0.055, 0.12, -0.0325, 1.0], "comma%"),
        ([" 4", "5 ", "\t6", "7"], [4, 5, 6, 7], "plain"),
        (["4.846,47 €", "12,50 €", "-3,00€", "7"], [4846.47, 12.5, -3.0, 7.0], "comma¤"),
        (["$1,234.50", "-$7", "($12.50)", "USD 3"], [1234.5, -7.0, -12.5, 3.0], "marks¤"),
        (["12.50", "(12.50)", "0.5", "1"], [12.5, -12.5, 0.5, 1.0], "plain¤"),
    ],
)
def test_numbers_in_every_writing(cells, expected, form):
    found, values = numbers(cells * N)
    np.testing.assert_allclose(values, np.tile(expected, N), rtol=1e-12)
    assert found.form == form
    again = read(pa.array(cells), "number", form)
    np.testing.assert_allclose(again.values[:, 0], expected, rtol=1e-12)


def test_a_comma_that_may_be_either_is_said():
    found, values = numbers(["1,234", "2,500", "3"] * N)
    assert values[0] == 1234.0
    assert "thousands marks" in found.warning
    assert numbers(["1,234", "2,500.5", "3"] * N)[0].warning == ""


def test_a_few_cells_that_are_no_numbers_count_as_missing():
    found, values = numbers(["1,5", "2,5"] * N + ["unknown", "NA", None])
    assert np.isnan(values[-3:]).all()
    assert found.cells.n_missing == 2
    assert "0.8% of its values are not numbers" in found.warning


@pytest.mark.parametrize(
    "cells",
    [
        ["2023-03-01", "2023-12-31"],
        ["01.03.2023", "31.12.2023"],
        ["1.3.2023", "31.12.2023"],
        ["2023/03/01", "2023/12/31"],
        ["3/1/2023", "12/31/2023"],
        ["1/3/2023", "31/12/2023"],
        ["01-03-2023", "31-12-2023"],
        ["1.3.23", "31.12.23"],
        ["3/1/23", "12/31/23"],
        ["1/3/23 10:30", "31/12/23 10:30"],
        ["2023-03-01T10:30:00Z", "2023-12-31T10:30:00+02:00"],
        ["2023-03-01 10:30:00.250", "2023-12-31 10:30:59"],
        ["01.03.2023 10:30", "31.12.2023 10:30:59"],
        ["01.03.2023", "31.12.2023 10:30"],
    ],
)
def test_dates_in_every_writing(cells):
    found = guess("c", pa.array(cells * N))
    assert found.kind == "date"
    days = found.cells.values.astype("datetime64[D]").astype(str)
    assert list(days[:2]) == ["2023-03-01", "2023-12-31"]
    assert list(read(pa.array(cells), "date", found.form).values.astype("datetime64[D]").astype(str)) == list(days[:2])


@pytest.mark.parametrize(
    "cells",
    [
        ["1.5.240", "2.6.231"],
        ["1.15.24", "2.26.23"],
        ["10.20.30.40", "1.2.3.4"],
        ["2023-13-45", "2023-02-31"],
    ],
)
def test_what_only_looks_like_a_date(cells):
    assert guess("c", pa.array(cells * N)).kind != "date"


def test_what_stands_for_missing_is_missing_in_every_format():
    for column in (pa.array(["a", "NA", "", " ", "b", None] * N), pa.array(["a", "?", "null", "N/A", "b", "nan"] * N)):
        found = guess("c", column)
        assert found.kind == "category"
        assert found.cells.n_missing == 4 * N


def test_new_rows_are_read_as_those_of_the_fit_were():
    table = pa.table({"amount": ["1.234,5", "7,25", "3"] * N, "rate": ["5 %", "7,5 %", "1 %"] * N})
    encoder = TableEncoder(scale=False)
    X = encoder.fit_transform(table)
    np.testing.assert_array_equal(encoder.transform(table), X)
    new = encoder.encode(pa.table({"amount": ["0,5", "3.14", None], "rate": ["50 %", "x", "7"]}))
    np.testing.assert_allclose(new.matrix[0], [0.5, 0.5])
    assert new.unreadable == {"amount": 1, "rate": 2}
    assert "decimal commas (3,5)" in encoder.report_.columns[0].action


def test_typed_and_text_columns_give_the_same_features():
    rng = np.random.default_rng(0)
    typed = pa.table(
        {
            "x": pa.array(rng.normal(size=N), mask=rng.random(N) < 0.2),
            "n": rng.integers(0, 9, N),
            "d": np.datetime64("2020-01-01") + rng.integers(0, 900, N),
            "b": rng.random(N) < 0.5,
        }
    )
    text = pa.table({name: typed[name].cast(pa.string()) for name in typed.column_names})
    encoder = TableEncoder().fit(typed)
    np.testing.assert_allclose(encoder.transform(text), encoder.transform(typed))
    np.testing.assert_allclose(TableEncoder().fit_transform(text), encoder.transform(typed))
