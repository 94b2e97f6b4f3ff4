"""Which columns carry the information: each alone, and what is lost without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone

from purely.base import read_rows
from purely.checks import RandomState, draw_seed
from purely.labels import PULabels, check_scenario
from purely.notebook import Sentence
from purely.smi.analytic import PUSMI
from purely.smi.inference import row_contributions
from purely.typing import Floats, Indices, Matrix


@dataclass(frozen=True)
class FeatureRanking(Sentence):
    """Information of columns or groups of columns, the most informative first. All values are prior-free.

    Attributes
    ----------
    names : list of str
    alone, alone_error : ndarray
        Out-of-fold information of the group by itself, and its standard error.
    loss, loss_error : ndarray
        How much the information of all columns falls when the group is left out. Zero for a column whose content is
        also elsewhere, however informative it is alone.
    full : float
        Information of all columns together.

    Examples
    --------
    >>> from purely import rank_features
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(100, 200, n_features=2, random_state=0)
    >>> ranking = rank_features(data.X, data.y)
    >>> len(ranking.names), bool(ranking.alone[0] >= ranking.alone[1])
    (2, True)
    """

    names: list[str]
    alone: Floats
    alone_error: Floats
    loss: Floats
    loss_error: Floats
    full: float

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        head = f"{'':{width}}  {'alone':>8} {'error':>7}  {'loss':>8} {'error':>7}"
        columns = self.names, self.alone, self.alone_error, self.loss, self.loss_error
        form = f"{{:{width}}}  {{:8.4f}} {{:7.4f}}  {{:8.4f}} {{:7.4f}}"
        return "\n".join([head, *(form.format(*row) for row in zip(*columns, strict=True))])


def rank_features(
    X: Matrix,
    y: ArrayLike,
    *,
    groups: Mapping[str, Sequence[int] | Sequence[str]] | None = None,
    estimator: PUSMI | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> FeatureRanking:
    """Information of each column, or group of columns, alone, and the loss when it is left out.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        Put the columns on a common scale first: a Gaussian basis measures distances across them.
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    groups : mapping of name to columns, optional
        Column numbers, or names where `X` is a data frame. None: each column is a group.
    estimator : PUSMI, optional
        Settings to use; the default ones otherwise.
    n_jobs : int, optional
        Threads over groups.
    random_state : int, optional
        Used where `estimator` is None.

    Returns
    -------
    FeatureRanking

    Examples
    --------
    >>> import numpy as np
    >>> from purely import rank_features
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> X[:200, 1] += 1.5
    >>> rank_features(X, np.arange(600) < 200, random_state=0).names[0]
    'x1'
    """
    columns = [str(c) for c in X.columns] if hasattr(X, "columns") else None
    if columns and len(set(columns)) < len(columns):
        twice = next(c for c in columns if columns.count(c) > 1)
        raise ValueError(f"X has {columns.count(twice)} columns named {twice!r}; give each its own name.")
    X, labels = read_rows(X, y)
    columns = columns or [f"x{j}" for j in range(X.shape[1])]
    if estimator is not None and not isinstance(estimator, PUSMI):
        raise TypeError(f"estimator must be a PUSMI; {estimator!r} was given.")
    members = _check_groups(groups, columns)
    model = PUSMI(random_state=random_state) if estimator is None else clone(estimator)
    if not isinstance(model.random_state, (int, np.integer)):
        model.set_params(random_state=draw_seed(model.random_state))  # the same draw for every set of columns
    everything = np.arange(X.shape[1])
    whole = clone(model).fit(X, labels.positive)
    full = _parts(whole, labels)
    subsets = [*members.values(), *(np.setdiff1d(everything, m) for m in members.values())]
    run = Parallel(n_jobs=n_jobs, prefer="threads")
    fits = run(delayed(_fit_columns)(model, X, labels, columns, whole.folds_) for columns in subsets)
    alone, without = fits[: len(members)], fits[len(members) :]
    order = np.argsort([-part.information for part in alone], kind="stable")
    names, values = list(members), []
    for i in order:
        lost = full.information - without[i].information
        values.append((alone[i].information, alone[i].error(), lost, full.error(without[i])))
    alone_value, alone_error, loss, loss_error = np.array(values).T.copy()
    return FeatureRanking([names[i] for i in order], alone_value, alone_error, loss, loss_error, full.information)


@dataclass(frozen=True)
class _Parts:
    """Out-of-fold information of some columns, each row's contribution to it, and the folds' interaction variance."""

    information: float
    contributions: Floats
    fold_variance: float

    def error(self, other: _Parts | None = None) -> float:
        """Standard error of the information, or of its difference to `other` on the same rows and folds.

        The rows' contributions are paired; the interaction variances, whose covariance is not known, add up.
        """
        if other is None:
            return float(np.sqrt(np.sum(self.contributions**2) + self.fold_variance))
        paired = np.sum((self.contributions - other.contributions) ** 2)
        return float(np.sqrt(paired + self.fold_variance + other.fold_variance))


def _fit_columns(model: PUSMI, X: Matrix, labels: PULabels, columns: Indices, folds: Indices) -> _Parts:
    if columns.size == 0:
        return _Parts(0.0, np.zeros(X.shape[0]), 0.0)
    return _parts(clone(model).fit(X[:, columns], labels.positive, folds=folds), labels)


def _parts(fitted: PUSMI, labels: PULabels) -> _Parts:
    contributions = row_contributions(fitted.oof_density_ratio_, labels.positive, check_scenario(fitted.scenario))
    return _Parts(fitted.information_, contributions, fitted._fold_variance)


def most_different(X: Matrix, y: Indices, groups: Mapping[str, Sequence[int]], n: int) -> dict[str, list[int]]:
    """The groups of columns that differ most in mean or spread between positives and unlabelled rows, as they came.

    A quick look before :func:`rank_features`, which is expensive where columns are many.
    """
    (mean_p, spread_p), (mean_u, spread_u) = (_moments(X[y == kind]) for kind in (1, 0))
    scale = np.sqrt(np.maximum(spread_p**2 + spread_u**2, 1e-12))
    effect = (np.abs(mean_p - mean_u) + np.abs(spread_p - spread_u)) / scale
    chosen = sorted(groups, key=lambda name: -max(effect[list(groups[name])]))[:n]
    return {name: list(places) for name, places in groups.items() if name in chosen}


def _moments(X: Matrix) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column."""
    squares = sp.csr_matrix(X).power(2) if sp.issparse(X) else X * X
    mean, square = (np.asarray(part.mean(axis=0)).ravel() for part in (X, squares))
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _check_groups(groups: object, names: list[str]) -> dict[str, Indices]:
    if groups is None:
        return {name: np.array([j]) for j, name in enumerate(names)}
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups must map names to lists of columns, such as {{'age': [0, 1]}}; {groups!r} was given.")
    members = {}
    for name, chosen in groups.items():
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise TypeError(f"groups: {name!r} must name a list of columns; {chosen!r} was given.")
        picked = [names.index(c) if isinstance(c, str) and c in names else c for c in chosen]
        bad = [c for c in picked if type(c) is bool or not isinstance(c, (int, np.integer)) or not 0 <= c < len(names)]
        if bad or not picked:
            what = f"column {bad[0]!r}, which X does not have" if bad else "no columns"
            raise ValueError(f"groups: {name!r} names {what}; X has {len(names)} columns.")
        members[str(name)] = np.unique(np.array(picked, dtype=np.intp))
    if not members:
        raise ValueError("groups is empty; name at least one group of columns.")
    return members
