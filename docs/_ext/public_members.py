"""Keeps what scikit-learn adds to every estimator out of the reference: parameters, metadata requests, outputs."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_ADDED = re.compile(r"set_\w+_request|get_metadata_routing|get_params|set_params|set_output")


def _skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    return True if _ADDED.fullmatch(name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Skip such members."""
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
