"""The command line."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of the command ``purely``."""
    raise SystemExit("purely: the command line is not written yet.")
