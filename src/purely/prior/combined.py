r"""The mean of two readings with opposite weaknesses: best bin and logistic ceiling.

The best bin is an upper bound of the share: it needs no form of the posterior, but overestimates where no group of rows
is purely positive. The logistic ceiling extrapolates beyond an impure top, but rests on a form. Their errors have
opposite signs where classes overlap and are independent elsewhere, so their mean is better than either, and their
disagreement says how far the answer hangs on the form; it widens the interval.
"""

from __future__ import annotations

from dataclasses import replace

from purely.prior.best_bin import best_bin
from purely.prior.logistic_ceiling import logistic_ceiling
from purely.prior.scores import ScoreReading, ScoreTable
from purely.prior.top import PURE

__all__ = ["combined"]


#: Share of the readings' disagreement that counts as error, with a pure top and without.
_DISAGREEMENT = (0.25, 0.75)


def combined(table: ScoreTable, confidence: float = 0.75, leeway: float = 0.5) -> ScoreReading:
    """Mean of best bin and logistic ceiling.

    Parameters
    ----------
    table : ScoreTable
    confidence : float, default=0.75
        Factor on the best bin's confidence term.
    leeway : float, default=0.5
        Leeway of the logistic ceiling around the best bin.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.combined import combined
    >>> rng = np.random.default_rng(0)
    >>> U = np.concatenate([rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> round(combined(ScoreTable.from_scores(rng.normal(4, 1, 500), U)).share, 1)
    0.3
    """
    bound, fit = best_bin(table, confidence), logistic_ceiling(table, leeway=leeway)
    details = {
        **(bound.details or {}),
        **(fit.details or {}),
        "best_bin": bound.share,
        "logistic_ceiling": fit.share,
    }
    doubt = _DISAGREEMENT[details["purity"] < PURE]
    return replace(
        bound,
        share=0.5 * (bound.share + fit.share),
        spread=doubt * abs(bound.share - fit.share),
        details=details,
    )
