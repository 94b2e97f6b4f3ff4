"""A guided tour on artificial data with known truth: ``purely demo``, or ``python -m purely.demo``."""

from purely.demo._tour import PICTURE, REPORT, main

__all__ = ["PICTURE", "REPORT", "main"]
