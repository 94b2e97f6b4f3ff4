"""The command line: ``purely``, with a command for each question.

Needs ``pip install 'purely[cli]'``. Each command has a module; what they share is in ``_session`` (options, output,
errors), ``_options``, ``_data`` (from files to rows and labels) and ``_scoring``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command ``purely``; leaves with 0, 1 (data), 2 (usage) or 130 (interrupt)."""
    for needed in ("pyarrow", "typer"):
        if find_spec(needed) is None:
            print(f"purely: the command line needs {needed}. Try: pip install 'purely[cli]'", file=sys.stderr)
            raise SystemExit(2)
    from purely.cli._app import prepare_process, run

    prepare_process()
    raise SystemExit(run(arguments))
