"""From values to JSON; and what is not ours, taken apart and put together the way pickle does it, but as JSON.

An object of another package says by ``__reduce_ex__`` which class or function makes it, from what, and what its state
is. A file holds that by name, and `load` looks a name up only where its caller has named it in `trusted`.
"""

from __future__ import annotations

import copyreg
import math
import types
from collections import OrderedDict
from collections.abc import Iterable
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.persistence._fields import (  # isort: skip
    FLAG, LONGEST_TEXT, NOTHING, TYPE_NAMES, Field, Json, Misfit, Place, Untrusted, array, either, items, many, number,
    pairs, text, word,
)  # fmt: skip
from purely.persistence._schema import SCHEMAS, imported, part, schema_of


def write(value: Any, at: Place) -> Json:
    """JSON of a value; its arrays go into the store."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return _write_foreign(str(value), at)
    if value is None or isinstance(value, (bool, int, str, np.integer, np.bool_, np.str_)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if type(value) in (list, tuple):
        plain = (bool, int, str, type(None))
        listed = [item if type(item) in plain else write(item, at.at(i)) for i, item in enumerate(value)]
        return {"tuple": listed} if isinstance(value, tuple) else listed
    if type(value) is dict:
        named = all(isinstance(key, str) for key in value)
        found = [[write(k, at), write(v, at.at(k if named else i))] for i, (k, v) in enumerate(value.items())]
        return {"dict": dict(found) if named else found}
    if type(value) is np.ndarray and value.dtype.newbyteorder("<") in TYPE_NAMES:
        return _write_array(value, at)
    if type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "UO":
        return {"dtype": value.dtype.str, "items": write(value.tolist(), at)}
    schema = schema_of(value)
    if schema is not None:
        state = {name: held for name, held in schema.take(value).items() if name not in schema.left_out}
        return {"class": schema.name} | {name: write(state[name], at.at(name)) for name in sorted(state)}
    return _write_foreign(value, at)


def _write_array(value: NDArray[Any], at: Place) -> Json:
    """An array in little-endian order; integers in the smallest type that holds them all."""
    dtype = kind = value.dtype.newbyteorder("<")
    turned = value.flags.f_contiguous and not value.flags.c_contiguous
    if kind.kind in "iu" and value.size:
        low, high = int(value.min()), int(value.max())
        smaller = (np.dtype(f"<{kind.kind}{n}") for n in (1, 2, 4, 8))
        kind = next(k for k in smaller if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    at.need(at.path not in at.store.arrays, "has the name of another place")
    at.store.arrays[at.path] = np.asarray(value.T if turned else value, kind, order="C")
    return {"array": TYPE_NAMES[dtype]} | ({"order": "F"} if turned else {})


# -- other packages ----------------------------------------------------------------------------------------------------


def _bytearray(values: NDArray[np.uint8]) -> bytearray:
    return bytearray(values.tobytes())


def _long_text(values: NDArray[np.uint8]) -> str:
    return values.tobytes().decode()


def _torch_tensor(values: NDArray[Any], learnt: bool, parameter: bool) -> Any:
    """A tensor, or a parameter of a module."""
    import torch

    tensor = torch.from_numpy(values.copy())
    return torch.nn.Parameter(tensor, learnt) if parameter else tensor.requires_grad_(learnt)


_BUILTINS = (bool, complex, float, frozenset, int, object, set, slice, str)
#: What may be used wherever something else is trusted: it holds values and does nothing with them.
HARMLESS = {
    "bytes": np.ndarray.tobytes,
    "bytearray": _bytearray,
    "long text": _long_text,
    "torch tensor": _torch_tensor,
    "numpy array": np.array(0).__reduce__()[0],
    "numpy.dtype": np.dtype,
    "numpy.ndarray": np.ndarray,
    **{f"{kind.__module__}.{kind.__name__}": kind for kind in (*_BUILTINS, OrderedDict)},
}


#: Functions and types that our models hold: they are named, and never called, by any file.
OURS = {
    "densify": "purely.prior.ratio:_densify",
    "with constant": "purely.classifiers.least_squares:_with_constant",
    **{kind: f"numpy:{kind}" for kind in ("float64", "float32", "int64")},
}


def name_of(value: Any) -> str:
    """What a file calls a class or function: where it can be imported from, or a name of our own."""
    known = HARMLESS | {name: imported(home) for name, home in OURS.items()}
    module = getattr(value, "__module__", None) or "numpy"  # NumPy's own functions do not say
    there = f"{module}.{getattr(value, '__qualname__', None) or getattr(value, '__name__', '?')}"
    return next((name for name, kind in known.items() if kind is value), there)


def resolve(name: str) -> Any:
    """The class or function of a name; what it names is imported."""
    parts = name.split(".")
    for n in range(len(parts) - 1, 0, -1):
        try:
            return reduce(getattr, parts[n:], import_module(".".join(parts[:n])))
        except (ImportError, AttributeError, ValueError):
            continue
    raise ValueError(f"trusted names {name!r}, which cannot be imported; install its package or correct the name.")


def find_trusted(trusted: Iterable[Any]) -> dict[str, Any]:
    """Classes and functions by the names that files give them, from what a caller named: themselves or their names."""
    found = [resolve(entry) if isinstance(entry, str) else entry for entry in trusted]
    named = {name_of(entry): entry for entry in found} | (HARMLESS if found else {})
    return named | {name: imported(home) for name, home in OURS.items()}


def _taken_apart(value: Any) -> tuple[Any, ...]:
    """How an object is made: "name" for what has only to be imported, "call" or "new", and from what."""
    if isinstance(value, (type, np.ufunc, types.FunctionType, types.BuiltinFunctionType)):
        return "name", value, ()
    if isinstance(value, (bytes, bytearray)):
        function = np.ndarray.tobytes if isinstance(value, bytes) else _bytearray
        return "call", function, (np.frombuffer(bytes(value), np.uint8),)
    if isinstance(value, str):  # a model that writes itself as text, as LightGBM's do
        return "call", _long_text, (np.frombuffer(value.encode(), np.uint8),)
    if type(value).__module__.startswith("torch") and hasattr(value, "detach"):
        plain = value.detach().cpu().numpy()
        return "call", _torch_tensor, (plain, bool(value.requires_grad), type(value).__name__ == "Parameter")
    made = value.__reduce_ex__(2)
    if made[0] is copyreg.__newobj__:  # type: ignore[attr-defined]
        return "new", made[1][0], made[1][1:], *made[2:]
    return "call", *made


def _write_foreign(value: Any, at: Place) -> Json:
    try:
        how, function, args, *rest = _taken_apart(value)
        name = name_of(function)
        known = name in HARMLESS or name in OURS or resolve(name) is function
    except Exception as error:
        raise Misfit(f"{at.path} of type {name_of(type(value))} cannot be put into a file ({error})") from None
    at.need(known, f"is {name}, which cannot be imported, and a model file holds no code")
    at.store.foreign |= {name} - HARMLESS.keys() - OURS.keys()
    state, listed, paired = (*rest, None, None, None)[:3]
    parts = {"args": list(args), "state": state, "listed": listed and list(listed), "paired": paired and dict(paired)}
    return {"foreign": name, "how": how} | {key: write(held, at.at(key)) for key, held in parts.items()}


def _read_foreign(node: Json, at: Place) -> Any:
    """An object of another package; trusted code runs here, and only here."""
    name, how = text(500)(node["foreign"], at), word("name", "call", "new")(node.get("how"), at)
    if name not in at.store.trusted or (name in OURS and how != "name"):
        raise Untrusted([name])
    function = at.store.trusted[name]
    args, state, listed, paired = (ANY(node.get(key), at.at(key)) for key in ("args", "state", "listed", "paired"))
    if how == "name":
        return function
    made = function.__new__(function, *args) if how == "new" else function(*args)
    if state is not None:
        made.__setstate__(state) if hasattr(made, "__setstate__") else vars(made).update(state)
    for item in listed or ():
        made.append(item)
    for key, item in (paired or {}).items():
        made[key] = item
    return made


def _read_any(node: Json, at: Place) -> Any:
    held = (many(ANY), pairs(_PLAIN, ANY), array(kind="biuf"), items(_PLAIN))
    return either(_PLAIN, *held, part(*SCHEMAS), FOREIGN)(node, at)


FOREIGN = Field(("foreign",), "an object of another package", _read_foreign)
_PLAIN = either(NOTHING, FLAG, number(finite=False), text())
#: Any value within an object of another package.
ANY = Field((*_PLAIN.tags, "list", "tuple", "dict", "array", "items", "class", "foreign"), "a value", _read_any)
