"""What every estimator of positive-unlabelled data shares: tags, and one validation at the top of `fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import validate_data

from purely.checks import check_choice, check_number, refuse_huge, refuse_masked, words_named
from purely.labels import PULabels, read_labels
from purely.typing import Matrix

Estimator = TypeVar("Estimator")


def parameter(*, default: Any, check: Callable[[str, Any], Any], kw_only: bool = True) -> Any:
    """A parameter of an estimator that `fit` checks, by ``check(name, value)``, unless it is its own default."""
    return field(default=default, kw_only=kw_only, metadata={"check": check})


def number(*, default: Any, low: float, kw_only: bool = True, **bounds: Any) -> Any:
    """A parameter that is a number within bounds, those of :func:`purely.checks.check_number`."""
    return parameter(default=default, check=partial(check_number, low=low, **bounds), kw_only=kw_only)


def one_of(*allowed: object, default: Any, kw_only: bool = True) -> Any:
    """A parameter that is one of a few values."""
    return parameter(default=default, check=partial(check_choice, allowed=allowed), kw_only=kw_only)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field, parameter, number, one_of))
def with_parameters(cls: type[Estimator]) -> type[Estimator]:
    """Make the annotated attributes of an estimator the parameters of its constructor, added to those of its base.

    They are given by name; one with ``kw_only=False`` may be given by its place. Equality, and how the estimator is
    printed, stay those of scikit-learn.
    """
    return dataclass(eq=False, repr=False, kw_only=True)(cls)


def check_parameters(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of a class's parameters, as their checks give them back.

    A class that gives a parameter of its base another default keeps its check. None, or a word, that is the default is
    taken as it is.
    """
    checked = dict(values)
    bases = [vars(base).get("__dataclass_fields__", {}) for base in reversed(cls.__mro__)]
    declared = {name: of for fields in bases for name, of in fields.items() if "check" in of.metadata}
    for name, of in declared.items():
        value = checked.get(name, of.default)
        if value is not of.default and not (isinstance(value, str) and value == of.default):
            checked[name] = of.metadata["check"](name, value)
    return checked


class PUEstimator(BaseEstimator):
    """Base of the estimators: the target is required and has two values, whatever the estimator is otherwise."""

    _accepts_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = False
        if tags.classifier_tags is None:
            tags.classifier_tags = ClassifierTags()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    def _validate_fit(
        self, X: Matrix, y: ArrayLike, *, least: tuple[int, int] = (2, 2), reset: bool = True, dtype: Any = np.float64
    ) -> tuple[Any, PULabels]:
        """Check `X` and `y` together and read the labels; `X` comes back as an array or CSR matrix of `dtype`.

        There have to be at least so many labelled positives and unlabelled rows.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                "Mark labelled positives with 1 and unlabelled rows with 0."
            )
        X = self._validate_rows(X, dtype=dtype, reset=reset)
        labels = read_labels(y, min_positive=least[0], min_unlabelled=least[1], known_negatives=True)
        if labels.positive.size != X.shape[0]:
            raise ValueError(
                f"X and y must have the same length. Found input variables with inconsistent numbers of samples: "
                f"[{X.shape[0]}, {labels.positive.size}]"
            )
        if labels.negative is not None:
            kept = np.flatnonzero(~labels.negative)
            return X[kept], PULabels(labels.positive[kept], labels.classes)
        return X, labels

    def _validate_rows(self, X: Matrix, *, dtype: Any = np.float64, reset: bool = False) -> Any:
        """Check new rows against what `fit` saw; with `reset`, the parameters and then the rows of a fit."""
        if reset:
            check_parameters(type(self), vars(self))
        refuse_masked(X)
        sparse = "csr" if self._accepts_sparse else False
        with words_named(X):
            X = validate_data(self, X, accept_sparse=sparse, dtype=dtype, reset=reset)
        refuse_huge(X)
        return X

    def forget(self, *names: str) -> None:
        """Remove attributes of an earlier fit that this one does not set."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)


def read_rows(X: Matrix, y: ArrayLike) -> tuple[Any, PULabels]:
    """Rows as an array or CSR matrix, and their labels, for functions that ask for both as an estimator does."""
    return PUEstimator()._validate_fit(X, y)
