"""Objects to JSON and back: those of declared classes, and what is not ours.

Classes are declared in :mod:`purely.persistence._classes` and :mod:`purely.persistence._sklearn`. An object of another
package says by ``__reduce_ex__`` which class or function makes it, from what, and what its state is, as for pickle. A
file holds that by name, and `load` looks a name up only where its caller has named it in `trusted`.
"""

from __future__ import annotations

import copyreg
import math
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pkgutil import resolve_name
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from purely.files import shown

from purely.persistence._fields import (  # isort: skip
    FLAG, LONGEST_TEXT, NOTHING, TYPE_NAMES, Array, Field, Json, Misfit, Place, array, either, items, many, number,
    pairs, read_fields, text, untrusted, word,
)  # fmt: skip

State = dict[str, Any]


def make(cls: Any, state: State) -> Any:
    """An object by its class's own constructor, which only takes note of what it is given."""
    names = cls._get_param_names() if issubclass(cls, BaseEstimator) else state
    made = cls(**{name: state.pop(name) for name in list(names) if name in state})
    vars(made).update(state)
    if hasattr(made, "check"):  # what a class knows of itself, it says
        made.check()
    return made


@dataclass(frozen=True)
class Schema:
    """A class that model files may hold.

    Attributes
    ----------
    home : str
        Where the class is today, as in ``"purely.calibration:ScoreCalibration"``; files do not say it.
    name : str
        What files call it; that never changes.
    fields : mapping of str to Field
        What its objects hold besides the parameters of the constructor.
    setting : function of str
        The field of a parameter.
    optional, left_out : frozenset of str
        What a fitted object need not have, and what is not put into a file.
    check : function of (values by name, place), optional
        Refuses values that do not agree with each other.
    take, make : function
        What an object holds, and an object of what it holds.
    """

    home: str
    name: str
    fields: Mapping[str, Field]
    setting: Callable[[str], Field]
    optional: frozenset[str]
    left_out: frozenset[str]
    check: Callable[[State, Place], None] | None = None
    take: Callable[[Any], State] = vars
    make: Callable[[Any, State], Any] = make

    @cached_property
    def cls(self) -> Any:
        """The class itself, imported when it is first needed."""
        return resolve_name(self.home)

    @cached_property
    def settings(self) -> dict[str, Field]:
        """Parameters of the constructor of an estimator."""
        names = self.cls._get_param_names() if issubclass(self.cls, BaseEstimator) else ()
        return {name: self.setting(name) for name in names if name not in self.left_out}

    def read(self, node: dict[str, Json], at: Place) -> Any:
        """The object that JSON says: made when every value has been checked, alone and against the others."""
        said = {name: value for name, value in node.items() if name != "class"}
        fields = self.settings | dict(self.fields)
        # A parameter that a file does not say is newer than the file; without what a fit finds, there was no fit.
        optional = self.optional | self.settings.keys()
        fitted = not self.settings or not said.keys() <= optional
        state = read_fields(said, fields, optional if fitted else fields, at)
        if self.check is not None and fitted:
            self.check(state, at)
        try:
            return self.make(self.cls, state)
        except (TypeError, ValueError) as error:
            raise Misfit(f"{at.path or 'the model'} is no {self.name} ({shown(error, 300).rstrip('.')})") from None


#: Classes that model files may hold, by the name that files give them.
SCHEMAS: dict[str, Schema] = {}


def schema_of(value: object) -> Schema | None:
    """The schema of an object's class, if it has one."""
    short = f":{type(value).__name__}"
    return next((s for s in SCHEMAS.values() if s.home.endswith(short) and s.cls is type(value)), None)


def part(*names: str, **lengths: str) -> Field:
    """An object of some classes, or any estimator; ``d="d"`` says that its length d is one of the object around it."""

    def read(node: Json, at: Place) -> Any:
        schema = SCHEMAS.get(node["class"]) if isinstance(node["class"], str) else None
        at.need(schema is not None and (names or schema.settings), f"must be {words}")
        inner = replace(at, lengths={})  # an object has lengths of its own
        made = schema.read(node, inner)  # type: ignore[union-attr]
        at.store.lengths[id(made)] = made, inner.lengths
        for own in lengths.keys() & inner.lengths:
            at.measure(lengths[own], inner.lengths[own])
        return made

    words = f"a {' or '.join(names)}" if names else "an estimator of purely"
    return Field(tuple(f"class {name}" for name in names) or ("class",), words, read)


# -- values to JSON ----------------------------------------------------------------------------------------------------


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


def _write_array(value: Array, at: Place) -> Json:
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


def _torch_tensor(values: Array, learnt: bool, parameter: bool) -> Any:
    """A tensor, or a parameter of a module."""
    import torch

    tensor = torch.from_numpy(values.copy())
    return torch.nn.Parameter(tensor, learnt) if parameter else tensor.requires_grad_(learnt)


_BUILTINS = (bool, complex, float, frozenset, int, object, set, slice, str)
#: What may be used wherever something else is trusted: it holds values and does nothing with them.
HARMLESS = {
    "bytes": np.ndarray.tobytes,
    "bytearray": lambda values: bytearray(values.tobytes()),
    "long text": lambda values: values.tobytes().decode(),  # a model that writes itself as text, as LightGBM's do
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
    known = HARMLESS | {name: resolve_name(home) for name, home in OURS.items()}
    module = getattr(value, "__module__", None) or "numpy"  # NumPy's own functions do not say
    there = f"{module}.{getattr(value, '__qualname__', None) or getattr(value, '__name__', '?')}"
    return next((name for name, kind in known.items() if kind is value), there)


def resolve(name: str) -> Any:
    """The class or function of a name; what it names is imported."""
    try:
        return resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        words = "which cannot be imported; install its package or correct the name."
        raise ValueError(f"trusted names {name!r}, {words}") from None


def find_trusted(trusted: Iterable[Any]) -> dict[str, Any]:
    """Classes and functions by the names that files give them, from what a caller named: themselves or their names."""
    found = [resolve(entry) if isinstance(entry, str) else entry for entry in trusted]
    named = {name_of(entry): entry for entry in found} | (HARMLESS if found else {})
    return named | {name: resolve_name(home) for name, home in OURS.items()}


def _taken_apart(value: Any) -> tuple[Any, ...]:
    """How an object is made: "name" for what has only to be imported, "call" or "new", and from what."""
    if isinstance(value, (type, np.ufunc, types.FunctionType, types.BuiltinFunctionType)):
        return "name", value, ()
    if isinstance(value, (bytes, bytearray, str)):
        name = "bytes" if isinstance(value, bytes) else "long text" if isinstance(value, str) else "bytearray"
        raw = value.encode() if isinstance(value, str) else bytes(value)
        return "call", HARMLESS[name], (np.frombuffer(raw, np.uint8),)
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
        raise untrusted([name])
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
