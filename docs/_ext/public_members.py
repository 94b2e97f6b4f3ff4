"""The reference: without what scikit-learn adds to every estimator, and found under the short names too."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_ADDED = re.compile(r"set_\w+_request|get_metadata_routing|get_params|set_params|set_output")


def _skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    return True if _ADDED.fullmatch(name) else None


def _find_home(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement) -> Any:
    """Link `purely.PURL` to the page of `purely.representation.PURL`."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("purely."):
        return None
    domain = env.domains["py"]
    homes = [name for name, *_ in domain.get_objects() if name.endswith(target.removeprefix("purely"))]
    if not homes:
        return None
    home = min(homes, key=lambda name: (name.count("."), name))  # the room, not a module inside it
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], home, node, content)


def setup(app: Sphinx) -> dict[str, Any]:
    """Skip such members, and resolve such names."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("missing-reference", _find_home)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
