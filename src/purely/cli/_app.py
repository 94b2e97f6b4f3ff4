"""The application: its commands, its version, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from purely.cli import (
    _datasets,
    _demo,
    _evaluate,
    _fit,
    _information,
    _inspect,
    _predict,
    _prior,
    _report,
    _represent,
)
from purely.cli._session import ClickError

__all__ = ["app", "run"]

HELP = """Learn from positive and unlabelled rows: known positives, a pool nobody has labelled, no negatives.

\b
The usual order:
  purely inspect customers.csv --label fraud        what will be used
  purely information customers.csv --label fraud    is there signal?
  purely prior customers.csv --label fraud          how many positives?
  purely fit customers.csv --label fraud -o fraud.purely
  purely predict fraud.purely new.parquet -o scores.csv
  purely report customers.csv --label fraud -o report.html

\b
Files are CSV, TSV, Parquet, Arrow/Feather, LIBSVM or NPZ. Labelled positives
have 1, true or yes in the label column (or the value of --positive); empty,
0 and the like are unlabelled. No data yet? Try: purely demo
"""

app = typer.Typer(
    name="purely",
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(value: bool) -> None:
    if value:
        import purely

        typer.echo(f"purely {purely.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


for module in (_inspect, _information, _prior, _represent, _fit, _predict, _evaluate, _report, _demo, _datasets):
    module.add_to(app)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is returned, and nothing but one sentence is printed about an error."""
    try:
        status = typer.main.get_command(app).main(
            args=None if arguments is None else list(arguments), prog_name="purely", standalone_mode=False
        )
        sys.stdout.flush()
        return int(status) if isinstance(status, int) else 0
    except typer.Exit as left:
        return int(left.exit_code)
    except ClickError as error:
        error.show(sys.stderr)
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("purely: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader of our output has left, for example `| head`; keep the interpreter from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
