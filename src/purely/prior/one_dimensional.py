"""The estimators that read a share off a score: where the score comes from, and the interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from purely.checks import RandomState, check_number, draw_seed, level_to_z
from purely.folds import Folds
from purely.prior.base import PriorDiagnostics, PriorEstimate, PriorEstimator
from purely.prior.ratio import ratio_scores
from purely.prior.scores import Reader, ScoreReading, ScoreTable, bootstrap_error, normal_interval

if TYPE_CHECKING:
    from purely.prior.top import TopOfRatio

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """A score of every row, and the fold that gave it where it was cross-fitted."""

    score: Floats
    fold: NDArray[np.intp] | None = None


class OneDimensionalPrior(PriorEstimator):
    """Base of the methods that read a share off one score.

    One column is the score itself, the higher the more positive; several columns become one through `ratio`. A method
    implements :meth:`_reader`.
    """

    # Declared for type checkers; subclasses assign them in __init__.
    ratio: Any
    n_resamples: int
    random_state: RandomState

    def _reader(self) -> Reader:
        raise NotImplementedError(f"{type(self).__name__} does not say how it reads a score.")

    def _scores(self, X: Any, positive: NDArray[np.bool_], folds: Folds | None, seed: int) -> Scores:
        if X.shape[1] == 1:
            column = X.toarray() if sp.issparse(X) else X
            return Scores(np.asarray(column, dtype=np.float64).ravel())
        if self.ratio is None:
            raise ValueError(
                f"ratio=None takes one column, a score, as it is; X has {X.shape[1]} columns. Use ratio='auto' to make "
                "a score of them."
            )
        fitted = ratio_scores(self.ratio, X, positive, seed=seed, folds=folds)
        return Scores(fitted.score, fitted.fold)

    def _estimate(self, X: Any, positive: NDArray[np.bool_], folds: Folds | None) -> PriorEstimate:
        reader = self._reader()
        n_resamples = check_number("n_resamples", self.n_resamples, 0, integer=True)
        seed = draw_seed(self.random_state)
        scores = self._scores(X, positive, folds, seed)
        return read_scores(scores, positive, reader, level=self.level, n_resamples=n_resamples, seed=seed)


def read_scores(
    scores: Scores,
    positive: NDArray[np.bool_],
    reader: Reader,
    *,
    level: float,
    n_resamples: int,
    seed: int,
) -> PriorEstimate:
    """Share, interval, diagnostics and warnings from a score.

    The variance is that of the bootstrap over the scores, or of the jackknife over folds where that is larger: leaving
    out the rows of one fold leaves out its models as well.
    """
    from purely.prior.top import top_of_ratio  # it reads scores with a method built on this module

    table = ScoreTable.from_scores(scores.score[positive], scores.score[~positive])
    reading = reader(table)
    error = reading.error
    if not np.isfinite(error) and n_resamples > 1:
        error = bootstrap_error(table, reader, n_resamples, seed)
    if scores.fold is not None:
        error = float(np.fmax(error, fold_error(scores.score, positive, scores.fold, reader)))
    error = float(np.hypot(error, reading.spread))
    top = top_of_ratio(table)
    share = reading.share
    bound = None
    if share <= 1e-3:
        bound = "lower"
    elif share + np.nan_to_num(error) >= 1.0 - 1e-9:
        bound = "upper"
    diagnostics = PriorDiagnostics(
        x=reading.x,
        curve=reading.curve,
        x_label=reading.x_label,
        curve_label=reading.curve_label,
        chosen=reading.chosen,
        bound=bound,
        identifiable=bound is None and top.pure,
        details={
            "score_positive": scores.score[positive],
            "score_unlabelled": scores.score[~positive],
            "standard_error": error,
            "top": top,
            **(reading.details or {}),
        },
    )
    interval = normal_interval(share, error, level_to_z(level))
    return PriorEstimate(share, interval, diagnostics, sentences(share, bound, top))


def fold_error(score: Floats, positive: NDArray[np.bool_], fold: NDArray[np.intp], reader: Reader) -> float:
    """Jackknife standard error over folds."""
    shares = []
    for j in np.unique(fold):
        kept = fold != j
        if not positive[kept].any() or positive[kept].all():
            return float("nan")
        table = ScoreTable.from_scores(score[kept & positive], score[kept & ~positive])
        shares.append(reader(table).share)
    k = len(shares)
    return float(np.sqrt((k - 1) / k * np.sum((np.array(shares) - np.mean(shares)) ** 2)))


def sentences(share: float, bound: str | None, top: TopOfRatio) -> tuple[str, ...]:
    """What the user should know about the estimate."""
    if bound == "upper":
        return (
            f"The class prior {share:.3f} cannot be told from the upper bound 1: the unlabelled rows look like the "
            "labelled positives. Check that they contain negatives, and use features that tell the classes apart.",
        )
    if bound == "lower":
        return (
            f"The class prior {share:.3g} is at the lower bound: no unlabelled row scores like the labelled positives. "
            "Check that both come from one population and that no column gives the label away.",
        )
    if not top.pure:
        return (
            "The data do not determine the class prior: even among the unlabelled rows that look most positive only "
            f"about {top.purity:.0%} are, so {share:.3f} rests on an extrapolation. The classes overlap everywhere, or "
            "the labelled positives are not typical of all positives. Add features that set some positives apart from "
            "every negative, or set class_prior from other knowledge.",
        )
    return ()


__all__ = ["OneDimensionalPrior", "ScoreReading", "Scores", "fold_error", "read_scores", "sentences"]
