"""Pages say what their code prints."""

from __future__ import annotations

import warnings

import pytest

from tests.outputs import check, run_commands, same
from tests.test_readme import ROOT, pages_with_code


def test_numbers_are_compared_and_times_are_not():
    assert same("logistic  0.18 ± 0.01   2.5 ± 0.1\n", "logistic  0.18 ± 0.01   1.8 ± 0.3\n")
    assert same("trained in 5 seconds", "trained in 11 seconds")
    assert not same("share 0.31 [0.19, 0.45]", "share 0.31 [0.2, 0.45]")
    assert same("share 0.31 [0.19, 0.45]", "share 0.31 [0.2, 0.45]", tolerance=0.02)
    assert not same("share 0.31", "prior 0.31", tolerance=1.0)


def test_transcripts_that_are_shown_in_part_are_left_alone():
    assert run_commands("$ purely prior a.csv\n$ purely fit a.csv\n") is None
    assert run_commands("$ purely report a.csv\n...\nThe report is in report.html\n") is None
    assert run_commands("$ head -3 a.csv\n1\n") is None
    assert run_commands("pip install purely\n") is None


def test_a_page_is_mended(tmp_path, monkeypatch):
    page = tmp_path / "page.rst"
    page.write_text(".. code-block:: python\n\n   print(1 + 1)\n\n.. code-block:: text\n\n   3\n\nEnd.\n")
    assert check(page, write=True) == [("3\n\n", "2\n")]
    assert page.read_text().endswith("text\n\n   2\n\nEnd.\n")
    assert check(page) == []


@pytest.mark.full
@pytest.mark.parametrize("page", pages_with_code(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_say_what_is_printed(page, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(page, tolerance=0.05) == []  # `python -m tests.outputs --write` mends a page
