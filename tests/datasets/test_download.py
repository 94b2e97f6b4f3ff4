"""Whatever the network does, a file is whole and right under its name, or not there at all."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import signal
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from purely import datasets
from purely.datasets import ChecksumError, DownloadError, _registry, fetch, get_data_home
from purely.datasets._download import RemoteFile, load_file
from purely.datasets._parse import parse_archive

BODY = bytes(range(256)) * 2000
TEXT = b"+1 1:0.5 3:1\n-1 2:1\n-1 1:0.25\n"


@pytest.fixture(autouse=True)
def _no_offline_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PURELY_DATA", raising=False)


def remote(server, name: str = "folder/file.bin", body: bytes = BODY, **changes) -> RemoteFile:
    server.bodies["file.bin"] = body
    file = RemoteFile(name, (server.url("file.bin"),), hashlib.sha256(body).hexdigest())
    return replace(file, **changes)


def load(file: RemoteFile, home: Path, **options) -> bytes:
    return load_file(file, data_home=home, **{"n_retries": 3, "delay": 0.001, **options})


def files(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def test_a_download_is_cached(server, tmp_path, capsys) -> None:
    file = remote(server)
    assert load(file, tmp_path) == BODY
    assert load(file, tmp_path) == BODY
    assert len(server.requests) == 1
    assert files(tmp_path) == ["folder/file.bin"]
    assert capsys.readouterr().err.count("Downloading folder/file.bin from http://127.0.0.1") == 1


@pytest.mark.parametrize(
    "script",
    [["500"], ["503", "502", "429"], ["truncate"], ["truncate", "500", "truncate"], ["unsized"]],
    ids="-".join,
)
def test_failures_that_pass_are_tried_again(server, tmp_path, script) -> None:
    server.script = list(script)
    assert load(remote(server), tmp_path) == BODY
    assert files(tmp_path) == ["folder/file.bin"]
    assert len(server.requests) == len(script) + ("unsized" not in script)


@pytest.mark.parametrize(
    ("script", "sentence", "n_requests"),
    [
        (["500"] * 9, "HTTP Error 500", 4),
        (["truncate"] * 9, "256000 bytes read, 256000 more expected", 4),
        (["404"], "HTTP Error 404", 1),
        (["403"], "HTTP Error 403", 1),
    ],
    ids=["500", "truncated", "404", "403"],
)
def test_failures_that_stay_leave_nothing_behind(server, tmp_path, script, sentence, n_requests) -> None:
    server.script = script
    with pytest.raises(DownloadError, match=f"folder/file.bin could not be downloaded .*{sentence}.*PURELY_DATA"):
        load(remote(server), tmp_path)
    assert files(tmp_path) == []
    assert len(server.requests) == n_requests


def test_a_wrong_checksum_is_refused_and_removed(server, tmp_path) -> None:
    server.script = ["garble"]
    expected = hashlib.sha256(BODY).hexdigest()
    found = hashlib.sha256(BODY[::-1]).hexdigest()
    with pytest.raises(ChecksumError, match=f"has the SHA-256 checksum {found} where {expected} is expected; it is"):
        load(remote(server), tmp_path)
    assert files(tmp_path) == []
    assert len(server.requests) == 1


def test_a_body_without_a_length_that_ends_early_is_refused(server, tmp_path) -> None:
    file = remote(server)
    server.bodies["file.bin"] = BODY[:-1]
    server.script = ["unsized"]
    with pytest.raises(ChecksumError):
        load(file, tmp_path)
    assert files(tmp_path) == []


@pytest.mark.parametrize("action", ["404", "garble", "500"])
def test_the_next_address_is_tried(server, tmp_path, action) -> None:
    file = remote(server)
    file = replace(file, urls=(file.urls[0], server.url("mirror.bin")))
    server.bodies["mirror.bin"] = BODY
    server.script = [action]
    assert load(file, tmp_path) == BODY
    assert server.requests == ["file.bin", "mirror.bin"]
    assert files(tmp_path) == ["folder/file.bin"]


def test_no_server_at_all(tmp_path) -> None:
    file = RemoteFile("a", ("http://127.0.0.1:9/a",), "0" * 64)
    with pytest.raises(DownloadError, match="a could not be downloaded"):
        load(file, tmp_path, n_retries=1)
    assert files(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_download_that_is_stopped_leaves_nothing(server, tmp_path, how) -> None:
    file = remote(server)
    server.script = ["hang"]
    code = (
        "from purely.datasets._download import RemoteFile, load_file\n"
        f"load_file(RemoteFile({file.path!r}, {file.urls!r}, {file.sha256!r}), data_home={str(tmp_path)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert b"Downloading" in process.stderr.readline()  # half of the body has come, or is on its way
    process.send_signal(how)
    assert process.wait(60) != 0
    process.stderr.close()
    assert files(tmp_path) == []
    assert load(file, tmp_path) == BODY


def test_a_file_that_cannot_be_written_leaves_nothing(server, tmp_path, monkeypatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="the disk is full"):
        load(remote(server), tmp_path)
    assert files(tmp_path) == []


def test_a_damaged_cache_is_downloaded_again(server, tmp_path) -> None:
    file = remote(server)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file.bin").write_bytes(BODY[:100])
    with pytest.raises(ChecksumError, match=r"file\.bin has the SHA-256"):
        load(file, tmp_path, download_if_missing=False)
    assert load(file, tmp_path) == BODY
    assert (tmp_path / "folder" / "file.bin").read_bytes() == BODY


def test_offline_folder(server, tmp_path, monkeypatch) -> None:
    offline, home = tmp_path / "offline", tmp_path / "home"
    (offline / "folder").mkdir(parents=True)
    monkeypatch.setenv("PURELY_DATA", str(offline))
    file = remote(server)
    with pytest.raises(FileNotFoundError, match="download_if_missing=False forbids"):
        load(file, home, download_if_missing=False)
    stored = offline / "folder" / "file.bin"
    stored.write_bytes(BODY)
    assert load(file, home, download_if_missing=False) == BODY
    assert not home.exists()
    stored.write_bytes(BODY[1:])
    with pytest.raises(ChecksumError, match=r"\(in the folder of PURELY_DATA\) has the SHA-256"):
        load(file, home)
    assert stored.exists()
    assert server.requests == []


@pytest.mark.parametrize(
    ("served", "name"),
    [
        (TEXT, "set"),
        (TEXT.replace(b"\n", b"\r\n"), "set"),
        (TEXT[:-1], "set"),
        (bz2.compress(TEXT), "set.bz2"),
        (gzip.compress(TEXT), "set.gz"),
        (lzma.compress(TEXT), "set.xz"),
    ],
    ids=["plain", "crlf", "no final newline", "bz2", "gz", "xz"],
)
def test_text_is_the_same_however_it_is_served(server, tmp_path, served, name) -> None:
    file = remote(server, "folder/set", served, sha256=hashlib.sha256(TEXT).hexdigest(), of_text=True)
    assert load(file, tmp_path) == TEXT
    assert load(file, tmp_path) == TEXT
    assert files(tmp_path) == [f"folder/{name}"]
    assert len(server.requests) == 1


def test_a_damaged_archive_is_refused(server, tmp_path) -> None:
    file = remote(server, "set", bz2.compress(TEXT)[:-4], sha256=hashlib.sha256(TEXT).hexdigest(), of_text=True)
    with pytest.raises(ChecksumError, match=r"set\.bz2 is damaged: it does not uncompress"):
        load(file, tmp_path)
    assert files(tmp_path) == []


def test_data_home(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PURELY_CACHE", str(tmp_path / "variable"))
    assert get_data_home() == tmp_path / "variable"
    assert get_data_home(tmp_path / "argument") == tmp_path / "argument"
    monkeypatch.delenv("PURELY_CACHE")
    assert get_data_home().name == "purely"
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert get_data_home() == tmp_path / "purely"


def test_fetch_downloads_and_parses(server, tmp_path, monkeypatch) -> None:
    file = remote(server, "libsvm/tiny", TEXT, of_text=True)
    monkeypatch.setitem(_registry.ENTRIES, "mushrooms", _registry.Entry("", ["-1", "+1"], {"all": [file]}, 3))
    for _ in range(2):
        X, y = fetch.fetch_mushrooms(data_home=tmp_path, return_X_y=True)
        np.testing.assert_array_equal(X, [[0.5, 0, 1], [0, 1, 0], [0.25, 0, 0]])
        np.testing.assert_array_equal(y, [1, 0, 0])
    assert len(server.requests) == 1


def newsgroups_archive() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name in (
            "20news-bydate-test/sci.space/9",
            "20news-bydate-test/comp.graphics/60000",
            "20news-bydate-train/sci.med/100",
            "20news-bydate-train/sci.med/20",
            "20news-bydate-train/comp.windows.x/7",
            "20news-bydate-train/rec.autos/1",
        ):
            body = f"Subject: caf\xe9 {name}\n\nthe words of {name}".encode("latin-1")
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
        folder = tarfile.TarInfo("20news-bydate-train/sci.med")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
    return stream.getvalue()


def test_the_archive_of_newsgroups_gives_the_records() -> None:
    records = parse_archive(newsgroups_archive())
    assert [(r["split"], r["group"], r["id"]) for r in records] == [
        ("train", "comp.windows.x", "7"),
        ("train", "sci.med", "20"),
        ("train", "sci.med", "100"),
        ("test", "comp.graphics", "60000"),
        ("test", "sci.space", "9"),
    ]
    assert records[0]["text"].startswith("Subject: caf\xe9 ")


def test_newsgroups_come_from_the_archive_where_there_are_no_records(server, tmp_path, monkeypatch) -> None:
    entry = _registry.ENTRIES["20news"]
    archive = remote(server, "20news/all.tar.gz", newsgroups_archive())
    monkeypatch.setitem(_registry.ENTRIES, "20news", replace(entry, files={**entry.files, "archive": [archive]}))
    bunch = fetch.fetch_20newsgroups_comp_sci(data_home=tmp_path, max_features=5)
    assert bunch.data.shape == (5, 5)
    np.testing.assert_array_equal(bunch.target, [1, 0, 0, 1, 0])
    texts, y = fetch.fetch_20newsgroups_comp_sci(data_home=tmp_path, subset="test", return_text=True, return_X_y=True)
    assert len(texts) == 2
    np.testing.assert_array_equal(y, [1, 0])
    assert len(server.requests) == 1


def test_the_registry_names_every_set_and_its_fetcher() -> None:
    assert list(datasets.FETCHERS) == list(datasets.DESCRIPTIONS)
    for name, entry in _registry.ENTRIES.items():
        every = [file for part in entry.files.values() for file in part]
        assert all(len(file.sha256) == 64 and file.path.count("/") == 1 for file in every), name
        assert all(url.startswith("http") for file in every for url in file.urls), name
        assert all(file.urls for file in every if "jsonl" not in file.path), name
