"""Some of the forged files that ``python -m tests.fuzz models`` makes by the thousand."""

from __future__ import annotations

import pytest

pytest.importorskip("resource")
pytest.importorskip("pyarrow")

from tests.persistence.forge import WORST, run


@pytest.mark.parametrize("n", [60, pytest.param(400, marks=pytest.mark.full)])
def test_forged_files(n, models):
    ends, kept = run(n, 0, models)
    assert sum(ends.values()) == n
    assert not [entry for entry in kept if entry["became"] in WORST]
    assert ends["refused"] > n // 2
    assert ends["answered"] > n // 10  # not every change is one that matters
