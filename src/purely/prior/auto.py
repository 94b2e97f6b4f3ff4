"""The recommended class prior: one setting for every data set."""

from __future__ import annotations

from purely.checks import RandomState
from purely.prior.density_ratio import DensityRatioPrior

__all__ = ["ClassPrior"]


class ClassPrior(DensityRatioPrior):
    """The class prior we recommend: cross-fitted ratios of three models, read by two methods.

    Log density ratios of extremely randomised trees, logistic regression and kernel logistic regression of positives
    against unlabelled rows are averaged out of fold; the share is the mean of what best bin and logistic ceiling read
    off them, the first an upper bound that needs no form, the second an extrapolation beyond impure tops. Models and
    methods were chosen by a study (`experiments/prior_study.py`) on rows that the reported errors do not use.

    Parameters
    ----------
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    n_estimators : int, default=150
        Number of trees a fold.
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
        Confidence interval of `class_prior_`.
    scores_ : ndarray of shape (n,)
        Out-of-fold log-ratio of each row.
    model_scores_ : ndarray of shape (3, n)
        The same of trees, logistic regression and kernel logistic regression.
    diagnostics_ : PriorDiagnostics
        The ratio of tail shares, the score distributions, what each method read, and whether the prior is identifiable.

    See Also
    --------
    DensityRatioPrior : The same with any ratio model and any method.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import ClassPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(4, 1, (300, 2))])
    >>> prior = ClassPrior().fit(*stack(P, U))
    >>> 0.3 < prior.class_prior_ < 0.5
    True
    """

    def __init__(
        self,
        *,
        cv: int = 5,
        n_estimators: int = 150,
        scenario: str = "case-control",
        level: float = 0.9,
        n_resamples: int = 50,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(
            "auto",
            "combined",
            cv=cv,
            n_estimators=n_estimators,
            scenario=scenario,
            level=level,
            n_resamples=n_resamples,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # The models and the method are the class's, not the user's: another choice is a DensityRatioPrior.
        return ["cv", "level", "n_estimators", "n_jobs", "n_resamples", "random_state", "scenario"]
