"""phishing of LIBSVM: 68 columns."""

from __future__ import annotations

from typing import Any

from purely.datasets import fetch_phishing

TITLE = "phishing"
TEXT = False


def load() -> tuple[Any, Any]:
    """All rows and their true classes, 0 or 1."""
    return fetch_phishing(return_X_y=True)
