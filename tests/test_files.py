"""One writer and one opener: whatever happens, a file is the old one or the new one, and nothing is left beside it."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from purely.files import (
    FileError,
    MissingFileError,
    is_same_file,
    is_stream,
    open_input,
    printable,
    replacing,
    shown,
    sweep,
)

PARTIAL = ".t.bin.purely-part"


def names(folder):
    return sorted(p.name for p in Path(folder).iterdir())


def child(code, *arguments, **options):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)


#: Holds the target open, says so, and waits; then ends as it is told, or is killed.
HOLDER = """
import sys
from purely.files import replacing
with replacing(sys.argv[1]) as partial:
    partial.write_text("half")
    print("holding", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "t.bin"
    path.write_bytes(b"old")
    return path


def test_the_new_file_appears_when_it_is_whole(target):
    with replacing(target) as partial:
        partial.write_bytes(b"new")
        assert partial.parent == target.parent
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"
    assert names(target.parent) == ["t.bin"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_else(target, error):
    def fail(partial):
        partial.write_bytes(b"half of it")
        raise error

    with pytest.raises(error), replacing(target) as partial:
        fail(partial)
    assert target.read_bytes() == b"old"
    assert names(target.parent) == ["t.bin"]


def test_a_function_that_writes_for_itself_may_be_called_inside(target):
    with replacing(target):
        with replacing(target) as partial:
            partial.write_bytes(b"new")
        assert target.read_bytes() == b"old"  # still the outer one's decision
    assert target.read_bytes() == b"new"


def test_a_file_that_is_replaced_keeps_its_permissions(target):
    target.chmod(0o640)
    with replacing(target) as partial:
        partial.write_bytes(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_stays(target):
    target.chmod(0o444)
    with pytest.raises(FileError, match="may not be written"), replacing(target):
        pass
    assert target.read_bytes() == b"old"


def test_a_link_is_followed(tmp_path, target):
    link, dangling = tmp_path / "link", tmp_path / "dangling"
    link.symlink_to(target.name)
    dangling.symlink_to("new.bin")
    for path in (link, dangling):
        with replacing(path) as partial:
            partial.write_bytes(b"new")
        assert path.is_symlink()
        assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["dangling", "link", "new.bin", "t.bin"]


def test_a_pipe_and_a_device_are_written_to_as_they_are(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with replacing(pipe) as partial:
        partial.write_bytes(b"through")
    reader.join(10)
    assert received == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with replacing("/dev/null") as partial:
        assert partial == Path("/dev/null")


def test_what_a_killed_process_left_is_removed_by_the_next_one(target):
    holder = child(HOLDER, target)
    assert holder.stdout.readline() == "holding\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert names(target.parent) == [PARTIAL, "t.bin"]
    with replacing(target.parent / "another"):
        assert names(target.parent) == [".another.purely-part", "t.bin"]
    assert target.read_bytes() == b"old"


def test_a_second_process_is_refused_and_takes_nothing_away(target):
    holder = child(HOLDER, target)
    assert holder.stdout.readline() == "holding\n"
    with pytest.raises(FileError, match="is being written by another process"), replacing(target):
        pass
    sweep(target.parent)
    assert names(target.parent) == [PARTIAL, "t.bin"]
    holder.communicate("go on\n", timeout=30)
    assert target.read_text() == "half"
    assert names(target.parent) == ["t.bin"]


def test_many_at_once_end_with_one_whole_file(tmp_path):
    code = """
import sys
from purely.files import FileError, replacing
for i in range(40):
    try:
        with replacing(sys.argv[1]) as partial:
            partial.write_text(sys.argv[2] * 50_000)
    except FileError as error:
        assert "another process" in str(error)
"""
    target = tmp_path / "t.bin"
    children = [child(code, target, letter, stderr=subprocess.PIPE) for letter in "ab"]
    for process in children:
        assert process.communicate(timeout=60)[1] == ""
    assert target.read_text() in ("a" * 50_000, "b" * 50_000)
    assert names(tmp_path) == ["t.bin"]


def test_what_is_planted_under_the_partial_name_is_not_written_through(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / PARTIAL).symlink_to(victim)
    with pytest.raises(FileError), replacing(tmp_path / "t.bin"):
        pass
    assert victim.read_bytes() == b"mine"


def test_only_files_of_our_ending_are_swept(tmp_path):
    others = ["data.purely-part", ".hidden", ".t.partial", "t.purely"]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / PARTIAL).write_bytes(b"")
    sweep(tmp_path)
    assert names(tmp_path) == sorted(others)


def test_targets_that_cannot_be(tmp_path):
    for path, expected in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "t", "make it first"),
        ("x" * 250, "too long"),
    ):
        with pytest.raises(FileError, match=expected), replacing(path):
            pass
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "no" / "t"):
        pass


@pytest.mark.parametrize("size", [0, 1, 70_000, 3_000_000])
def test_a_pipe_is_read_whole_and_can_be_read_again(tmp_path, size):
    data = os.urandom(size)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[data])
    writer.start()
    with open_input(pipe) as stream:
        assert stream.read() == data
        stream.seek(0)
        assert stream.read() == data
    writer.join(10)


def test_the_standard_input_as_a_file_and_as_a_pipe(tmp_path):
    code = "import sys; from purely.files import open_input; sys.stdout.write(open_input('-').read().decode())"
    assert child(code).communicate("by pipe")[0] == "by pipe"
    (tmp_path / "t").write_text("by file")
    with open(tmp_path / "t") as file:
        assert subprocess.run([sys.executable, "-c", code], stdin=file, capture_output=True).stdout == b"by file"


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no folder in memory")
def test_files_in_memory_are_files_and_what_the_shell_opened_is_not():
    assert is_stream("/dev/stdout")
    assert is_stream("/dev/fd/1")
    assert is_stream("/dev/null")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        target = Path(folder) / "t.bin"
        target.write_bytes(b"old")
        with pytest.raises(KeyboardInterrupt), replacing(target) as partial:  # noqa: PT012 - it stops half-way
            partial.write_bytes(b"half")
            raise KeyboardInterrupt
        assert target.read_bytes() == b"old"
        assert names(folder) == ["t.bin"]


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        open_input(tmp_path)
    with pytest.raises(MissingFileError, match="no such file"):
        open_input(tmp_path / "absent")
    with pytest.raises(FileError, match="is a device"):
        open_input("/dev/zero")


def test_one_file_by_any_name(tmp_path, target):
    os.link(target, tmp_path / "hard")
    (tmp_path / "soft").symlink_to(target)
    (tmp_path / "other").write_bytes(b"old")
    assert is_same_file(target, tmp_path / "hard")
    assert is_same_file(tmp_path / "soft", target)
    assert not is_same_file(target, tmp_path / "other")
    assert not is_same_file(target, tmp_path / "absent")
    assert not is_same_file("/dev/null", "/dev/null")


def test_nothing_that_a_terminal_acts_upon_is_printed():
    hostile = "a\x1b[31m\x07\udcff\u202e\u0000é漢\nb"
    said = printable(hostile)
    assert all(c.isprintable() or c == "\n" for c in said)
    assert "é漢\nb" in said
    said.encode()
    assert "\n" not in shown(hostile)
    assert len(shown("x" * 100, 20)) == 20
    io.StringIO().write(said)
