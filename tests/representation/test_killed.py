"""A fit whose process is killed goes on from its checkpoint and ends where an undisturbed one does."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

from purely import PURL
from purely.datasets import make_paper_data

pytest.importorskip("torch")

SETTINGS = {
    "n_components": 2,
    "hidden": (8,),
    "n_ensemble": 2,
    "max_epochs": 70,
    "patience": 70,
    "device": "cpu",
    "random_state": 0,
}
#: Fits the same model in a process that kills itself in its 54th epoch, between two checkpoints.
CHILD = """
import os, signal, sys
import purely.nn.training as training
from purely import PURL
from purely.datasets import make_paper_data
save = training._Run.save
def save_and_die(run):
    save(run)
    if run.epoch == 53:
        os.kill(os.getpid(), signal.SIGKILL)
training._Run.save = save_and_die
sample = make_paper_data(60, 120, random_state=0)
PURL(checkpoint=sys.argv[1], **{settings}).fit(sample.X, sample.y)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::purely.PurelyWarning")
def test_killed_after_epoch_50_and_resumed_equals_not_killed(tmp_path):
    file = tmp_path / "purl.pt"
    child = subprocess.run([sys.executable, "-c", CHILD.replace("{settings}", repr(SETTINGS)), str(file)], check=False)
    assert child.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["purl.pt"]
    sample = make_paper_data(60, 120, random_state=0)
    resumed = PURL(checkpoint=file, **SETTINGS).fit(sample.X, sample.y)
    whole = PURL(**SETTINGS).fit(sample.X, sample.y)
    np.testing.assert_array_equal(resumed.transform(sample.X), whole.transform(sample.X))
    np.testing.assert_array_equal(resumed.history_.held_j, whole.history_.held_j)
