"""The tour runs, fits a terminal, leaves a picture, and says so where it cannot draw one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from purely import demo


def test_the_tour_fits_80_columns_and_leaves_a_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert demo.main(["--output", str(tmp_path / "new" / "folder")]) == 0
    picture = tmp_path / "new" / "folder" / demo.PICTURE
    text = capsys.readouterr().out
    assert str(picture) in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert max(len(line) for line in text.splitlines() if str(tmp_path) not in line) <= 80
    assert "information (needs no prior)" in text
    assert "SMI at class prior 0.7" in text
    assert "degrees from column x0" in text
    assert "Class prior 0." in text
    assert "the truth is 0.7" in text
    assert "share called positive" in text


def test_without_matplotlib_and_torch_the_rest_is_told_all_the_same(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert demo.main(["--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "matplotlib is not installed" in text
    assert "representations need torch" in text
    assert "p = 0.001" in text
    assert "Class prior 0." in text
    assert not list(tmp_path.iterdir())


def test_importing_the_tour_loads_neither_matplotlib_nor_torch():
    code = "import sys, purely.demo; sys.exit(bool({'matplotlib', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
