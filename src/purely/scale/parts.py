"""A pool in parts, and sums over them: the one thing that everything past one machine is made of."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeVar

import numpy as np

from purely.checks import dense, refuse_huge
from purely.typing import Floats, Matrix

#: A part of a pool: an array, a data frame, or what stands for one in Dask.
Part: TypeAlias = Any
#: A Dask data frame or array, a list of delayed parts, or a list of arrays or frames.
Pool: TypeAlias = Any
#: Makes a matrix of a part.
Encode: TypeAlias = Callable[[Part], Matrix] | None

T = TypeVar("T")
Shared = TypeVar("Shared")

#: Results that are merged at a time: few, so that no worker holds many of them.
MERGED_AT_ONCE = 8


def reduce_parts(
    pool: Pool, task: Callable[[Part, int, Shared], T], merge: Callable[[Sequence[T]], T], shared: Shared
) -> T:
    """Do something to every part of a pool, and merge what comes out.

    Parameters
    ----------
    pool : Dask data frame, array or list
        A collection with partitions, a list of delayed parts, or a list of arrays or frames.
    task : function of (part, number, shared)
        Has to be picklable, as everything else that travels.
    merge : function of a list
        Has to be associative; a part's result may meet another's in any order of size, and in the order of the parts.
    shared : object
        What every task needs; it is sent to a worker once.

    Returns
    -------
    The merged result.
    """
    parts = list(np.ravel(pool.to_delayed())) if hasattr(pool, "to_delayed") else list(pool)
    if not parts:
        raise ValueError("the pool has no parts.")
    if find_spec("dask") is not None:
        from dask.base import compute, is_dask_collection
        from dask.delayed import delayed

        if any(is_dask_collection(part) for part in parts):
            given = delayed(shared)
            work = [delayed(task)(part, number, given) for number, part in enumerate(parts)]
            while len(work) > 1:
                groups = [work[i : i + MERGED_AT_ONCE] for i in range(0, len(work), MERGED_AT_ONCE)]
                work = [delayed(merge)(group) for group in groups]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # `shared` is in it once, whatever its size
                return merge(compute(work[0]))
    total = merge([task(parts[0], 0, shared)])
    for number, part in enumerate(parts[1:], start=1):
        total = merge([total, task(part, number, shared)])
    return total


def add(found: Sequence[T]) -> T:
    """The sum of what parts gave."""
    return reduce(operator.add, found)


def rows_of(part: Part, number: int | None, encode: Encode) -> Floats:
    """The rows of a part as a matrix; what is wrong with it is said with the part's number."""
    where = "the positives" if number is None else f"part {number} of the pool"
    try:
        X = dense(part if encode is None else encode(part))
        if X.ndim != 2:
            raise ValueError(f"rows and columns are needed, and there are {X.ndim} axes")
        if not np.isfinite(X).all():
            raise ValueError("some values are missing or infinite; encode them, for example with encode=")
        refuse_huge(X)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where} cannot be used: {str(error).rstrip('.')}.") from error
    return X
