"""What reads cross-fitted scores of positives against unlabelled rows: best bin, DEDPUL, AlphaMax, naive classifiers.

Best bin on random-forest scores is the strongest rival among published estimators; a naive classifier calls as many
rows positive as its own best-bin estimate says there are. Forests have scikit-learn's 100 trees. Twice as many take as
long as everything else that needs no network and gain little: .039 for .040 on the other half of the data
(`python -m experiments.forest_trees`), .041 for .043 on the draws of the tables.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from experiments.paper.draws import Draw
from purely.crossfit import log_ratio
from purely.folds import deal_folds
from purely.prior.alphamax import alphamax
from purely.prior.auto import METHODS
from purely.prior.ratio import built_in
from purely.prior.scores import ScoreTable

READERS = {"best_bin": METHODS["best-bin"], "dedpul": METHODS["dedpul"], "alphamax": alphamax}


def estimate(draw: Draw, model: str, methods: tuple[str, ...], n_trees: int = 100) -> tuple[dict[str, float], Any]:
    """Class priors by method, and the naive classifier's probabilities of the test rows."""
    positive = draw.y == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score, test_score = cross_fit(draw, model, n_trees)
        table = ScoreTable.from_scores(score[positive], score[~positive])
        told = {name: READERS[name](table).share for name in methods}
    limit = np.quantile(score[~positive], 1.0 - told["best_bin"])
    return told, 1.0 / (1.0 + np.exp(-np.clip(test_score - limit, -50, 50)))


def cross_fit(draw: Draw, model: str, n_trees: int, n_folds: int = 5) -> tuple[Any, Any]:
    """Scores of the rows by models without their fold; of the test rows, the mean over the five models."""
    positive, seed = draw.y == 1, draw.key.seed
    fold = deal_folds(draw.X, positive, n_folds, seed).number
    if model == "forest":
        base: Any = RandomForestClassifier(n_trees, random_state=seed)
    else:
        base = built_in(model, *draw.X.shape, sparse=sp.issparse(draw.X), seed=seed)
    score, test_score = np.empty(draw.y.size), np.zeros(draw.y_test.size)
    for j in range(n_folds):
        train, held_out = fold != j, fold == j
        n_p, n_u = np.count_nonzero(train & positive), np.count_nonzero(train & ~positive)
        fitted = clone(base).fit(draw.X[train], draw.y[train])
        score[held_out] = log_ratio(fitted, draw.X[held_out], n_p, n_u)
        test_score += log_ratio(fitted, draw.X_test, n_p, n_u) / n_folds
    return score, test_score
