"""The seven public datasets of the paper's experiments, as binary tasks.

Every function looks into the offline folder (the environment variable ``PURELY_DATA``), then into the cache folder
(`data_home`, else the variable ``PURELY_CACHE``, else the platform's cache folder), and downloads from the public
origin only what is in neither. A file whose SHA-256 checksum is wrong is refused.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from purely.datasets import _registry as registry
from purely.datasets._download import load_file
from purely.datasets._parse import read_idx, read_libsvm, read_newsgroups

__all__ = [
    "fetch_20newsgroups_comp_sci",
    "fetch_a9a",
    "fetch_fashion_mnist",
    "fetch_ijcnn1",
    "fetch_mnist",
    "fetch_mushrooms",
    "fetch_phishing",
]

Subset: TypeAlias = Literal["all", "train", "test"]
PathLike: TypeAlias = str | os.PathLike[str]
#: A Bunch, or (data, target) with return_X_y=True.
Fetched: TypeAlias = Any

_OPTIONS = ("data_home", "download_if_missing", "n_retries", "delay")


def fetch_ijcnn1(
    *,
    subset: Subset = "all",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """ijcnn1: 141,691 rows, 22 columns, 9.6 % positive (label +1).

    The rows are a time series in order, and neighbours share most of columns 12 to 21: shuffle before splitting
    (:func:`~purely.datasets.make_pu` does).

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        The origin's training and validation rows, its test rows, or both in this order.
    data_home : path, default=None
        Cache folder, see :func:`~purely.datasets.get_data_home`.
    download_if_missing : bool, default=True
        False raises an error where the file would have to be downloaded.
    return_X_y : bool, default=False
        True returns ``(data, target)``.
    n_retries : int, default=3
        Further attempts after a failed download.
    delay : float, default=1.0
        Seconds before the first further attempt, doubled each time.

    Returns
    -------
    Bunch
        ``data`` (ndarray of float64), ``target`` (1 positive, 0 negative), ``target_names``, ``feature_names``,
        ``DESCR``.

    Examples
    --------
    >>> from purely.datasets import fetch_ijcnn1
    >>> X, y = fetch_ijcnn1(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((141691, 22), 13565)
    """
    return _fetch_libsvm("ijcnn1", subset, return_X_y, _options(data_home, download_if_missing, n_retries, delay))


def fetch_a9a(
    *,
    subset: Subset = "all",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """a9a (UCI Adult): 48,842 rows, 123 binary columns, 23.9 % positive (label +1, income above 50,000 dollars).

    The arguments and what is returned are those of :func:`fetch_ijcnn1`.

    Examples
    --------
    >>> from purely.datasets import fetch_a9a
    >>> fetch_a9a(subset="test").data.shape  # doctest: +SKIP
    (16281, 123)
    """
    return _fetch_libsvm("a9a", subset, return_X_y, _options(data_home, download_if_missing, n_retries, delay))


def fetch_mushrooms(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Mushrooms (UCI Mushroom): 8,124 rows, 112 binary columns, 51.8 % positive (label 2, edible).

    The file codes poisonous 1 and edible 2; the greater code is the positive class here. The arguments and what is
    returned are those of :func:`fetch_ijcnn1`, without `subset`.

    Examples
    --------
    >>> from purely.datasets import fetch_mushrooms
    >>> fetch_mushrooms().target_names  # doctest: +SKIP
    ['poisonous', 'edible']
    """
    return _fetch_libsvm("mushrooms", "all", return_X_y, _options(data_home, download_if_missing, n_retries, delay))


def fetch_phishing(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Phishing (UCI Phishing Websites): 11,055 rows of unit length, 68 columns, 55.7 % positive (label 1).

    Label 1 is class 1 of the UCI file, 0 its class -1. The arguments and what is returned are those of
    :func:`fetch_ijcnn1`, without `subset`.

    Examples
    --------
    >>> from purely.datasets import fetch_phishing
    >>> fetch_phishing().data.shape  # doctest: +SKIP
    (11055, 68)
    """
    return _fetch_libsvm("phishing", "all", return_X_y, _options(data_home, download_if_missing, n_retries, delay))


def fetch_mnist(
    *,
    subset: Subset = "all",
    positive_classes: Sequence[int] = (0, 2, 4, 6, 8),
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """MNIST: 70,000 images of digits, 784 pixels scaled to [0, 1]; even digits are positive, odd ones negative.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        60,000 training images, 10,000 test images, or both in this order.
    positive_classes : sequence of int, default=(0, 2, 4, 6, 8)
        The digits that are positive. The paper divides the classes into two groups; even against odd is the usual one.
    data_home, download_if_missing, return_X_y, n_retries, delay
        As for :func:`fetch_ijcnn1`.

    Returns
    -------
    Bunch
        ``data`` (ndarray of float32), ``target`` (1 positive, 0 negative), ``original_target`` (the digit),
        ``target_names``, ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> from purely.datasets import fetch_mnist
    >>> X, y = fetch_mnist(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((70000, 784), 34418)
    """
    options = _options(data_home, download_if_missing, n_retries, delay)
    return _fetch_images("mnist", subset, positive_classes, return_X_y, options)


def fetch_fashion_mnist(
    *,
    subset: Subset = "all",
    positive_classes: Sequence[int] = (0, 2, 4, 6, 8),
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Fashion-MNIST: 70,000 images of clothes, 784 pixels scaled to [0, 1]; even classes are positive.

    The paper divides the ten classes into two groups without saying which. Here, as for the digits, even class numbers
    are positive (T-shirt/top, pullover, coat, shirt, bag) and odd ones negative (trouser, dress, sandal, sneaker, ankle
    boot); `positive_classes` makes any other task. The arguments and what is returned are otherwise those of
    :func:`fetch_mnist`.

    Examples
    --------
    >>> from purely.datasets import fetch_fashion_mnist
    >>> tops = fetch_fashion_mnist(positive_classes=[0, 2, 4, 6])  # doctest: +SKIP
    >>> int(tops.target.sum())  # doctest: +SKIP
    28000
    """
    options = _options(data_home, download_if_missing, n_retries, delay)
    return _fetch_images("fashion-mnist", subset, positive_classes, return_X_y, options)


def fetch_20newsgroups_comp_sci(
    *,
    subset: Subset = "all",
    max_features: int = 2000,
    return_text: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """20 Newsgroups, comp.* (positive, 4,891 messages) against sci.* (negative, 3,952 messages), as tf-idf vectors.

    The version "by date", with headers. The words and their weights are those of scikit-learn's ``TfidfVectorizer``,
    fitted on the text of all 8,843 messages (no labels are used) whatever the subset.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        The messages before a date, those after it, or both in this order.
    max_features : int, default=2000
        Number of words to keep, the most frequent ones.
    return_text : bool, default=False
        True puts the messages themselves, a list of str, into ``data``.
    data_home, download_if_missing, return_X_y, n_retries, delay
        As for :func:`fetch_ijcnn1`.

    Returns
    -------
    Bunch
        ``data`` (CSR matrix of float64, or the messages), ``target`` (1 positive, 0 negative), ``groups`` (the
        newsgroup of each message), ``target_names``, ``feature_names`` (the words; None with the text), ``DESCR``.

    Examples
    --------
    >>> from purely.datasets import fetch_20newsgroups_comp_sci
    >>> fetch_20newsgroups_comp_sci().data.shape  # doctest: +SKIP
    (8843, 2000)
    """
    _check_subset(subset)
    records = read_newsgroups(_options(data_home, download_if_missing, n_retries, delay))
    kept = [k for k, record in enumerate(records) if subset in ("all", record["split"])]
    groups = np.array([records[k]["group"] for k in kept])
    target = np.char.startswith(groups, "comp.").astype(np.intp)
    data: Any = [records[k]["text"] for k in kept]
    names = None
    if not return_text:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectoriser = TfidfVectorizer(max_features=max_features)
        data = sp.csr_matrix(vectoriser.fit_transform(record["text"] for record in records))[kept]
        names = vectoriser.get_feature_names_out().tolist()
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        groups=groups,
        target_names=["sci", "comp"],
        feature_names=names,
        DESCR=registry.DESCRIPTIONS["20news"],
    )


def _options(data_home: PathLike | None, download_if_missing: bool, n_retries: int, delay: float) -> dict[str, Any]:
    return dict(zip(_OPTIONS, (data_home, download_if_missing, n_retries, delay), strict=True))


def _check_subset(subset: object) -> None:
    if subset not in ("all", "train", "test"):
        raise ValueError(f"subset must be 'all', 'train' or 'test'; {subset!r} was given.")


def _fetch_libsvm(name: str, subset: Subset, return_X_y: bool, options: dict[str, Any]) -> Fetched:
    _check_subset(subset)
    entry = registry.LIBSVM[name]
    files = [file for part, file in entry.files.items() if subset in ("all", part)]
    parts = [read_libsvm(file, entry.n_features, options) for file in files]
    data = np.concatenate([X.toarray() for X, _ in parts])
    target = (np.concatenate([y for _, y in parts]) == entry.positive_label).astype(np.intp)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=list(entry.target_names),
        feature_names=[f"x{j}" for j in range(1, entry.n_features + 1)],
        DESCR=registry.DESCRIPTIONS[name],
    )


def _fetch_images(
    name: str, subset: Subset, positive_classes: Sequence[int], return_X_y: bool, options: dict[str, Any]
) -> Fetched:
    _check_subset(subset)
    positives = sorted({int(c) for c in positive_classes})
    if not positives or not set(positives) < set(range(10)):
        raise ValueError(
            f"positive_classes must hold at least one and at most nine of 0 to 9; {positive_classes!r} was given."
        )
    names = registry.IMAGE_CLASSES[name]
    entry = registry.IMAGES[name]
    parts = [
        (read_idx(load_file(images, **options)), read_idx(load_file(labels, **options)))
        for part, (images, labels) in entry.items()
        if subset in ("all", part)
    ]
    data = np.concatenate([images.reshape(images.shape[0], -1) for images, _ in parts]).astype(np.float32)
    data /= np.float32(255.0)
    classes = np.concatenate([labels for _, labels in parts]).astype(np.intp)
    target = np.isin(classes, positives).astype(np.intp)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        original_target=classes,
        target_names=[
            ", ".join(names[c] for c in range(10) if c not in positives),
            ", ".join(names[c] for c in positives),
        ],
        feature_names=[f"pixel_{r}_{c}" for r in range(28) for c in range(28)],
        DESCR=registry.DESCRIPTIONS[name],
    )
