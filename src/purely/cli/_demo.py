"""``purely demo``: the whole story on data that come with the package."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Annotated

import typer

from purely.cli import _options as o
from purely.cli._session import CommandError, Session, run_command

HELP = """The whole story on artificial data with known truth; nothing is downloaded.

\b
Examples:
  purely demo
  purely demo --out tour --seed 3
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("demo", help=HELP, short_help="The whole story on artificial data.")(command)


def command(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for what is made.")] = Path(
        "demo-output"
    ),
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Run the demo; see HELP."""
    run_command(Session(json, quiet, debug, seed), lambda session: _demo(session, out))


def _demo(session: Session, out: Path) -> None:
    from purely import demo

    if out.exists() and not out.is_dir():
        raise CommandError(f"{str(out)!r} is a file; name a folder.")
    text = io.StringIO()
    with contextlib.redirect_stdout(text) if session.json or session.quiet else contextlib.nullcontext():
        status = demo.main(["--output", str(out), "--seed", str(session.seed)])
    if status:
        raise CommandError(f"the demo ended with the status {status}.")
    session.finish({"out": str(out), "files": sorted(str(p) for p in out.iterdir()), "text": text.getvalue()})
