"""Two hundred malformed tables: one sentence each, no traceback, no hang, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def is_handled(case):
    """Whether both commands ended as they may, and left nothing but a whole output."""
    for result in case["results"]:
        if result["status"] not in (0, 1, 2) or "Traceback" in result["err"] or "unexpected" in result["err"]:
            return False
        if result["status"] and not result["err"].strip():
            return False
    return case["left"] == (["out.parquet"] if case["results"][1]["status"] == 0 else [])


@pytest.mark.slow
def test_malformed_tables(model, tmp_path):
    n = int(os.environ.get("PURELY_FUZZ", "200"))
    command = [sys.executable, "-m", "tests.cli.fuzz", str(model), str(tmp_path), str(n), "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == n
    assert [case for case in cases if not is_handled(case)] == []
    assert sum(case["results"][0]["status"] != 0 for case in cases) > 0.3 * n
