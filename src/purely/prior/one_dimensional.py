"""The estimators that read a share off a score: where the score comes from, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.checks import draw_seed
from purely.folds import Folds
from purely.prior.base import PriorDiagnostics, PriorEstimate, PriorEstimator
from purely.prior.ceiling import ceiling_profile
from purely.prior.ratio import ratio_scores
from purely.prior.scores import Reader, ScoreTable

__all__ = ["OneDimensionalPrior", "read_scores", "read_table"]

Floats = NDArray[np.float64]


class OneDimensionalPrior(PriorEstimator):
    """Base of the methods that read a share off one score.

    One column is the score itself, the higher the more positive; several columns become one through `ratio`. A method
    implements :meth:`_reader`.
    """

    def _reader(self) -> Reader:
        raise NotImplementedError(f"{type(self).__name__} does not say how it reads a score.")

    def _score(self, X: Any, positive: NDArray[np.bool_], folds: Folds | None) -> Floats:
        if X.shape[1] == 1:
            column = X.toarray() if sp.issparse(X) else X
            return np.asarray(column, dtype=np.float64).ravel()
        if self.ratio is None:
            raise ValueError(
                f"ratio=None takes one column, a score, as it is; X has {X.shape[1]} columns. Use ratio='auto' to make "
                "a score of them."
            )
        seed = draw_seed(self.random_state)
        return ratio_scores(self.ratio, X, positive, seed=seed, folds=folds, n_jobs=self.n_jobs).score

    def _estimate(self, X: Any, positive: NDArray[np.bool_], folds: Folds | None) -> PriorEstimate:
        reader = self._reader()
        return read_scores(self._score(X, positive, folds), positive, reader)


def read_scores(score: Floats, positive: NDArray[np.bool_], reader: Reader) -> PriorEstimate:
    """Share, what is known of it, diagnostics and warnings from a score."""
    table = ScoreTable.from_scores(score[positive], score[~positive])
    return read_table(table, reader, {"score_positive": score[positive], "score_unlabelled": score[~positive]})


def read_table(table: ScoreTable, reader: Reader, details: dict[str, Any] | None = None) -> PriorEstimate:
    """The same from a table of counts; `details` go to the diagnostics."""
    reading, posterior = reader(table), ceiling_profile(table).posterior()
    bound = "lower" if posterior.quantile(0.95) <= 1e-3 else None
    diagnostics = PriorDiagnostics(
        x=reading.x,
        curve=reading.curve,
        x_label=reading.x_label,
        curve_label=reading.curve_label,
        chosen=reading.chosen,
        bound=bound,
        details={**(details or {}), **reading.details},
    )
    sentence = (
        f"The class prior {reading.share:.3g} is at the lower bound: no unlabelled row scores like the labelled "
        "positives. Check that both come from one population and that no column gives the label away."
    )
    return PriorEstimate(reading.share, diagnostics, posterior, () if bound is None else (sentence,))
