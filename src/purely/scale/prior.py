r"""The class prior of a pool that comes in parts, in two passes.

The first pass draws rows: every row has a key, a hash of what is in it, and those of the lowest keys are a random
sample that does not depend on how the rows are dealt to parts. A row's fold is its key's remainder. On the sample,
models of the density ratio are trained, for each fold on the others, and weighed. In the second pass every part scores
its own rows, each by the models that have not seen it, and counts them in the cells of one table. Tables add up; the
share of positives is read off their sum as on one machine (:class:`purely.ClassPrior`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from purely.checks import check_number, draw_seed
from purely.collapsed import Score, collapse
from purely.crossfit import MOST_ROWS
from purely.folds import Folds, row_keys
from purely.prior import ClassPrior
from purely.prior.ratio import resolve_models, stack_ratios
from purely.prior.scores import ScoreTable
from purely.scale.parts import Encode, Part, Pool, add, reduce_parts, rows_of
from purely.threads import one_blas_thread
from purely.typing import Estimator, Floats, Keys, Mask

#: Rows that a part scores at a time: many, since trees walk many rows of a fold faster.
BLOCK_ROWS = 1 << 18
#: Scores are rounded to so many digits: added up in other blocks they differ in the last bits, and rows of the sample
#: lie on the edges of the cells that are counted.
DIGITS = 9


@dataclass(frozen=True)
class Drawn:
    """Rows of the lowest keys.

    Attributes
    ----------
    X : ndarray of shape (m, d)
    keys : ndarray of shape (m,)
        Rising.
    n_rows : int
        Rows that they were drawn from.
    most : int
        Rows that are drawn at most.
    """

    X: Floats
    keys: Keys
    n_rows: int
    most: int

    @classmethod
    def of(cls, X: Floats, keys: Keys, most: int) -> Drawn:
        """Draw from rows."""
        lowest = np.argpartition(keys, most)[:most] if len(X) > most else np.arange(len(X))
        order = lowest[np.argsort(keys[lowest], kind="stable")]
        return cls(X[order], keys[order], len(X), most)

    @staticmethod
    def merge(drawn: Sequence[Drawn]) -> Drawn:
        """Draw from the rows of several."""
        widths = {each.X.shape[1] for each in drawn}
        if len(widths) > 1:
            raise ValueError(f"parts of the pool have different numbers of columns: {', '.join(map(str, widths))}.")
        X, keys = np.concatenate([each.X for each in drawn]), np.concatenate([each.keys for each in drawn])
        made = Drawn.of(X, keys, drawn[0].most)
        return Drawn(made.X, made.keys, sum(each.n_rows for each in drawn), made.most)


@dataclass(frozen=True)
class FoldScorer:
    """The log-ratio of every row by models that have not seen it.

    Attributes
    ----------
    scores : list of list of Score
        A model for each fold and kind.
    weights : ndarray of shape (n_kinds,)
    intercept : float
    seed : int
        Of the keys that say a row's fold.
    """

    scores: list[list[Score]]
    weights: Floats
    intercept: float
    seed: int

    def by_model(self, X: Floats, keys: Keys) -> Floats:
        """Log-ratios by each kind of model, shape (n_kinds, n)."""
        fold = keys % np.uint64(len(self.scores))
        found = np.empty((len(self.scores[0]), len(X)))
        for k, models in enumerate(self.scores):
            rows = np.flatnonzero(fold == k)
            if rows.size:
                found[:, rows] = [score(X[rows]) for score in models]
        return found

    def __call__(self, X: Floats) -> Floats:
        """Log-ratios of rows, weighed and added up."""
        total = np.empty(len(X))
        for start in range(0, len(X), BLOCK_ROWS):
            block = X[start : start + BLOCK_ROWS]
            total[start : start + BLOCK_ROWS] = self.weights @ self.by_model(block, row_keys(block, self.seed))
        return np.round(total + self.intercept, DIGITS)


def pool_prior(
    positives: Part,
    pool: Pool,
    *,
    estimator: ClassPrior | None = None,
    encode: Encode = None,
    most_rows: int = MOST_ROWS,
) -> ClassPrior:
    """Estimate the class prior of a pool in parts.

    Parameters
    ----------
    positives : array or data frame of shape (n_P, d)
        The labelled positives; they fit into memory.
    pool : Dask data frame or array, list of delayed parts, or list of arrays or frames
        The unlabelled rows.
    estimator : ClassPrior, optional
        Its settings are used; :class:`purely.ClassPrior` as it is by default.
    encode : function, optional
        Makes a matrix of a part and of the positives, such as ``TableEncoder().fit(...).transform``; by default the
        values of a part are taken as numbers.
    most_rows : int, default=10000
        Rows that a model is trained on at most.

    Returns
    -------
    ClassPrior
        Fitted. It keeps no scores of single rows.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.scale import pool_prior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(4, 1, (300, 2))])
    >>> prior = pool_prior(P, np.array_split(U, 4))
    >>> low, high = prior.class_prior_interval_
    >>> bool(low < 0.4 < high)
    True
    """
    prior = clone(estimator) if estimator is not None else ClassPrior()
    n_folds, seed = check_number("cv", prior.cv, 2, integer=True), draw_seed(prior.random_state)
    P = rows_of(positives, None, encode)
    drawn = draw_pool(pool, encode, seed, 2 * most_rows)
    if drawn.X.shape[1] != P.shape[1]:
        raise ValueError(f"the pool has {drawn.X.shape[1]} columns and the positives have {P.shape[1]}.")
    with one_blas_thread():
        scorer, known = _train(prior, P, drawn, n_folds, seed, most_rows)
        positive = np.arange(known.size) < len(P)
        table = ScoreTable.from_scores(known[positive], known[~positive])
        count_u = reduce_parts(pool, _count, add, (encode, scorer, table.score))
    return prior.fit_table(ScoreTable(table.score, table.count_p, count_u), n_features=P.shape[1])


def _train(prior: ClassPrior, P: Floats, drawn: Drawn, n_folds: int, seed: int, most: int) -> tuple[FoldScorer, Floats]:
    """Train the models of every fold on the sample, and weigh them; also the scores of the sample."""
    X, keys = np.concatenate([P, drawn.X]), np.concatenate([row_keys(P, seed), drawn.keys])
    positive = np.arange(len(X)) < len(P)
    folds = Folds((keys % np.uint64(n_folds)).astype(np.intp), n_folds, np.lexsort((positive, keys)))
    n = len(P) + drawn.n_rows
    models = resolve_models(prior.ratio, n - n // n_folds, X.shape[1], sparse=False, seed=seed)
    samples = [folds.sample(k, positive, most) for k in range(n_folds)]
    if any(positive[rows].all() or not positive[rows].any() for rows in samples):
        raise ValueError("a fold without positives or without unlabelled rows is left: there are too few rows, or cv.")
    fitted = Parallel(n_jobs=prior.n_jobs)(
        delayed(_fit)(model, X[rows], positive[rows]) for rows in samples for model in models
    )
    scores = [fitted[k * len(models) : (k + 1) * len(models)] for k in range(n_folds)]
    by_model = FoldScorer(scores, np.ones(len(models)), 0.0, seed).by_model(X, keys)
    found = stack_ratios(by_model, positive)
    intercept = float(np.mean(found.score - found.weights @ by_model))
    counted = np.flatnonzero(found.weights)  # what has no weight need not score a hundred million rows
    scorer = FoldScorer([[own[i] for i in counted] for own in scores], found.weights[counted], intercept, seed)
    return scorer, np.round(found.score, DIGITS)


def _fit(model: Estimator, X: Floats, positive: Mask) -> Score:
    n_p = int(np.count_nonzero(positive))
    return collapse(clone(model, safe=False).fit(X, positive.astype(np.intp)), (n_p, positive.size - n_p))


def draw_pool(pool: Pool, encode: Encode, seed: int, most: int) -> Drawn:
    """Rows of a pool of the lowest keys."""
    return reduce_parts(pool, _draw, Drawn.merge, (encode, seed, most))


def _draw(part: Part, number: int, shared: tuple[Encode, int, int]) -> Drawn:
    encode, seed, most = shared
    X = rows_of(part, number, encode)
    return Drawn.of(X, row_keys(X, seed), most)


def _count(part: Part, number: int, shared: tuple[Encode, FoldScorer, Floats]) -> Floats:
    """Rows of a part in each cell of the table, the highest first; what lies below the lowest cell counts there."""
    encode, scorer, lower_ends = shared
    rising = lower_ends[::-1]
    score = scorer(rows_of(part, number, encode))
    cell = np.maximum(np.searchsorted(rising, score, side="right") - 1, 0)
    return np.bincount(cell, minlength=rising.size)[::-1].astype(np.float64)
