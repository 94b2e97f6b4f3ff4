"""Checks of parameters: each names the parameter, what is allowed and what was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_widths(name: str, widths: Any) -> tuple[int, ...]:
    """A tuple of layer widths, or a refusal."""
    values = tuple(widths) if isinstance(widths, Iterable) and not isinstance(widths, str) else None
    if values is None or not all(isinstance(w, Integral) and not isinstance(w, bool) and int(w) >= 1 for w in values):
        raise ValueError(
            f"{name} must be a sequence of integers of at least 1, such as (60,) or (); {widths!r} was given."
        )
    return tuple(int(w) for w in values)


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """One of a few values, or a refusal."""
    if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
        listed = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{name} must be one of {listed}; {value!r} was given.")
    return value


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, integer: bool = False, open_low: bool = False
) -> Any:
    """A number in a range, or a refusal."""
    kind: Any = Integral if integer else Real
    inside = isinstance(value, kind) and not isinstance(value, bool) and low <= float(value) <= high
    if not inside or (open_low and value == low):
        what = "an integer" if integer else "a number"
        bounds = f"{'above' if open_low else 'of at least'} {low:g}" + (
            "" if high == np.inf else f" and at most {high:g}"
        )
        raise ValueError(f"{name} must be {what} {bounds}; {value!r} was given.")
    return int(value) if integer else float(value)
