"""Every public estimator and every display is in the gallery."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
ROOMS = ("smi", "representation", "prior", "classifiers", "audit", "plotting", "tables", "comparison")
#: Bases, which nobody uses as they are.
BASES = {"PriorEstimator"}


def shown_things() -> list[str]:
    found = set()
    for room in ROOMS:
        module = importlib.import_module(f"purely.{room}")
        things = {name: getattr(module, name) for name in module.__all__}
        found |= {
            name
            for name, thing in things.items()
            if inspect.isclass(thing) and (hasattr(thing, "fit") or name.endswith("Display"))
        }
    return sorted((found | {"compare_methods"}) - BASES)


@pytest.mark.parametrize("name", shown_things())
def test_an_example_shows_it(name):
    examples = [path.read_text(encoding="utf-8") for path in EXAMPLES.rglob("plot_*.py")]
    assert any(re.search(rf"\b{name}\b", text) and "plt.show()" in text for text in examples)
