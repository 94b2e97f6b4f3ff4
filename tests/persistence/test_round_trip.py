"""Every class that may be in a file comes back from it as it went in."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

import purely
from purely.classifiers import PULeastSquaresClassifier
from purely.persistence import describe
from purely.persistence._objects import SCHEMAS
from tests.persistence.files import get, places, take_apart
from tests.persistence.models import answers, numbers
from tests.test_common import everything_public

pytest.importorskip("pyarrow")

#: Leftovers of a fit that are not saved: they serve no prediction.
LEFT_OUT = {"checkpoint", "stop_words_", "_stop_words_id"}


def there_and_back(model, tmp_path, rows=None):
    """The loaded model; saving it again gives the same bytes."""
    path, again = tmp_path / "model.purely", tmp_path / "again.purely"
    purely.save(model, path)
    loaded = purely.load(path)
    purely.save(loaded, again)
    assert again.read_bytes() == path.read_bytes()
    if rows is not None:
        assert_same_answers(loaded, model, rows)
    return loaded


def assert_same_answers(loaded, model, rows):
    for found, expected in zip(answers(loaded, rows), answers(model, rows), strict=True):
        assert type(found) is type(expected)
        if sp.issparse(expected):
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_every_model(models, tmp_path):
    for name, (model, rows) in models.items():
        loaded = there_and_back(model, tmp_path, rows)
        assert set(vars(loaded)) ^ set(vars(model)) <= LEFT_OUT, name
        assert repr(clone(loaded)).split(" at 0x")[0] == repr(clone(model)).split(" at 0x")[0], name
        assert_same_answers(pickle.loads(pickle.dumps(loaded)), model, rows)


@pytest.mark.parametrize("name", ["pipeline", "information", "bagging", "table", "networks"])
def test_a_loaded_model_can_be_fitted_again(name, models, files):
    if name == "networks":
        pytest.importorskip("torch")
    model, rows = models[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = clone(purely.load(files[name])).fit(rows, numbers()[1])
        refitted = purely.load(files[name]).fit(rows, numbers()[1])
    assert_same_answers(again, model, rows)
    assert_same_answers(refitted, model, rows)


def test_models_that_are_not_fitted(models, tmp_path):
    for model, _ in models.values():
        loaded = there_and_back(clone(model), tmp_path)
        assert type(loaded) is type(model)


def test_every_declared_class_is_in_some_file_and_every_estimator_is_declared(files):
    pytest.importorskip("torch")
    held = set()
    for path in files.values():
        document = take_apart(path)[0]
        held |= {get(document, place) for place in places(document) if place[-1] == "class"}
    assert SCHEMAS.keys() - held == {"ModuleNetwork", "csr_array"}  # these need torch's own classes, or a newer SciPy
    public = {n for n, v in everything_public().items() if isinstance(v, type) and issubclass(v, BaseEstimator)}
    assert public <= SCHEMAS.keys()
    for schema in SCHEMAS.values():
        assert schema.cls.__name__ == schema.home.partition(":")[2]


def test_labels_and_column_names_of_any_kind(tmp_path):
    X, y = numbers()
    table = pd.DataFrame(X, columns=["größe", "数\n", "\U0001f600"])
    model = PULeastSquaresClassifier(0.5, n_centers=10, random_state=0)
    words = np.where(y == 1, "yes", "no")
    for labels in (words, words.astype("<U9"), words.astype(object), y == 1, y.astype(float), y.astype(np.int8)):
        loaded = there_and_back(clone(model).fit(table, labels), tmp_path, table)
        assert loaded.classes_.dtype == np.unique(labels).dtype
        assert loaded.feature_names_in_.tolist() == list(table.columns)
    assert describe(tmp_path / "model.purely").feature_names == ("größe", "数\\n", "\U0001f600")


def test_every_member_of_the_recommended_classifier(tmp_path):
    X, y = numbers()
    members = ["trees", "linear", "kernel", "forest", "boosting", "logistic", "kernel-logistic"]
    model = purely.PUClassifier(0.5, members=members, cv=2).fit(X, y)
    loaded = there_and_back(model, tmp_path, X)
    np.testing.assert_array_equal(
        loaded.members_[3].model.feature_importances_, model.members_[3].model.feature_importances_
    )
    assert loaded.members_[0].model.estimators_[1].get_depth() == model.members_[0].model.estimators_[1].get_depth()


def test_missing_values_go_where_they_went(tmp_path):
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    X, y = numbers()
    X[::3, 1] = np.nan
    for model in (HistGradientBoostingClassifier(max_iter=5), RandomForestClassifier(5, oob_score=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            there_and_back(model.fit(X, y), tmp_path, X)


def test_a_random_state_goes_on_where_it_was(tmp_path):
    rng = np.random.RandomState(3)
    rng.normal()
    loaded = there_and_back(purely.prior.KernelMeanPrior(random_state=rng), tmp_path).random_state
    np.testing.assert_array_equal(loaded.normal(size=9), rng.normal(size=9))


def test_a_stream_goes_on(tmp_path):
    X, y = numbers()
    model = purely.PUSMI(n_centers=8, random_state=0).partial_fit(X[::2], y[::2])
    loaded = there_and_back(model, tmp_path)
    loaded.partial_fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(loaded.coef_, model.partial_fit(X[1::2], y[1::2]).coef_)


def test_a_path_of_this_machine_is_not_saved(tmp_path):
    model = purely.NNPUClassifier(0.5, checkpoint=str(tmp_path / "secret"))
    assert there_and_back(model, tmp_path).checkpoint is None
    assert b"secret" not in (tmp_path / "model.purely").read_bytes()


def test_safetensors_reads_the_arrays(files, models):
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = safetensors.load_file(files["information"])
    np.testing.assert_array_equal(arrays["coef_"], models["information"][0].coef_)


def test_another_process_writes_the_same_bytes(tmp_path, files):
    code = (
        "import sys, purely; from tests.persistence.models import numbers; X, y = numbers(); "
        "purely.save(purely.smi.PUSMI(n_centers=8, n_jobs=1).fit(X, y), sys.argv[1])"
    )
    other = {**os.environ, "PYTHONHASHSEED": "12345"}  # another order of sets
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "there")], check=True, timeout=300, env=other)
    assert files["information"].read_bytes() == (tmp_path / "there").read_bytes()


def test_loading_needs_no_torch(files, models, tmp_path):
    pytest.importorskip("torch")
    model, rows = models["ensemble"]
    np.save(tmp_path / "expected.npy", model.predict_proba(rows))
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.split('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError(name, name='torch')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import numpy as np, purely; "
        "from tests.persistence.models import numbers; "
        "model = purely.load(sys.argv[1]); "
        "assert np.array_equal(model.predict_proba(numbers()[0]), np.load(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(files["ensemble"]), str(tmp_path / "expected.npy")]
    subprocess.run(command, check=True, timeout=300)


def test_describe(files, tmp_path):
    found = describe(files["pipeline"])
    assert (found.model, found.steps) == ("Pipeline", ("StandardScaler", "PULogisticClassifier"))
    assert found.settings["pulogisticclassifier__basis"] == "linear"
    assert (found.n_features, found.feature_names, found.fitted, found.foreign) == (3, None, True, ())
    assert found.n_bytes == files["pipeline"].stat().st_size
    assert {"purely", "scikit-learn", "numpy"} <= set(found.versions)
    purely.save(clone(purely.load(files["pipeline"])), tmp_path / "plain.purely")
    assert not describe(tmp_path / "plain.purely").fitted
    assert describe(files["table"]).feature_names == ("x", "y", "k", "w", "d", "t")
