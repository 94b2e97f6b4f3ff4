"""``purely monitor``."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from tests.cli.conftest import make_customers


@pytest.fixture
def weeks(tmp_path):
    paths = []
    for week in range(4):
        table = make_customers(n_positive=0, n_unlabelled=400, seed=20 + week)
        if week == 3:  # older customers
            place = table.schema.get_field_index("age")
            table = table.set_column(place, "age", pa.array([a + 25 for a in table.column("age").to_pylist()]))
        path = tmp_path / f"week{week}.csv"
        pacsv.write_csv(table, path)
        paths.append(path)
    return paths


def test_no_change_is_status_0_and_a_change_is_named(purely, model, weeks, tmp_path):
    done = purely("monitor", model, *weeks[:3])
    assert done.status == 0, done.err
    assert "No change was found in 2 comparisons." in done.out
    found = purely("monitor", model, *weeks, "--json")
    assert found.status == 3
    assert [look["changed"] for look in found.json["looks"]][:2] == [[], []]
    assert "column age" in found.json["looks"][2]["changed"]
    picture = tmp_path / "weeks.png"
    assert purely("monitor", model, *weeks, "--plot", picture).status == 3
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_bad_input_is_answered_with_a_sentence(purely, model, weeks, tmp_path):
    done = purely("monitor", model, weeks[0])
    assert done.status == 2
    assert "at least one batch" in done.err
    small = tmp_path / "small.csv"
    pacsv.write_csv(make_customers(n_positive=0, n_unlabelled=10, seed=1), small)
    done = purely("monitor", model, weeks[0], small)
    assert (done.status, "at least 30 are needed" in done.err) == (1, True)
    empty = tmp_path / "empty.csv"
    pacsv.write_csv(make_customers().slice(0, 0), empty)
    done = purely("monitor", model, weeks[0], empty)
    assert (done.status, "empty.csv has no rows below its column names" in " ".join(done.err.split())) == (1, True)
