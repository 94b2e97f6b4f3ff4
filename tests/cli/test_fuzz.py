"""A fixed part of what ``python -m tests.fuzz`` does at any size: malformed tables, kills and storms."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("resource")
pytest.importorskip("openpyxl")
pytest.importorskip("torch")

from tests.fuzz.tables import fuzz_tables
from tests.fuzz.writes import STORMS, fuzz_kills, fuzz_storms

#: Tables: some of every format.
N_TABLES = 44
#: Commands that write, see `tests/fuzz/writes.py`.
N_COMMANDS = 7


def test_malformed_tables():
    found = fuzz_tables(N_TABLES, 0)  # in a process of its own, with a limit of memory
    assert found.pop("problems") == []
    assert found["tables"] == N_TABLES
    assert found["fitted and scored"] > 5  # tables in order are among them
    assert found["scored by a model of another table"] < N_TABLES


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and devices of Linux")
@pytest.mark.parametrize(("fuzzer", "n"), [(fuzz_kills, N_COMMANDS), (fuzz_storms, len(STORMS))])
def test_kills_and_storms(fuzzer, n):
    """Every command is killed once while it writes, and every storm blows once."""
    found = fuzzer(n, 0)
    assert found.pop("problems") == []
    assert found["runs"] >= n  # a run that ends before the kill is made again
