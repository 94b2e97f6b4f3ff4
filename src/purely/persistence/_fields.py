"""Kinds of values in a model file: what their JSON looks like, and every bound that is checked before they are used.

JSON of a plain value is the value, and of a list a list; all else is an object with a key that says what it is, a tag.
A field takes JSON of some tags and gives the value. Lengths have names: arrays whose shapes name the same length must
have it in common.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.checks import LARGEST_VALUE
from purely.files import shown


class ModelFileError(ValueError):
    """A file is no model of purely, is damaged, or holds what no model can hold; nothing of it was run."""


class UnsupportedModelError(TypeError):
    """A model holds something that a model file cannot, and nothing was written; the message names its place."""


class ModelFileWarning(UserWarning):
    """A model file was written by another version of a library, or will not load without `trusted`."""


class Misfit(Exception):  # noqa: N818 - callers never see it
    """A value that its place in a model does not allow; becomes one of the errors above, with the name of the file."""


def untrusted(names: list[str]) -> ModelFileError:
    """What is said of classes and functions that are neither ours nor trusted."""
    return ModelFileError(
        f"the file holds what is not of purely. If you know who wrote it, load it with trusted={names}: the code of "
        "these classes is then run with whatever the file holds."
    )


#: What `json` reads and writes.
Json = Any
Array = NDArray[Any]
#: A length of an array: a name that others share, a number, or None for any.
Length = str | int | None

#: Tags, and what else an object with one of them has; one with a class has attributes.
TAGS = {"class": None, "foreign": "how args state listed paired", "array": "order", "items": "dtype"}
TAGS |= dict.fromkeys(("tuple", "dict", "float"), "")
#: Values within values; a pipeline of an ensemble of networks has about 20.
DEEPEST = 60
#: Columns of the rows that a model takes, and bytes of text that is listed item by item: they cost a file nothing.
WIDEST = LARGEST_LISTED = 2**24
#: Characters of a text within JSON; longer ones of other packages' objects are kept as arrays.
LONGEST_TEXT = 100_000
#: Types of numbers, by the names that safetensors gives them.
TYPES = {f"{k.upper()}{8 * n}": np.dtype(f"<{k}{n}") for k in "iuf" for n in (1, 2, 4, 8) if k != "f" or n > 1}
TYPES["BOOL"] = np.dtype(bool)
TYPE_NAMES = {dtype: name for name, dtype in TYPES.items()}
_NAMED = {"f": "floats", "iu": "integers", "b": "truth values"}
#: What a field reads where a value does not fit; the field's own words then say what would.
UNFIT: Any = object()
_LISTED = re.compile(r"\|O|<U[1-9]\d{0,3}")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
#: A line end or a tab is part of many a column's name; what else a terminal obeys is not.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass
class Store:
    """What belongs to a whole model.

    Attributes
    ----------
    arrays : mutable mapping of str to ndarray
        Arrays by the path of their place; on loading each is taken once.
    trusted : mapping of str to class or function
        What the caller of `load` trusts.
    foreign : set of str
        Names of what is not ours, as they are met on saving.
    lengths : dict
        Objects that have been read and their lengths, by the objects' identity.
    """

    arrays: MutableMapping[str, Array] = field(default_factory=dict)
    trusted: Mapping[str, Any] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)
    lengths: dict[int, tuple[Any, dict[str, int]]] = field(default_factory=dict)


@dataclass
class Place:
    """Where a value stands: its path, the lengths that are known around it, and what belongs to the whole model."""

    store: Store = field(default_factory=Store)
    path: str = ""
    lengths: dict[str, int] = field(default_factory=dict)
    depth: int = 0

    def at(self, key: str | int) -> Place:
        """The place of an attribute or of an entry."""
        self.need(self.depth < DEEPEST, f"holds itself, or values nested more than {DEEPEST} deep")
        step = f"[{key}]" if isinstance(key, int) else f".{key}" if self.path else key
        return Place(self.store, self.path + step, self.lengths, self.depth + 1)

    def need(self, condition: object, words: str) -> None:
        """Refuse what stands here, in these words, unless the condition holds."""
        if not condition:
            raise Misfit(f"{shown(self.path, 300) or 'the model'} {words}")

    def measure(self, length: Length, found: int) -> None:
        """Compare a length with what it has to be; one that has a name and is not known yet is noted."""
        known = self.lengths.setdefault(length, found) if isinstance(length, str) else length
        self.need(known in (None, found), f"has the length {found} where {known} belongs")


@dataclass(frozen=True)
class Field:
    """A kind of value: tags of its JSON, words for an error, and the function that checks and reads it."""

    tags: tuple[str, ...]
    words: str
    read: Callable[[Json, Place], Any]

    def takes(self, node: Json) -> bool:
        """Whether JSON has one of the tags."""
        if not isinstance(node, dict):
            return ("number" if type(node) in (int, float) else type(node).__name__) in self.tags
        tag, more = next(((tag, more) for tag, more in TAGS.items() if tag in node), ("", None))
        known = tag in self.tags or (isinstance(node.get(tag), str) and f"{tag} {node[tag]}" in self.tags)
        return known and (more is None or node.keys() <= {tag, *more.split()})

    def __call__(self, node: Json, at: Place) -> Any:
        """The value of JSON at a place."""
        value = self.read(node, at) if self.takes(node) else UNFIT
        if value is UNFIT:
            at.need(False, f"must be {self.words}")
        return value

    def each(self, held: list[Json] | dict[str, Json], at: Place) -> list[Any]:
        """The values of a list or an object; plain ones, of which there may be many, need no place of their own."""
        plain = {"number", "str", "bool", "NoneType"}.issuperset(self.tags)
        items = held.items() if isinstance(held, dict) else enumerate(held)
        return [self(item, at if plain else at.at(key)) for key, item in items]


def either(*options: Field) -> Field:
    """The first of several kinds whose tags JSON has."""
    tags, words = tuple(t for o in options for t in o.tags), " or ".join(o.words for o in options)
    return Field(tags, words, lambda node, at: next(o for o in options if o.takes(node)).read(node, at))


NOTHING = Field(("NoneType",), "None", lambda node, at: None)
FLAG = Field(("bool",), "True or False", lambda node, at: node)


def none_or(*options: Field) -> Field:
    """None or one of some kinds."""
    return either(NOTHING, *options)


def whole(low: int = 0, high: int = 10**12, *, length: str | None = None, below: str = "") -> Field:
    """A whole number; it may say a length that has a name, or be an index below one."""

    def read(node: Json, at: Place) -> int:
        if type(node) is not int or not low <= node <= high or (below and node >= at.lengths.get(below, 0)):
            return UNFIT
        at.measure(length, node)
        return int(node)

    words = f"a whole number from {low} to {high}" + (f" and below the length {below!r}" if below else "")
    return Field(("number",), words, read)


def number(low: float = -LARGEST_VALUE, high: float = LARGEST_VALUE, *, finite: bool = True) -> Field:
    """A number; a finite one unless said otherwise."""

    def read(node: Json, at: Place) -> float:
        if isinstance(node, dict):
            return float(node["float"]) if node["float"] in ("nan", "inf", "-inf") else UNFIT
        return UNFIT if (finite and not low <= node <= high) or (type(node) is int and abs(node) >= 2**63) else node

    return Field(("number",) if finite else ("number", "float"), f"a number from {low:g} to {high:g}", read)


def text(longest: int = LONGEST_TEXT, *, name: bool = False) -> Field:
    """Text; a name has no control characters besides tabs and line ends."""

    def read(node: Json, at: Place) -> str:
        if len(node) > longest or _HALF_CHARACTER.search(node) or (name and _CONTROL.search(node)):
            what = f"of at most {longest} characters, all of them whole{' and none for control' if name else ''}"
            at.need(False, f"must be text {what}; it is {shown(node, 60)}")
        return str(node)

    return Field(("str",), "text", read)


def word(*choices: str) -> Field:
    """One of some words."""
    words = f"one of {', '.join(map(repr, choices))}"
    return Field(("str",), words, lambda node, at: str(node) if node in choices else UNFIT)


def many(of: Field, length: Length = None) -> Field:
    """A list or tuple of values of one kind."""

    def read(node: Json, at: Place) -> list[Any] | tuple[Any, ...]:
        listed = node["tuple"] if isinstance(node, dict) else node
        at.need(isinstance(listed, list), "must be a list")
        at.measure(length, len(listed))
        made = of.each(listed, at)
        return tuple(made) if isinstance(node, dict) else made

    return Field(("list", "tuple"), f"a list of {of.words}", read)


def row(*fields: Field) -> Field:
    """A tuple with a field for each entry."""

    def read(node: Json, at: Place) -> tuple[Any, ...]:
        listed = node["tuple"]
        at.need(isinstance(listed, list) and len(listed) == len(fields), f"must be a tuple of {len(fields)}")
        return tuple(of(item, at.at(i)) for i, (of, item) in enumerate(zip(fields, listed, strict=True)))

    return Field(("tuple",), f"a tuple of {', '.join(of.words for of in fields)}", read)


def pairs(key: Field, of: Field) -> Field:
    """A dictionary: keys of one kind, values of another. Where all keys are text it is a JSON object, else pairs."""

    def read(node: Json, at: Place) -> dict[Any, Any]:
        held = node["dict"]
        if not isinstance(held, dict):
            right = isinstance(held, list) and all(type(pair) is list and len(pair) == 2 for pair in held)
            at.need(right, "must be a dictionary")
            return dict(zip(key.each([k for k, _ in held], at), of.each([v for _, v in held], at), strict=True))
        return dict(zip(key.each(list(held), at), of.each(held, at), strict=True))

    return Field(("dict",), f"a dictionary of {of.words}", read)


def record(fields: Mapping[str, Field]) -> Field:
    """A dictionary with keys of its own."""
    words = f"a dictionary of {', '.join(fields)}"
    return Field(("dict",), words, lambda node, at: read_fields(node["dict"], fields, (), at))


def read_fields(node: Json, fields: Mapping[str, Field], optional: Any, at: Place) -> dict[str, Any]:
    """Values by name: none that is not declared, none missing that is not optional."""
    at.need(isinstance(node, dict), "must be a dictionary of names")
    unknown = next((name for name in node if name not in fields), None)
    at.need(unknown is None, f"holds {shown(unknown, 60)!r}, which is not declared")
    lacking = next((name for name in fields if name not in node and name not in optional), None)
    at.need(lacking is None, f"lacks {lacking!r}")
    made = {name: of(node[name], at.at(name)) for name, of in fields.items() if name in node}
    return {name: made[name] for name in node}


def array(
    *shape: Length,
    kind: str = "f",
    low: float = -LARGEST_VALUE,
    high: float = LARGEST_VALUE,
    below: str = "",
    rising: bool = False,
    finite: bool = True,
) -> Field:
    """An array of floats ("f"), integers ("iu"), truth values ("b") or several of these."""

    def read(node: Json, at: Place) -> Array:
        stored: Any = at.store.arrays.pop(at.path, None)
        dtype: Any = TYPES.get(str(node["array"]))
        if stored is None or dtype is None or dtype.kind not in kind:
            return UNFIT
        # The order of memory decides how sums are rounded; integers are stored in the smallest type that holds them.
        stored = stored.T if node.get("order") == "F" else stored
        made: Array = stored.astype(dtype, copy=False)
        same = stored.dtype == dtype or (stored.dtype.kind == dtype.kind and (stored == made).all())
        if not same or (not free and made.ndim != len(shape)):
            return UNFIT
        for length, found in zip(shape, made.shape, strict=False):
            at.measure(length, found)
        if made.size and dtype.kind != "b" and not free:
            smallest, largest = made.min().item(), made.max().item()  # NaN where there is one
            at.need(not finite or low <= smallest <= largest <= high, f"must hold numbers from {low:g} to {high:g}")
            at.need(not below or largest < at.lengths.get(below, 0), f"points beyond the length {below!r}")
            at.need(not rising or (made[1:] >= made[:-1]).all(), "must not fall")
        return made

    free = kind == "biuf" and not shape
    return Field(("array",), f"an array of {_NAMED.get(kind, 'numbers')} with {len(shape)} axes", read)


def ints(*shape: Length, **bounds: Any) -> Field:
    """An array of integers."""
    return array(*shape, kind="iu", **bounds)


def items(of: Field, length: Length = None) -> Field:
    """An array of labels or names, item by item."""

    def read(node: Json, at: Place) -> Array:
        code, listed = str(node.get("dtype")), node["items"]
        at.need(_LISTED.fullmatch(code) and isinstance(listed, list), "must be an array of text or objects")
        at.need(np.dtype(code).itemsize * len(listed) <= LARGEST_LISTED, "is too large to be listed item by item")
        at.measure(length, len(listed))
        made = np.empty(len(listed), np.dtype(code))
        made[:] = of.each(listed, at)
        return made

    return Field(("items",), f"an array of {of.words}", read)


#: Where the parts of a longer array start, and its end.
STARTS = ints(None, low=0, rising=True)
