"""The share by a logistic posterior under a ceiling, see :mod:`purely.prior.ceiling`."""

from __future__ import annotations

from dataclasses import field
from functools import partial

import numpy as np

from purely.base import with_parameters
from purely.checks import check_number
from purely.prior.ceiling import N_CELLS, ceiling_profile, straightened
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import Reader, ScoreReading, ScoreTable

__all__ = ["LogisticCeilingPrior", "logistic_ceiling"]

#: Spread of the share's log-odds around the best bin's, interpolated between these shares: where positives are rare,
#: best bin reads two or three times too much, where nearly all rows are positive too little, between about what is
#: true (`experiments/promises.py`).
LEEWAY = ((0.3, 2.0), (0.5, 0.2), (0.7, 0.2), (0.85, 2.0))
#: Level of the interval in which that reading is kept: the curve says nothing of a top that is not pure.
MIDDLE = 0.4


def logistic_ceiling(table: ScoreTable, leeway: float | str | None = "auto") -> ScoreReading:
    """Fit the ceiling by maximum likelihood.

    Parameters
    ----------
    table : ScoreTable
        Log density ratios.
    leeway : float, "auto" or None, default="auto"
        Standard deviation, on the logit scale, of a normal prior of the share around the best bin's; None for none,
        "auto" for one that depends on the best bin's share, see `LEEWAY`, with the share kept in the 40 % interval of
        :meth:`purely.prior.ceiling.CeilingProfile.posterior`.

    Examples
    --------
    Two overlapping normal classes: no row is surely positive, yet the share is found.

    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.logistic_ceiling import logistic_ceiling
    >>> rng = np.random.default_rng(0)
    >>> P, U = rng.normal(1, 1, 20000), np.concatenate([rng.normal(1, 1, 12000), rng.normal(-1, 1, 28000)])
    >>> round(logistic_ceiling(ScoreTable.from_scores(P, U)).share, 1)
    0.3
    """
    profile = ceiling_profile(table)
    if leeway == "auto":
        shares, spreads = zip(*LEEWAY, strict=True)
        low, high = profile.posterior().interval(MIDDLE)
        share = min(max(profile.share(float(np.interp(profile.best_bin, shares, spreads))), low), high)
    else:
        share = profile.share(leeway)  # type: ignore[arg-type]
    cells = table.coarsen(N_CELLS)
    x = cells.score
    log_w = profile.log_ratio(straightened(cells).score, share)
    return ScoreReading(
        share=share,
        x=x[::-1],
        curve=np.exp(-log_w)[::-1],
        x_label="score",
        curve_label="one over the fitted ratio",
        chosen=None,
        # Best bin reads the share over the purity of the top it looks at.
        details={
            "purity": min(share / profile.best_bin, 1.0) if profile.best_bin > 0.0 else 1.0,
            "best_bin": profile.best_bin,
        },
    )


@with_parameters
class LogisticCeilingPrior(OneDimensionalPrior):
    """Class prior by a logistic posterior under a ceiling, for classes that overlap everywhere.

    Parameters
    ----------
    leeway : float, "auto" or None, default="auto"
        Standard deviation, on the logit scale, of a normal prior of the share around the best bin's estimate, which
        holds where the data show no ceiling; None for no prior, "auto" for 2 where positives are rare and 0.2 where
        they are common, with an estimate in the 40 % interval of what is known of the share.
    ratio : "auto", estimator or None, default="auto"
        How several columns become one score; see :class:`BestBinPrior`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        One over the fitted ratio, whose floor is the share.

    Notes
    -----
    The answer rests on the logistic form: a score whose log-odds are far from linear gives a wrong share with a narrow
    interval. Methods that read the top of the ratio need no form, but a pure top.

    References
    ----------
    .. [1] Lancaster, T. and Imbens, G. Case-control studies with contaminated controls. Journal of Econometrics, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import LogisticCeilingPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(1, 1, (4000, 1))
    >>> U = np.concatenate([rng.normal(1, 1, (3000, 1)), rng.normal(-1, 1, (3000, 1))])
    >>> 0.4 < LogisticCeilingPrior().fit(*stack(P, U)).class_prior_ < 0.6
    True
    """

    leeway: float | str | None = field(default="auto", kw_only=False)

    def _reader(self) -> Reader:
        leeway = self.leeway
        if leeway is not None and leeway != "auto":
            leeway = check_number("leeway", leeway, 0.0, open_low=True)
        return partial(logistic_ceiling, leeway=leeway)
