"""What a class holds, and how its objects are taken apart and made.

Classes are declared in :mod:`purely.persistence._classes`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from purely.files import shown
from purely.persistence._fields import Field, Json, Misfit, Place, read_fields

State = dict[str, Any]


def imported(home: str) -> Any:
    """What is at ``"module:name"``."""
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


def make(cls: Any, state: State) -> Any:
    """An object by its class's own constructor, which only takes note of what it is given."""
    names = cls._get_param_names() if issubclass(cls, BaseEstimator) else state
    made = cls(**{name: state.pop(name) for name in list(names) if name in state})
    vars(made).update(state)
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
        return imported(self.home)

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
        inner = at.inside()
        made = schema.read(node, inner)  # type: ignore[union-attr]
        at.store.lengths[id(made)] = made, inner.lengths
        for own in lengths.keys() & inner.lengths:
            at.measure(lengths[own], inner.lengths[own])
        return made

    words = f"a {' or '.join(names)}" if names else "an estimator of purely"
    return Field(tuple(f"class {name}" for name in names) or ("class",), words, read)
