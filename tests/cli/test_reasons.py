"""Reasons beside records: they are in the words of the file, and add up to the score."""

from __future__ import annotations

import re

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from tests.cli.conftest import make_customers

COLUMNS = ("amount", "age", "country", "member", "since", "remark")


def test_reasons_are_in_the_words_of_the_file_and_add_up(purely, model, tmp_path):
    table = make_customers(10, 40, seed=3)
    pacsv.write_csv(table, tmp_path / "t.csv")
    done = purely("predict", model, tmp_path / "t.csv", "--reasons", 6, "-o", tmp_path / "s.parquet")
    assert done.status == 0, done.err
    found, cells = pq.read_table(tmp_path / "s.parquet").to_pylist(), table.to_pylist()
    rest = []
    for row, cell in zip(found, cells, strict=True):
        reasons = [row[f"reason_{k}"] for k in range(1, 7)]
        assert {re.split(" = | is missing", reason)[0] for reason in reasons} == set(COLUMNS)
        assert any(reason.startswith(f"country = {cell['country']}: ") for reason in reasons)
        numbers = [float(n[0]) if (n := re.findall(r"\(([+-][\d.]+)\)$", reason)) else 0.0 for reason in reasons]
        assert sorted(map(abs, numbers), reverse=True) == list(map(abs, numbers))
        rest.append(row["score"] - sum(numbers))
    np.testing.assert_allclose(rest, np.mean(rest), atol=6 * 0.005 + 1e-9)  # numbers are rounded to two digits
    missing = [row for row, cell in zip(found, cells, strict=True) if cell["amount"] is None]
    assert any("amount is missing: " in str(row.values()) for row in missing)


def test_only_rows_that_are_written_have_reasons(purely, model, customers, tmp_path):
    for options in (("--top", 3), ("--share", 0.1)):
        out = tmp_path / "s.csv"
        done = purely("predict", model, customers, *options, "--reasons", 2, "-o", out)
        assert done.status == 0, done.err
        found = pacsv.read_csv(out)
        assert found.column_names == ["customer", "score", "probability", "label", "reason_1", "reason_2"]
        assert found.num_rows == (3 if options[0] == "--top" else 400)
    again = purely("predict", model, customers, "--top", 3, "--reasons", 2)
    assert again.out == purely("predict", model, customers, "--top", 3, "--reasons", 2).out  # the seed decides
    assert "amount = " in again.out


def test_places_of_a_sparse_row_are_told_apart(purely, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{int(i < 40)} 1:{rng.normal(2 * (i < 40)):.3f} 7:{rng.normal():.3f}" for i in range(160)]
    (tmp_path / "t.libsvm").write_text("\n".join(lines) + "\n")
    model = tmp_path / "m.purely"
    options = ("--size", "light", "--class-prior", 0.2, "--drop", "label", "-o", model)
    assert purely("fit", tmp_path / "t.libsvm", *options).status == 2  # the label is no column to drop
    assert purely("fit", tmp_path / "t.libsvm", *options[:4], "-o", model, "-q").status == 0
    done = purely("predict", model, tmp_path / "t.libsvm", "--top", 2, "--reasons", 2)
    assert done.status == 0, done.err
    assert "x1 = " in done.out
    assert "raises" in done.out
