r"""Bandwidth and l2 parameter by cross-validation, from sums over folds alone.

The rows are read once. For the fold :math:`k` and the basis :math:`s`, the sums over the other folds give the training
moments :math:`H_{-k}, h_{-k}`; one eigendecomposition gives :math:`\hat\beta_{-k}` for every l2 value; the fold's own
sums give its held-out objective. No row is needed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.smi.objective import BasisSums, linear_objective, ridge_path

Floats = NDArray[np.float64]

#: Counts of class 0 and class 1 -> what the sums of either class are multiplied by to give a mean over p(x).
PopulationWeights = Callable[[Floats], Floats]
#: Calls a function with each of a list of arguments.
Runner = Callable[[Callable[..., None], list[tuple[Any, ...]]], None]


@dataclass(frozen=True)
class Moments:
    r""":math:`H = E[\phi \phi^\top]` over p(x), and :math:`h_y = E[\phi \mid y]` of both classes.

    Shapes: ``H`` (S, b, b); ``h`` (2, S, b), class 0 first.
    """

    H: Floats
    h: Floats


def moments(sums: BasisSums, folds: NDArray[np.bool_], weights: PopulationWeights) -> Moments:
    """Means over the rows of some folds; `folds` is a mask of shape (K,)."""
    return _means(
        sums.count[:, folds].sum(axis=1),
        sums.first[:, :, folds].sum(axis=2),
        sums.second[:, :, folds].sum(axis=2),
        weights,
    )


def _means(count: Floats, first: Floats, second: Floats, weights: PopulationWeights) -> Moments:
    scale = weights(count)[: second.shape[0]]
    return Moments(np.tensordot(scale, second, axes=1), first / np.maximum(count, 1.0)[:, None, None])


@dataclass(frozen=True)
class CrossValidation:
    """Held-out objective of every cell of the grid.

    Attributes
    ----------
    parts : ndarray of shape (2, S, A, K)
        Objective over all rows, each predicted by the model that did not see it, as a sum over folds; class 0
        (supervised only), class 1.
    by_fold : ndarray of shape (2, S, A, K)
        Objective over each fold's rows alone.
    beta : ndarray of shape (2, S, A, K, b)
        The solution that each fold is held out from.
    """

    parts: Floats
    by_fold: Floats
    beta: Floats


def cross_validate(
    sums: BasisSums, alphas: Floats, weights: PopulationWeights, *, supervised: bool, run: Runner | None = None
) -> CrossValidation:
    """Held-out objective for every basis and l2 value; class 0 is fitted only where `supervised`.

    `run` calls a function with each of a list of arguments, possibly at once; folds write to places of their own.
    """
    _, n_bases, n_folds, b = sums.first.shape
    shape = (2, n_bases, alphas.size, n_folds)
    by_fold, beta, parts = np.full(shape, np.nan), np.full((*shape, b), np.nan), np.full(shape, np.nan)

    count, first, second = sums.count.sum(axis=1), sums.first.sum(axis=2), sums.second.sum(axis=2)

    def leave_out(k: int) -> None:
        own = sums.count[:, k], sums.first[:, :, k], sums.second[:, :, k]
        # what is left of the whole: a sum of squares less a part of it stays positive to rounding
        train = _means(count - own[0], first - own[1], second - own[2], weights)
        held_out = _means(*own, weights)
        for c in range(0 if supervised else 1, 2):
            path = ridge_path(train.H, train.h[c], alphas)
            beta[c, :, :, k] = np.swapaxes(path, -1, -2)
            by_fold[c, :, :, k] = linear_objective(path, held_out.H, held_out.h[c])
            parts[c, :, :, k] = _share_of_objective(sums, path, c, k, weights)

    folds = [(k,) for k in range(n_folds)]
    if run is None:
        for fold in folds:
            leave_out(*fold)
    else:
        run(leave_out, folds)
    return CrossValidation(parts, by_fold, beta)


def _share_of_objective(sums: BasisSums, path: Floats, c: int, k: int, weights: PopulationWeights) -> Floats:
    """What the rows of fold `k` add to the objective over all rows; shape (S, A)."""
    total = sums.count.sum(axis=1)
    H = np.tensordot(weights(total)[: sums.second.shape[0]], sums.second[:, :, k], axes=1)
    return linear_objective(path, H, sums.first[c, :, k] / total[c])


def choose_without_fold(score_parts: Floats) -> list[tuple[int, int]]:
    """The cell that each fold gets from the scores of the other folds alone; `score_parts` has shape (S, A, K).

    The best of many cells looks better than it is on the rows that chose it, so the rows whose objective is reported
    take no part in the choice. (Their part in the training of the other folds' models is left in: leaving it out too
    needs a solution for every pair of folds and changed neither the bias nor the coverage that we measured.)
    """
    total = score_parts.sum(axis=-1)
    return [best_cell(total - score_parts[..., k]) for k in range(score_parts.shape[-1])]


def best_cell(score: Floats) -> tuple[int, int]:
    """Basis and l2 value of the largest score; of equal scores the first, i.e. the narrowest and least shrunk."""
    s, a = np.unravel_index(int(np.argmax(score)), score.shape)
    return int(s), int(a)


def results_table(bandwidths: Floats | None, alphas: Floats, score: Floats, by_fold: Floats) -> dict[str, Any]:
    """Lay the grid out as scikit-learn's ``cv_results_``: one entry a cell, larger scores are better.

    `score` has shape (S, A), `by_fold` (S, A, K).
    """
    n_bases, n_alphas, n_folds = by_fold.shape
    sigma = np.full(n_bases, np.nan) if bandwidths is None else bandwidths
    flat = by_fold.reshape(-1, n_folds)
    table: dict[str, Any] = {
        "param_bandwidth": np.repeat(sigma, n_alphas),
        "param_alpha": np.tile(alphas, n_bases),
        "mean_test_score": score.ravel(),
        "std_test_score": flat.std(axis=1),
        "rank_test_score": (-score.ravel()).argsort(kind="stable").argsort(kind="stable") + 1,
    }
    table.update({f"split{k}_test_score": flat[:, k] for k in range(n_folds)})
    return table


def still_rising(score_by_fold: Floats, best: int) -> bool:
    """Whether the best value of one axis is its end, and clearly better there than one step before.

    `score_by_fold` has shape (values, K). 'Clearly': the mean difference exceeds its standard error over folds.
    """
    n_values, n_folds = score_by_fold.shape
    if n_values < 2 or best not in (0, n_values - 1):
        return False
    neighbour = 1 if best == 0 else n_values - 2
    gain = score_by_fold[best] - score_by_fold[neighbour]
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(n_folds)) if n_folds > 1 else False
