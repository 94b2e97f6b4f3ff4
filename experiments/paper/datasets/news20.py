"""20 Newsgroups: comp against sci, 2,000 columns of tf-idf, sparse."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_20newsgroups_comp_sci

TITLE = "20 News"
TEXT = True


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_20newsgroups_comp_sci(return_X_y=True)
