r"""Why a row has its score: what each column adds to its log-odds, by any classifier.

Let :math:`f(x)` be the log-odds of a row and :math:`b_1, \dots, b_m` rows to compare with. Turn :math:`b_i` into
:math:`x` by exchanging one column after another in a random order. The contribution of a column is the mean change that
its exchange makes,

.. math:: \phi_j(x) = \frac1m \sum_{i=1}^m
          f\bigl(x_{S_{ij} \cup \{j\}}, b_{i, \text{rest}}\bigr) - f\bigl(x_{S_{ij}}, b_{i, \text{rest}}\bigr) ,

where :math:`S_{ij}` are the columns that come before *j* in the *i*-th order. The changes of a walk add up to
:math:`f(x) - f(b_i)` whatever the order, so

.. math:: f(x) = \frac1m \sum_i f(b_i) + \sum_j \phi_j(x)

holds exactly, not on average. In expectation over orders these are the Shapley values of the columns (Štrumbelj and
Kononenko, 2014). Every second order is the one before it reversed, which removes much of the noise where columns act
together in pairs; a classifier whose log-odds are a sum over columns has no noise at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_random_state

from purely.checks import RandomState, check_number, refuse_huge, refuse_masked
from purely.crossfit import last_step, model_says
from purely.files import shown
from purely.notebook import html_table
from purely.typing import Estimator, Floats, Indices, Matrix

__all__ = ["Explanation", "column_of_features", "explain_rows", "said_of"]

Scores = Callable[[Matrix], Floats]

#: Rows that a model is asked about at a time.
BLOCK = 1 << 14
#: More columns than this make a walk too long; features of one kind can be put together.
MOST_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each column adds to the log-odds of rows; ``base + contributions.sum(axis=1)`` is `log_odds`.

    Attributes
    ----------
    names : tuple of str
        The columns.
    contributions : ndarray of shape (n, n_columns)
        In units of the log-odds; above 0 a value speaks for the positive class.
    base : float
        Mean log-odds of the rows that were compared with.
    log_odds : ndarray of shape (n,)
        What the model says of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.classifiers import PULogisticClassifier
    >>> from purely.datasets import make_gaussians
    >>> from purely.explain import explain_rows
    >>> data = make_gaussians(200, 400, n_features=2, random_state=0)
    >>> found = explain_rows(PULogisticClassifier(0.5).fit(data.X, data.y), data.X[:5], data.X)
    >>> bool(np.allclose(found.base + found.contributions.sum(axis=1), found.log_odds))
    True
    >>> next(iter(found.importance)) == found.names[found.strongest(1)[0, 0]]
    True
    """

    names: tuple[str, ...]
    contributions: Floats
    base: float
    log_odds: Floats

    @property
    def importance(self) -> dict[str, float]:
        """Mean size of each column's contribution, the largest first; no label is needed for it."""
        size = np.abs(self.contributions).mean(axis=0)
        return {self.names[j]: float(size[j]) for j in np.argsort(-size, kind="stable")}

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [f"{name:{width}}  {size:.3f}" for name, size in self.importance.items()]
        return "\n".join([f"log-odds of {self.log_odds.size:,} rows; mean size of what each column adds:", *lines])

    def _repr_html_(self) -> str:
        note = f"Mean size of what each column adds to the log-odds of {self.log_odds.size:,} rows."
        return html_table(["", "log-odds"], [[name, f"{size:.3f}"] for name, size in self.importance.items()], [note])

    def said(self, cell: Callable[[int, str], object], n: int = 3) -> list[list[str]]:
        """The strongest contributions to each row in words; `cell(row, column)` is what the row holds there."""
        names, added = self.names, self.contributions
        return [
            [said_of(shown(names[j]), _words(cell(i, names[j])), float(added[i, j])) for j in row]
            for i, row in enumerate(self.strongest(n))
        ]

    def strongest(self, n: int = 3) -> Indices:
        """Places of the columns that speak most for or against each row, of shape (n_rows, at most n)."""
        return np.argsort(-np.abs(self.contributions), axis=1, kind="stable")[:, :n]


def explain_rows(
    model: Estimator,
    X: Matrix,
    background: Matrix | None = None,
    *,
    groups: Sequence[str] | None = None,
    n_samples: int = 32,
    random_state: RandomState = 0,
) -> Explanation:
    """Say what each column adds to the log-odds of rows.

    Parameters
    ----------
    model : fitted classifier
        Any classifier of this package, any of scikit-learn's, or a Pipeline that ends in one. If the pipeline begins
        with a :class:`purely.tables.TableEncoder`, the columns are those of the table, whatever features were made of
        them.
    X : {array-like, sparse matrix, data frame} of shape (n, n_features)
        Rows to explain.
    background : the same kind, optional
        Rows to compare with, of which `n_samples` are drawn; by default these are `X`.
    groups : sequence of str of length n_features, optional
        The column that each feature belongs to; features of one column are exchanged together. By default every
        feature is a column.
    n_samples : int, default=32
        Rows to compare with. To explain one row, the model scores `n_samples` times as many rows as there are columns.
    random_state : int, RandomState instance or None, default=0
        Draws rows and orders.

    Returns
    -------
    Explanation

    Notes
    -----
    A contribution says what the model does with a value, not what causes what. Where two columns say the same, the
    model's use of them is shared among both.

    References
    ----------
    E. Štrumbelj and I. Kononenko, Explaining prediction models and individual predictions with feature contributions,
    *Knowledge and Information Systems* 41:647-665, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import PULogisticClassifier, stack
    >>> from purely.explain import explain_rows
    >>> rng = np.random.default_rng(0)
    >>> P, U = rng.normal([2, 0], 1, (200, 2)), rng.normal(0, 1, (600, 2))
    >>> X, y = stack(P, U)
    >>> found = explain_rows(PULogisticClassifier(0.2).fit(X, y), X[:3], X)
    >>> list(found.importance)
    ['x0', 'x1']
    >>> bool(np.allclose(found.base + found.contributions.sum(axis=1), found.log_odds))
    True
    """
    n_samples = check_number("n_samples", n_samples, 1, integer=True)
    rng = check_random_state(random_state)
    asked = _prepared(model, X, X if background is None else background)
    scores, rows, others = asked.scores, asked.rows, asked.others
    names, owner = _columns(asked.features if groups is None else groups, rows.shape[1])
    others = others[rng.permutation(np.resize(rng.permutation(others.shape[0]), n_samples))]
    orders = _orders(len(names), n_samples, rng)
    log_odds, of_others = scores(rows), scores(others)
    total = np.zeros((rows.shape[0], len(names)))
    step = max(1, BLOCK // max(1, len(names) - 1))
    for start in range(0, rows.shape[0], step):
        part = slice(start, start + step)
        for i, order in enumerate(orders):
            values = _walk(scores, rows[part], others[[i]], order, owner)
            values = np.vstack([np.full(values.shape[1], of_others[i]), values, log_odds[part]])
            total[part, order] += np.diff(values, axis=0).T
    return Explanation(names, total / n_samples, float(of_others.mean()), log_odds)


def _words(value: object) -> str | None:
    """A cell as a person reads it; None where it is missing."""
    if value is None or value != value:
        return None
    return shown(four_digits(value) if isinstance(value, float) else value, 40)


def four_digits(value: float) -> str:
    """A number with four digits, and all of those before the point: reasons and tables write numbers alike.

    Examples
    --------
    >>> from purely.explain import four_digits
    >>> four_digits(1234.567), four_digits(3.14159), four_digits(123456.7), four_digits(2.0)
    ('1235', '3.142', '123457', '2')
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def said_of(name: str, value: object, contribution: float) -> str:
    """A contribution in words.

    Examples
    --------
    >>> from purely.explain import said_of
    >>> said_of("country", "NG", 1.4142), said_of("amount", None, -0.25)
    ('country = NG: raises (+1.41)', 'amount is missing: lowers (-0.25)')
    """
    held = f"{name} is missing" if value is None or value == "" or value != value else f"{name} = {value}"
    verb = "raises" if contribution > 0 else "lowers" if contribution < 0 else "changes nothing"
    return f"{held}: {verb} ({contribution:+.2f})" if contribution else f"{held}: {verb}"


def _orders(k: int, n: int, rng: np.random.RandomState) -> Indices:
    """Orders of `k` columns, every second one the reverse of the one before it; of shape (n, k)."""
    drawn = np.array([rng.permutation(k) for _ in range(-(-n // 2))])
    return np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, k)[:n]


def _walk(scores: Scores, rows: Matrix, other: Matrix, order: Indices, owner: Indices) -> Floats:
    """Log-odds on the way from one row to each of some, without both ends; of shape (n_columns - 1, n)."""
    n, k = rows.shape[0], order.size
    if k == 1:
        return np.zeros((0, n))
    place = np.empty(k, dtype=np.intp)
    place[order] = np.arange(k)
    taken = place[owner] < np.arange(1, k)[:, None]  # of shape (k - 1, n_features)
    if sp.issparse(rows):
        parts = []
        for mask in taken:
            rest = sp.csr_matrix(sp.csr_matrix(other).multiply(~mask))
            parts.append(rows @ sp.diags(mask.astype(np.float64)) + rest[np.zeros(n, dtype=np.intp)])
        return scores(sp.csr_matrix(sp.vstack(parts))).reshape(k - 1, n)
    return scores(np.where(taken[:, None, :], rows[None], other).reshape(-1, rows.shape[1])).reshape(k - 1, n)


def _columns(groups: Sequence[str], n_features: int) -> tuple[tuple[str, ...], Indices]:
    """Names of the columns in the order in which they come, and the column of each feature."""
    if len(groups) != n_features:
        raise ValueError(f"groups must name a column for each of the {n_features} features; {len(groups)} were given.")
    names = tuple(dict.fromkeys(map(str, groups)))
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"there are {len(names):,} columns, and at most {MOST_COLUMNS:,} can be told apart; put features together "
            "with groups=..."
        )
    place = {name: j for j, name in enumerate(names)}
    return names, np.array([place[str(name)] for name in groups])


@dataclass(frozen=True)
class _Asked:
    """What a model is asked, as matrices: log-odds of rows like these, and of others."""

    scores: Scores
    rows: Matrix
    others: Matrix
    features: list[str]  # the column of each


def _prepared(model: Estimator, X: Matrix, background: Matrix) -> _Asked:
    if isinstance(model, Pipeline) and hasattr(model[0], "feature_owner_"):
        encoder, rest = model[0], model[1:] if len(model) > 2 else model[-1]
        matrices = encoder.transform(X), encoder.transform(background)
        return _Asked(_scores(rest, None), *matrices, column_of_features(encoder))
    for rows in (X, background):
        refuse_masked(rows)
    rows, others = (check_array(part, accept_sparse="csr", dtype=np.float64) for part in (X, background))
    refuse_huge(rows)
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} columns and background has {others.shape[1]}; they must be the same.")
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return _Asked(_scores(model, None), rows, others, [f"x{j}" for j in range(rows.shape[1])])
    frame_of: Callable[..., Matrix] = type(X)
    return _Asked(_scores(model, partial(frame_of, columns=X.columns)), rows, others, [str(c) for c in X.columns])


def column_of_features(encoder: BaseEstimator) -> list[str]:
    """The column of a table that each feature of a :class:`purely.tables.TableEncoder` speaks of.

    A vector and a sparse row are many columns in one: their places are told apart, unless there are too many.

    Examples
    --------
    >>> import pandas as pd
    >>> from purely.explain import column_of_features
    >>> from purely.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [31, 29, 52, 40], "city": ["Rome", "Oslo", "Rome", "Oslo"]})
    >>> column_of_features(TableEncoder().fit(frame))
    ['age', 'city', 'city']
    """
    names = [encoder.columns_[j] for j in encoder.feature_owner_]
    many = {plan.name for plan in encoder.report_.columns if plan.kind in ("vector", "sparse")}
    if not many or len(names) > MOST_COLUMNS:
        return names
    return [own if name in many else name for name, own in zip(names, encoder.get_feature_names_out(), strict=True)]


def _scores(model: Estimator, framed: Callable[[Matrix], Matrix] | None) -> Scores:
    """Log-odds of the rows of a matrix; a model that knows names gets them."""

    def scores(rows: Matrix) -> Floats:
        if framed is not None and not sp.issparse(rows):
            rows = framed(rows)
        if isinstance(model, Pipeline):
            rows = model[:-1].transform(rows)
        return model_says(last_step(model), rows, "log-odds")

    return scores
