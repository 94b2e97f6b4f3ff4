"""Writing is all or nothing, and what cannot be written is named."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import purely
from purely.persistence import UnsupportedModelError
from tests.persistence.models import numbers


class Stranger(BaseEstimator):
    """An estimator of somebody else."""


def itself():
    model = purely.prior.KernelMeanPrior()
    model.loop_ = [model]
    return model


def categories():
    X, y = numbers()
    X[:, 0] = np.abs(X[:, 0]).round()
    return HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(X, y)


UNSUPPORTED = {
    "another's estimator": (lambda: make_pipeline(StandardScaler(), Stranger()), r"steps\[1\]\[1\] of type .*Stranger"),
    "deep inside": (
        lambda: purely.classifiers.ReweightedPUClassifier(make_pipeline(SVC())),
        r"estimator\.steps\[0\]\[1\] of type .*SVC",
    ),
    "a function": (lambda: make_pipeline(FunctionTransformer(lambda X: X)), r"func is .*<lambda>.* holds no code"),
    "a type": (lambda: purely.prior.KernelMeanPrior(random_state=Stranger), r"random_state is .*Stranger"),
    "itself": (itself, r"loop_\[0\] holds itself"),
    "a list": (lambda: [1, 2], "takes an estimator"),
    "a number": (lambda: 3, "takes an estimator"),
    "an own class": (Stranger, "the model itself of type .*Stranger"),
    "a cache": (lambda: make_pipeline(StandardScaler(), memory="cache"), "memory must be None"),
    "categories": (categories, "categories"),
    "a masked array": (
        lambda: purely.prior.KernelMeanPrior(random_state=np.ma.array([1])),
        "random_state of type .*MaskedArray",
    ),
    "long doubles": (
        lambda: purely.prior.KernelMeanPrior(random_state=np.ones(2, np.longdouble)),
        "random_state is an array",
    ),
}


@pytest.mark.parametrize(("make", "match"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_cannot_be_saved_is_named_and_nothing_is_left(make, match, tmp_path):
    path = tmp_path / "model.purely"
    path.write_bytes(b"before")
    with pytest.raises(UnsupportedModelError, match=match):
        purely.save(make(), path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["model.purely"]


def test_an_attribute_of_ones_own_is_named(tmp_path):
    model = purely.prior.KernelMeanPrior()
    model.note = "mine"
    with pytest.raises(UnsupportedModelError, match="note is not an attribute that KernelMeanPrior sets; delete it"):
        purely.save(model, tmp_path / "model.purely")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file(call, tmp_path, monkeypatch):
    path = tmp_path / "model.purely"
    purely.save(purely.prior.KernelMeanPrior(random_state=1), path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left"):
        purely.save(purely.prior.KernelMeanPrior(random_state=2), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.purely"]


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError):
        purely.save(purely.prior.KernelMeanPrior(), tmp_path / "no" / "model.purely")


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_permissions_are_those_of_any_new_file_or_of_the_old_one(tmp_path):
    path, plain = tmp_path / "model.purely", tmp_path / "plain"
    plain.write_text("")
    purely.save(purely.prior.KernelMeanPrior(), path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o600)
    purely.save(purely.prior.KernelMeanPrior(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_paths_of_any_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    purely.save(purely.prior.KernelMeanPrior(random_state=4), "model")
    assert purely.load("model").random_state == 4
    assert purely.load(tmp_path / "model").random_state == 4
