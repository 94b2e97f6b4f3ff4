"""The tour runs, fits a terminal, leaves a picture, and says so where it cannot draw one."""

from __future__ import annotations

import contextlib
import io
import sys

import pytest

from purely import demo
from purely.demo import _tour
from tests.conftest import leave_out_pictures

#: A tour of seconds.
FEW = {"N_POSITIVE": 100, "N_UNLABELLED": 250, "N_NEW": 500, "N_JUDGED": 500}


@pytest.fixture(scope="module", params=[FEW, pytest.param({}, marks=pytest.mark.full)], ids=["few", "as it is"])
def tour(request, tmp_path_factory):
    """The folder that the tour wrote to, and what it said."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("tour") / "new" / "folder"
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        for name, size in request.param.items():
            patch.setattr(_tour, name, size)
        if request.param:
            leave_out_pictures(patch)
        assert demo.main(["--output", str(folder)]) == 0
    return folder, said.getvalue()


def test_the_tour_fits_80_columns_and_leaves_a_picture(tour):
    folder, text = tour
    picture = folder / demo.PICTURE
    assert str(picture) in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert max(len(line) for line in text.splitlines() if str(folder) not in line) <= 80
    assert "information (needs no prior)" in text
    assert "SMI at class prior 0.7" in text
    assert "degrees from column x0" in text
    assert "Class prior 0." in text
    assert "the truth is 0.7" in text
    assert "share called positive" in text
    assert "precision" in text
    assert text.count("90% interval") == 3  # the level of every estimate is the same, and it is told


def test_the_tour_ends_with_five_answers_and_the_report(tour):
    folder, text = tour
    pytest.importorskip("jinja2")
    page = folder / demo.REPORT
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    *_, answers = text.partition("The five answers")
    for place in range(1, 6):
        assert f"\n{place}. " in answers
    assert answers.index("Can I trust the answers") < answers.index(str(page))
    assert sorted(path.name for path in folder.iterdir()) == [demo.REPORT, demo.PICTURE]


def test_without_matplotlib_and_torch_the_rest_is_told_all_the_same(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(_tour, "find_spec", lambda name: None)
    for name, size in FEW.items():
        monkeypatch.setattr(_tour, name, size)
    assert demo.main(["--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text.count("matplotlib is not installed") == 2  # neither picture nor report
    assert "pip install 'purely[report]'" in text
    assert "representations need torch" in text
    assert "Class prior 0." in text
    assert "share of errors" in text
    assert not list(tmp_path.iterdir())
