"""Types that annotations share: arrays by what they hold, rows, models."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Estimator", "Floats", "Frame", "Indices", "Keys", "Mask", "Matrix"]

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Keys: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]


class Frame(Protocol):
    """A data frame, of pandas or polars: columns with names."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    def __getitem__(self, name: Any) -> Any:
        """A column by its name, or some rows."""


#: Rows: an array or a sparse matrix; at the public doors data frames and lists of lists as well.
Matrix: TypeAlias = NDArray[np.floating[Any]] | sp.csr_matrix


class Estimator(Protocol):
    """A classifier, density ratio or transformer in scikit-learn's manner."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows and their labels."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""
