"""A fixed part of what ``python -m tests.fuzz`` does at any size: malformed tables, kills and storms."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("resource")
pytest.importorskip("openpyxl")
pytest.importorskip("torch")

from tests.fuzz.tables import try_case
from tests.fuzz.writes import fuzz_kills, fuzz_storms

#: Tables: some of every format.
N_TABLES = 44


@pytest.mark.filterwarnings("ignore")
def test_malformed_tables(tmp_path):
    found = []
    for name in ("work", "models"):
        (tmp_path / name).mkdir()
    for number in range(N_TABLES):
        found.append(try_case(number, 0, tmp_path / "work", tmp_path / "models"))
    assert [case for case in found if case["problems"]] == []
    assert sum(case["fitted"] for case in found) > 5  # tables in order are among them
    assert sum(case["scored"] for case in found) < N_TABLES


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and devices of Linux")
@pytest.mark.parametrize("fuzzer", [fuzz_kills, fuzz_storms])
def test_kills_and_storms(fuzzer):
    found = fuzzer(7, 0)
    assert found.pop("problems") == []
    assert found["runs"] == 7
