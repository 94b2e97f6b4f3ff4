"""Dask: two processes give what one gives, and a worker that is lost costs time only."""

from __future__ import annotations

import os
import signal
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
import dask  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from purely import PUSMI, ClassPrior, PUClassifier, stack  # noqa: E402
from purely.scale import pool_information, pool_prior, predict_frame, read_folder  # noqa: E402
from purely.tables import TableError  # noqa: E402
from tests.scale.test_local import NAMES, RATIO, draw, model  # noqa: E402, F401

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="2GiB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_fits_are_split_and_the_same(client):
    X, y = stack(*draw(0, 100, 300))
    for estimator, result in (
        (ClassPrior(RATIO, n_jobs=2), "class_prior_"),
        (PUClassifier(0.3, members=["linear", "trees"], cv=2, n_jobs=2), "oof_probability_"),
    ):
        here = getattr(estimator.fit(X, y), result)
        with joblib.parallel_config("dask"):
            there = getattr(estimator.fit(X, y), result)
        np.testing.assert_allclose(there, here, rtol=1e-12)


def test_the_prior_and_the_information_of_a_frame(client):
    P, U = draw(0)
    frame = dd.from_pandas(pd.DataFrame(U, columns=NAMES), npartitions=5)
    found = pool_prior(P, frame, estimator=ClassPrior(RATIO))
    expected = pool_prior(P, [U], estimator=ClassPrior(RATIO))
    assert found.class_prior_ == pytest.approx(expected.class_prior_, abs=1e-9)
    information = pool_information(P, frame, estimator=PUSMI(n_centers=20))
    here = pool_information(P, [U], estimator=PUSMI(n_centers=20))
    assert information.information_ == pytest.approx(here.information_, rel=1e-9)


def test_frames_are_scored(client, model):  # noqa: F811
    _, U = draw(4)
    rows = pd.DataFrame(U, columns=NAMES).assign(name=np.arange(len(U)))
    scored = predict_frame(dd.from_pandas(rows, npartitions=4), model[1], keep=["name"])
    assert list(scored.columns) == ["name", "score", "probability", "label"]
    found = scored.compute()
    np.testing.assert_array_equal(found["name"], rows["name"])
    np.testing.assert_allclose(found["probability"], model[0].predict_proba(rows[NAMES])[:, 1], atol=1e-4)
    with pytest.raises(ValueError, match="no column 'nobody' to keep"):
        predict_frame(dd.from_pandas(rows, npartitions=4), model[1], keep=["nobody"])


def write_folder(folder, n_files=6):
    _, U = draw(6)
    for i, part in enumerate(np.array_split(U, n_files)):
        place = folder / f"day={i}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({name: part[:, j] for j, name in enumerate(NAMES)}), place / "part.parquet")
    return U


def test_a_folder_is_read_and_a_damaged_file_is_named(client, model, tmp_path):  # noqa: F811
    U = write_folder(tmp_path / "pool")
    frame = read_folder(tmp_path / "pool")
    assert frame.npartitions == 6
    assert list(frame.columns) == [*NAMES, "day"]
    scored = predict_frame(frame, model[1], keep=["day"]).compute()
    assert len(scored) == len(U)
    assert sorted(set(scored["day"])) == [str(i) for i in range(6)]
    damaged = tmp_path / "pool" / "day=3" / "part.parquet"
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(TableError, match=r"day=3/part\.parquet is damaged"):
        predict_frame(read_folder(tmp_path / "pool"), model[1]).compute()


def slow(part, seconds):
    time.sleep(seconds)
    return part


def test_a_lost_worker_costs_time_only(client):
    P, U = draw(0)
    expected = pool_prior(P, [U], estimator=ClassPrior("linear"))
    parts = [dask.delayed(slow)(part, 0.3) for part in np.array_split(U, 8)]
    parts[3] = dask.delayed(slow)(np.array_split(U, 8)[3], 1.5)  # one is slow
    lost = []

    def lose():
        time.sleep(1.0)
        worker = next(iter(client.run(os.getpid).values()))
        lost.append(worker)
        os.kill(worker, signal.SIGKILL)

    thread = threading.Thread(target=lose)
    thread.start()
    found = pool_prior(P, parts, estimator=ClassPrior("linear"))
    thread.join()
    assert lost
    assert found.class_prior_ == pytest.approx(expected.class_prior_, abs=1e-9)
