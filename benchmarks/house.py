"""How large the house is, and how far a walk through it goes.

``python -m benchmarks.house`` prints, for the tree it stands in: lines of code by room (no blank lines, comments or
docstrings), private names imported across rooms, imports inside functions, lines with ``Any``; then, for five walks,
how many modules and functions of the package are crossed, how often data are validated and rows are hashed.
"""

from __future__ import annotations

import ast
import io
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.entry import Options, option, read_options
from experiments.records import write_rows

import purely.nn.risks
import purely.nn.training  # noqa: F401 - loaded here, so that walks count calls and no imports
from purely import ClassPrior, PUClassifier
from purely.cli import main as run_command
from purely.datasets import make_paper_data
from purely.representation import PURL

PACKAGE = Path(__file__).parents[1] / "src" / "purely"
#: Modules that are a reason for an import inside a function: extras, which a user may not have.
OPTIONAL = {
    "torch", "tqdm", "matplotlib", "jinja2", "typer", "rich", "pyarrow", "pandas", "polars", "onnx", "onnxruntime",
    "onnxscript", "skl2onnx", "dask", "distributed", "shap", "openpyxl", "skops", "pooch", "IPython",
}  # fmt: skip


def code_lines(path: Path) -> int:
    """Lines that hold code: neither blank nor comment nor docstring."""
    source = path.read_text()
    held = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            held.update(range(token.start[0], token.end[0] + 1))
    held = {line for line in held if line <= len(source.splitlines())}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            held -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(held)


def room_of(path: Path) -> str:
    """The folder below the package, or the module's own name."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")


@cache
def imports_of(path: Path) -> list[tuple[str, list[str], bool, bool]]:
    """Every import: module, names, whether it stands inside a function, whether it is for type checkers only."""
    found: list[tuple[str, list[str], bool, bool]] = []

    def visit(node: ast.AST, inside: bool, typing: bool) -> None:
        if isinstance(node, ast.ImportFrom):
            found.append((node.module or "", [a.name for a in node.names], inside, typing))
        elif isinstance(node, ast.Import):
            found.extend((a.name, [], inside, typing) for a in node.names)
        for child in ast.iter_child_nodes(node):
            enters = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            checks = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            visit(child, inside or enters, typing or checks)

    visit(ast.parse(path.read_text()), False, False)
    return found


def private_doors(path: Path) -> list[str]:
    """Imports of another room's private modules or names."""
    doors = []
    for module, names, _, typing in imports_of(path):
        parts = module.split(".")
        if parts[0] != "purely" or typing or len(parts) < 2 or parts[1] == room_of(path):
            continue
        private = any(part.startswith("_") for part in parts[2:]) or (len(parts) == 2 and parts[1].startswith("_"))
        if private or any(name.startswith("_") and not name.startswith("__") for name in names):
            doors.append(f"{path.relative_to(PACKAGE)}: {module} {', '.join(names)}")
    return doors


@cache
def loads_an_extra(module: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether importing a module of ours loads an optional dependency."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not module.startswith("purely") or module in seen or not path.exists():
        return False
    tops = [m for m, _, inside, typing in imports_of(path) if not inside and not typing]
    if any(m.split(".")[0] in OPTIONAL for m in tops):
        return True
    return any(loads_an_extra(m, seen | {module}) for m in tops if m.startswith("purely."))


def hidden_imports(path: Path) -> tuple[list[str], list[str]]:
    """Imports inside functions: those with the reason of an optional dependency, and the others."""
    reasoned, others = [], []
    for module, names, inside, _ in imports_of(path):
        if inside:
            good = module.split(".")[0] in OPTIONAL or loads_an_extra(module)
            (reasoned if good else others).append(f"{path.relative_to(PACKAGE)}: {module} {', '.join(names)}")
    return reasoned, others


def walk(action: Callable[[], Any]) -> dict[str, int]:
    """Modules and functions of the package that an action crosses, and how often it validates and hashes."""
    functions: Counter[tuple[str, str]] = Counter()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            functions[(frame.f_code.co_filename, frame.f_code.co_qualname)] += 1

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    named = {key: count for key, count in functions.items() if not key[1].endswith(">")}

    def calls(*names: str) -> int:
        return sum(count for (_, name), count in named.items() if name.split(".")[-1] in names)

    return {
        "modules": len({file for file, _ in named}),
        "functions": len(named),
        "validations": calls("_validate_fit"),
        "hashes": calls("row_keys"),
        "labels read": calls("read_labels"),
        "files opened": calls("open_table", "open_source"),
    }


def walks() -> dict[str, Callable[[], Any]]:
    """Actions to be followed, by name."""
    data = make_paper_data(n_positive=200, n_unlabelled=400, class_prior=0.5, random_state=0)
    folder = Path(tempfile.mkdtemp())
    rows = np.column_stack([data.X, data.y])
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b,label", comments="", fmt="%.6g")
    model = str(folder / "m.purely")

    def run(*words: str) -> None:
        try:
            run_command(list(words))
        except SystemExit as stop:
            if stop.code:
                raise

    def command(*words: str) -> Callable[[], Any]:
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            run(words[0], "--help")  # loads its modules, so that walks count calls and no imports
        return partial(run, *words)

    fit = command("fit", str(folder / "rows.csv"), "--label", "label", "-o", model, "--quiet")
    return {
        "PUClassifier().fit": lambda: PUClassifier(random_state=0, device="cpu").fit(data.X, data.y),
        "ClassPrior().fit": lambda: ClassPrior().fit(data.X, data.y),
        "PURL().fit": lambda: PURL(random_state=0, max_epochs=3, device="cpu").fit(data.X, data.y),
        "CSV to model": fit,
        "model to scores": command("predict", model, str(folder / "rows.csv"), "-o", str(folder / "s.csv"), "--quiet"),
    }


@dataclass(frozen=True)
class House(Options):
    """Options of the count."""

    out: Path = option(Path("build/house"), "folder of house.csv")
    list: bool = option(False, "name every private door and unreasoned hidden import")
    no_walks: bool = False
    walks: tuple[str, ...] = option((), "beginnings of the names of the walks to follow; all where none is named")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    options = read_options(House, __doc__, {"walks": ("PURL",)}, arguments)
    paths = sorted(PACKAGE.rglob("*.py"))
    lines: Counter[str] = Counter()
    for path in paths:
        lines[room_of(path)] += code_lines(path)
    for room, count in sorted(lines.items()):
        print(f"{count:7,d}  {room}")
    doors = [door for path in paths for door in private_doors(path)]
    hidden = [hidden_imports(path) for path in paths]
    reasoned, others = ([entry for pair in hidden for entry in pair[i]] for i in (0, 1))
    print(f"{sum(lines.values()):7,d}  in all, in {len(paths)} modules")
    print(f"{len(doors):7,d}  private imports across rooms")
    print(f"{len(reasoned):7,d}  imports inside functions for an optional dependency, {len(others)} without")
    print(f"{sum('Any' in line for p in paths for line in p.read_text().splitlines()):7,d}  lines with Any")
    if options.list:
        print(*doors, *others, sep="\n")
    rows = [{"what": room, "count": count} for room, count in sorted(lines.items())]
    if not options.no_walks:
        warnings.simplefilter("ignore")
        for name, action in walks().items():
            if name.startswith(options.walks or ""):
                crossed = walk(action)
                print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in crossed.items()))
                rows += [{"what": f"{name}, {what}", "count": count} for what, count in crossed.items()]
    write_rows("house", rows, options.out)


if __name__ == "__main__":
    main()
