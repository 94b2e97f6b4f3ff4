"""The command line: ``purely``, with a command for each question.

Needs ``pip install 'purely[cli]'``. The commands are in modules of their own; what they share is in ``_session``
(output, errors, progress), ``_options`` and ``_data`` (from a file to rows and labels).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command ``purely``; leaves with 0, 1 (data), 2 (usage) or 130 (interrupt)."""
    try:
        import pyarrow  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"purely: the command line needs {error.name}. Try: pip install 'purely[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    from purely.cli._app import run

    raise SystemExit(run(arguments))
