"""What every command shares: options, output for people and machines, notes, errors in one sentence."""

from __future__ import annotations

import inspect
import json
import math
import re
import shutil
import sys
import textwrap
import time
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Annotated, Any, get_origin, get_type_hints

import numpy as np
import typer

from purely.exceptions import OverfittingWarning, PurelyWarning
from purely.files import FileError, printable, shown
from purely.progress import Bar, interrupts_pass, showing, track

__all__ = ["CommandError", "Session", "Terminated", "command", "percent", "seconds", "with_options"]

#: Packages that are optional, with the extra that brings them.
EXTRAS = {
    "torch": "nn",
    "tqdm": "nn",
    "matplotlib": "plot",
    "jinja2": "report",
    "pandas": "cli",
    "pyarrow": "cli",
    "openpyxl": "excel",
}
#: Errors whose text is a sentence for the user, by name: their modules need not be loaded to be recognised.
SENTENCES = ("CommandError", "TableError", "FileError", "MissingFileError", "ModelFileError", "DownloadError")
#: What parameters of the library are called here, and how advice is recognised that is about Python alone.
OPTIONS = (
    (r"\bset class_prior\b", "give --class-prior"),
    (r"\bclass_prior\b", "--class-prior"),
    (r"looks like an identifier and is left out", "looks like an identifier; --id carries it to the output"),
)
PYTHON = re.compile(r"\w=\S|[a-z]_[a-z]|\w_\b|\bX\b")
WORDS: dict[type[Warning], str] = {
    OverfittingWarning: "the networks fit the rows they were trained on better than rows held out, so those rows look "
    "more clearly apart than they are."
}


class CommandError(Exception):
    """A problem said in one sentence; the exit status is 1 for data and files, 2 for a wrong option."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status


class Terminated(KeyboardInterrupt):
    """SIGTERM has come."""


@dataclass
class Session:
    """One run of a command; the first four are options of every command.

    Attributes
    ----------
    seed : int
    json, quiet, debug : bool
    notes : list of str
        Sentences the user should read, shown once each at the end.
    """

    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, metavar="N", help="Seed of everything random.")] = 0
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for machines.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and --json).")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.perf_counter() - self.started

    def step(self, what: str) -> AbstractContextManager[Bar]:
        """Show a step with a bar and the time left while it runs."""
        return track(what)

    def note(self, *sentences: str) -> None:
        """Remember sentences for the end; twice the same is once."""
        for sentence in sentences:
            sentence = sentence[:1].upper() + sentence[1:]
            if sentence not in self.notes:
                self.notes.append(sentence)

    def say(self, *lines: str) -> None:
        """Print lines for a person; nothing with --quiet or --json."""
        if not (self.quiet or self.json):
            for line in lines:
                print(printable(line) if _width(line) <= _columns() else _wrapped(line, ""))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> None:
        """Print a table that fits the terminal; the first columns are text and wrapped, the others numbers."""
        cells = [[shown(cell, 500) for cell in row] for row in (head, *rows)]
        columns = list(zip(*cells, strict=True))
        widths = [max(map(_width, column)) for column in columns]
        # text may be wrapped between words, unless these are longer than words are
        least = [min(24, max(_width(word) for cell in column for word in cell.split() or [""])) for column in columns]
        while sum(widths) + 3 * (len(widths) - 1) > _columns():
            wide = [j for j in range(text_columns) if widths[j] > least[j]]
            if not wide:
                break
            widths[max(wide, key=lambda j: widths[j])] -= 1
        for number, row in enumerate(cells):
            self.say(*_row(row, widths, text_columns))
            if number == 0:
                self.say("─" * (sum(widths) + 3 * (len(widths) - 1)))

    def finish(self, result: dict[str, Any]) -> None:
        """The result: one JSON object with --json; otherwise what to look at."""
        if self.json:
            print(json.dumps(plain({**result, "warnings": self.notes}), allow_nan=False))
        elif not self.quiet:
            for note in self.notes:
                print(_wrapped(f"Note: {note}"), file=sys.stderr)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run a command's body: progress is shown to a person at a terminal, warnings of the library become notes."""
        with warnings.catch_warnings(), showing(not self.quiet and sys.stderr.isatty()), interrupts_pass():
            warnings.simplefilter("default" if self.debug else "ignore")
            warnings.simplefilter("always", PurelyWarning)
            show = warnings.showwarning

            def keep(message: Any, category: type[Warning], *rest: Any, **options: Any) -> None:
                if issubclass(category, PurelyWarning):
                    self.note(*filter(None, [WORDS.get(category) or for_the_terminal(str(message))]))
                else:
                    show(message, category, *rest, **options)

            warnings.showwarning = keep
            yield

    def explain(self, error: Exception) -> None:
        """Print an error as one sentence."""
        if self.debug:
            traceback.print_exc()
        sentence = printable(explain(error))
        if self.json:
            print(json.dumps({"error": sentence}))
        print(_wrapped(f"purely: {sentence}"), file=sys.stderr)


def command(**defaults: Any) -> Callable[[Callable[..., None]], typer.Typer]:
    """Make an application of one command of a function, see :func:`with_options`."""

    def make(function: Callable[..., None]) -> typer.Typer:
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command()(with_options(function, **defaults))
        return app

    return make


def with_options(function: Callable[..., None], **defaults: Any) -> Callable[..., None]:
    """Make what typer needs of a function whose first parameter is a :class:`Session`.

    A parameter whose type is a dataclass stands for the options that are its fields (those that typer describes), so
    options that several commands have are written once. `defaults` are values that this command has for some of them.
    The help is the docstring, in which paragraphs with indented lines stay as they are. An error becomes a sentence and
    an exit status.
    """
    hints = get_type_hints(function, include_extras=True)
    own = dict(inspect.signature(function).parameters)
    groups = {name: hints[name] for name in own if is_dataclass(hints[name])}
    session_name, *others = own
    parameters: list[inspect.Parameter] = []
    for name in (*others, session_name):  # the session's options come last
        if name in groups:
            parameters += _options_of(groups[name], defaults)
        else:
            parameters.append(own[name].replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        made = {n: kind(**{p.name: given.pop(p.name) for p in _options_of(kind, {})}) for n, kind in groups.items()}
        session: Session = made[session_name]
        try:
            with session.running():
                function(**made, **given)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as stop:
            print("purely: interrupted.", file=sys.stderr)
            raise typer.Exit(143 if isinstance(stop, Terminated) else 130) from stop
        except Exception as error:
            session.explain(error)
            raise typer.Exit(error.status if isinstance(error, CommandError) else 1) from error

    run.__doc__ = as_help(function.__doc__)
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def as_help(docstring: str | None) -> str:
    """The help of a command; paragraphs with indented lines are kept from being filled."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(f"\b\n{text}" if "\n  " in text else text for text in paragraphs)


def _options_of(group: Any, defaults: dict[str, Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    found = []
    for f in fields(group):
        if get_origin(hints[f.name]) is Annotated:
            default = inspect.Parameter.empty if f.default is MISSING else defaults.get(f.name, f.default)
            found.append(
                inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[f.name])
            )
    return found


def explain(error: BaseException) -> str:
    """One sentence for an error."""
    text = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        top = (error.name or "").split(".")[0]
        if top in EXTRAS:
            return f"this needs {top}, which is not installed. Try: pip install 'purely[{EXTRAS[top]}]'"
    if type(error).__name__ in SENTENCES:
        return text
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows (--max-rows) or fewer columns (--drop)."
    if isinstance(error, OSError) and not isinstance(error, FileError):
        name = f"{shown(error.filename, 120)}: " if error.filename else ""
        return f"{name}{(error.strerror or text)[:200].lower()}."
    if isinstance(error, ValueError) and text:
        return text if len(text) < 500 else text[:500] + "..."
    return f"unexpected {type(error).__name__}: {text[:200] or 'no more is known'} (--debug shows where)."


def for_the_terminal(sentences: str) -> str:
    """A warning of the library without advice that only Python can follow."""
    for pattern, option in OPTIONS:
        sentences = re.sub(pattern, option, sentences)
    kept = [s for s in re.split(r"(?<=[.;])\s+", sentences) if not PYTHON.search(s)]
    text = " ".join(kept)
    return text[:-1] + "." if text.endswith(";") else text


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _row(cells: Sequence[str], widths: Sequence[int], text_columns: int) -> Iterator[str]:
    """The lines of a row: text from the left, wrapped between words; numbers from the right, in the first line."""
    columns = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""] if j < text_columns else [cell]
        for j, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    for number in range(max(map(len, columns))):
        parts = []
        for j, (column, width) in enumerate(zip(columns, widths, strict=True)):
            text = column[number] if number < len(column) else ""
            space = " " * (width - _width(text))
            parts.append(text + space if j < text_columns else space + text)
        yield "   ".join(parts).rstrip()


def _columns() -> int:
    return min(80, shutil.get_terminal_size().columns)


def _wrapped(text: str, indent: str = "  ") -> str:
    tied = printable(text).replace(" %", "\N{NO-BREAK SPACE}%")  # a number and its % stay together
    lines = "\n".join(
        part
        for line in tied.split("\n")
        for part in textwrap.wrap(
            line, _columns() - 1, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        or [""]
    )
    return lines.replace("\N{NO-BREAK SPACE}", " ")


def percent(value: float) -> str:
    """A share with as many digits as it needs."""
    return f"{value:.1%}" if value >= 0.01 or value == 0 else f"{value:.2%}"


def seconds(session: Session) -> str:
    """How long the command has run."""
    taken = session.elapsed
    return f"{taken:.0f} seconds" if taken < 120 else f"{taken / 60:.1f} minutes"


def plain(value: Any) -> Any:
    """Python's own types, as JSON knows them; what is not finite is null."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
