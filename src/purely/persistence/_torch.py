"""Modules of torch that a user gave as an encoder: layers of a fixed list, as plain values and arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from purely.persistence._limits import need

__all__ = ["make_module", "module_state"]

#: Layers of torch.nn that a model file may hold.
_LAYERS = """
BatchNorm1d Dropout ELU Flatten GELU Identity LayerNorm LeakyReLU Linear ReLU SELU Sequential SiLU Sigmoid Softplus Tanh
"""
LAYERS = frozenset(_LAYERS.split())


def _bare() -> Any:
    from torch import nn

    return nn.Module()


def module_state(value: Any) -> dict[str, Any] | None:
    """State of a module and its parts; None for anything else, or for a module of other layers or with hooks."""
    if "torch" not in sys.modules:  # then nothing can be a module
        return None
    from torch import nn

    cls = type(value)
    if not isinstance(value, nn.Module) or getattr(nn, cls.__name__, None) is not cls or cls.__name__ not in LAYERS:
        return None
    plain = {k: v for k, v in vars(value).items() if k not in vars(_bare()) or k == "training"}
    if any(v for k, v in vars(value).items() if "hooks" in k):
        return None
    parts = {name: module_state(part) for name, part in value.named_children()}
    if any(part is None for part in parts.values()):
        return None
    return {
        "layer": cls.__name__,
        "plain": dict(sorted(plain.items())),
        "parameters": {k: None if p is None else p.detach().cpu().numpy() for k, p in value._parameters.items()},
        "frozen": [k for k, p in value._parameters.items() if p is not None and not p.requires_grad],
        "buffers": {k: None if b is None else b.detach().cpu().numpy() for k, b in value._buffers.items()},
        "parts": parts,
    }


def make_module(state: Any) -> Any:
    """The module of a checked state."""
    try:
        import torch
        from torch import nn
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the model holds a torch module as its encoder, and torch is not installed: pip install 'purely[nn]'.",
            name="torch",
        ) from None
    names = {"layer", "plain", "parameters", "frozen", "buffers", "parts"}
    need(isinstance(state, dict) and set(state) == names, "a torch module has other entries")
    need(isinstance(state["layer"], str) and state["layer"] in LAYERS, "a torch module is of no known layer")
    need(all(isinstance(state[n], dict) for n in names - {"layer", "frozen"}), "a torch module is torn")
    cls = getattr(nn, state["layer"])
    made = cls.__new__(cls)
    nn.Module.__init__(made)
    for name, value in state["plain"].items():
        known = isinstance(name, str) and not name.startswith("_") and not callable(getattr(cls, name, None))
        need(known and isinstance(value, (bool, int, float, str, tuple, type(None))), "a torch module is torn")
        vars(made)[name] = value
    for kind in ("parameters", "buffers"):
        for name, array in state[kind].items():
            need(isinstance(name, str) and name.isidentifier() and not hasattr(cls, name), "a torch module is torn")
            need(array is None or (isinstance(array, np.ndarray) and array.dtype.kind in "fi"), "a module is torn")
            tensor = None if array is None else torch.from_numpy(np.array(array, order="C"))
            if kind == "parameters":
                made.register_parameter(name, None if tensor is None else _parameter(tensor, name, state["frozen"]))
            else:
                made.register_buffer(name, tensor)
    for name, part in state["parts"].items():
        need(isinstance(name, str) and name.isdigit() and state["layer"] == "Sequential", "a torch module is torn")
        made.add_module(name, make_module(part))
    return made


def _parameter(tensor: Any, name: str, frozen: Any) -> Any:
    from torch import nn

    need(tensor.is_floating_point() and isinstance(frozen, list), "a torch module is torn")
    return nn.Parameter(tensor, requires_grad=name not in frozen)
