"""The seven public datasets of the paper's experiments, as binary tasks.

Every function looks into the offline folder (the environment variable ``PURELY_DATA``), then into the cache folder
(`data_home`, else the variable ``PURELY_CACHE``, else the platform's cache folder), and downloads from the public
origin only what is in neither. A file whose SHA-256 checksum is wrong is refused.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils import Bunch

from purely.checks import check_choice
from purely.datasets._download import OFFLINE_VARIABLE, find_local, get_data_home, load_file
from purely.datasets._parse import Message, parse_archive, parse_idx, parse_records
from purely.datasets._registry import ENTRIES
from purely.typing import Mask, Matrix

Subset: TypeAlias = Literal["all", "train", "test"]
#: A Bunch, or (data, target) with return_X_y=True.
Fetched: TypeAlias = Any
#: A matrix, or texts.
Rows: TypeAlias = Matrix | list[str]


class Download(TypedDict, total=False):
    """Keywords of every function that say where files come from; see :func:`fetch_ijcnn1`."""

    data_home: str | os.PathLike[str] | None
    download_if_missing: bool
    n_retries: int
    delay: float


def fetch_ijcnn1(*, subset: Subset = "all", return_X_y: bool = False, **download: Unpack[Download]) -> Fetched:
    """ijcnn1: 141,691 rows, 22 columns, 9.6 % positive (label +1).

    The rows are a time series in order, and neighbours share most of columns 12 to 21: shuffle before splitting
    (:func:`~purely.datasets.make_pu` does).

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        The origin's training and validation rows, its test rows, or both in this order.
    return_X_y : bool, default=False
        True returns ``(data, target)``.
    **download
        `data_home` (path, default=None): cache folder, see :func:`~purely.datasets.get_data_home`.
        `download_if_missing` (bool, default=True): False raises an error where the file would have to be downloaded.
        `n_retries` (int, default=3): further attempts after a failed download.
        `delay` (float, default=1.0): seconds before the first further attempt, doubled each time.

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
    return _fetch_libsvm("ijcnn1", subset, return_X_y, download)


def fetch_a9a(*, subset: Subset = "all", return_X_y: bool = False, **download: Unpack[Download]) -> Fetched:
    """a9a (UCI Adult): 48,842 rows, 123 binary columns, 23.9 % positive (label +1, income above 50,000 dollars).

    The arguments and what is returned are those of :func:`fetch_ijcnn1`.

    Examples
    --------
    >>> from purely.datasets import fetch_a9a
    >>> fetch_a9a(subset="test").data.shape  # doctest: +SKIP
    (16281, 123)
    """
    return _fetch_libsvm("a9a", subset, return_X_y, download)


def fetch_mushrooms(*, return_X_y: bool = False, **download: Unpack[Download]) -> Fetched:
    """Mushrooms (UCI Mushroom): 8,124 rows, 112 binary columns, 51.8 % positive (label 2, edible).

    The file codes poisonous 1 and edible 2; the greater code is the positive class here. The arguments and what is
    returned are those of :func:`fetch_ijcnn1`, without `subset`.

    Examples
    --------
    >>> from purely.datasets import fetch_mushrooms
    >>> fetch_mushrooms().target_names  # doctest: +SKIP
    ['poisonous', 'edible']
    """
    return _fetch_libsvm("mushrooms", "all", return_X_y, download)


def fetch_phishing(*, return_X_y: bool = False, **download: Unpack[Download]) -> Fetched:
    """Phishing (UCI Phishing Websites): 11,055 rows of unit length, 68 columns, 55.7 % positive (label 1).

    Label 1 is class 1 of the UCI file, 0 its class -1. The arguments and what is returned are those of
    :func:`fetch_ijcnn1`, without `subset`.

    Examples
    --------
    >>> from purely.datasets import fetch_phishing
    >>> fetch_phishing().data.shape  # doctest: +SKIP
    (11055, 68)
    """
    return _fetch_libsvm("phishing", "all", return_X_y, download)


def fetch_mnist(
    *,
    subset: Subset = "all",
    positive_classes: Sequence[int] = (0, 2, 4, 6, 8),
    return_X_y: bool = False,
    **download: Unpack[Download],
) -> Fetched:
    """MNIST: 70,000 images of digits, 784 pixels scaled to [0, 1]; even digits are positive, odd ones negative.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        60,000 training images, 10,000 test images, or both in this order.
    positive_classes : sequence of int, default=(0, 2, 4, 6, 8)
        The digits that are positive. The paper divides the classes into two groups; even against odd is the usual one.
    return_X_y, **download
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
    return _fetch_images("mnist", subset, positive_classes, return_X_y, download)


def fetch_fashion_mnist(
    *,
    subset: Subset = "all",
    positive_classes: Sequence[int] = (0, 2, 4, 6, 8),
    return_X_y: bool = False,
    **download: Unpack[Download],
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
    return _fetch_images("fashion-mnist", subset, positive_classes, return_X_y, download)


def fetch_20newsgroups_comp_sci(
    *,
    subset: Subset = "all",
    max_features: int = 2000,
    return_text: bool = False,
    return_X_y: bool = False,
    **download: Unpack[Download],
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
    return_X_y, **download
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
    check_choice("subset", subset, _SUBSETS)
    messages = _newsgroups(download)
    kept = [k for k, message in enumerate(messages) if subset in ("all", message["split"])]
    groups = np.array([messages[k]["group"] for k in kept])
    data: Rows = [messages[k]["text"] for k in kept]
    names = None
    if not return_text:
        vectoriser = TfidfVectorizer(max_features=max_features)
        data = sp.csr_matrix(vectoriser.fit_transform(message["text"] for message in messages))[kept]
        names = vectoriser.get_feature_names_out().tolist()
    return _bunch("20news", data, np.char.startswith(groups, "comp."), names, return_X_y, groups=groups)


#: The functions by the names that the command line uses.
FETCHERS: dict[str, Callable[..., Fetched]] = {
    "ijcnn1": fetch_ijcnn1,
    "a9a": fetch_a9a,
    "mushrooms": fetch_mushrooms,
    "phishing": fetch_phishing,
    "mnist": fetch_mnist,
    "fashion-mnist": fetch_fashion_mnist,
    "20news": fetch_20newsgroups_comp_sci,
}
_SUBSETS: tuple[Subset, ...] = ("all", "train", "test")


def _bunch(
    name: str, data: Rows, positive: Mask, feature_names: list[str] | None, return_X_y: bool, **more: object
) -> Fetched:
    target = np.asarray(positive, dtype=np.intp)
    if return_X_y:
        return data, target
    told = {"target_names": ENTRIES[name].target_names, "feature_names": feature_names} | more
    return Bunch(data=data, target=target, DESCR=ENTRIES[name].description, **told)


def _parts(name: str, subset: Subset, download: Download) -> list[list[bytes]]:
    """Contents of the files of each part that was asked for."""
    check_choice("subset", subset, _SUBSETS)
    files = ENTRIES[name].files
    return [[load_file(f, **download) for f in rows] for part, rows in files.items() if subset in ("all", part)]


def _fetch_libsvm(name: str, subset: Subset, return_X_y: bool, download: Download) -> Fetched:
    entry, parts = ENTRIES[name], _parts(name, subset, download)
    read = [load_svmlight_file(io.BytesIO(text), n_features=entry.n_features, zero_based=False) for (text,) in parts]
    positive = np.concatenate([y for _, y in read]) == entry.positive_label
    names = [f"x{j}" for j in range(1, entry.n_features + 1)]
    return _bunch(name, np.concatenate([X.toarray() for X, _ in read]), positive, names, return_X_y)


def _fetch_images(name: str, subset: Subset, chosen: Sequence[int], return_X_y: bool, download: Download) -> Fetched:
    positives = sorted({int(c) for c in chosen})
    if not positives or not set(positives) < set(range(10)):
        raise ValueError(f"positive_classes must hold at least one and at most nine of 0 to 9; {chosen!r} was given.")
    images, labels = zip(*(map(parse_idx, part) for part in _parts(name, subset, download)), strict=True)
    data = np.concatenate([part.reshape(len(part), -1) for part in images]).astype(np.float32)
    data /= np.float32(255.0)
    classes = np.concatenate(labels).astype(np.intp)
    called = ENTRIES[name].target_names
    names = [", ".join(called[c] for c in range(10) if (c in positives) == kind) for kind in (False, True)]
    pixels = [f"pixel_{r}_{c}" for r in range(28) for c in range(28)]
    told = {"original_target": classes, "target_names": names}
    return _bunch(name, data, np.isin(classes, positives), pixels, return_X_y, **told)


def _newsgroups(download: Download) -> list[Message]:
    """The messages of comp.* and sci.*: training then test, by group, by number."""
    (records,), (archive,) = ENTRIES["20news"].files.values()
    folders = [os.environ.get(OFFLINE_VARIABLE), get_data_home(download.get("data_home"))]
    if any(folder and find_local(records, Path(folder)) for folder in folders):
        return parse_records(load_file(records, **download))
    return parse_archive(load_file(archive, **download))
