"""From a model to plain values: JSON for the tree of its attributes, arrays by number.

Numbers, text, truth values and None are themselves; lists are lists; everything else is an object with a ``kind``. An
estimator or array that occurs twice is written once and referred to after that.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import pathlib
from collections import OrderedDict, UserList, defaultdict
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Bunch

from purely.persistence import _arrays, _checks, _functions, _randomness, _sklearn, _torch
from purely.persistence._classes import attribute_problem, class_name
from purely.persistence._errors import ModelFileError, UnsupportedModelError
from purely.persistence._limits import LARGEST_DEPTH

__all__ = ["Encoder"]


class Encoder:
    """Encodes one model; `tensors` are its arrays afterwards."""

    def __init__(self) -> None:
        self.tensors: dict[str, NDArray[Any]] = {}
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # an object that is let go may leave its id to another one
        self._open: set[int] = set()

    def encode(self, value: Any, path: str = "", depth: int = 0) -> Any:
        """JSON of a value that stands at `path` in the model."""
        if depth > LARGEST_DEPTH or id(value) in self._open:
            raise UnsupportedModelError(
                f"{_place(path)} holds itself or is nested more than {LARGEST_DEPTH} deep; a model file cannot hold it."
            )
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        self._open.add(id(value))
        try:
            return self._encode(value, path, depth + 1)
        finally:
            self._open.discard(id(value))

    def _encode(self, value: Any, path: str, depth: int) -> Any:
        if isinstance(value, (list, tuple, set, frozenset, dict, UserList, slice)):
            return self._container(value, path, depth)
        if isinstance(value, np.generic):
            return _arrays.pack_scalar(value) or {
                "kind": "element",
                "array": self._array(np.asarray(value), path, depth),
            }
        if isinstance(value, type):
            return self._named("type", _functions.type_name(value), value, path)
        if isinstance(value, np.dtype):
            name = _arrays.dtype_name(value) if value != np.dtype(object) else "object"
            return self._named("dtype", name, value, path)
        if isinstance(value, pathlib.PurePath):
            return {"kind": "path", "value": str(value)}
        if isinstance(value, functools.partial):
            parts = [self.encode(part, path, depth) for part in (value.func, value.args, value.keywords)]
            return {"kind": "partial", "parts": parts}
        if (callable(value) and not hasattr(value, "__dict__")) or type(value).__name__ == "function":
            return self._named("function", _functions.function_name(value), value, path)
        if id(value) in self._seen:
            return {"kind": "ref", "id": self._seen[id(value)]}
        node = self._shared(value, path, depth)
        self._seen[id(value)] = node["id"] = len(self._kept)
        self._kept.append(value)
        return node

    def _shared(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return self._array(value, path, depth)
        if sp.issparse(value):
            packed = _arrays.pack_sparse(value)
            if packed is None:
                raise _unsupported(value, path, "convert it to CSR")
            parts, about = packed
            return {"kind": "sparse", **about, "parts": [self.encode(part, path, depth) for part in parts]}
        if isinstance(value, np.random.RandomState):
            return self._stateful("random_state", _randomness.random_state_state(value), value, path, depth)
        if isinstance(value, np.random.Generator):
            return self._stateful("generator", _randomness.generator_state(value), value, path, depth)
        module = _torch.module_state(value)
        if module is not None:
            return self._stateful("module", module, value, path, depth)
        return self._object(value, path, depth)

    def _container(self, value: Any, path: str, depth: int) -> Any:
        kind = type(value)
        if kind in (list, UserList) or kind.__name__ == "_RemainderColsList":
            return [self.encode(item, f"{path}[{i}]", depth) for i, item in enumerate(value)]
        if kind is slice:
            return {
                "kind": "slice",
                "parts": [self.encode(v, path, depth) for v in (value.start, value.stop, value.step)],
            }
        if kind is tuple:
            return {
                "kind": "tuple",
                "items": [self.encode(item, f"{path}[{i}]", depth) for i, item in enumerate(value)],
            }
        if kind in (set, frozenset):
            items = [self.encode(item, path, depth) for item in value]
            return {"kind": kind.__name__, "items": sorted(items, key=repr)}
        if kind in (dict, OrderedDict, Bunch) or (kind is defaultdict and value.default_factory is None):
            items = [
                [self.encode(key, f"a key of {path}", depth), self.encode(held, f"{path}[{key!r}]", depth)]
                for key, held in value.items()
            ]
            return {"kind": "bunch" if kind is Bunch else "dict", "items": items}
        raise _unsupported(value, path)

    def _array(self, array: NDArray[Any], path: str, depth: int) -> dict[str, Any]:
        if type(array) not in (np.ndarray, np.memmap):
            raise _unsupported(array, path, "convert it with numpy.asarray")
        if array.dtype == object:
            items = [self.encode(item, f"{path}[{i}]", depth) for i, item in enumerate(array.reshape(-1))]
            return {"kind": "objects", "shape": list(array.shape), "items": items}
        packed = _arrays.pack(array)
        if packed is None:
            raise UnsupportedModelError(
                f"{_place(path)} is an array of type {array.dtype}, which a model file cannot hold."
            )
        name = str(len(self.tensors))
        self.tensors[name], about = packed
        return {"kind": "array", "tensor": name, **about}

    def _stateful(self, kind: str, state: Any, value: Any, path: str, depth: int) -> dict[str, Any]:
        if state is None:
            raise _unsupported(value, path)
        return {"kind": kind, "state": self.encode(state, path, depth)}

    def _named(self, kind: str, name: Any, value: Any, path: str) -> dict[str, Any]:
        if name is None:
            label = getattr(value, "__qualname__", str(value))
            raise UnsupportedModelError(
                f"{_place(path)} is {getattr(value, '__module__', '')}.{label}, and a model file holds no code: only "
                "functions of a fixed list can be named in it. Leave it out, or apply it to the rows before the model."
            )
        return {"kind": kind, "name": name}

    def _object(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        cls = type(value)
        name: str | None = class_name(cls)  # type: ignore[arg-type]
        if name is None:
            raise _unsupported(value, path)
        if name in _sklearn.STATES:
            state = _sklearn.STATES[name](value)
        else:
            state = {k: v for k, v in vars(value).items() if k not in _sklearn.DROPPED.get(name, ())}
            for attribute in state:
                problem = attribute_problem(cls, attribute)
                if problem is not None:
                    raise UnsupportedModelError(f"{_join(path, attribute)} {problem}; delete it before saving.")
            _check(value, name, path)
            if dataclasses.is_dataclass(cls):  # the order in which fields were set is not part of a value
                state = {f.name: state[f.name] for f in dataclasses.fields(cls) if f.name in state}
        fields = {k: self.encode(state[k], _join(path, k), depth) for k in sorted(state)}
        return {"kind": "object", "class": name, "state": fields}


def _check(value: Any, name: str, path: str) -> None:
    """What a file of the object would be refused for is refused before it is written."""
    try:
        _checks.check(value, name)
    except ModelFileError as error:
        raise UnsupportedModelError(f"{_place(path)} cannot be put into a model file: {error.reason}.") from None


def _join(path: str, attribute: str) -> str:
    return f"{path}.{attribute}" if path else attribute


def _place(path: str) -> str:
    return path or "the model itself"


def _unsupported(value: Any, path: str, hint: str = "") -> UnsupportedModelError:
    cls = type(value)
    end = hint or "see 'Saving models' in the documentation for what it can hold"
    return UnsupportedModelError(
        f"{_place(path)} of type {cls.__module__}.{cls.__qualname__} cannot be put into a model file; {end}."
    )
