"""A file is whole under its name, or what was there before is."""

from __future__ import annotations

import pytest

from purely.files import atomic_path


@pytest.mark.parametrize("before", [None, "old"])
def test_what_fails_changes_nothing(tmp_path, before) -> None:
    target = tmp_path / "rows.csv"
    if before:
        target.write_text(before)

    def stopped() -> None:
        with atomic_path(target) as partial:
            partial.write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [path.name for path in tmp_path.iterdir()] == (["rows.csv"] if before else [])
    assert not before or target.read_text() == before


def test_what_goes_well_replaces(tmp_path) -> None:
    target = tmp_path / "rows.csv"
    target.write_text("old")
    with atomic_path(target) as partial:
        assert partial.suffix == ".csv"
        partial.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_written_is_an_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "rows.csv"):
        pass
    assert not list(tmp_path.iterdir())
