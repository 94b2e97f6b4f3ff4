r"""Which positives get a label: at random, or by a mechanism that depends on *x*.

A mechanism gives every row a number :math:`r(x)` from 0 to 1. The odds that a positive at *x* is labelled are in
proportion to :math:`\gamma^{r(x)}`, so they vary by the factor :math:`\gamma` (`ratio`); by less in the case-control
scenario where most positives of the data have to be labelled.

========== ========================================================================================================
mechanism  :math:`r(x)`
========== ========================================================================================================
"random"   0: every positive is as likely
"easy"     rank, among the positives, of the out-of-bag probability by a random forest of the true classes: clear
           positives are labelled first
"hard"     the same, upside down: positives that look like negatives are labelled first
"column"   rank of one column
"group"    1 in one of two groups of the positives that k-means finds, 0 in the other: the group is in no column
========== ========================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from purely.checks import check_choice, check_number, dense
from purely.typing import Floats, Mask, Matrix

Mechanism: TypeAlias = Literal["random", "easy", "hard", "column", "group"]

#: Trees of the forest of "easy" and "hard": the chance that none is without a given row is 1e-10.
_TREES = 50
#: Rows that each tree sees at most, so that large tables take seconds.
_TREE_ROWS = 5_000


@dataclass(frozen=True)
class Labelling:
    """How positives are chosen for labelling.

    Parameters
    ----------
    mechanism : {"random", "easy", "hard", "column", "group"}, default="random"
        See :mod:`purely.datasets.labelling`.
    ratio : float, default=30.0
        Factor by which the odds of being labelled vary over the positives, at least 1.
    column : int or str, default=None
        The column of "column": its place, or its name in a data frame; None draws one.

    Examples
    --------
    >>> from purely.datasets import Labelling
    >>> Labelling("column", ratio=10.0, column=3)
    Labelling(mechanism='column', ratio=10.0, column=3)
    """

    mechanism: Mechanism = "random"
    ratio: float = 30.0
    column: int | str | None = None

    def __post_init__(self) -> None:
        check_choice("labelling", self.mechanism, get_args(Mechanism))
        check_number("ratio", self.ratio, 1.0)


def ranks(labelling: Labelling, X: Matrix, positive: Mask, rng: np.random.Generator) -> tuple[Floats, Labelling]:
    """The number r(x) of every row, and the labelling with the column that decided where one was drawn."""
    if labelling.mechanism == "random":
        return np.zeros(positive.size), labelling
    try:
        rows = check_array(X, accept_sparse="csr", dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"labelling={labelling.mechanism!r} needs columns of numbers ({error}).") from error
    seed = int(rng.integers(2**31))
    if labelling.mechanism == "column":
        names = list(getattr(X, "columns", range(rows.shape[1])))
        column = names[_varying_column(rows[positive], rng)] if labelling.column is None else labelling.column
        place = names.index(column) if column in names else column
        if place not in range(rows.shape[1]):
            raise ValueError(f"column must be one of the {rows.shape[1]} columns of X; {column!r} was given.")
        values = dense(rows[:, [place]])
        return _spread(values.ravel(), positive, f"column {column!r}"), replace(labelling, column=column)
    if labelling.mechanism == "group":
        scaled = StandardScaler(with_mean=False).fit_transform(rows)
        group = KMeans(2, n_init=3, random_state=seed).fit(scaled[positive]).predict(scaled)
        return _spread(group, positive, "the groups"), labelling
    n_seen = min(positive.size, _TREE_ROWS)
    forest = RandomForestClassifier(_TREES, min_samples_leaf=3, max_samples=n_seen, oob_score=True, random_state=seed)
    easy = _spread(forest.fit(rows, positive).oob_decision_function_[:, 1], positive, "the forest's probability")
    return easy if labelling.mechanism == "easy" else 1.0 - easy, labelling


def _varying_column(rows: Matrix, rng: np.random.Generator) -> int:
    varying = np.flatnonzero(StandardScaler(with_mean=False).fit(rows).var_)
    if not varying.size:
        raise ValueError("labelling='column' needs a column in which positives differ; all are constant.")
    return int(rng.choice(varying))


def _spread(driver: Floats, positive: Mask, what: str) -> Floats:
    """Mid-ranks of all rows among the positives, stretched to reach from 0 to 1 over the positives."""
    values = np.sort(driver[positive])
    rank = np.searchsorted(values, driver, side="left") + np.searchsorted(values, driver, side="right")
    low, high = rank[positive].min(), rank[positive].max()
    if low == high:
        raise ValueError(f"labels cannot depend on {what}: all positives are alike in it.")
    return np.clip((rank - low) / (high - low), 0.0, 1.0)


def inclusion(log_odds: Floats, n: int, candidates: Floats) -> Floats:
    r"""Chances :math:`t e^{o_i} / (1 + t e^{o_i})`, with the *t* for which they sum to `n` over the candidates.

    Parameters
    ----------
    log_odds : ndarray
        The :math:`o_i` of the rows whose chances are asked for.
    n : int
        Candidates to be picked, fewer than there are.
    candidates : ndarray
        The :math:`o_i` of the candidates.
    """
    centre = logit(n / candidates.size)
    ends = centre - candidates.max() - 1.0, centre - candidates.min() + 1.0
    log_t = brentq(lambda log_t: float(expit(log_t + candidates).sum()) - n, *ends, xtol=1e-12)
    return np.asarray(expit(log_t + log_odds), dtype=np.float64)


def pick(chances: Floats, rng: np.random.Generator) -> Mask:
    """A sample of fixed size in which each candidate is with exactly its chance; the chances sum to a whole number.

    Systematic sampling: on a line on which the candidates lie end to end in random order, each as long as its chance,
    every whole step from a random start hits one.
    """
    order = rng.permutation(chances.size)
    ends = np.cumsum(chances[order])
    ends[-1] = round(ends[-1])  # rounding must not lose the last step
    picked = np.zeros(chances.size, dtype=bool)
    picked[order] = np.diff(np.floor(ends + rng.random()), prepend=0.0) > 0.0
    return picked
