"""The application: its commands, its version, and what becomes of errors."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from purely.cli._session import Terminated, as_help
from purely.files import printable, reason

#: Commands, with the line that `purely --help` has for each. A command's module is imported when the command is run:
#: what it needs takes seconds to load, which a reader of the help should not wait for. So modules of commands import
#: at the top, and nothing else imports them.
COMMANDS = {
    "inspect": "What will be used, and what is missing.",
    "information": "Is there signal, and how much?",
    "prior": "How many positives are in the pool?",
    "represent": "What do the data look like?",
    "fit": "Learn a classifier and save it.",
    "predict": "Which ones? Scores of any number of rows.",
    "export": "The model as an ONNX graph.",
    "evaluate": "Can the model be trusted, without negatives?",
    "audit": "What do labels of a few rows say?",
    "monitor": "Has the pool changed?",
    "report": "Everything on one HTML page.",
    "demo": "All questions on artificial data.",
    "datasets": "The seven public datasets.",
}
# typer may carry a click of its own, so its exceptions are found through typer
ClickError: Any = typer.BadParameter.__bases__[0].__bases__[0]


class _Commands(TyperGroup):
    """Commands by name, imported when they are asked for."""

    completing = False

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        if self.completing:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name])
        return typer.main.get_command(import_module(f"purely.cli._{cmd_name}").app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        self.completing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.completing = False


app = typer.Typer(
    cls=_Commands,
    name="purely",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"purely {import_module('purely').__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn from positive and unlabelled rows: known positives, a pool nobody has labelled, no negatives.

    The usual order:
      purely inspect customers.csv --label fraud        what will be used
      purely information customers.csv --label fraud    is there signal?
      purely prior customers.csv --label fraud          how many positives?
      purely fit customers.csv --label fraud -o fraud.purely
      purely predict fraud.purely new.parquet -o scores.csv
      purely report customers.csv --label fraud -o report.html

    Positives and pool may be two files: purely prior positives.csv pool.csv.
    If the positives were found among the rows of the same file, as reported
    frauds are, add --scenario single-sample. No data yet? Try: purely demo
    """


app.callback(help=as_help(_main.__doc__))(_main)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is returned, and nothing but one sentence is printed about an error."""
    try:
        status = typer.main.get_command(app).main(
            args=None if arguments is None else list(arguments), prog_name="purely", standalone_mode=False
        )
        sys.stdout.flush()
        return int(status) if isinstance(status, int) else 0
    except ClickError as error:
        text = io.StringIO()
        error.show(text)
        print(printable(text.getvalue()), end="", file=sys.stderr)
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:  # the reader of our output has left, for example `| head`
        _give_up()
        return 0
    except OSError as error:  # the output cannot take what was printed: a full disk
        _give_up()
        with suppress(OSError, ValueError):
            print(f"purely: the standard output cannot be written: {reason(error)}.", file=sys.stderr)
        return 1


def _give_up() -> None:
    """Let go what is still to be printed, so that the interpreter does not complain about it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def prepare_process() -> None:
    """What the command ``purely`` does to its own process before anything else.

    A process may be started without standard streams; the first files it opens would then take their numbers. Names
    that the terminal's encoding does not know are printed with a substitute. SIGTERM ends the process as Ctrl-C does:
    partial files are removed on the way out.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())  # takes sentences; rows, which are bytes, are refused
        else:
            stream.reconfigure(errors="replace")
    with suppress(ValueError, AttributeError):
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: object) -> None:
    raise Terminated
