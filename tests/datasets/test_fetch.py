"""The public datasets are what they are said to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from purely import datasets
from purely.datasets import make_pu


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def fetch(name: str, cache: Path, **options):
    return getattr(datasets, f"fetch_{name}")(data_home=cache, download_if_missing=False, **options)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "n_train", "n_positive"),
    [
        ("ijcnn1", (141_691, 22), 49_990, (4_853, 8_712)),
        ("a9a", (48_842, 123), 32_561, (7_841, 3_846)),
        ("mushrooms", (8_124, 112), 8_124, (4_208, 0)),
        ("phishing", (11_055, 68), 11_055, (6_157, 0)),
    ],
)
def test_libsvm_sets(cache, name, shape, n_train, n_positive) -> None:
    bunch = fetch(name, cache)
    X, y = bunch.data, bunch.target
    assert (X.shape, X.dtype, y.shape) == (shape, np.float64, shape[:1])
    assert set(np.unique(y)) == {0, 1}
    assert (y[:n_train].sum(), y[n_train:].sum()) == n_positive
    assert (len(bunch.feature_names), len(bunch.target_names)) == (shape[1], 2)
    assert name in bunch.DESCR
    if name == "a9a":
        np.testing.assert_array_equal(fetch(name, cache, subset="test", return_X_y=True)[0], X[n_train:])
        assert fetch(name, cache, subset="train").data.shape == (n_train, shape[1])
    VALUES[name](X)
    for prior in (0.3, 0.5, 0.7):  # the paper's protocol can be drawn from every set
        draw = make_pu(
            X,
            y,
            n_positive=1_000,
            n_unlabelled=2_000,
            class_prior=prior,
            n_validation_positive=50,
            n_validation_unlabelled=200,
            n_test=1_000,
            random_state=0,
        )
        drawn = np.concatenate([draw.indices, draw.validation_indices, draw.test_indices])
        assert np.unique(drawn).size == drawn.size == 4_250


def of_ijcnn1(X) -> None:
    assert (X[:49_990].min(), X[:49_990].max()) == (-0.930435, 1.0)
    np.testing.assert_array_equal(X[:, :10].sum(axis=1), 1.0)


def of_a9a(X) -> None:
    assert set(np.unique(X)) == {0.0, 1.0}
    assert (X.sum(axis=1).min(), X.sum(axis=1).max()) == (11, 14)


def of_mushrooms(X) -> None:
    np.testing.assert_array_equal(X.sum(axis=1), 21.0)


def of_phishing(X) -> None:
    np.testing.assert_array_equal((X != 0).sum(axis=1), 30)
    np.testing.assert_allclose((X**2).sum(axis=1), 1.0, rtol=1e-4)


VALUES = {"ijcnn1": of_ijcnn1, "a9a": of_a9a, "mushrooms": of_mushrooms, "phishing": of_phishing}


MNIST_TEST = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
MNIST_TRAIN = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


@pytest.mark.data
def test_mnist(cache) -> None:
    bunch = fetch("mnist", cache)
    assert bunch.data.shape == (70_000, 784)
    assert bunch.data.dtype == np.float32
    assert (bunch.data.min(), bunch.data.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(np.bincount(bunch.original_target[:60_000]), MNIST_TRAIN)
    np.testing.assert_array_equal(np.bincount(bunch.original_target[60_000:]), MNIST_TEST)
    np.testing.assert_array_equal(bunch.target, bunch.original_target % 2 == 0)
    assert bunch.data[:60_000].mean(dtype=np.float64) == pytest.approx(0.1307, abs=5e-5)
    assert bunch.data[:60_000].std(dtype=np.float64) == pytest.approx(0.3081, abs=5e-5)


@pytest.mark.data
def test_fashion_mnist(cache) -> None:
    bunch = fetch("fashion_mnist", cache, subset="test")
    assert bunch.data.shape == (10_000, 784)
    np.testing.assert_array_equal(np.bincount(bunch.original_target), 1_000)
    assert bunch.target.sum() == 5_000
    assert bunch.target_names[1] == "T-shirt/top, Pullover, Coat, Shirt, Bag"
    _, tops = fetch("fashion_mnist", cache, subset="test", positive_classes=[0, 2, 4, 6], return_X_y=True)
    assert tops.sum() == 4_000
    assert fetch("fashion_mnist", cache, subset="train", return_X_y=True)[1].sum() == 30_000


@pytest.mark.data
def test_newsgroups(cache) -> None:
    bunch = fetch("20newsgroups_comp_sci", cache)
    assert sp.issparse(bunch.data)
    assert bunch.data.format == "csr"
    assert bunch.data.shape == (8_843, 2_000)
    assert bunch.target.sum() == 4_891
    assert len(bunch.feature_names) == 2_000
    np.testing.assert_allclose(np.sqrt(np.asarray(bunch.data.multiply(bunch.data).sum(axis=1)).ravel()), 1.0)
    texts, y = fetch("20newsgroups_comp_sci", cache, subset="test", return_text=True, return_X_y=True)
    assert (len(texts), y.sum()) == (1_955 + 1_579, 1_955)
    assert all("From: " in text and "Subject: " in text for text in texts)
    train = fetch("20newsgroups_comp_sci", cache, subset="train", return_text=True)
    assert (len(train.data), train.target.sum(), train.feature_names) == (5_309, 2_936, None)


@pytest.mark.parametrize("name", ["ijcnn1", "a9a", "mnist", "fashion_mnist", "20newsgroups_comp_sci"])
def test_unknown_subset(name, tmp_path) -> None:
    with pytest.raises(ValueError, match="subset must be one of 'all', 'train', 'test'; 'validation' was given"):
        fetch(name, tmp_path, subset="validation")


@pytest.mark.parametrize("classes", [[], [10], list(range(10))])
def test_no_binary_task(tmp_path, classes) -> None:
    with pytest.raises(ValueError, match="positive_classes must hold at least one and at most nine"):
        fetch("mnist", tmp_path, positive_classes=classes)


@pytest.mark.parametrize(
    "name", ["ijcnn1", "a9a", "mushrooms", "phishing", "mnist", "fashion_mnist", "20newsgroups_comp_sci"]
)
def test_missing_files_are_named(name, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("PURELY_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"is neither in the folder of PURELY_DATA \(not set\) nor in"):
        fetch(name, tmp_path)
