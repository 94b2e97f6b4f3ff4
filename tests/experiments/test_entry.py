"""Every experiment and benchmark: one way to state options, public names only, results that come from stored rows.

That each runs is checked by ``make smoke`` (`experiments/smoke.py`); here one does, which once could not end.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from experiments.entry import Options, in_parallel, mean_and_error, option, read_options
from experiments.limits import TIME_LIMIT, limited
from experiments.paper import classifiers_report
from experiments.records import RowLog, read_rows, write_rows
from experiments.smoke import COMMANDS, ROOT, WITHOUT_DATA, entry_points

from experiments import prior_tables

SOURCES = sorted([*ROOT.glob("experiments/**/*.py"), *ROOT.glob("benchmarks/*.py")])


def source_of(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.data
@pytest.mark.full
def test_figure1_ends_with_two_jobs(tmp_path) -> None:
    """A data set that a function of the programme itself had cached did not reach the processes."""
    words = [sys.executable, "-W", "ignore", "-m", "experiments.figure1", "--smoke", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run([*words, "--out", str(tmp_path)], cwd=ROOT, env=environment, check=True, timeout=300)
    assert len(read_rows("figure1", tmp_path)) == 2 * 2 * 2
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".png", ".svg"}


@pytest.mark.parametrize("module", entry_points())
def test_every_entry_point_shares_its_options_and_caches_nothing(module) -> None:
    source = source_of(module).read_text()
    assert "read_options(" in source or module == "benchmarks.run"
    assert "argparse" not in source
    assert "lru_cache" not in source
    assert not ("in_parallel" in source and "import cache" in source)


def test_the_smoke_run_knows_its_entry_points() -> None:
    found = entry_points()
    assert {"experiments.figure1", "experiments.paper", "benchmarks.house"} <= set(found)
    assert set(COMMANDS) <= set(found)
    assert all(any(name.startswith(start) for name in found) for start in WITHOUT_DATA)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_public_names_are_used(path) -> None:
    """No module, name or attribute of the package with an underscore."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("purely"):
            assert not [n for n in (*(node.module or "").split("."), *(a.name for a in node.names)) if n[0] == "_"]
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            assert isinstance(node.value, ast.Name), ast.unparse(node)
            assert node.value.id in ("self", "cls", "os"), ast.unparse(node)  # os._exit ends a forked child


@dataclass(frozen=True)
class Study(Options):
    trials: int = 20
    sets: tuple[str, ...] = option(("a", "b"), choices=("a", "b"))
    sizes: tuple[float, ...] = (0.5,)
    draw_only: bool = False


def test_options() -> None:
    smoke = {"trials": 1, "sets": ("a",)}
    full = read_options(Study, None, smoke, [])
    assert (full.trials, full.sets, full.sizes, full.draw_only) == (20, ("a", "b"), (0.5,), False)
    assert full.out.name == "results"
    small = read_options(Study, None, smoke, ["--smoke"])
    assert (small.trials, small.sets, small.jobs, small.out) == (1, ("a",), 2, Path("build/smoke"))
    told = read_options(Study, None, smoke, ["--smoke", "--trials", "3", "--sizes", "1", "2.5", "--draw-only"])
    assert (told.trials, told.sizes, told.draw_only, told.sets) == (3, (1.0, 2.5), True, ("a",))
    with pytest.raises(SystemExit):
        read_options(Study, None, smoke, ["--sets", "c"])


def test_work_in_parallel_keeps_its_order() -> None:
    assert list(in_parallel(divmod, [(7, 2), (9, 4), (1, 1)], 2)) == [(3, 1), (2, 1), (1, 0)]


def test_rows_are_kept_as_they_come(tmp_path) -> None:
    log = RowLog("rows", ("a", "b"), tmp_path, resume=True)
    log.add({"a": 1, "b": 2}, {"a": 3})
    assert [(r["a"], r["b"]) for r in read_rows("rows", tmp_path)] == [("1", "2"), ("3", "")]
    again = RowLog("rows", ("a", "b"), tmp_path, resume=True)
    assert len(again.rows) == 2
    again.add({"a": 5})
    assert len(read_rows("rows", tmp_path)) == 3
    RowLog("rows", ("a", "b"), tmp_path, resume=False)
    assert read_rows("rows", tmp_path) == []
    with pytest.raises(ValueError, match="no rows to write"):
        write_rows("none", [], tmp_path)


def burn() -> None:
    while True:
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="limits of the processor's time")
def test_a_call_with_a_limit() -> None:
    assert limited(lambda: 3, 5).value == 3
    failed = limited(lambda: 1 / 0, 5)
    assert (failed.value, failed.failure) == (None, "ZeroDivisionError: division by zero")
    assert limited(burn, 1).failure == TIME_LIMIT
    assert signal.getsignal(signal.SIGXCPU) == signal.SIG_DFL


def test_mean_and_error() -> None:
    mean, error = mean_and_error([1.0, 3.0])
    assert (mean, error) == (2.0, pytest.approx(1.0))
    assert mean_and_error([1.0])[1] != mean_and_error([1.0])[1]


def test_the_documentation_s_tables_come_from_the_rows(tmp_path) -> None:
    prior_tables.main(["--out", str(tmp_path)])
    for path in tmp_path.iterdir():
        assert path.read_text() == (ROOT / "docs" / "theory" / "tables" / path.name).read_text(), path.name
    classifiers_report.main(["--out", str(tmp_path)])
    name = Path("theory") / "classification_results.inc"
    assert (tmp_path / name).read_text() == (ROOT / "docs" / name).read_text()
