"""What every command shares: output for people and machines, progress, warnings, errors in one sentence."""

from __future__ import annotations

import json
import math
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import typer

__all__ = ["ClickError", "CommandError", "Session", "UsageError", "percent", "run_command"]

# typer may carry a click of its own, so its exceptions are found through typer
UsageError: Any = typer.BadParameter.__bases__[0]
ClickError: Any = UsageError.__bases__[0]

#: Packages that are optional, with the extra that brings them.
EXTRAS = {
    "torch": "nn",
    "tqdm": "nn",
    "matplotlib": "plot",
    "jinja2": "report",
    "pandas": "cli",
    "pyarrow": "cli",
}


class CommandError(Exception):
    """A problem in the data or files, said in one sentence; the exit status is 1."""


class Step(Protocol):
    """What a running step can be told."""

    def update(self, share: float) -> None:
        """Say how much is done, from 0 to 1."""


@dataclass
class _Silent:
    def update(self, share: float) -> None:
        """Nothing is shown."""


@dataclass
class _Bar:
    progress: Any
    task: Any

    def update(self, share: float) -> None:
        """Move the bar."""
        self.progress.update(self.task, completed=share, total=1.0)


@dataclass
class Session:
    """One run of a command.

    Attributes
    ----------
    json, quiet, debug : bool
    seed : int
    notes : list of str
        Sentences the user should read, shown once each at the end.
    """

    json: bool = False
    quiet: bool = False
    debug: bool = False
    seed: int = 0
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    @property
    def shows_progress(self) -> bool:
        """Only to a person at a terminal."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def step(self, what: str) -> Iterator[Step]:
        """Show a step with a bar and the time left while it runs."""
        if not self.shows_progress:
            yield _Silent()
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            yield _Bar(progress, progress.add_task(what, total=None))

    def note(self, sentence: str) -> None:
        """Remember a sentence for the end; twice the same is once."""
        sentence = sentence[:1].upper() + sentence[1:]
        if sentence not in self.notes:
            self.notes.append(sentence)

    def say(self, *lines: str) -> None:
        """Print lines for a person; nothing with --quiet or --json."""
        if not (self.quiet or self.json):
            for line in lines:
                print(line)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> None:
        """Print a table that fits the terminal; all but the first columns are right-aligned."""
        if self.quiet or self.json:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from purely.tables._errors import shown

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
        for j, name in enumerate(head):
            table.add_column(name, justify="left" if j < text_columns else "right", overflow="fold", no_wrap=False)
        for row in rows:
            table.add_row(*(Text(shown(cell, 500)) for cell in row))
        console = Console()
        console.print(table)

    def finish(self, result: dict[str, Any]) -> None:
        """The result: one JSON object with --json; otherwise what to look at."""
        if self.json:
            print(json.dumps(plain({**result, "warnings": self.notes}), ensure_ascii=False, allow_nan=False))
            return
        if not self.quiet:
            for note in self.notes:
                print(_wrapped(f"Note: {note}"), file=sys.stderr)

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Collect warnings; those of this package become notes, others are for developers."""
        from purely import PurelyWarning

        with warnings.catch_warnings():
            warnings.simplefilter("default" if self.debug else "ignore")
            warnings.simplefilter("always", PurelyWarning)
            show = warnings.showwarning

            def keep(message: Any, category: Any, *rest: Any, **options: Any) -> None:
                if getattr(category, "__name__", "") == "TrainingInterrupted":
                    raise KeyboardInterrupt  # half-trained networks are no answer; --resume goes on with them
                if isinstance(category, type) and issubclass(category, PurelyWarning):
                    self.note(str(message))
                else:
                    show(message, category, *rest, **options)

            warnings.showwarning = keep
            try:
                yield
            finally:
                warnings.showwarning = show


def run_command(session: Session, command: Callable[[Session], None]) -> None:
    """Run a command's body; an error becomes one sentence on stderr and an exit status."""
    try:
        with session.warnings_as_notes():
            command(session)
    except (typer.Exit, typer.Abort, ClickError, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if session.debug:
            traceback.print_exc()
        sentence = explain(error)
        if session.json:
            print(json.dumps({"error": sentence}, ensure_ascii=False))
        print(_wrapped(f"purely: {sentence}"), file=sys.stderr)
        raise typer.Exit(1) from error


def explain(error: BaseException) -> str:
    """One sentence for an error."""
    from purely.datasets import DownloadError
    from purely.tables import TableError

    text = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        top = (error.name or "").split(".")[0]
        if top in EXTRAS:
            return f"this needs {top}, which is not installed. Try: pip install 'purely[{EXTRAS[top]}]'"
    if isinstance(error, (CommandError, TableError, DownloadError)) or type(error).__name__ == "ModelFileError":
        return text
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows (--max-rows) or fewer columns (--drop)."
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{(error.strerror or text)[:200].lower()}."
    if isinstance(error, ValueError) and text:
        return text if len(text) < 500 else text[:500] + "..."
    return f"unexpected {type(error).__name__}: {text[:200] or 'no more is known'} (--debug shows where)."


def _wrapped(text: str, width: int = 79) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


def percent(value: float) -> str:
    """A share with as many digits as it needs."""
    return f"{value:.1%}" if value >= 0.01 or value == 0 else f"{value:.2%}"


def plain(value: Any) -> Any:
    """Python's own types, as JSON knows them; what is not finite is null."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
