r"""Which rows to label next: those whose label would help a goal most.

For the goals "share" and "precision" the target is linear in the groups' shares of positives (:mod:`purely.audit`,
:func:`purely.audit.read_audit`). With :math:`C` the covariance of the groups' log-odds :math:`f`, :math:`p = \sigma(f)`
at their mean and :math:`a_g` the target's derivative with respect to :math:`f_g`, a label of group :math:`g` takes

.. math:: \frac{v_g (a^\top C e_g)^2}{1 + v_g C_{gg}}, \qquad v_g = p_g (1 - p_g)

off the target's variance :math:`a^\top C a`; the groups are picked one label at a time, and rows of a group at random.
For the goal "model" rows are picked far from each other in the columns, in proportion to how doubtful they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_array

from purely.audit._design import read_probability
from purely.audit._posterior import Pool, group_pool, prior_law
from purely.checks import RandomState, check_choice, check_number, draw_seed
from purely.class_prior import check_class_prior
from purely.classifiers.thresholds import check_threshold
from purely.crossfit import model_says

__all__ = ["NextRows", "next_to_label"]

Floats = NDArray[np.float64]
Goal = Literal["precision", "share", "model"]
GOALS: tuple[Goal, ...] = ("precision", "share", "model")

#: Rows that distances are measured between at most.
MOST_COMPARED = 5000


@dataclass(frozen=True)
class NextRows:
    """Rows to label next.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Places of the rows, the most helpful first.
    gain : ndarray of shape (n,)
        What is expected of the labels up to each row: by how much the goal's standard error falls, as a share of what
        it is now ("precision", "share"); or the share of the pool's doubt that lies nearest to them ("model").
    goal : {"precision", "share", "model"}
    """

    index: NDArray[np.intp]
    gain: Floats
    goal: Goal


def next_to_label(
    model: Any,
    X: Any,
    n: int,
    goal: Goal = "precision",
    *,
    threshold: float | None = None,
    random_state: RandomState = 0,
) -> NextRows:
    """Pick rows whose labels would help a goal most, see :mod:`purely.audit`.

    Parameters
    ----------
    model : fitted classifier
    X : array, data frame or sparse matrix of shape (n_pool, d)
        The pool.
    n : int
        Rows to pick.
    goal : {"precision", "share", "model"}, default="precision"
        To know the precision above the threshold, to know the share of positives, or to have a better model.
    threshold : float, optional
        Of the precision; the model's own where it is not given.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    NextRows

    Notes
    -----
    The rows are no random draw of the pool. Labels of the goals "precision" and "share" can be read all the same,
    because rows of a group are picked at random: draw an audit (:func:`draw_audit`) where its design has to be told.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.audit import next_to_label
    >>> from purely.classifiers import PULogisticClassifier
    >>> rng = np.random.default_rng(0)
    >>> pool = np.concatenate([rng.normal(2, 1, (100, 2)), rng.normal(-2, 1, (300, 2))])
    >>> model = PULogisticClassifier(class_prior=0.25).fit(*stack(rng.normal(2, 1, (100, 2)), pool))
    >>> rows = next_to_label(model, pool, 20, goal="share")
    >>> rows.index.size, bool(rows.gain[-1] > 0.3)
    (20, True)
    """
    goal = check_choice("goal", goal, GOALS)
    q = read_probability(model_says(model, X, "probability", positive=getattr(model, "classes_", (0, 1))[1]))
    n = check_number("n", n, 1, integer=True)
    if n > q.size:
        raise ValueError(f"n must be at most the {q.size} rows of the pool; {n} was given.")
    rng = np.random.default_rng(draw_seed(random_state))
    if goal == "model":
        return _diverse(q, check_array(X, accept_sparse="csr", dtype=np.float64), n, rng)
    at = check_threshold(getattr(model, "threshold", 0.5)) if threshold is None else check_class_prior(threshold)
    above = q > at if goal == "precision" else np.ones(q.size, dtype=bool)
    if not above.any():
        raise ValueError(f"no row of the pool is above the threshold {at:g}; give a lower one.")
    return _for_target(q, above, n, goal, rng)


def _for_target(q: Floats, above: NDArray[np.bool_], n: int, goal: Goal, rng: np.random.Generator) -> NextRows:
    """Rows that take most off the variance of the share of positives among the rows `above`."""
    pool = group_pool(q)
    mean, covariance = prior_law(pool)
    p = expit(mean)
    derivative = np.bincount(pool.group[above], minlength=p.size) / above.sum() * p * (1.0 - p)
    groups, gain = _greedy(pool, derivative, covariance, p * (1.0 - p), n)
    rows = {g: list(rng.permutation(np.flatnonzero(pool.group == g))) for g in set(groups)}
    return NextRows(np.array([rows[g].pop() for g in groups], dtype=np.intp), gain, goal)


def _greedy(pool: Pool, derivative: Floats, covariance: Floats, spread: Floats, n: int) -> tuple[list[int], Floats]:
    """Groups of one label after the other, and by how much the standard error has fallen."""
    left, groups, errors = pool.rows.copy(), [], []
    start = float(derivative @ covariance @ derivative)
    for _ in range(n):
        towards = covariance @ derivative
        reduction = spread * towards**2 / (1.0 + spread * np.diag(covariance))
        g = int(np.argmax(np.where(left > 0.0, reduction, -1.0)))
        column = covariance[:, g]
        covariance = covariance - np.outer(column, column) * spread[g] / (1.0 + spread[g] * column[g])
        left[g] -= 1.0
        groups.append(g)
        errors.append(float(np.sqrt(max(float(derivative @ covariance @ derivative), 0.0) / start)))
    return groups, 1.0 - np.array(errors)


def _diverse(q: Floats, X: Any, n: int, rng: np.random.Generator) -> NextRows:
    """Doubtful rows that are far apart: each is the one of most doubt times squared distance to those before it."""
    doubt = q * (1.0 - q)
    some = rng.permutation(q.size)[: max(MOST_COMPARED, n)]
    rows = np.asarray(X[some].toarray() if sp.issparse(X) else X[some], dtype=np.float64)
    rows = (rows - rows.mean(axis=0)) / np.where(rows.std(axis=0) > 0.0, rows.std(axis=0), 1.0)
    weight = doubt[some] + 1e-12
    nearest = np.full(some.size, np.inf)
    picked: list[int] = []
    worst, gain = float("nan"), []
    for _ in range(n):
        k = int(np.argmax(weight * nearest)) if picked else int(np.argmax(weight))
        picked.append(k)
        nearest = np.minimum(nearest, ((rows - rows[k]) ** 2).sum(axis=1))
        nearest[picked] = -1.0  # picked once
        left = float(weight @ np.maximum(nearest, 0.0))
        worst = left if len(picked) == 1 else worst
        gain.append(1.0 - left / worst if worst > 0.0 else 1.0)
    return NextRows(some[np.array(picked)], np.array(gain), "model")
