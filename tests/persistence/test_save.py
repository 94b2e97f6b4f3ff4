"""Writing is all or nothing, and what cannot be written, or will not load by default, is named."""

from __future__ import annotations

import os
import stat
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import purely
from purely.classifiers import PULogisticClassifier, ReweightedPUClassifier
from purely.persistence import ModelFileError, ModelFileWarning, UnsupportedModelError, _container, describe
from tests.persistence.models import answers, numbers, table

X, Y = numbers()


class Stranger(BaseEstimator):
    """An estimator of somebody else, whose module can be imported."""

    def __init__(self, note=None):
        self.note = note

    def fit(self, X, y=None):
        self.mean_ = np.mean(X, axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


def itself():
    model = Stranger()
    model.note = [model]
    return model


def with_note():
    model = purely.prior.KernelMeanPrior()
    model.note = "mine"
    return model


def three_classes():
    return HistGradientBoostingClassifier(max_iter=2).fit(X, Y + (X[:, 1] > 0))


def categories():
    rows = np.column_stack([np.abs(X[:, 0]).round(), X[:, 1]])
    return HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(rows, Y)


UNSUPPORTED = {
    "an attribute of one's own": (with_note, r"the model holds 'note', which is not declared"),
    "a function without a name": (
        lambda: make_pipeline(FunctionTransformer(lambda X: X)),
        r"steps\[0\]\[1\]\.func .*cannot be (imported|put into a file)",
    ),
    "itself": (itself, "holds itself"),
    "a list": (lambda: [1, 2], "takes an estimator"),
    "a class": (lambda: Stranger, "takes an estimator"),
    "a cache": (lambda: make_pipeline(StandardScaler(), memory="cache"), "memory must be None"),
    "categories": (categories, "is_categorical_ must be None|numbers from 0 to 0"),
    "three classes": (three_classes, "classes_ has the length 3 where 2 belongs"),
    "a number of no use": (lambda: PULogisticClassifier(0.5, threshold=1.5), "threshold must be a number from"),
    "a number that is none": (lambda: PULogisticClassifier(np.nan), "class_prior must be"),
    "a name for a terminal": (
        lambda: make_pipeline(StandardScaler()).set_params(steps=[("\x1b", None)]),
        r"it is \\x1b",
    ),
}


@pytest.mark.parametrize(("make", "match"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_cannot_be_saved_is_named_and_nothing_is_left(make, match, tmp_path):
    path = tmp_path / "model.purely"
    path.write_bytes(b"before")
    with pytest.raises(UnsupportedModelError, match=match) as caught:
        purely.save(make(), path)
    assert str(caught.value).isprintable()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["model.purely"]


# -- what is trusted ---------------------------------------------------------------------------------------------------

FOREIGN = {
    "svc": lambda: make_pipeline(StandardScaler(), SVC()),
    "inside ours": lambda: ReweightedPUClassifier(SVC(), class_prior=0.5, cv=2),
    "reduced": lambda: make_pipeline(PCA(2), PULogisticClassifier(0.5)),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=2),
    "neighbours": lambda: KNeighborsClassifier(algorithm="kd_tree"),
    "own": lambda: make_pipeline(Stranger(), PULogisticClassifier(0.5)),
    "a function": lambda: make_pipeline(FunctionTransformer(np.arcsinh), PULogisticClassifier(0.5)),
}


def save_foreign(model, path):
    with pytest.warns(ModelFileWarning, match=r"loads only with purely.load\(path, trusted=\["):
        purely.save(model, path)
    return list(describe(path).foreign)


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN.keys())
def test_other_classes_load_where_each_is_trusted(make, tmp_path):
    model = make().fit(X, Y)
    names = save_foreign(model, tmp_path / "model.purely")
    with pytest.raises(ModelFileError, match=r"If you know who wrote it, load it with trusted=\[.*code") as caught:
        purely.load(tmp_path / "model.purely")
    assert all(name in str(caught.value) for name in names)
    for i in range(len(names) if len(names) > 1 else 0):
        with pytest.raises(ModelFileError, match="trusted="):
            purely.load(tmp_path / "model.purely", trusted=names[:i] + names[i + 1 :])
    loaded = purely.load(tmp_path / "model.purely", trusted=names)
    for found, expected in zip(answers(loaded, X), answers(model, X), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_trust_is_given_by_class_or_by_any_of_its_names(tmp_path):
    save_foreign(make_pipeline(StandardScaler(), SVC()).fit(X, Y), tmp_path / "m")
    for trusted in ([SVC], ["sklearn.svm.SVC"], ["sklearn.svm._classes.SVC"], SVC, "sklearn.svm.SVC", {SVC, PCA}):
        assert isinstance(purely.load(tmp_path / "m", trusted=trusted).steps[1][1], SVC)
    with pytest.raises(ValueError, match="cannot be imported"):
        purely.load(tmp_path / "m", trusted=["sklearn.svm.SCV"])


def test_a_table_of_scikit_learn_s_own(tmp_path):
    frame, y = table()
    columns = ColumnTransformer([("x", StandardScaler(), ["x"]), ("k", OneHotEncoder(), ["k", "w"])])
    model = make_pipeline(columns, PULogisticClassifier(0.5)).fit(frame, y)
    names = save_foreign(model, tmp_path / "m")
    assert {"ColumnTransformer", "OneHotEncoder"} <= {name.rpartition(".")[2] for name in names}
    loaded = purely.load(tmp_path / "m", trusted=names)
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize("cls", ["PURL", "NNPUClassifier"])
def test_an_encoder_of_one_s_own(cls, tmp_path):
    nn = pytest.importorskip("torch").nn
    encoder = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 2))
    own = {"n_components": 2} if cls == "PURL" else {"class_prior": 0.5}
    settings = {"max_epochs": 2, "n_ensemble": 2, "device": "cpu", "random_state": 0}
    model = getattr(purely, cls)(**own, encoder=encoder, **settings).fit(X, Y)
    names = save_foreign(model, tmp_path / "m")
    loaded = purely.load(tmp_path / "m", trusted=names)
    for found, expected in zip(answers(loaded, X), answers(model, X), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_is_ours_needs_no_trust_and_gives_no_warning(models, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelFileWarning)
        for model, _ in models.values():
            purely.save(model, tmp_path / "m")
            assert describe(tmp_path / "m").foreign == ()


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file(call, tmp_path, monkeypatch):
    path = tmp_path / "model.purely"
    purely.save(purely.prior.KernelMeanPrior(random_state=1), path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_container.os, call, fail)
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
    (tmp_path / "link").symlink_to("model")
    purely.save(purely.prior.KernelMeanPrior(random_state=5), "link")
    assert (tmp_path / "link").is_symlink()
    assert purely.load("model").random_state == 5


def test_a_vocabulary_beyond_the_header(tmp_path):
    from sklearn.feature_extraction.text import CountVectorizer

    words = [f"a somewhat longer word {i}" for i in range(120_000)]
    with pytest.raises(UnsupportedModelError, match="smaller vocabulary"):
        purely.save(CountVectorizer(vocabulary=words).fit(["word1"]), tmp_path / "m")
    assert os.listdir(tmp_path) == []
