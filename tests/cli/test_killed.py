"""Fits that are killed go on where they were; `tests/cli/test_fuzz.py` kills every command while it writes.

`PURELY_KILLS` sets how many random moments are tried.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.csv as pacsv
import pytest

from purely import load
from tests.cli.conftest import make_customers

KILLS = int(os.environ.get("PURELY_KILLS", "1"))


def start(*arguments):
    command = [sys.executable, "-m", "purely.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def run_through(*arguments):
    begin = time.monotonic()
    process = start(*arguments)
    error = process.communicate(timeout=300)[1]
    assert process.returncode == 0, error.decode()
    return time.monotonic() - begin


def kill_after(seconds, *arguments):
    """Whether the process was killed before it had finished."""
    process = start(*arguments)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.full
@pytest.mark.parametrize("size", ["fast", "light"])
def test_a_killed_fit_is_resumed_to_the_same_model(tmp_path, size):
    if size == "fast":
        pytest.importorskip("torch")
    pacsv.write_csv(make_customers(150, 450, seed=5), tmp_path / "t.csv")
    common = ("fit", tmp_path / "t.csv", "--label", "fraud", "--drop", "truth", "--size", size, "--device", "cpu")
    whole, resumed = tmp_path / "whole.purely", tmp_path / "resumed.purely"
    taken = run_through(*common, "-o", whole)
    rng = np.random.default_rng()
    for _ in range(KILLS):
        resumed.unlink(missing_ok=True)
        killed = kill_after(rng.uniform(0.3, 1.0) * taken, *common, "-o", resumed)
        assert killed != resumed.exists() or load(resumed)
        run_through(*common, "-o", resumed, "--resume")
        rows = make_customers(20, 50, seed=6)
        np.testing.assert_array_equal(load(resumed).predict_proba(rows), load(whole).predict_proba(rows))
        assert sorted(p.name for p in tmp_path.iterdir()) == ["resumed.purely", "t.csv", "whole.purely"]


def test_a_resumed_fit_takes_up_the_networks(purely, customers, tmp_path, monkeypatch):
    """Networks are not trained again from the start, and another setting is refused."""
    pytest.importorskip("torch")
    from purely.nn import training

    out = tmp_path / "m.purely"
    unfinished = tmp_path / ".m.purely.purely-resume"
    common = (
        "fit",
        customers,
        "--label",
        "fraud",
        "--drop",
        "truth",
        "--size",
        "fast",
        "--class-prior",
        0.3,
        "-o",
        out,
    )

    def die(*_, **__):
        raise RuntimeError("killed here")

    with monkeypatch.context() as patch:
        patch.setattr("purely.classifiers.auto.PUClassifier.finish_fit", die)
        assert purely(*common).status == 1
    assert [p.name for p in tmp_path.iterdir()] == [unfinished.name]
    done = purely(*common, "--resume", "--seed", 3)
    assert done.status == 1
    assert "other data or settings" in " ".join(done.err.split())
    with monkeypatch.context() as patch:
        patch.setattr(training, "Stepper", die)  # no step of training is left to do
        done = purely(*common, "--resume")
    assert done.status == 0, done.err
    assert "resumed with the networks" in done.err.casefold()
    assert [p.name for p in tmp_path.iterdir()] == ["m.purely"]
