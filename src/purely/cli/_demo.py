"""``purely demo``: the whole story on data that come with the package."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Annotated

import typer

from purely import demo
from purely.cli._session import CommandError, Session, command
from purely.files import shown


@command()
def app(
    session: Session,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for what is made.")] = Path(
        "demo-output"
    ),
) -> None:
    """All five questions on artificial data with known truth; nothing is downloaded.

    For example:
      purely demo
      purely demo --out tour --seed 3
    """
    if out.exists() and not out.is_dir():
        raise CommandError(f"{shown(out, 120)!r} is a file; name a folder.")
    text = io.StringIO()
    with contextlib.redirect_stdout(text) if session.json or session.quiet else contextlib.nullcontext():
        status = demo.main(["--output", str(out), "--seed", str(session.seed)])
    if status:
        raise CommandError(f"the demo ended with the status {status}.")
    session.finish({"out": str(out), "files": sorted(str(p) for p in out.iterdir()), "text": text.getvalue()})
