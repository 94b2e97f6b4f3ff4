"""What every command shares: options, output for people and machines, notes, errors in one sentence."""

from __future__ import annotations

import inspect
import io
import json
import math
import re
import shutil
import sys
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from purely.exceptions import OverfittingWarning, PurelyWarning
from purely.files import FileError, printable, shown
from purely.notebook import as_json
from purely.progress import interrupts_pass, showing, track

if TYPE_CHECKING:  # a reader of the help should not wait for them
    from purely.class_prior import Prior
    from purely.metrics import PUEstimate

#: Packages that are optional, with the extra that brings them.
EXTRAS = {"torch": "nn", "tqdm": "nn", "matplotlib": "plot", "jinja2": "report", "openpyxl": "excel"}
EXTRAS |= dict.fromkeys(("pandas", "pyarrow"), "cli")
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


#: A number with three digits.
three_digits = "{:.3f}".format


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
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for scripts.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and --json).")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    #: Show a step with a bar and the time left while it runs.
    step = staticmethod(track)

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.perf_counter() - self.started

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
                # what follows a word and two blanks or more stands in a column of its own
                column = re.match(r"\S.*?\s{2,}", line)
                indent = " " * column.end() if column and 2 * column.end() <= _columns() else ""
                print(printable(line) if cell_len(line) <= _columns() else _wrapped(line, indent))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> None:
        """Print a table that fits the terminal; the first columns are text and wrapped, the others numbers.

        Where the terminal is too narrow even so, each row becomes lines, one for a cell.
        """
        made, needed = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style=""), 3 * (len(head) - 1)
        for j, column in enumerate(zip(head, *rows, strict=True)):
            text, cells = j < text_columns, [shown(cell, 500) for cell in column]
            # text may be wrapped between words, unless these are longer than words are
            words = [word for cell in cells for word in cell.split()] if text else cells
            least = min(24, max(map(cell_len, words), default=0)) if text else max(map(cell_len, words))
            needed += least
            made.add_column(Text(cells[0]), justify="left" if text else "right", no_wrap=not text, min_width=least)
        if needed > _columns():
            lines = (
                [row[0], *(f"  {h}: {c}" if h else f"  {c}" for h, c in zip(head[1:], row[1:], strict=True))]
                for row in rows
            )
            self.say(*(_wrapped(shown(line, 500), "    ") for row in lines for line in row))
            return
        for row in rows:
            made.add_row(*(Text(shown(cell, 500)) for cell in row))
        drawn = io.StringIO()
        Console(file=drawn, width=_columns(), color_system=None).print(made)
        self.say(*(line.rstrip() for line in drawn.getvalue().splitlines()))

    def finish(self, result: Mapping[str, object]) -> None:
        """The result: one JSON object with --json; otherwise what to look at."""
        if self.json:
            print(json.dumps(as_json({**result, "warnings": self.notes}), allow_nan=False))
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

            def keep(message: Warning | str, category: type[Warning], *rest: Any, **options: Any) -> None:
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


class Command(TyperCommand):
    """A command whose help names its arguments as they are typed, without marks of typer's own.

    A model that is named by its place, as the first argument, may be named with -m or --model as well.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments, a model named with -m before the others."""
        if any(p.name == "model" and p.param_type_name == "argument" for p in self.params):
            args = [part for arg in args for part in (arg.split("=", 1) if arg.startswith("--model=") else [arg])]
            at = next((k for k, arg in enumerate(args[:-1]) if arg in ("-m", "--model")), None)
            args = args if at is None else [args[at + 1], *args[:at], *args[at + 2 :]]
        return list(super().parse_args(ctx, args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line."""
        pieces = super().collect_usage_pieces(ctx)
        return [re.sub(r"\{(.*)\}(\.\.\.)?", r"\1", piece) for piece in pieces]

    def get_help(self, ctx: Any) -> str:
        """The whole help."""
        return str(super().get_help(ctx)).replace(" <list[Path]>", " <paths>     ")


def command(**defaults: object) -> Callable[[Callable[..., None]], typer.Typer]:
    """Make an application of one command of a function, see :func:`with_options`."""

    def make(function: Callable[..., None]) -> typer.Typer:
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command(cls=Command)(with_options(function, **defaults))
        return app

    return make


def group(function: Callable[..., None], **commands: Callable[..., None]) -> typer.Typer:
    """Make an application of commands by name, and of a function that is run where none is named."""
    app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, add_completion=False)
    app.callback()(with_options(function))
    for name, each in commands.items():
        app.command(name, cls=Command)(with_options(each))
    return app


def with_options(function: Callable[..., None], **defaults: object) -> Callable[..., None]:
    """Make what typer needs of a function whose first parameter is a :class:`Session`.

    A parameter whose type is a dataclass stands for the options that are its fields (those that typer describes), so
    options that several commands have are written once. `defaults` are values that this command has for some of them.
    The help is the docstring, in which paragraphs with indented lines stay as they are. An error becomes a sentence and
    an exit status.
    """
    hints = get_type_hints(function, include_extras=True)
    own = dict(inspect.signature(function).parameters)
    groups = {name: hints[name] for name in own if is_dataclass(hints[name])}
    options = {name: _options_of(kind, defaults) for name, kind in groups.items()}
    session_name, *others = own
    parameters: list[inspect.Parameter] = []
    for name in (*others, session_name):  # the session's options come last
        if name in groups:
            parameters += options[name]
        else:
            parameters.append(own[name].replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        made = {n: kind(**{p.name: given.pop(p.name) for p in options[n]}) for n, kind in groups.items()}
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


def _options_of(group: type, defaults: dict[str, object]) -> list[inspect.Parameter]:
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
    top = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
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
    text = " ".join(s for s in re.split(r"(?<=[.;])\s+", sentences) if not PYTHON.search(s))
    return text[:-1] + "." if text.endswith(";") else text


def _columns() -> int:
    return min(80, shutil.get_terminal_size().columns)


def _wrapped(text: str, indent: str = "  ") -> str:
    tied = printable(text).replace(" %", "\N{NO-BREAK SPACE}%")  # a number and its % stay together
    wrap = textwrap.TextWrapper(
        _columns() - 1, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(map(wrap.fill, tied.split("\n"))).replace("\N{NO-BREAK SPACE}", " ")


def percent(value: float) -> str:
    """A share with as many digits as it needs."""
    return f"{value:.1%}" if value >= 0.01 or value == 0 else f"{value:.2%}"


def seconds(session: Session) -> str:
    """How long the command has run."""
    taken = session.elapsed
    return f"{taken:.0f} seconds" if taken < 120 else f"{taken / 60:.1f} minutes"


def cells(estimate: PUEstimate, words: Callable[[float], str]) -> list[str]:
    """An estimate and its interval, for a table."""
    value, low, high = (known(v, words) for v in (estimate.value, estimate.low, estimate.high))
    return [value, f"[{low}, {high}]"]


def known(value: float, words: Callable[[float], str]) -> str:
    """A number in words; a dash where it is not defined."""
    return "-" if math.isnan(value) else words(value)


def said_of_prior(prior: Prior) -> str:
    """The class prior for a line: the bound first where the data determine no value."""
    value, between = percent(prior.value), f"{percent(prior.low)} to {percent(prior.high)}"
    if prior.known:
        return f"{value} of the population, as given"
    if prior.determined:
        return f"{value} of the population, {between} ({prior.level:.0%} interval)"
    return f"at most {percent(prior.upper_bound or prior.high)} of the population (estimate {value}, {between})"
