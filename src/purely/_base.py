"""What every estimator of positive-unlabelled data shares: tags, and one validation at the top of `fit`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import validate_data

from purely.labels import PULabels, read_labels

#: Squares of values up to here, summed over a million columns, stay within a double's range.
LARGEST_VALUE = 1e150


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
        X = validate_data(self, X, accept_sparse="csr" if self._accepts_sparse else False, dtype=dtype, reset=reset)
        refuse_huge(X)
        labels = read_labels(y, min_positive=min_positive, min_unlabelled=min_unlabelled)
        if labels.positive.size != X.shape[0]:
            raise ValueError(
                f"X and y must have the same length. Found input variables with inconsistent numbers of samples: "
                f"[{X.shape[0]}, {labels.positive.size}]"
            )
        return X, labels

    def _validate_rows(self, X: Any, *, dtype: Any = np.float64, reset: bool = False) -> Any:
        """Check new rows against what `fit` saw."""
        X = validate_data(self, X, accept_sparse="csr" if self._accepts_sparse else False, dtype=dtype, reset=reset)
        refuse_huge(X)
        return X


def refuse_huge(X: Any, name: str = "X") -> None:
    """Refuse values whose squares would overflow: distances between such rows are infinite."""
    data = X.data if hasattr(X, "indptr") else X
    if data.size == 0:
        return
    largest = max(abs(float(data.max())), abs(float(data.min())))
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"{name} has values as large as {largest:.3g}; distances between rows overflow beyond {LARGEST_VALUE:g}. "
            "Rescale the columns, for example with sklearn.preprocessing.StandardScaler."
        )


def draw_seed(random_state: Any) -> int:
    """One integer from whatever scikit-learn accepts as `random_state`; no global state is touched by an int."""
    return int(check_random_state(random_state).randint(0, np.iinfo(np.int32).max))


def level_to_z(level: float) -> float:
    """Two-sided normal quantile of a confidence level strictly between 0 and 1."""
    from scipy.special import ndtri

    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0.0 < float(level) < 1.0:
        raise ValueError(f"level must be a number strictly between 0 and 1, such as 0.95; {level!r} was given.")
    return float(ndtri(0.5 + float(level) / 2.0))


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
