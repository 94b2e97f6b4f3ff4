"""Code blocks of the README and of the documentation's pages run as they stand, one namespace a file."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")])
BUILT = {"_build", "auto_examples", "generated"}

_FENCE = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(
    r"^(?P<indent> *)\.\. code(?:-block)?:: python\n(?:(?P=indent) +:[^\n]*\n)*\n"
    r"(?P<code>(?:(?P=indent) +[^\n]*\n|[ ]*\n)+)",
    re.MULTILINE,
)


def python_blocks(text: str, suffix: str) -> list[tuple[int, str]]:
    """Line number and source of each Python block."""
    pattern = _FENCE if suffix == ".md" else _DIRECTIVE
    return [
        (text.count("\n", 0, match.start("code")) + 1, textwrap.dedent(match["code"]))
        for match in pattern.finditer(text)
    ]


def pages_with_code() -> list[Path]:
    pages = [page for page in PAGES if not BUILT & set(page.relative_to(ROOT).parts)]
    return [page for page in pages if python_blocks(page.read_text(encoding="utf-8"), page.suffix)]


@pytest.mark.parametrize("page", pages_with_code(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_blocks_run(page, monkeypatch, tmp_path, undrawn):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in python_blocks(page.read_text(encoding="utf-8"), page.suffix):
        # blank lines in front keep the line numbers of a traceback those of the page
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)


def test_blocks_are_found():
    markdown = "text\n\n```python\na = 1\n```\n\n```text\nno\n```\n"
    assert python_blocks(markdown, ".md") == [(4, "a = 1\n")]
    rst = "text\n\n.. code-block:: python\n   :caption: c\n\n   b = 2\n\n   c = 3\n\nmore\n"
    assert python_blocks(rst, ".rst") == [(6, "b = 2\n\nc = 3\n\n")]
    assert ROOT / "README.md" in pages_with_code()
