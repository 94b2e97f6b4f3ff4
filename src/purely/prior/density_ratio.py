"""Class priors from cross-fitted density ratios: any model of the ratio, any one-dimensional method."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.checks import RandomState, check_number, draw_seed
from purely.folds import Folds
from purely.prior.base import PriorEstimate, PriorEstimator
from purely.prior.best_bin import best_bin
from purely.prior.combined import combined
from purely.prior.dedpul import dedpul
from purely.prior.kernel_mean import KernelMeanPrior
from purely.prior.kernel_mean_scores import kernel_mean_scores
from purely.prior.logistic_ceiling import logistic_ceiling
from purely.prior.monotone import monotone_top
from purely.prior.one_dimensional import OneDimensionalPrior, Scores, read_scores
from purely.prior.ratio import ratio_scores
from purely.prior.scores import Reader

__all__ = ["DensityRatioPrior"]

#: One-dimensional methods by name.
METHODS: dict[str, Reader] = {
    "best-bin": best_bin,
    "combined": combined,
    "dedpul": dedpul,
    "kernel-mean": kernel_mean_scores,
    "logistic-ceiling": logistic_ceiling,
    "monotone": monotone_top,
}


class DensityRatioPrior(PriorEstimator):
    r"""Class prior from a cross-fitted density ratio.

    The ratio :math:`w(x) = p(x \mid y=1) / p(x)` is a sufficient one-dimensional representation: the posterior is
    :math:`\pi_U w(x)`. It is learnt on all folds but one and evaluated on the one left out, so that the positives a
    model was trained on never meet their twins among the unlabelled rows; the pooled scores go to a one-dimensional
    method.

    Parameters
    ----------
    ratio : "auto", str, estimator or list of these, default="auto"
        Models of positives against unlabelled rows, whose log-ratios are averaged. An estimator needs `fit(X, y)` and
        one of `density_ratio`, `predict_proba` or `decision_function`: :class:`purely.PUSMI`, :class:`purely.PURL` or
        any classifier. Built in are "trees" (extremely randomised, leaves of five), "linear" (logistic regression),
        "kernel" (logistic regression on Nystroem features), "forest" (random forest) and "boosting" (histogram
        gradient boosting); "auto" is the first three.
    method : str or estimator, default="combined"
        "best-bin", "kernel-mean", "dedpul", "monotone", "logistic-ceiling", "combined" (the mean of best bin and
        logistic ceiling), or an instance of one of their classes.
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    n_repeats : int, default=1
        Number of cross-fits with different folds and seeds, whose scores are averaged.
    n_estimators : int, default=150
        Number of trees of the built-in "trees".
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_resamples : int, default=50
        Bootstrap replicates behind the interval; models are not fitted again.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, models and resampling.

    Attributes
    ----------
    class_prior_ : float
        Share of positives in the population.
    unlabelled_prior_ : float
        Share of positives among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`: bootstrap over the scores, jackknife over the folds' models, and, where
        a method combines two, their disagreement.
    scores_ : ndarray of shape (n,)
        Out-of-fold log-ratio of each row.
    model_scores_ : ndarray of shape (n_models, n)
        The same of each ratio model.
    diagnostics_ : PriorDiagnostics
        The curve the method read, and the score distributions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from purely import stack
    >>> from purely.prior import DensityRatioPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(4, 1, (300, 2))])
    >>> prior = DensityRatioPrior(LogisticRegression(), "best-bin").fit(*stack(P, U))
    >>> 0.3 < prior.class_prior_ < 0.5
    True
    """

    def __init__(
        self,
        ratio: Any = "auto",
        method: Any = "combined",
        *,
        cv: int = 5,
        n_repeats: int = 1,
        n_estimators: int = 150,
        scenario: str = "case-control",
        level: float = 0.9,
        n_resamples: int = 50,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.ratio = ratio
        self.method = method
        self.cv = cv
        self.n_repeats = n_repeats
        self.n_estimators = n_estimators
        self.scenario = scenario
        self.level = level
        self.n_resamples = n_resamples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _estimate(self, X: Any, positive: NDArray[np.bool_], folds: Folds | None) -> PriorEstimate:
        reader = resolve_method(self.method)
        n_resamples = check_number("n_resamples", self.n_resamples, 0, integer=True)
        cv, n_repeats = (
            check_number("cv", self.cv, 2, integer=True),
            check_number("n_repeats", self.n_repeats, 1, integer=True),
        )
        seed = draw_seed(self.random_state)
        size = check_number("n_estimators", self.n_estimators, 1, integer=True)
        fits = [
            ratio_scores(
                self.ratio,
                X,
                positive,
                cv=cv,
                seed=seed + 7919 * repeat,
                folds=folds if repeat == 0 else None,
                n_estimators=size,
                n_jobs=self.n_jobs,
            )
            for repeat in range(n_repeats)
        ]
        self.model_scores_ = np.mean([fit.by_model for fit in fits], axis=0)
        self.scores_ = np.mean([fit.score for fit in fits], axis=0)
        scores = Scores(self.scores_, fits[0].fold)
        return read_scores(scores, positive, reader, level=self.level, n_resamples=n_resamples, seed=seed)


def resolve_method(method: Any) -> Reader:
    """The one-dimensional method that a `method` parameter stands for."""
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    if isinstance(method, OneDimensionalPrior):
        return method._reader()
    if isinstance(method, KernelMeanPrior):
        return partial(kernel_mean_scores, variant=method.variant)
    raise ValueError(
        f"method must be one of {', '.join(map(repr, METHODS))} or an instance of a one-dimensional estimator such as "
        f"BestBinPrior(); {method!r} was given."
    )
