"""What the pages say that code prints, beside what it prints: ``python -m tests.outputs [--write] [PAGE ...]``.

A Python block that is followed at once by a text block prints that text. A text block of commands of ``purely`` shows
what they print in 80 columns. ``--write`` puts what was printed in its place; seconds are never compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

_BODY = r"(?P<{}>(?:{indent}[^\n]*\n|[ ]*\n)+)"
_RST = re.compile(
    r"\.\. code-block:: python\n\n"
    + _BODY.format("code", indent=" {3}")
    + r"(?:\.\. code-block:: text\n\n"
    + _BODY.format("printed", indent=" {3}")
    + r")?|\.\. code-block:: text\n\n"
    + _BODY.format("commands", indent=" {3}")
)
_MARKDOWN = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:\n" + _BODY.format("printed", indent=" {4}") + r")?", re.DOTALL
)
#: What differs from run to run: times.
_TIMES = re.compile(r"in \d+ seconds|\d+\.\d+ ± \d+\.\d+$", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def same(printed: str, said: str, tolerance: float = 0.0) -> bool:
    """Whether two texts have the same words, and numbers that differ by the tolerance at most."""
    a, b = (" ".join(_TIMES.sub("", text).split()) for text in (printed, said))
    words, numbers = zip(*((_NUMBER.sub("#", text), _NUMBER.findall(text)) for text in (a, b)), strict=True)
    values = [[float(number.replace(",", "") or 0) for number in found] for found in numbers]
    return words[0] == words[1] and all(
        abs(x - y) <= tolerance * max(1.0, abs(y)) for x, y in zip(*values, strict=True)
    )


def run_code(code: str, namespace: dict[str, object]) -> str:
    """What a block prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), namespace)
    return out.getvalue()


def run_commands(block: str) -> str | None:
    """The transcript of a block of commands of `purely`; None if something else is run or shown in part."""
    lines = block.splitlines()
    started = [line for line in lines if line.startswith("$ ")]
    if not started or lines[0] not in started or not all(line.startswith("$ purely ") for line in started):
        return None
    if "..." in lines or any(line.endswith("\\") and not line.startswith("$") for line in lines):
        return None
    transcript: list[str] = []
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE)[1:]:
        typed = re.match(r"\$ (?:[^\n]*\\\n)*[^\n]*\n", part)
        if typed is None or part.strip() == typed[0].strip():  # commands without what they print
            return None
        asked = typed[0][2:].replace("\\\n", " ").strip().removeprefix("purely ")
        done = subprocess.run(
            f"{sys.executable} -m purely.cli {asked}", shell=True, capture_output=True, text=True, check=False
        )
        transcript.append(typed[0] + done.stdout + done.stderr)
    return "\n".join(transcript)


def folded(printed: str) -> str:
    """What is printed, in lines that fit a page; rows of CSV stay whole."""
    lines = printed.strip("\n").splitlines()
    return "\n".join(
        line if line.startswith('"') else textwrap.fill(line, 98) if len(line) > 98 else line for line in lines
    )


def differences(page: Path, tolerance: float = 0.0) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Where a page says something else than is printed: place in the page, what it says, what is printed."""
    text = page.read_text(encoding="utf-8")
    pattern = _MARKDOWN if page.suffix == ".md" else _RST
    namespace: dict[str, object] = {"__name__": "__main__"}
    for match in pattern.finditer(text):
        found = match.groupdict()
        kind = "printed" if found["code"] else "commands"
        if found["code"]:
            got: str | None = run_code(textwrap.dedent(found["code"]), namespace)
        else:
            got = run_commands(textwrap.dedent(found["commands"]).strip("\n") + "\n")
        if got is not None and found[kind] and not same(got, textwrap.dedent(found[kind]), tolerance):
            yield match.span(kind), found[kind], got


def check(page: Path, *, write: bool = False, tolerance: float = 0.0) -> list[tuple[str, str]]:
    """What a page says wrongly, with what is printed; mended in place if asked."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            found = list(differences(page, tolerance))
        finally:
            os.chdir(home)
    if write:
        text = page.read_text(encoding="utf-8")
        for (start, end), said, got in reversed(found):
            indent = min(re.findall("^ +(?=[^ \n])", said, re.MULTILINE), key=len)
            text = text[:start] + textwrap.indent(folded(got), indent) + said[len(said.rstrip()) :] + text[end:]
        page.write_text(text, encoding="utf-8")
    return [(textwrap.dedent(said), got) for _, said, got in found]


def main(arguments: list[str]) -> int:
    """Check the pages that are named, or all."""
    from tests.test_readme import pages_with_code

    os.environ.update(COLUMNS="80", MPLBACKEND="Agg")
    warnings.simplefilter("ignore")
    write, names = "--write" in arguments, [a for a in arguments if a != "--write"]
    pages = [Path(name).resolve() for name in names] or pages_with_code()
    wrong = 0
    for page in pages:
        for said, got in check(page, write=write):
            wrong += 1
            print(f"== {page.relative_to(ROOT)}\n{said.rstrip()}\n-- printed\n{got.rstrip()}\n", flush=True)
    print(f"{wrong} blocks differ in {len(pages)} pages")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
