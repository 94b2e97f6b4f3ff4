"""From plain values to a model: classes of a fixed list, made without their constructors, their state checked."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from purely.persistence import _arrays, _checks, _functions, _randomness, _sklearn, _torch
from purely.persistence._classes import attribute_problem, class_from_name, parameters
from purely.persistence._errors import ModelFileError
from purely.persistence._limits import LARGEST_DEPTH, LARGEST_NODES, need, whole

__all__ = ["Decoder"]

_HASHABLE = (str, int, float, bool, tuple, frozenset, type(None), np.generic)


class Decoder:
    """Decodes one model.

    Parameters
    ----------
    tensors : dict of str to ndarray
        Arrays of the file; each may be used once.
    fill : bool
        Whether parameters that are missing get their defaults: the file is of another version of scikit-learn.
    """

    def __init__(self, tensors: dict[str, NDArray[Any]], *, fill: bool = False) -> None:
        self._tensors = dict(tensors)
        self._fill = fill
        self._done: list[tuple[Any, int]] = []  # shared values in the order of their ids, and what each weighs
        self._weight = 0
        self._kinds: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "array": self._array,
            "bunch": self._dict,
            "dict": self._dict,
            "dtype": lambda node, _: self._dtype(*whole(node, "name")),
            "element": self._element,
            "float": lambda node, _: _float(*whole(node, "value")),
            "frozenset": self._set,
            "function": lambda node, _: _functions.function_from_name(*whole(node, "name")),
            "generator": lambda node, d: _randomness.make_generator(self._only_state(node, d)),
            "module": lambda node, d: _torch.make_module(self._only_state(node, d)),
            "object": self._object,
            "objects": self._objects,
            "partial": self._partial,
            "path": lambda node, _: _path(*whole(node, "value")),
            "random_state": lambda node, d: _randomness.make_random_state(self._only_state(node, d)),
            "scalar": lambda node, _: _arrays.unpack_scalar(node),
            "set": self._set,
            "slice": lambda node, d: slice(*self._parts(node, d, 3)),
            "sparse": self._sparse,
            "tuple": lambda node, d: tuple(self._items(whole(node, "items")[0], d)),
            "type": lambda node, _: _functions.type_from_name(*whole(node, "name")),
        }

    def finish(self, node: Any) -> Any:
        """The value of the outermost node; every array of the file must have been used."""
        made = self.decode(node, 0)
        need(not self._tensors, f"{len(self._tensors)} arrays of the file belong to nothing")
        return made

    def decode(self, node: Any, depth: int) -> Any:
        """The value of a node."""
        need(depth <= LARGEST_DEPTH, f"values are nested more than {LARGEST_DEPTH} deep")
        self._add(1)
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if isinstance(node, list):
            return self._items(node, depth)
        kind = node.get("kind")
        if kind == "ref":
            return self._ref(*whole(node, "id"))
        need(isinstance(kind, str) and kind in self._kinds, f"a value of the unknown kind {str(kind)[:40]!r}")
        before = self._weight
        if "id" not in node:
            return self._kinds[kind](node, depth + 1)
        number = node["id"]
        value = self._kinds[kind]({k: v for k, v in node.items() if k != "id"}, depth + 1)
        need(type(number) is int and number == len(self._done), "shared values are not numbered in their order")
        self._done.append((value, self._weight - before))
        return value

    def _add(self, weight: int) -> None:
        self._weight += weight
        need(self._weight <= LARGEST_NODES, f"the model has more than {LARGEST_NODES:,} values")

    def _ref(self, number: Any) -> Any:
        known = type(number) is int and 0 <= number < len(self._done)
        need(known, "a reference points to nothing that comes before it")
        value, weight = self._done[number]
        self._add(weight)
        return value

    def _items(self, items: Any, depth: int) -> list[Any]:
        need(isinstance(items, list), "items must be a list")
        return [self.decode(item, depth + 1) for item in items]

    def _parts(self, node: dict[str, Any], depth: int, count: int) -> list[Any]:
        parts = self._items(whole(node, "parts")[0], depth)
        need(len(parts) == count, f"a value of kind {node['kind']!r} must have {count} parts")
        return parts

    def _only_state(self, node: dict[str, Any], depth: int) -> Any:
        return self.decode(whole(node, "state")[0], depth)

    def _dict(self, node: dict[str, Any], depth: int) -> Any:
        (pairs,) = whole(node, "items")
        need(isinstance(pairs, list) and all(isinstance(p, list) and len(p) == 2 for p in pairs), "items must be pairs")
        made: dict[Any, Any] = {}
        for key, held in pairs:
            name = self.decode(key, depth)
            need(isinstance(name, _HASHABLE), "a key of a dictionary must be a plain value")
            made[_hashable(name)] = self.decode(held, depth)
        need(len(made) == len(pairs), "a key of a dictionary occurs twice")
        if node["kind"] == "dict":
            return made
        need(all(isinstance(k, str) for k in made), "a key of a dictionary must be a name")
        return Bunch(**made)

    def _set(self, node: dict[str, Any], depth: int) -> Any:
        items = [_hashable(item) for item in self._items(whole(node, "items")[0], depth)]
        made = frozenset(items) if node["kind"] == "frozenset" else set(items)
        need(len(made) == len(items), "an item of a set occurs twice")
        return made

    def _array(self, node: dict[str, Any], _: int) -> NDArray[Any]:
        name = node.get("tensor")
        tensor = self._tensors.pop(name, None) if isinstance(name, str) else None
        need(tensor is not None, f"the array {str(name)[:40]!r} is missing, or used twice")
        assert tensor is not None
        return _arrays.unpack(tensor, {k: v for k, v in node.items() if k not in ("kind", "tensor")})

    def _element(self, node: dict[str, Any], depth: int) -> Any:
        array = self.decode(whole(node, "array")[0], depth)
        need(
            isinstance(array, np.ndarray) and array.shape == () and array.dtype != object, "a single value is an array"
        )
        return array[()]

    def _objects(self, node: dict[str, Any], depth: int) -> NDArray[Any]:
        shape, items = whole(node, "shape", "items")
        lengths = _arrays.shape_of(shape)
        values = self._items(items, depth)
        need(int(np.prod(lengths, dtype=object)) == len(values), "an array has not as many items as its shape says")
        flat = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            flat[i] = value
        return flat.reshape(lengths)

    def _sparse(self, node: dict[str, Any], depth: int) -> Any:
        form, array, shape, parts = whole(node, "format", "array", "shape", "parts")
        arrays = self._items(parts, depth)
        return _arrays.unpack_sparse({"format": form, "array": array, "shape": shape}, arrays)

    def _dtype(self, name: Any) -> np.dtype[Any]:
        return np.dtype(object) if name == "object" else _arrays.dtype_from_name(name)

    def _partial(self, node: dict[str, Any], depth: int) -> Any:
        function, args, keywords = self._parts(node, depth, 3)
        need(callable(function) and _functions.function_name(function), "a partial function is of no known function")
        need(
            isinstance(args, tuple) and isinstance(keywords, dict), "arguments of a function must be a tuple and names"
        )
        need(all(isinstance(k, str) for k in keywords), "arguments of a function must be a tuple and names")
        return functools.partial(function, *args, **keywords)

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        name, fields = whole(node, "class", "state")
        cls = class_from_name(name)
        need(isinstance(fields, dict), f"the state of {name} must be a JSON object")
        state = {str(k): self.decode(v, depth) for k, v in fields.items()}
        if name in _sklearn.BUILDERS:
            return _sklearn.BUILDERS[name](state)
        for attribute in state:
            problem = attribute_problem(cls, attribute)
            need(problem is None, f"{name}.{attribute} {problem}")
            need(attribute not in _sklearn.DROPPED.get(name, ()), f"{name}.{attribute} must not be stored")
        made = self._make(cls, name, state)
        _checks.check(made, name)
        if name in _sklearn.REBUILD:
            try:
                _sklearn.REBUILD[name](made)
            except AttributeError as error:
                raise ModelFileError(f"the file is damaged or forged: {name} is incomplete, {error}.") from None
        return made

    def _make(self, cls: type, name: str, state: dict[str, Any]) -> Any:
        if dataclasses.is_dataclass(cls):
            required = {f.name for f in dataclasses.fields(cls)}
        else:
            required = set(parameters(cls))
            if self._fill:
                defaults = {k: v for k, v in parameters(cls).items() if v is not inspect.Parameter.empty}
                state = {**{k: v for k, v in defaults.items() if k not in state}, **state}
        missing = sorted(required - set(state))
        need(not missing, f"{name} lacks {', '.join(missing)}")
        made: Any = object.__new__(cls)
        if isinstance(made, BaseEstimator) or not dataclasses.is_dataclass(cls):
            vars(made).update(state)
        else:
            for field, value in state.items():
                object.__setattr__(made, field, value)  # the way around a frozen dataclass
        return made


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        raise ModelFileError("the file is damaged or forged: a key or item of a set is no plain value.") from None
    return value


def _float(value: Any) -> float:
    need(value in ("nan", "inf", "-inf"), "a number is no number")
    return float(value)


def _path(value: Any) -> pathlib.Path:
    need(isinstance(value, str), "a path must be text")
    return pathlib.Path(value)
