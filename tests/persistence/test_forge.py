"""Two hundred of the forged files that ``python -m tests.fuzz models`` makes by the thousand."""

from __future__ import annotations

import pytest

pytest.importorskip("resource")
pytest.importorskip("pyarrow")

from tests.persistence.forge import WORST, run


def test_two_hundred_forged_files(models):
    ends, kept = run(200, 0, models)
    assert sum(ends.values()) == 200
    assert not [entry for entry in kept if entry["became"] in WORST]
    assert ends["refused"] > 100
    assert ends["answered"] > 20  # not every change is one that matters
