"""PU-SMI of a pool that comes in parts: its sums are made part by part, and added up."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from purely.checks import draw_seed
from purely.scale.parts import Encode, Part, Pool, add, reduce_parts, rows_of
from purely.scale.prior import draw_pool
from purely.smi import PUSMI
from purely.smi.objective import BasisSums

#: Rows of the pool that centres are drawn from.
CENTRE_ROWS = 10_000


def pool_information(positives: Part, pool: Pool, *, estimator: PUSMI | None = None, encode: Encode = None) -> PUSMI:
    """Estimate the information of a pool in parts.

    Centres are drawn from the rows of the lowest keys, a random sample that does not depend on the parts. Everything
    else is a sum over rows, so the result is that of :meth:`purely.PUSMI.partial_fit` with the same centres.

    Parameters
    ----------
    positives : array or data frame of shape (n_P, d)
        The labelled positives; they fit into memory.
    pool : Dask data frame or array, list of delayed parts, or list of arrays or frames
        The unlabelled rows.
    estimator : PUSMI, optional
        Its settings are used; :class:`purely.PUSMI` as it is by default.
    encode : function, optional
        Makes a matrix of a part and of the positives; by default their values are taken as numbers.

    Returns
    -------
    PUSMI
        Fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.scale import pool_information
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (200, 2)), rng.normal(-2, 1, (300, 2))])
    >>> bool(pool_information(P, np.array_split(U, 4)).information_ > 0.3)
    True
    """
    model = clone(estimator) if estimator is not None else PUSMI()
    seed = draw_seed(model.random_state)
    if not isinstance(model.random_state, int):
        model.set_params(random_state=seed)  # every part has to deal the same folds
    P = rows_of(positives, None, encode)
    if model.centers is None and not callable(model.basis):
        rows = draw_pool(pool, encode, seed, CENTRE_ROWS).X
        model.set_params(centers=clone(model).partial_fit(rows, np.zeros(len(rows)), classes=[0, 1]).centers_)
    sums = reduce_parts(pool, _sums, add, (encode, model))
    return model.partial_fit(P, np.ones(len(P)), classes=[0, 1]).add_sums(sums)


def _sums(part: Part, number: int, shared: tuple[Encode, PUSMI]) -> BasisSums:
    encode, model = shared
    X = rows_of(part, number, encode)
    return clone(model).partial_fit(X, np.zeros(len(X)), classes=[0, 1]).sums_
