"""Small tables, one fitted model, and a way to run commands in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.csv as pacsv

from purely.cli._app import run


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def make_customers(n_positive=80, n_unlabelled=320, seed=0):
    """Positives have larger amounts and come from two countries; some values are missing."""
    rng = np.random.default_rng(seed)
    n = n_positive + n_unlabelled
    truth = np.concatenate([np.ones(n_positive), rng.random(n_unlabelled) < 0.3]).astype(bool)
    amount = rng.normal(np.where(truth, 3.0, 0.0), 1.0)
    country = np.where(truth, rng.choice(["FR", "DE"], n), rng.choice(["FR", "IT", "ES"], n))
    words = np.array(["late", "paid", "order", "gift", "card", "house", "boat"])
    return pa.table(
        {
            "customer": [f"c{i:04d}" for i in range(n)],
            "amount": pa.array(amount, mask=rng.random(n) < 0.1),
            "age": rng.integers(18, 80, n),
            "country": country,
            "member": rng.random(n) < 0.5,
            "since": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype(str),
            "remark": [" ".join(rng.choice(words, 6)) for _ in range(n)],
            "fraud": pa.array([1 if i < n_positive else None for i in range(n)], type=pa.int8()),
            "truth": truth.astype(np.int8),
        }
    )


@pytest.fixture
def purely(capsys):
    def command(*arguments):
        capsys.readouterr()
        status = run([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return command


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def customers(folder):
    path = folder / "customers.csv"
    pacsv.write_csv(make_customers(), path)
    return path


@pytest.fixture(scope="session")
def model(folder, customers):
    """A model without networks at a given prior: quick to fit."""
    path = folder / "fraud.purely"
    options = [
        "--label",
        "fraud",
        "--drop",
        "truth",
        "--id",
        "customer",
        "--size",
        "light",
        "--class-prior",
        "0.3",
        "--quiet",
    ]
    assert run(["fit", str(customers), *options, "-o", str(path)]) == 0
    return path
