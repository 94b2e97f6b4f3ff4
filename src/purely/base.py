"""What every estimator of positive-unlabelled data shares: tags, and one validation at the top of `fit`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import validate_data

from purely.checks import refuse_huge, refuse_masked
from purely.labels import PULabels, read_labels

__all__ = ["PUEstimator", "with_parameters"]

Estimator = TypeVar("Estimator")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def with_parameters(cls: type[Estimator]) -> type[Estimator]:
    """Make the annotated attributes of an estimator the parameters of its constructor, added to those of its base.

    They are given by name; ``field(default=..., kw_only=False)`` may be given by its place. Equality, and how the
    estimator is printed, stay those of scikit-learn.
    """
    return dataclass(eq=False, repr=False, kw_only=True)(cls)


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
        self,
        X: Any,
        y: ArrayLike,
        *,
        min_positive: int = 2,
        min_unlabelled: int = 2,
        reset: bool = True,
        dtype: Any = np.float64,
    ) -> tuple[Any, PULabels]:
        """Check `X` and `y` together and read the labels; `X` comes back as an array or CSR matrix of `dtype`."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                "Mark labelled positives with 1 and unlabelled rows with 0."
            )
        refuse_masked(X)
        X = validate_data(self, X, accept_sparse="csr" if self._accepts_sparse else False, dtype=dtype, reset=reset)
        refuse_huge(X)
        labels = read_labels(y, min_positive=min_positive, min_unlabelled=min_unlabelled, known_negatives=True)
        if labels.positive.size != X.shape[0]:
            raise ValueError(
                f"X and y must have the same length. Found input variables with inconsistent numbers of samples: "
                f"[{X.shape[0]}, {labels.positive.size}]"
            )
        if labels.negative is not None:
            kept = np.flatnonzero(~labels.negative)
            return X[kept], PULabels(labels.positive[kept], labels.classes)
        return X, labels

    def _validate_rows(self, X: Any, *, dtype: Any = np.float64, reset: bool = False) -> Any:
        """Check new rows against what `fit` saw."""
        refuse_masked(X)
        X = validate_data(self, X, accept_sparse="csr" if self._accepts_sparse else False, dtype=dtype, reset=reset)
        refuse_huge(X)
        return X

    def forget(self, *names: str) -> None:
        """Remove attributes of an earlier fit that this one does not set."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)
