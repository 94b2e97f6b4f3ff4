r"""Is there any information at all? A permutation test whose size is exact, at any sample size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from purely.base import read_rows
from purely.checks import RandomState, check_number, draw_seed
from purely.folds import row_keys
from purely.smi.basis import GaussianBases, draw_centers, median_distance
from purely.threads import one_blas_thread
from purely.typing import Floats, Indices, Mask, Matrix

_WIDTHS = np.array([0.25, 0.5, 1.0, 2.0])
_ALPHAS = np.array([1e-4, 1e-3, 1e-2, 1e-1])


@dataclass(frozen=True)
class IndependenceTest:
    """Outcome of :func:`independence_test`.

    Attributes
    ----------
    p_value : float
        Probability, were there no information, of a statistic at least this large. Never zero.
    statistic : float
        Largest standardised information over the bandwidths and l2 values.
    null_distribution : ndarray of shape (n_permutations,)
        The statistic of the permuted labels.
    n_rows : int
        Rows used.

    Examples
    --------
    >>> from purely import independence_test
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(100, 200, n_features=2, random_state=0)
    >>> test = independence_test(data.X, data.y, n_permutations=19)
    >>> test.p_value, bool(test.statistic > test.null_distribution.max())
    (0.05, True)
    """

    p_value: float
    statistic: float
    n_rows: int
    null_distribution: Floats = field(repr=False)


def independence_test(
    X: Matrix,
    y: ArrayLike,
    *,
    n_permutations: int = 999,
    n_centers: int = 100,
    max_rows: int = 20_000,
    random_state: RandomState = 0,
) -> IndependenceTest:
    r"""Test whether positives and unlabelled rows come from one distribution, so that x tells nothing about y.

    Under that hypothesis the labels are exchangeable, so permuting them gives the statistic's distribution exactly.
    The statistic is the information of the model :math:`w = 1 + \beta^\top (\phi - \bar\phi)` in closed form,

    .. math:: T = \tfrac12 \delta^\top (C + \alpha I)^{-1} \delta,
              \qquad \delta = \operatorname{mean}_P \phi - \operatorname{mean}_{all} \phi,

    with centres, bandwidths and the covariance :math:`C` of :math:`\phi` taken from all rows without looking at the
    labels. A permutation then costs one mean of `n_P` rows and no refit. Over four bandwidths and four l2 values T is
    standardised by its permutations, and the largest is the statistic; each permutation takes its own largest value
    too, so the search for the largest causes no false alarms.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    n_permutations : int, default=999
        The smallest p-value is 1 / (n_permutations + 1).
    n_centers : int, default=100
    max_rows : int, default=20_000
        Larger data are thinned to this many rows, both kinds alike; the test stays exact.
    random_state : int, optional

    Returns
    -------
    IndependenceTest

    Examples
    --------
    >>> import numpy as np
    >>> from purely import independence_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> X[:100, 0] += 1.0
    >>> independence_test(X, np.arange(300) < 100, random_state=0).p_value
    0.001
    """
    X, labels = read_rows(X, y)
    check_number("n_permutations", n_permutations, 19, integer=True)
    check_number("n_centers", n_centers, 1, integer=True)
    check_number("max_rows", max_rows, 4, integer=True)
    seed = draw_seed(random_state)
    order = np.lexsort((labels.positive, row_keys(X, seed)))  # of equal rows the unlabelled first, wherever they stood
    rng = np.random.default_rng(seed)
    kept = _thin(order, labels.positive, max_rows, rng)
    X, positive = X[kept], labels.positive[kept]
    # column 0 is the labelling at hand, the others are permutations of it
    permuted = (rng.permutation(positive) for _ in range(n_permutations))
    labellings = np.column_stack([positive, *permuted]).astype(np.float32)
    with one_blas_thread():
        informations = np.concatenate(_informations(X, labellings, n_centers, seed))
    spread, centred = informations.std(axis=1, keepdims=True), informations - informations.mean(axis=1, keepdims=True)
    largest = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0.0).max(axis=0)
    null = largest[1:]
    # ties count against significance; rounding must not break them
    p_value = (1 + np.count_nonzero(null >= largest[0] - 1e-9)) / (1 + n_permutations)
    return IndependenceTest(float(p_value), float(largest[0]), int(positive.size), null)


def _thin(order: Indices, positive: Mask, max_rows: int, rng: np.random.Generator) -> Indices:
    """The same share of both kinds, drawn at random: the first in `order` would take all copies of a row or none."""
    if order.size <= max_rows:
        return order
    share = max_rows / order.size
    parts = []
    for mask in (positive, ~positive):
        members = order[mask[order]]
        parts.append(rng.choice(members, size=max(2, int(members.size * share)), replace=False))
    return np.concatenate(parts)


def _informations(X: Matrix, labellings: NDArray[np.float32], n_centers: int, seed: int) -> list[Floats]:
    """T of every labelling, one array of shape (alphas, labellings) a bandwidth."""
    centers = draw_centers(X, n_centers, seed)
    bases = GaussianBases.about(centers, _WIDTHS, False, sparse=sp.issparse(X))
    width = median_distance(centers, bases.centers, bases.origin) or 1.0
    n_positive = float(labellings[:, 0].sum())
    informations = []
    for phi in replace(bases, bandwidths=width * _WIDTHS)(X):
        centred = phi - phi.mean(axis=0)
        eigenvalues, V = np.linalg.eigh(centred.T @ centred / phi.shape[0])
        rotated = np.ascontiguousarray(centred @ V, dtype=np.float32)
        delta = (rotated.T @ labellings).astype(np.float64) / n_positive
        weights = 1.0 / (np.maximum(eigenvalues, 0.0) + _ALPHAS[:, None])
        informations.append(0.5 * weights @ delta**2)
    return informations
