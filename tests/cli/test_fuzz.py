"""A fixed part of what ``python -m tests.fuzz`` does at any size: malformed tables, kills and storms."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("resource")
pytest.importorskip("openpyxl")
pytest.importorskip("torch")

from tests.fuzz.malformed import ENDINGS
from tests.fuzz.tables import fuzz_tables
from tests.fuzz.writes import STORMS, Ground, kill_commands, raise_storms

#: Commands that write, see `tests/fuzz/writes.py`.
N_COMMANDS = 7


@pytest.mark.parametrize("n", [len(ENDINGS), pytest.param(4 * len(ENDINGS), marks=pytest.mark.full)])
def test_malformed_tables(n):
    """Some tables of every format."""
    found = fuzz_tables(n, 0)  # in a process of its own, with a limit of memory
    assert found.pop("problems") == []
    assert found["tables"] == n
    assert found["fitted and scored"] > n // 9  # tables in order are among them
    assert found["scored by a model of another table"] < n


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and devices of Linux")
def test_kills_and_storms(tmp_path):
    """Every command is killed once while it writes, and every storm blows once."""
    ground = Ground.prepared(tmp_path)
    for trouble, n in ((kill_commands, N_COMMANDS), (raise_storms, len(STORMS))):
        found = trouble(ground, n, 0)
        assert found.pop("problems") == []
        assert found["runs"] >= n  # a run that ends before the kill is made again
