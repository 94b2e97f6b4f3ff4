"""One look for every picture: colours that colour-blind readers can tell apart, few lines, words on the axes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.colors import Colormap
else:  # importing this module loads no matplotlib
    Axes = object

Point = tuple[float, float]
Side = Literal["left", "center", "right"]
#: Labelled positives, unlabelled rows, estimates of either kind, a second estimate, and text with all that is drawn in
#: its colour. The first four differ in lightness or along blue and yellow, which every kind of colour blindness keeps.
POSITIVE, UNLABELLED, ESTIMATE, SECOND, INK = "#c8553d", "#8a9aa8", "#2a78a8", "#d9a441", "#1f2a30"

_STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.8,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}

#: Width to which a sentence below a picture is folded, in characters.
_FOLD = 48


def style() -> AbstractContextManager[None]:
    """The look, for as long as the block lasts."""
    return import_matplotlib().rc_context(_STYLE)


def import_matplotlib() -> ModuleType:
    """Matplotlib, or a sentence that says how to get it."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib, which is not installed. Try: pip install 'purely[plot]'", name="matplotlib"
        ) from error
    return mpl


def new_axes(size: tuple[float, float]) -> Axes:
    """The axes of a new figure."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def label(ax: Axes, title: str, x: str, y: str, notes: Iterable[str] = ()) -> None:
    """Title, axes in words, and what the reader should know, below."""
    below = "\n".join(textwrap.fill(note, _FOLD) for note in notes if note)
    ax.set_title(title, loc="left")
    ax.set_ylabel(y)
    ax.set_xlabel(f"{x}\n\n{below}" if below else x, linespacing=1.15)


def remark(ax: Axes, text: str, at: Point, shift: Point, ha: Side = "left", color: str = INK, size: float = 8) -> None:
    """Words beside a point, so many points away from it."""
    ax.annotate(text, at, shift, textcoords="offset points", ha=ha, color=color, fontsize=size)


def remark_height(ax: Axes, text: str, height: float, left: float = 2.0, *, below: bool = False) -> None:
    """Words above or below a height at the right end of the axes."""
    frame, (up, side) = ("axes fraction", "data"), (-3, "top") if below else (3, "baseline")
    ax.annotate(text, (1.0, height), (-left, up), frame, textcoords="offset points", ha="right", va=side, fontsize=8)


def sequential() -> Colormap:
    """Colours of ordered values, blue to yellow and even in lightness, without the end that is lost on a dark page."""
    mpl = import_matplotlib()
    from matplotlib.colors import ListedColormap

    return ListedColormap(mpl.colormaps["cividis"](np.linspace(0.25, 1.0, 256)), name="purely")


def room_above(ax: Axes, share: float = 0.25) -> None:
    """Leave room for a legend at the top."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + share * (high - low))


def shortened(text: str, longest: int) -> str:
    """Text on one line, cut where it is too long."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def percent(value: float) -> str:
    """A share as a percentage with the digits that matter: 0.4 %, 7.3 %, 42 %, 99.5 %."""
    if not np.isfinite(value):
        return "unknown"
    hundredth = 100.0 * value
    whole = hundredth == 0.0 or 10.0 <= abs(hundredth) < 99.0 or abs(hundredth) >= 99.95
    digits = 0 if whole else 1 if abs(hundredth) >= 0.095 else 2
    # halves go up, as on the report's page in the browser
    return f"{np.floor(hundredth * 10.0**digits + 0.5) / 10.0**digits:.{digits}f} %"


def number(value: float, digits: int = 3) -> str:
    """A number with that many significant digits and no exponent where none is needed."""
    if not np.isfinite(value):
        return "unknown"
    if value == 0.0 or abs(value) < 10.0 ** -(digits + 2):
        return "0"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{min(decimals, digits + 2)}f}"
