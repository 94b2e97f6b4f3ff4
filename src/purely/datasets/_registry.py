"""Where each public dataset comes from, its checksums, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass

from purely.datasets._download import RemoteFile

__all__ = ["DESCRIPTIONS", "IMAGES", "IMAGE_CLASSES", "LIBSVM", "NEWSGROUPS_ARCHIVE", "NEWSGROUPS_RECORDS", "LibsvmSet"]

_LIBSVM_PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
_MNIST_PAGES = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_FASHION_PAGES = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
)


@dataclass(frozen=True)
class LibsvmSet:
    """A set of the LIBSVM page: its files by part, its dimension and which label is positive."""

    files: dict[str, RemoteFile]
    n_features: int
    positive_label: int
    target_names: tuple[str, str]


def _libsvm(name: str, sha256: str, served_as: str | None = None) -> RemoteFile:
    return RemoteFile(f"libsvm/{name}", (_LIBSVM_PAGE + (served_as or name),), sha256, of_text=True)


LIBSVM = {
    "ijcnn1": LibsvmSet(
        {
            "train": _libsvm(
                "ijcnn1", "16506cad788cf7c9607454150ed1994788204bac2ff4c9cb3b320036b6950d3f", "ijcnn1.bz2"
            ),
            "test": _libsvm(
                "ijcnn1.t", "e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8", "ijcnn1.t.bz2"
            ),
        },
        22,
        1,
        ("-1", "+1"),
    ),
    "a9a": LibsvmSet(
        {
            "train": _libsvm("a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
            "test": _libsvm("a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"),
        },
        123,
        1,
        ("at most 50,000 dollars", "above 50,000 dollars"),
    ),
    "mushrooms": LibsvmSet(
        {"all": _libsvm("mushrooms", "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538")},
        112,
        2,
        ("poisonous", "edible"),
    ),
    "phishing": LibsvmSet(
        {"all": _libsvm("phishing", "0cf66ef36604c393da9359b2e5d894a2df8aee31fd184633cefa138add2ef08a")},
        68,
        1,
        ("0", "1"),
    ),
}


def _image_files(
    folder: str, pages: tuple[str, ...], checksums: tuple[str, str, str, str]
) -> dict[str, tuple[RemoteFile, RemoteFile]]:
    names = (
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    )
    files = [
        RemoteFile(f"{folder}/{name}", tuple(page + name for page in pages), sha256)
        for name, sha256 in zip(names, checksums, strict=True)
    ]
    return {"train": (files[0], files[1]), "test": (files[2], files[3])}


IMAGES = {
    "mnist": _image_files(
        "mnist",
        _MNIST_PAGES,
        (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
    "fashion-mnist": _image_files(
        "fashion-mnist",
        _FASHION_PAGES,
        (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
}

IMAGE_CLASSES = {
    "mnist": tuple(str(digit) for digit in range(10)),
    "fashion-mnist": (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
}

#: The messages of comp.* and sci.* alone, one JSON record a line; an offline copy, not served anywhere.
NEWSGROUPS_RECORDS = RemoteFile(
    "20news/20news-bydate-comp-sci.jsonl.xz", (), "7dd3700797c38e77a0d47882ec7dfe1196b5358a8d69fbd65d76de6389b3a1fd"
)
#: The origin's archive of all twenty groups, and the copy that scikit-learn downloads.
NEWSGROUPS_ARCHIVE = RemoteFile(
    "20news/20news-bydate.tar.gz",
    ("http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz", "https://ndownloader.figshare.com/files/5975967"),
    "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)

DESCRIPTIONS = {
    "ijcnn1": (
        "ijcnn1: the IJCNN 2001 neural network competition, after the winner's transformation, from the LIBSVM "
        "page. 49,990 training and validation rows, then 91,701 test rows; 22 columns, of which 0 to 9 are one- "
        "hot. Positive: label +1. The rows are a time series in order: shuffle before splitting."
    ),
    "a9a": (
        "a9a: UCI Adult in 123 binary columns, from the LIBSVM page. 32,561 training rows, then 16,281 test rows. "
        "Positive: label +1, an income above 50,000 dollars a year."
    ),
    "mushrooms": (
        "mushrooms: UCI Mushroom in 112 binary columns, one for each value of each attribute, from the LIBSVM "
        "page. 8,124 rows. Positive: label 2, edible; negative: label 1, poisonous."
    ),
    "phishing": (
        "phishing: UCI Phishing Websites in 68 columns, rows of unit length, from the LIBSVM page. 11,055 rows. "
        "Positive: label 1 (class 1 of the UCI file)."
    ),
    "mnist": (
        "MNIST: handwritten digits by LeCun, Cortes and Burges. 60,000 training and 10,000 test images of 28 x 28 "
        "pixels, scaled to [0, 1]. Positive unless asked otherwise: even digits."
    ),
    "fashion-mnist": (
        "Fashion-MNIST: clothes by Zalando Research. 60,000 training and 10,000 test images of 28 x 28 pixels, "
        "scaled to [0, 1]. Positive unless asked otherwise: even class numbers (T-shirt/top, Pullover, Coat, "
        "Shirt, Bag)."
    ),
    "20news": (
        "20 Newsgroups, the version by date of Jason Rennie's page, comp.* and sci.* groups only: 5,309 training "
        "and 3,534 test messages with their headers. Positive: comp.*; negative: sci.*."
    ),
}
