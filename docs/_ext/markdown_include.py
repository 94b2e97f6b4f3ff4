"""Lets ``.. include:: ../CHANGELOG.md`` work: the Markdown that this project's own files use, turned into reST.

Headings, paragraphs, lists, indented code, simple tables, inline code, emphasis and links; nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_UNDERLINES = "=-~"
_INLINE = [
    (re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)"), r"`\1 <\2>`__"),
    (re.compile(r"(?<!`)`([^`]+)`(?!`|_)(?! <)"), r"``\1``"),
]


def to_rst(text: str) -> str:
    """Convert one file."""
    lines = text.splitlines()
    out: list[str] = []
    i = 0
    while i < len(lines):
        line = lines[i]
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            title = _inline(heading[2])
            out += ["", title, _UNDERLINES[len(heading[1]) - 1] * len(title), ""]
        elif line.startswith("|"):
            table = []
            while i < len(lines) and lines[i].startswith("|"):
                table.append([cell.strip() for cell in lines[i].strip("|").split("|")])
                i += 1
            out += _table(table)
            continue
        elif line.startswith("    ") and (not lines[i - 1].strip()):
            out += ["::", ""]
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                out.append(lines[i])
                i += 1
            continue
        else:
            out.append(_inline(line))
        i += 1
    return "\n".join(out) + "\n"


def _inline(text: str) -> str:
    # links first: the code pattern must not touch the backquotes that they bring
    parts = re.split(r"(\[[^\]]+\]\([^)]+\))", text)
    return "".join(_INLINE[0][0].sub(_INLINE[0][1], p) if p.startswith("[") else _INLINE[1][0].sub(_INLINE[1][1], p)
                   for p in parts)  # fmt: skip


def _table(rows: list[list[str]]) -> list[str]:
    out = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in [rows[0], *rows[2:]]:
        out += [f"   {'* -' if k == 0 else '  -'} {_inline(cell)}" for k, cell in enumerate(row)]
    return [*out, ""]


def _read(app: Sphinx, relative_path: Path, parent_docname: str, content: list[str]) -> None:
    if relative_path.suffix == ".md":
        content[0] = to_rst(content[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Convert Markdown as it is included."""
    app.connect("include-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
