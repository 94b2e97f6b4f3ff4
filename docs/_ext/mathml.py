"""Formulas as MathML, converted by docutils at build time: no script, no fonts, nothing fetched when a page is read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_ACCENTS = set("ˆ^~˜¯‾̂→⃗")
_CLOSE_TO = tuple(",.;:?!)")

# spellings that LaTeX understands and docutils does not
_UNBRACED = re.compile(r"\\(t?frac)\s*(\w)\s*(\w)")
_OPENING = re.compile(r"\\(big|Big|bigg|Bigg)(?=[(\[|]|\\[{|])")
_BAR = re.compile("<mo([^>]*)>‖</mo>")
_CLOSING = re.compile(r"\\(big|Big|bigg|Bigg)(?=[)\]]|\\})")


def _convert(self: Any, node: Any, *, as_block: bool) -> str:
    source = _UNBRACED.sub(r"\\\1{\2}{\3}", node.astext().strip())
    source = source.replace(r"\dots", r"\ldots")
    source = _CLOSING.sub(r"\\\1r", _OPENING.sub(r"\\\1l", source))
    if as_block and (r"\\" in source or "&" in source) and r"\begin{" not in source:
        source = rf"\begin{{aligned}}{source}\end{{aligned}}"
    try:
        # bars of a norm that stretch do so one by one, and the closing one, which carries the square, hangs down
        mathml = _BAR.sub(r'<mo\1 stretchy="false">‖</mo>', str(tex2mathml(source, as_block=as_block)))
        return _indices_beside_accents(mathml)
    except MathError as error:
        logger.warning("formula not understood (%s): %s", error, source, location=node)
        return f"<code>{self.encode(source)}</code>"


def _indices_beside_accents(mathml: str) -> str:
    """Put the index of an accented letter beside it, where docutils puts it below."""
    if "<munderover>" not in mathml:
        return mathml
    ET.register_namespace("", _NAMESPACE)
    root = ET.fromstring(mathml.replace("&ApplyFunction;", "&#x2061;"))
    for node in list(root.iter(f"{{{_NAMESPACE}}}munderover")):
        letter, index, over = list(node)
        if (over.text or "").strip() in _ACCENTS:
            accented = ET.Element(f"{{{_NAMESPACE}}}mover", {"accent": "true"})
            accented.extend([letter, over])
            node.tag = f"{{{_NAMESPACE}}}msub"
            node[:] = [accented, index]
    return ET.tostring(root, encoding="unicode")


def _visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(_convert(self, node, as_block=False))
    following = node.next_node(descend=False, siblings=True)
    if following is not None and following.astext()[:1] in _CLOSE_TO:
        self.body.append("&#8288;")  # a word joiner: browsers may otherwise begin a line with the comma
    raise nodes.SkipNode


def _visit_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(_convert(self, node, as_block=True))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
