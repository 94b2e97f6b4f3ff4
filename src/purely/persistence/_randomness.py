"""Generators of random numbers as plain data: a position out of range would be read out of bounds by their C code."""

from __future__ import annotations

from typing import Any

import numpy as np

from purely.persistence._limits import integer, need

__all__ = ["generator_state", "make_generator", "make_random_state", "random_state_state"]

_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def random_state_state(value: np.random.RandomState) -> dict[str, Any] | None:
    """State of the usual generator behind a RandomState; None for another one."""
    state: Any = value.get_state(legacy=False)
    return state if state["bit_generator"] == "MT19937" else None


def make_random_state(state: Any) -> np.random.RandomState:
    """A RandomState of a checked state."""
    need(isinstance(state, dict), "the state of a RandomState must be a dictionary")
    names = {"bit_generator", "state", "has_gauss", "gauss"}
    need(set(state) == names and state["bit_generator"] == "MT19937", "the state of a RandomState has other entries")
    _check_mersenne(state["state"])
    integer(state["has_gauss"], 0, 1, "has_gauss")
    need(isinstance(state["gauss"], float), "gauss must be a number")
    made = np.random.RandomState(0)
    made.set_state(state)
    return made


def generator_state(value: np.random.Generator) -> dict[str, Any] | None:
    """State of a Generator of one of NumPy's own bit generators; None for another one."""
    state: Any = value.bit_generator.state
    return state if type(value.bit_generator).__name__ in _BIT_GENERATORS else None


def make_generator(state: Any) -> np.random.Generator:
    """A Generator of a checked state."""
    need(isinstance(state, dict) and state.get("bit_generator") in _BIT_GENERATORS, "a generator has no known name")
    name, inner = state["bit_generator"], state.get("state")
    need(isinstance(inner, dict), "the state of a generator must be a dictionary")
    made = getattr(np.random, name)(0)
    need(set(state) == set(made.state), "the state of a generator has other entries")
    if name == "MT19937":
        _check_mersenne(inner)
    elif name.startswith("PCG64"):
        need(set(inner) == {"state", "inc"}, "the state of a generator has other entries")
        for entry in inner.values():
            integer(entry, 0, 2**128 - 1, "the state of a generator")
    else:
        lengths = {"Philox": {"counter": 4, "key": 2}, "SFC64": {"state": 4}}[name]
        need(set(inner) == set(lengths), "the state of a generator has other entries")
        for entry, length in lengths.items():
            _check_words(inner[entry], length, np.uint64)
    if name == "Philox":
        _check_words(state["buffer"], 4, np.uint64)
        integer(state["buffer_pos"], 0, 4, "the position of a generator")
    if "has_uint32" in state:
        integer(state["has_uint32"], 0, 1, "has_uint32")
        integer(state["uinteger"], 0, 2**32 - 1, "uinteger")
    made.state = state
    return np.random.Generator(made)


def _check_mersenne(inner: Any) -> None:
    need(isinstance(inner, dict) and set(inner) == {"key", "pos"}, "the state of a generator has other entries")
    _check_words(inner["key"], 624, np.uint32)
    integer(inner["pos"], 0, 624, "the position of a generator")


def _check_words(value: Any, length: int, dtype: Any) -> None:
    right = isinstance(value, np.ndarray) and value.shape == (length,) and value.dtype == dtype
    need(right, f"the state of a generator must be {length} words")
