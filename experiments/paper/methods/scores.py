"""What reads cross-fitted scores of positives against unlabelled rows: best bin, DEDPUL, AlphaMax, naive classifiers.

Best bin on random-forest scores is the strongest rival among published estimators; a naive classifier calls as many
rows positive as its own best-bin estimate says there are.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from experiments.paper.draws import Draw
from purely.prior import AlphaMaxPrior, BestBinPrior, DEDPULPrior
from purely.prior._one_dimensional import Scores, read_scores
from purely.prior._ratio import built_in, cross_fit, log_ratio

READERS = {"best_bin": BestBinPrior(), "dedpul": DEDPULPrior(), "alphamax": AlphaMaxPrior()}


def estimate(draw: Draw, model: str, methods: tuple[str, ...]) -> tuple[dict[str, float], Any]:
    """Class priors by method, and the naive classifier's probabilities of the test rows."""
    positive = draw.y == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = cross_fit(model, draw.X, positive, cv=5, seed=draw.key.seed)
        told = {
            name: read_scores(
                Scores(fit.score, fit.fold), positive, READERS[name]._reader(), level=0.9, n_resamples=0, seed=0
            ).share
            for name in methods
        }
        own = built_in(model, draw.X.shape[0], draw.X.shape[1], sparse=hasattr(draw.X, "indptr"), seed=draw.key.seed)
        own.fit(draw.X, draw.y)
        score = log_ratio(own, draw.X_test, int(positive.sum()), int((~positive).sum()))
    limit = np.quantile(fit.score[~positive], 1.0 - told["best_bin"])
    return told, 1.0 / (1.0 + np.exp(-np.clip(score - limit, -50, 50)))
