"""Every estimator, and pipelines of them, come back from a file as they went in."""

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
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler
from sklearn.utils import all_estimators

import purely
from purely.classifiers import PULeastSquaresClassifier
from purely.persistence import describe
from purely.persistence._classes import SKLEARN, class_name
from tests.classifiers.conftest import gaussians
from tests.classifiers.test_common_classifiers import CLASSIFIERS
from tests.persistence.models import answers, numbers, text_model, texts
from tests.test_common import ESTIMATORS, assert_same, draw, everything_public, fitted, outputs

torch = pytest.importorskip("torch")


def there_and_back(model, tmp_path, rows=None):
    """The loaded model; saving it again gives the same bytes."""
    path, again = tmp_path / "model.purely", tmp_path / "again.purely"
    purely.save(model, path)
    loaded = purely.load(path)
    purely.save(loaded, again)
    assert again.read_bytes() == path.read_bytes()
    if rows is not None:
        for found, expected in zip(answers(loaded, rows), answers(model, rows), strict=True):
            if sp.issparse(expected):
                found, expected = found.toarray(), expected.toarray()
            np.testing.assert_array_equal(found, expected)
    return loaded


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator(estimator, tmp_path):
    X, y, _ = draw(0)
    model = fitted(estimator, X, y)
    loaded = there_and_back(model, tmp_path)
    assert type(loaded) is type(model)
    assert set(vars(loaded)) == set(vars(model))
    assert_same(outputs(loaded, X), outputs(model, X), rtol=0, atol=0)
    assert_same(outputs(pickle.loads(pickle.dumps(loaded)), X), outputs(model, X), rtol=0, atol=0)
    assert_same(outputs(fitted(loaded, X, y), X), outputs(model, X), rtol=0, atol=0)


@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
def test_every_classifier(model, tmp_path):
    X, y = gaussians(0, 40, 80)
    model = clone(model).fit(X, y)
    loaded = there_and_back(model, tmp_path, X)
    assert set(vars(loaded)) == set(vars(model))
    np.testing.assert_array_equal(clone(loaded).fit(X, y).predict_proba(X), model.predict_proba(X))


def test_no_public_estimator_is_left_out():
    found = everything_public()
    public = {n for n, v in found.items() if isinstance(v, type) and issubclass(v, BaseEstimator)}
    tried = {type(e).__name__ for e in (*ESTIMATORS, *CLASSIFIERS.values())}
    assert public <= tried
    assert all(class_name(found[n]) for n in public)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_model_that_is_not_fitted(estimator, tmp_path):
    loaded = there_and_back(estimator, tmp_path)
    assert repr(loaded.get_params()) == repr(estimator.get_params())


#: Rows, or settings, that some of scikit-learn's estimators need.
NEEDS = {
    "CountVectorizer": (None, lambda: texts()[0]),
    "DictVectorizer": (None, lambda: [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}] * 50),
    "FeatureHasher": ({"n_features": 16}, lambda: [{"a": 1.0}] * 100),
    "HashingVectorizer": ({"n_features": 64}, lambda: texts()[0]),
    "TfidfVectorizer": (None, lambda: texts()[0]),
    "GaussianRandomProjection": ({"n_components": 2}, lambda: numbers()[0]),
    "SparseRandomProjection": ({"n_components": 2}, lambda: numbers()[0]),
    "IsotonicRegression": (None, lambda: numbers()[0][:, 0]),
    "LabelBinarizer": (None, lambda: numbers()[1]),
    "LabelEncoder": (None, lambda: numbers()[1]),
}
PARTS = {"ColumnTransformer", "FeatureUnion", "OneVsRestClassifier", "Pipeline", "VotingClassifier"}
ALLOWED = [c for n, c in all_estimators() if class_name(c) in SKLEARN and n not in PARTS]


@pytest.mark.parametrize("cls", ALLOWED, ids=lambda c: c.__name__)
def test_estimators_of_scikit_learn(cls, tmp_path):
    settings, rows = NEEDS.get(cls.__name__, (None, lambda: np.abs(numbers()[0])))
    X, y = rows(), numbers()[1]
    settings = dict(settings or {})
    for name, value in (("random_state", 0), ("n_estimators", 5), ("max_iter", 20)):
        if name in cls().get_params():
            settings[name] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls(**settings)
        model = model.fit(y) if cls.__name__.startswith("Label") else model.fit(X, y)
        there_and_back(model, tmp_path, X)


def test_a_table_with_gaps_categories_and_text(tmp_path):
    X, y = numbers()
    T, _ = texts()
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "t": T})
    table["c"] = rng.choice(["x", "y", "z"], len(y))
    table["d"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 99, len(y)), "D")
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["a", "b"]),
            ("categories", OneHotEncoder(handle_unknown="ignore"), ["c"]),
            ("codes", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["c"]),
            ("dates", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["d"]),
            ("text", make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0)), "t"),
            ("counts", make_pipeline(CountVectorizer(), TfidfTransformer()), "t"),
            ("some", RobustScaler(), make_column_selector(dtype_include=np.number)),
            ("rest", "drop", slice(0, 1)),
        ]
    )
    model = make_pipeline(columns, PULeastSquaresClassifier(0.5, n_centers=20, random_state=0)).fit(
        table.drop(columns="b").assign(b=table["b"].fillna(0.0)), y
    )
    table["b"] = table["b"].fillna(0.0)
    loaded = there_and_back(model, tmp_path, table[["a", "t", "c", "d", "b"]])
    assert describe(tmp_path / "model.purely").feature_names == ("a", "t", "c", "d", "b")
    assert loaded.feature_names_in_.tolist() == ["a", "t", "c", "d", "b"]


PIPELINES = {
    "union": lambda: make_pipeline(
        FeatureUnion([("pca", PCA(2)), ("scale", StandardScaler())]), RandomForestClassifier(5, random_state=0)
    ),
    "boosting of three classes": lambda: GradientBoostingClassifier(n_estimators=3, random_state=0),
    "histograms of three classes": lambda: HistGradientBoostingClassifier(max_iter=3),
    "ball tree": lambda: KNeighborsClassifier(algorithm="ball_tree", metric="manhattan"),
    "brute force": lambda: KNeighborsClassifier(algorithm="brute"),
}


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES.keys())
def test_pipelines_of_scikit_learn(make, tmp_path):
    X, y = numbers()
    there_and_back(make().fit(X, y + (X[:, 1] > 0)), tmp_path, X)


def test_every_member_of_the_recommended_classifier(tmp_path):
    X, y = numbers()
    model = purely.PUClassifier(0.5, members=["trees", "linear", "kernel", "boosting"], cv=2, random_state=0)
    there_and_back(model.fit(X, y), tmp_path, X)
    sparse = sp.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    model = purely.PUClassifier(0.5, members=["boosting"], cv=2, random_state=np.random.RandomState(3))
    there_and_back(model.fit(sparse, y), tmp_path, sparse)


@pytest.mark.parametrize("cls", [purely.PURL, purely.NNPUClassifier])
def test_an_encoder_of_ones_own(cls, tmp_path):
    nn = torch.nn
    encoder = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.0), nn.Linear(5, 2))
    X, y = numbers()
    own = {"n_components": 2} if cls is purely.PURL else {"class_prior": 0.5}
    model = cls(**own, encoder=encoder, max_epochs=2, n_ensemble=2, device="cpu", random_state=0).fit(X, y)
    loaded = there_and_back(model, tmp_path, X)
    first, again = (next(iter(clone(m).fit(X, y).networks_)).module for m in (model, loaded))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))


def test_labels_and_column_names_of_any_kind(tmp_path):
    X, y = numbers()
    table = pd.DataFrame(X, columns=["größe", "数", "\U0001f600"])
    model = PULeastSquaresClassifier(0.5, n_centers=10, random_state=0)
    for labels in (
        np.where(y == 1, "yes", "no"),
        np.where(y == 1, "yes", "no").astype(object),
        y == 1,
        y.astype(float),
    ):
        loaded = there_and_back(clone(model).fit(table, labels), tmp_path, table)
        assert loaded.classes_.dtype == np.unique(labels).dtype
        assert loaded.feature_names_in_.tolist() == list(table.columns)


VALUES = {
    "numbers": [1, -(2**80), 0.1, 1e-320, -0.0, float("inf"), float("-inf"), True, None, "", "\ud800 é \0"],
    "nested": {"a": ({1, 2}, frozenset({"x"}), [(), [], {}]), 3: {None: 1.5}, (1, "b"): slice(1, None, 2)},
    "scalars": (
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.datetime64("2026-01-01"),
        np.str_("é"),
        np.float64("nan"),
    ),
    "F order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "no order": np.arange(24).reshape(2, 3, 4)[:, ::2],
    "no rows": np.empty((0, 7), np.float32),
    "no axes": np.array(3.0),
    "half": np.arange(3, dtype=np.float16),
    "complex": np.array([1 + 2j, complex("nan")]),
    "big endian": np.arange(3, dtype=">i4"),
    "text": np.array([["é", ""], ["long text", "\U0001f600"]]),
    "empty text": np.array(["", ""]),
    "bytes": np.array([b"a", b"bc"]),
    "times": np.array(["2026-01-01", "NaT"], dtype="datetime64[ns]"),
    "records": np.array([(1, 2.5, "x")], dtype=[("a", "<i4"), ("b", "<f8"), ("c", "<U3")]),
    "objects": np.array([["a", None], [1, 2.5]], dtype=object),
    "csr": sp.random(5, 4, 0.4, format="csr", random_state=0),
    "csc array": sp.csc_array(np.eye(3)),
    "coo": sp.coo_matrix(np.eye(3)),
    "dtype": [np.dtype("f4"), np.dtype(object), np.float64, float, np.log1p],
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_values_of_every_kind(value, tmp_path):
    model = purely.prior.KernelMeanPrior()
    model.anything_ = value
    loaded = there_and_back(model, tmp_path).anything_
    assert type(loaded) is type(value)
    if isinstance(value, np.ndarray):
        assert loaded.dtype == value.dtype
        assert loaded.shape == value.shape
        if value.flags.contiguous:
            assert loaded.flags.f_contiguous == value.flags.f_contiguous
        np.testing.assert_array_equal(loaded, value)
    elif sp.issparse(value):
        assert (loaded != value).nnz == 0
    else:
        assert repr(loaded) == repr(value)


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "RandomState"])
def test_generators_go_on_where_they_were(kind, tmp_path):
    if kind == "RandomState":
        rng = np.random.RandomState(3)
        rng.normal()
    else:
        rng = np.random.Generator(getattr(np.random, kind)(3))
        rng.integers(0, 9, dtype=np.int32)
    loaded = there_and_back(purely.prior.KernelMeanPrior(random_state=rng), tmp_path).random_state
    np.testing.assert_array_equal(loaded.normal(size=9), rng.normal(size=9))


def test_what_is_shared_stays_shared(tmp_path):
    model = purely.prior.KernelMeanPrior()
    array = np.arange(1000.0)
    model.one_, model.two_ = array, [array, array]
    loaded = there_and_back(model, tmp_path)
    assert loaded.two_[0] is loaded.two_[1] is loaded.one_
    assert (tmp_path / "model.purely").stat().st_size < 12000


def test_safetensors_reads_the_arrays(tmp_path):
    from safetensors.numpy import load_file

    X, y = numbers()
    model = purely.PUSMI(n_centers=10, random_state=0).fit(X, y)
    purely.save(model, tmp_path / "model.purely")
    arrays = load_file(tmp_path / "model.purely").values()
    assert any(a.shape == model.coef_.shape and np.array_equal(a, model.coef_) for a in arrays)


def test_another_process_writes_the_same_bytes(tmp_path):
    purely.save(text_model(), tmp_path / "here")
    code = "import sys, purely; from tests.persistence.models import text_model; purely.save(text_model(), sys.argv[1])"
    other = {**os.environ, "PYTHONHASHSEED": "12345"}  # another order of sets
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "there")], check=True, timeout=300, env=other)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


def test_loading_needs_no_torch(tmp_path):
    X, y = numbers()
    network = purely.NNPUClassifier(0.5, hidden=(6,), max_epochs=2, device="cpu", random_state=0).fit(X, y)
    purely.save(network, tmp_path / "network.purely")
    np.save(tmp_path / "expected.npy", network.predict_proba(X))
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.split('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError(name, name='torch')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import numpy as np, purely; "
        "sys.path.insert(0, '.'); from tests.persistence.models import numbers; "
        "model = purely.load(sys.argv[1] + '/network.purely'); "
        "assert np.array_equal(model.predict_proba(numbers()[0]), np.load(sys.argv[1] + '/expected.npy'))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=300)


def test_describe(tmp_path):
    X, y = numbers()
    pipeline = make_pipeline(StandardScaler(), PULeastSquaresClassifier(0.4, n_centers=10, random_state=0))
    purely.save(pipeline, tmp_path / "plain.purely")
    assert not describe(tmp_path / "plain.purely").fitted
    purely.save(pipeline.fit(X, y), tmp_path / "model.purely")
    found = describe(tmp_path / "model.purely")
    assert (found.model, found.steps) == ("Pipeline", ("StandardScaler", "PULeastSquaresClassifier"))
    assert found.settings["puleastsquaresclassifier__class_prior"] == 0.4
    assert (found.n_features, found.feature_names, found.fitted) == (3, None, True)
    assert found.n_bytes == (tmp_path / "model.purely").stat().st_size
    assert {"purely", "scikit-learn", "numpy"} <= set(found.versions)
