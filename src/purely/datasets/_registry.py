"""Where each public dataset comes from, its checksums, and what is in it: the table in ``registry.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from purely.datasets._download import RemoteFile


@dataclass(frozen=True)
class Entry:
    """A public dataset.

    Attributes
    ----------
    description : str
    target_names : list of str
        Names of the negative and of the positive class; of images, of all ten classes.
    files : dict of str to list of RemoteFile
        By part ("train", "test" or "all"; of the newsgroups "records" and "archive").
    n_features, positive_label : int
        Columns of a LIBSVM file, and its label of the positive class.
    """

    description: str
    target_names: list[str]
    files: dict[str, list[RemoteFile]]
    n_features: int = 0
    positive_label: int = 1


def _entry(name: str, kind: str, addresses: list[str], files: dict[str, list[list[str]]], **rest: Any) -> Entry:
    of_text = kind == "libsvm"
    folder = "libsvm" if of_text else name

    def remote(file: str, sha256: str, *elsewhere: str) -> RemoteFile:
        urls = (*(address + file for address in addresses), *elsewhere)
        return RemoteFile(f"{folder}/{file.removesuffix('.bz2')}", urls, sha256, of_text)

    return Entry(files={part: [remote(*row) for row in rows] for part, rows in files.items()}, **rest)


#: The seven datasets by the names that the command line uses.
ENTRIES = {
    name: _entry(name, **table)
    for name, table in tomllib.loads(files("purely.datasets").joinpath("registry.toml").read_text("utf-8")).items()
}
#: What each dataset is, in a few sentences.
DESCRIPTIONS = {name: entry.description for name, entry in ENTRIES.items()}
