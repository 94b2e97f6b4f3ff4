"""One look for the gallery's pictures."""

from __future__ import annotations

import textwrap
import warnings
from typing import Any


def say(message: Warning | str, category: type[Warning], *_: Any) -> str:
    """A warning as a page shows it: in lines that fit, without the place in the builder's files."""
    return textwrap.fill(f"{category.__name__}: {message}", 98) + "\n"


def reset(gallery_conf: dict[str, Any], fname: str) -> None:
    """Set the style before an example runs; sphinx-gallery resets matplotlib first."""
    import matplotlib as mpl
    from cycler import cycler

    warnings.formatwarning = say  # type: ignore[assignment]
    mpl.rcParams.update(
        {
            "figure.figsize": (7.0, 3.8),
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlelocation": "left",
            "axes.prop_cycle": cycler(color=["#c8553d", "#22333b", "#8a9aa8", "#4c8c6b", "#d9a441"]),
            "legend.frameon": False,
            "font.size": 10,
            "axes.titlesize": 11,
        }
    )
