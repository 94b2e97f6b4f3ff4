"""Which rows each network of a fit is trained on, stopped by and judged by; nothing here loads torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely._rows import fold_of_rows, row_order
from purely.nn.scaling import Scaling
from purely.representation._recipe import Recipe

#: Fold number of the networks that see all rows.
ALL_ROWS = -1


@dataclass(frozen=True)
class Member:
    """One network of a fit.

    Attributes
    ----------
    fold : int
        The fold it does not see, or ALL_ROWS.
    member, start : int
        Its number in the ensemble, and among the restarts of which the best is kept.
    seed : int
        For initial weights, the order of rows, dropout and noise.
    train_p, train_u, held_p, held_u : ndarray of int
        Rows it is trained on and rows it is stopped by.
    test : ndarray of int
        Rows of the fold it does not see; empty for ALL_ROWS.
    """

    fold: int
    member: int
    start: int
    seed: int
    train_p: NDArray[np.intp]
    train_u: NDArray[np.intp]
    held_p: NDArray[np.intp]
    held_u: NDArray[np.intp]
    test: NDArray[np.intp]


def plan_members(
    X: Any,
    positive: NDArray[np.bool_],
    *,
    cross_fit: int,
    n_ensemble: int,
    n_starts: int,
    validation_fraction: float,
    seed: int,
) -> list[Member]:
    """All networks of a fit: those that see all rows first, then fold by fold.

    Rows are dealt out along the order of their content, so permuting them changes nothing. A network's rows and seed
    depend on its own numbers only: asking for more folds, members or restarts leaves the others as they are.
    """
    order = row_order(X, seed)
    folds = fold_of_rows(X, positive, cross_fit, seed) if cross_fit else np.full(positive.size, ALL_ROWS)
    members = []
    for fold in range(ALL_ROWS, cross_fit):
        seen = order if fold == ALL_ROWS else order[(folds != fold)[order]]
        test = np.flatnonzero(folds == fold) if fold != ALL_ROWS else np.empty(0, dtype=np.intp)
        for member in range(n_ensemble):
            rng = np.random.default_rng([seed, fold + 1, member])
            parts = []
            for rows in (seen[positive[seen]], seen[~positive[seen]]):
                shuffled = rng.permutation(rows)
                n_held = held_out_count(rows.size, validation_fraction)
                parts += [shuffled[n_held:], shuffled[:n_held]]
            for start in range(n_starts):
                key = np.random.SeedSequence([seed, fold + 1, member, start]).generate_state(1, np.uint64)[0]
                members.append(
                    Member(fold, member, start, int(key >> np.uint64(1)), parts[0], parts[2], parts[1], parts[3], test)
                )
    return members


def held_out_count(n_rows: int, fraction: float) -> int:
    """How many of `n_rows` rows are held out: about the fraction, at least one, and not all; none for a fraction 0."""
    if fraction == 0.0:
        return 0
    return min(max(1, round(fraction * n_rows)), n_rows - 1)


@dataclass(frozen=True)
class Fit:
    """One data set and the networks it asks for."""

    X: Any
    positive: NDArray[np.bool_]
    recipe: Recipe
    scaling: Scaling | None
    members: list[Member]
    mapped: bool


@dataclass(frozen=True)
class TrainedMember:
    """A network after training: how to apply it, and J where it was trained and where it was held out."""

    member: Member
    network: Any
    train_j: float
    held_j: float
