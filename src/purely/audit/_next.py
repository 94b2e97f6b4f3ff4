r"""Which rows to label next: those whose labels help a goal.

Rows are drawn as an audit draws them (:func:`purely.audit.draw_audit`), systematically along the score, so that no
region is left out: of the rows above the threshold for the goal "precision", of all rows for "share" and "model". On
the tables that constants are chosen on (`experiments/next_study.py`) that was better than to pick, one label after the
other, the group that takes most off the variance, and than doubtful rows that are far apart in the columns: both trust
the model that is in question. Sizes to the power 1.5, nearer to the doubtful rows, did not help the model.

What labels are worth is told by the law of the groups' log-odds :math:`f` (:func:`purely.audit.read_audit`). With
:math:`C` their covariance, :math:`p = \sigma(f)` at their mean and :math:`a` the target's derivative, a label of group
:math:`g` takes

.. math:: \frac{v_g (a^\top C e_g)^2}{1 + v_g C_{gg}}, \qquad v_g = p_g (1 - p_g)

off the target's variance :math:`a^\top C a`. For the goal "model" the target is every probability of the pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from purely.audit._design import every_step, inclusion_probabilities, read_probability, row_sizes
from purely.audit._posterior import Pool, group_pool, prior_law
from purely.checks import RandomState, check_choice, check_number, check_share, check_threshold, draw_seed
from purely.crossfit import model_says
from purely.typing import Estimator, Floats, Indices, Mask, Matrix

Goal = Literal["precision", "share", "model"]
GOALS: tuple[Goal, ...] = ("precision", "share", "model")


@dataclass(frozen=True)
class NextRows:
    """Rows to label next.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Places of the rows, in random order: the first rows, however many, are a random draw too.
    gain : ndarray of shape (n,)
        By how much the goal's standard error is expected to fall with the labels up to each row, as a share of the
        standard error without a new label. For "model" that is the standard error of a row's probability, as a root
        mean square.
    goal : {"precision", "share", "model"}

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
    >>> rows.goal, rows.index.size, bool((np.diff(rows.gain) >= 0).all())
    ('share', 20, True)
    """

    index: Indices
    gain: Floats
    goal: Goal


def next_to_label(
    model: Estimator,
    X: Matrix,
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
    :doc:`/audit` compares these picks with rows at random and with the most doubtful rows. For intervals draw an audit
    (:func:`draw_audit`), which keeps its design; the goals "share" and "model" pick rows as an audit does.

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
    at = check_threshold(getattr(model, "threshold", 0.5)) if threshold is None else check_share("threshold", threshold)
    above = q > at if goal == "precision" else np.ones(q.size, dtype=bool)
    if not above.any():
        raise ValueError(f"no row of the pool is above the threshold {at:g}; give a lower one.")
    index = _drawn(q, above, n, rng)
    pool = group_pool(q)
    mean, covariance = prior_law(pool)
    p = expit(mean)
    gain = expected_gain(covariance, p * (1.0 - p), _target(pool, p, above, goal), pool.group[index])
    return NextRows(index, gain, goal)


def _drawn(q: Floats, above: Mask, n: int, rng: np.random.Generator) -> Indices:
    """Rows drawn as an audit draws them, of the rows `above`, then of the others."""
    picked: list[Indices] = []
    for rows in (np.flatnonzero(above), np.flatnonzero(~above)):
        room = min(n - sum(part.size for part in picked), rows.size)
        if room > 0:
            chances = inclusion_probabilities(row_sizes(q[rows]), room)
            picked.append(rng.permutation(rows[every_step(q[rows], chances, rng)]))
    return np.concatenate(picked)


def _target(pool: Pool, p: Floats, above: Mask, goal: Goal) -> Floats:
    """The matrix whose columns, times the log-odds' errors, are the errors that the goal is about, shape (G, k)."""
    slope = p * (1.0 - p)
    if goal == "model":
        return np.asarray(np.diag(np.sqrt(pool.rows / pool.rows.sum()) * slope))
    return np.asarray((np.bincount(pool.group[above], minlength=p.size) / above.sum() * slope)[:, None])


def expected_gain(covariance: Floats, spread: Floats, target: Floats, groups: Indices) -> Floats:
    """By how much the target's standard error falls, after each label of these groups, as a share of the first.

    Parameters
    ----------
    covariance : ndarray of shape (G, G)
        Of the groups' log-odds.
    spread : ndarray of shape (G,)
        Variance of a label of each group.
    target : ndarray of shape (G, k)
        The target's derivatives.
    groups : ndarray of shape (n,)
        Groups in the order of the labels.
    """
    left = [float(np.einsum("gk,gh,hk->", target, covariance, target))]
    for g in groups:
        column = covariance[:, g]
        covariance = covariance - np.outer(column, column) * spread[g] / (1.0 + spread[g] * column[g])
        left.append(max(float(np.einsum("gk,gh,hk->", target, covariance, target)), 0.0))
    return 1.0 - np.sqrt(np.array(left[1:]) / left[0])
