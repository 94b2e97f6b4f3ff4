"""The reproduction: rows never shared between training, validation and testing, and nothing lost to a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from experiments.paper.config import CONFIGS, FULL, Config
from experiments.paper.draws import Draw, Key, draw
from experiments.paper.methods import scores
from experiments.paper.runner import Run, work_off
from experiments.paper.store import Store
from experiments.paper.tables import bold_columns, cells_of, paper_cells
from experiments.sets import half_of, load
from sklearn.metrics import roc_auc_score

ROOT = Path(__file__).parents[2]


@pytest.mark.data
@pytest.mark.parametrize(("config", "name"), [(c, name) for c in CONFIGS.values() for name in c.datasets])
def test_rows_of_a_draw_are_disjoint(config, name):
    chosen_on = set(half_of(load(name)[1].size, "choose").tolist())
    for prior in FULL.priors:
        for trial in (0, config.trials - 1):
            d = draw(config, Key(name, prior, trial))
            parts = {k: set(v.tolist()) for k, v in d.rows.items()}
            assert all(len(parts[k]) == d.rows[k].size for k in parts)  # no row twice
            for a, b in combinations(parts, 2):
                assert not parts[a] & parts[b]
            assert not chosen_on & set.union(*parts.values())
            assert d.X.shape[0] == d.y.size == d.rows["train"].size
            assert min((d.y_test == 1).sum(), (d.y_test == 0).sum()) >= 39
            assert abs(d.share - prior) < 0.001


def test_halves_are_the_two_sides_of_one_split():
    n = 1001
    both = np.concatenate([half_of(n, name) for name in ("choose", "report")])
    assert sorted(both.tolist()) == list(range(n))


def test_store_drops_only_what_was_cut_off(tmp_path):
    path = tmp_path / "rows.jsonl"
    store = Store(path)
    store.add(("a", 1), [{"x": 1.5}])
    whole = path.read_bytes()
    store.add(("b", 2), [{"x": 0.1 + 0.2}])
    full = path.read_bytes()
    for cut in range(len(whole), len(full)):
        path.write_bytes(full[:cut])
        again = Store(path)
        assert ("a", 1) in again
        assert ("b", 2) not in again
        assert path.read_bytes() == whole
    path.write_bytes(full)
    assert Store(path).get(("b", 2)) == [{"x": 0.1 + 0.2}]


def test_bold_is_the_best_and_what_cannot_be_told_from_it():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, 20)
    by = {
        "best": dict(enumerate(0.10 + noise)),
        "level": dict(enumerate(0.10 + noise + rng.normal(0, 0.01, 20))),
        "worse": dict(enumerate(0.20 + noise)),
    }
    assert bold_columns(by) == {"best", "level"}


def test_the_papers_tables_are_complete():
    cells = paper_cells()
    assert len(cells) == 2 * 7 * 3 * 7
    assert cells["prior", "mnist", 0.7, "none"] == (0.60, 0.21)
    assert cells["classification", "news20", 0.3, "purl"] == pytest.approx((0.3631, 0.0413))


def test_a_cell_is_the_mean_over_its_trials():
    rows = [
        {"table": "prior", "dataset": "a9a", "prior": 0.3, "method": "none", "trial": t, "error": e}
        for t, e in enumerate((0.1, 0.2, 0.3))
    ]
    cell = cells_of(rows, "prior")["a9a", 0.3]["none"]
    assert (cell.mean, cell.n, cell.paper) == (pytest.approx(0.2), 3, 0.11)
    assert cell.standard_error == pytest.approx(0.1 / np.sqrt(3))


def rows_without_time(path):
    """Rows of a run, in order, without what a clock says."""
    timeless = []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        timeless += [(tuple(entry["unit"]), {k: v for k, v in r.items() if k != "seconds"}) for r in entry["rows"]]
    return sorted(timeless, key=lambda item: json.dumps(item))


def runner(folder):
    command = [sys.executable, "-W", "ignore", "-m", "experiments.paper", "run", "--smoke", "--out", str(folder)]
    if "PURELY_KILLS" not in os.environ:
        command += ["--parts", "linear", "learnt"]  # rows, networks and what waits for them
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@pytest.mark.data
@pytest.mark.full
def test_killed_and_resumed_is_not_killed(tmp_path):
    """Kill the runner at random moments (PURELY_KILLS of them) until it has had enough, then let it finish."""
    start = time.monotonic()
    assert runner(tmp_path / "whole").wait(timeout=900) == 0
    length = time.monotonic() - start
    rng = random.Random(0)
    killed = tmp_path / "killed"
    for _ in range(int(os.environ.get("PURELY_KILLS", "1"))):
        process = runner(killed)
        try:
            process.wait(timeout=rng.uniform(0.3, 0.9) * length)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert runner(killed).wait(timeout=900) == 0
    whole, resumed = (rows_without_time(f / "smoke.jsonl") for f in (tmp_path / "whole", killed))
    assert whole
    assert resumed == whole


def test_smoke_is_a_part_of_the_full_run():
    smoke: Config = CONFIGS["smoke"]
    assert set(smoke.datasets) <= set(FULL.datasets)
    assert set(smoke.priors) <= set(FULL.priors)


class EndsWhenAsked(Future):
    """A job that ends between the first and the second time that it is asked whether it has."""

    def __init__(self):
        super().__init__()
        self.asked = 0
        self.set_result("done")

    def done(self):
        self.asked += 1
        return self.asked > 1


def test_no_job_is_lost(tmp_path):
    read = []
    run = Run(FULL, Store(tmp_path / "rows.jsonl"), "cpu", None, None, None, tmp_path)
    run.pending = [(EndsWhenAsked(), read.append) for _ in range(5)]
    work_off(run, [], 1)
    assert read == ["done"] * 5


@pytest.mark.parametrize("model", ["forest", "linear"])
def test_rivals_scores_are_out_of_fold(model):
    """Labels have nothing to do with the rows: only a model that has seen a row can tell its label."""
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((400, 30)), rng.standard_normal((50, 30))
    y = (rng.random(400) < 0.4).astype(int)
    d = Draw(Key("none", 0.5, 0), X, y, y, X, y, X_test, np.zeros(50), 0.5, {})
    found, on_test = scores.cross_fit(d, model, n_trees=30)
    assert abs(roc_auc_score(y, found) - 0.5) < 0.1
    assert on_test.shape == (50,)
    assert np.isfinite(on_test).all()
