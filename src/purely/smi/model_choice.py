r"""Bandwidth and l2 parameter by cross-validation, from sums over folds alone.

The rows are read once. For the fold :math:`k` and the basis :math:`s`, the sums over the other folds give the training
moments :math:`H_{-k}, h_{-k}`; one eigendecomposition gives :math:`\hat\beta_{-k}` for every l2 value; the fold's own
sums give its held-out objective. No row is needed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from purely.smi.basis import Runner, check_grid, in_turn
from purely.smi.objective import BasisSums, linear_objective, ridge_path
from purely.typing import Floats, Indices

#: Counts of class 0 and class 1 -> what the sums of either class are multiplied by to give a mean over p(x).
PopulationWeights = Callable[[Floats], Floats]
#: A column of the table of all cells, by its name.
Results: TypeAlias = dict[str, Floats | Indices]


def population_weights(single_sample: bool) -> PopulationWeights:
    """Weights where the unlabelled rows, or in the single-sample scenario all rows together, represent p(x)."""
    if single_sample:
        return lambda count: np.full(2, 1.0 / max(count.sum(), 1.0))
    return lambda count: np.array([1.0 / max(count[0], 1.0), 0.0])


def class_means(count: Floats, first: Floats) -> Floats:
    """Mean of the functions over the rows of either class, class 0 first."""
    return first / np.maximum(count, 1.0)[:, None, None]


def positive_mean(count: Floats, first: Floats) -> Floats:
    """Mean of the functions over the positives alone."""
    return class_means(count, first)[1:]


@dataclass(frozen=True)
class Moments:
    r""":math:`H = E[\phi \phi^\top]` over p(x), shape (S, b, b), and :math:`h` of r ratios, shape (r, S, b)."""

    H: Floats
    h: Floats


@dataclass(frozen=True)
class Equations:
    """How sums become the moments of an estimator's objectives.

    Attributes
    ----------
    weights : function of the counts
        Their products with the sums of either class add up to a mean over p(x).
    linear : function of the counts and of the first sums
        :math:`h`, for each of r ratios.
    """

    weights: PopulationWeights
    linear: Callable[[Floats, Floats], Floats]

    def __call__(self, count: Floats, first: Floats, second: Floats) -> Moments:
        """The moments of sums that are not kept apart by fold."""
        scale = self.weights(count)[: second.shape[0]]
        return Moments(np.tensordot(scale, second, axes=1), self.linear(count, first))

    def whole(self, sums: BasisSums) -> Moments:
        """The moments of all rows."""
        return self(sums.count.sum(axis=1), sums.first.sum(axis=2), sums.second.sum(axis=2))


@dataclass(frozen=True)
class CrossValidation:
    """Held-out objective of every cell of the grid.

    Attributes
    ----------
    parts : ndarray of shape (r, S, A, K)
        Objective over all rows, each predicted by the model that did not see it, as a sum over folds; for each ratio.
    by_fold : ndarray of shape (r, S, A, K)
        Objective over each fold's rows alone.
    beta : ndarray of shape (r, S, A, K, b)
        The solution that each fold is held out from.
    """

    parts: Floats
    by_fold: Floats
    beta: Floats


def cross_validate(sums: BasisSums, alphas: Floats, equations: Equations, run: Runner = in_turn) -> CrossValidation:
    """Held-out objective for every basis and l2 value.

    `run` calls a function with each of a list of arguments, possibly at once; folds write to places of their own.
    """
    count, first, second = sums.count.sum(axis=1), sums.first.sum(axis=2), sums.second.sum(axis=2)
    n_ratios, n_bases, b = equations.linear(count, first).shape
    shape = (n_ratios, n_bases, alphas.size, sums.count.shape[1])
    by_fold, beta, parts = np.empty(shape), np.empty((*shape, b)), np.empty(shape)

    def leave_out(k: int) -> None:
        own = sums.count[:, k], sums.first[:, :, k], sums.second[:, :, k]
        # what is left of the whole: a sum of squares less a part of it stays positive to rounding
        train = equations(count - own[0], first - own[1], second - own[2])
        held_out = equations(*own)
        share = equations(count, own[1], own[2])  # of the objective over all rows
        for c in range(n_ratios):
            path = ridge_path(train.H, train.h[c], alphas)
            beta[c, :, :, k] = np.swapaxes(path, -1, -2)
            by_fold[c, :, :, k] = linear_objective(path, held_out.H, held_out.h[c])
            parts[c, :, :, k] = linear_objective(path, share.H, share.h[c])

    run(leave_out, [(k,) for k in range(shape[-1])])
    return CrossValidation(parts, by_fold, beta)


def alpha_grid(alpha: ArrayLike | None, smaller: float, decades_below: int = 0) -> Floats:
    """The given l2 values, or half decades from one over the smaller sample, or so many decades below, to 10.

    Moments of n rows are known to about 1/sqrt(n); l2 values below 1/n leave directions in that hold noise only, and a
    ratio then explodes between and beyond the rows. The diagonal of H is at most 1, so 10 shrinks every coefficient to
    nearly nothing.
    """
    if alpha is not None:
        return check_grid("alpha", alpha, positive=False)
    decades = np.log10(max(smaller, 10.0)) + decades_below
    return np.logspace(-decades, 1.0, int(np.ceil(2.0 * (decades + 1.0))) + 1)


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


def results_table(bandwidths: Floats | None, alphas: Floats, score: Floats, by_fold: Floats) -> Results:
    """Lay the grid out as scikit-learn's ``cv_results_``: one entry a cell, larger scores are better.

    `score` has shape (S, A), `by_fold` (S, A, K).
    """
    n_bases, n_alphas, n_folds = by_fold.shape
    sigma = np.full(n_bases, np.nan) if bandwidths is None else bandwidths
    flat = by_fold.reshape(-1, n_folds)
    return {
        "param_bandwidth": np.repeat(sigma, n_alphas),
        "param_alpha": np.tile(alphas, n_bases),
        "mean_test_score": score.ravel(),
        "std_test_score": flat.std(axis=1),
        "rank_test_score": (-score.ravel()).argsort(kind="stable").argsort(kind="stable") + 1,
        **{f"split{k}_test_score": flat[:, k] for k in range(n_folds)},
    }


def still_rising(score_by_fold: Floats, best: int) -> bool:
    """Whether the best value of one axis is its end, and clearly better there than one step before.

    `score_by_fold` has shape (values, K). 'Clearly': the mean difference exceeds its standard error over folds.
    """
    n_values, n_folds = score_by_fold.shape
    if n_values < 2 or best not in (0, n_values - 1):
        return False
    gain = score_by_fold[best] - score_by_fold[1 if best == 0 else n_values - 2]
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(n_folds))
