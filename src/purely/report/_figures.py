"""Figures as SVG inside the page: one drawing for light and dark, since its ink is the page's text colour."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass

from purely.plotting.common import Display
from purely.plotting.style import INK, import_matplotlib, style

#: Inches; narrow enough for its letters to be read on a phone.
_WIDTH = 5.0


@dataclass(frozen=True)
class Figure:
    """A drawing for the page.

    Attributes
    ----------
    svg : str
        An ``<svg>`` element that asks for nothing from outside.
    left, right, bottom, top : float
        Where the axes begin and end, as shares of the width and of the height: what is laid over them needs it.
    low, high : float
        What the axes' left and right ends stand for.
    """

    svg: str
    left: float
    right: float
    bottom: float
    top: float
    low: float
    high: float


def draw(display: Display, name: str) -> Figure:
    """Draw a display; `name` keeps the identifiers of several figures on one page apart."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # letters become outlines: the page looks the same wherever it is read, whatever fonts are there
        drawn = _draw(display, name, "path")
    if any("missing from font" in str(warning.message) for warning in caught):
        drawn = _draw(display, name, "none")  # of other scripts the reader's own fonts know the letters
    return drawn


def _draw(display: Display, name: str, letters: str) -> Figure:
    mpl = import_matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    width, height = display._size()
    settings = {"svg.fonttype": letters, "svg.hashsalt": name, "figure.dpi": 100}
    with style(), mpl.rc_context(settings), warnings.catch_warnings():
        if letters == "none":
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Canvas(figsize=(min(width, _WIDTH), height), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        display.plot(ax)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, dpi=160, metadata={"Date": None})
        box, (low, high) = ax.get_position(), ax.get_xlim()
    ends = (float(value) for value in (box.x0, box.x1, box.y0, box.y1, low, high))
    return Figure(_inline(out.getvalue(), name), *ends)


def _inline(svg: str, name: str) -> str:
    """The element alone, sized by the page, with identifiers of its own."""
    svg = svg[svg.index("<svg") :]
    # a style would hold for the whole page, and comments repeat names of columns
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(INK, "currentColor", svg, flags=re.IGNORECASE)
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
