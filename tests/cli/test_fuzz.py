"""Two hundred malformed tables: one sentence each, no traceback, no hang, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_malformed_tables(model, tmp_path):
    n = int(os.environ.get("PURELY_FUZZ", "200"))
    command = [sys.executable, "-m", "tests.cli.fuzz", str(model), str(tmp_path), str(n), "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == n
    for case in cases:
        for result in case["results"]:
            assert result["status"] in (0, 1, 2), case
            assert "Traceback" not in result["err"], case
            if result["status"]:
                assert result["err"].strip(), case
                assert "unexpected" not in result["err"], case
        assert case["left"] == (["out.parquet"] if case["results"][1]["status"] == 0 else []), case
    assert sum(case["results"][0]["status"] != 0 for case in cases) > 0.3 * n
