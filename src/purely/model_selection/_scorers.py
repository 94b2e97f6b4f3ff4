"""Scorers for ``GridSearchCV`` and ``cross_val_score`` that see positive and unlabelled rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from purely.class_prior import KnownPrior, Prior, read_prior
from purely.crossfit import model_says
from purely.labels import Scenario, check_scenario
from purely.metrics.estimate import Evaluation
from purely.model_selection._criteria import CRITERIA, find_criterion
from purely.typing import Estimator, Matrix


@dataclass(frozen=True)
class PUScorer:
    """A scorer, called with a fitted model, rows and positive-unlabelled labels; made by :func:`pu_scorer`.

    Attributes
    ----------
    scoring : str
    class_prior : Prior or None
    scenario : {"case-control", "single-sample"}

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from purely.datasets import make_gaussians
    >>> from purely.model_selection import pu_scorer
    >>> data = make_gaussians(n_features=2, random_state=0)
    >>> scorer = pu_scorer("roc_auc", class_prior=0.5)
    >>> bool(scorer(LogisticRegression().fit(data.X, data.y), data.X, data.y) > 0.8)
    True
    """

    scoring: str
    class_prior: Prior | None
    scenario: Scenario

    def __call__(self, estimator: Estimator, X: Matrix, y: ArrayLike, sample_weight: None = None) -> float:
        """Score, greater is better; not clipped to the legal range, so that the mean over folds is not biased."""
        if sample_weight is not None:
            raise ValueError("PU scorers do not take sample_weight.")
        criterion = CRITERIA[self.scoring]
        evaluation = Evaluation.read(y, self.class_prior, scenario=self.scenario, n_resamples=0)
        output = model_says(estimator, X, criterion.kind, evaluation.labels.classes[1])
        group, n_groups, functional = criterion.prepare(evaluation.column(output, "score"))
        shares = evaluation.shares(*evaluation.counts(group, n_groups))
        value = float(functional(*shares, evaluation.prior_value))
        # a precision with no unlabelled row above the threshold is infinite
        return criterion.sign * float(np.nan_to_num(value, posinf=1.0))

    def __repr__(self) -> str:
        prior = "" if self.class_prior is None else f", class_prior={self.class_prior}"
        return f"pu_scorer({self.scoring!r}{prior}, scenario={self.scenario!r})"


def pu_scorer(scoring: str, class_prior: KnownPrior | None = None, *, scenario: Scenario = "case-control") -> PUScorer:
    """Make a scorer from a metric's name.

    A score is not clipped to the metric's legal range, so in a single fold it may be larger than 1: the mean over folds
    would be biased otherwise.

    Parameters
    ----------
    scoring : str
        One of :func:`pu_scorer_names`. Risks and the Brier score are returned negative: greater is better.
    class_prior : float, interval or fitted prior estimator, default=None
        One prior for all models; otherwise a model could look better because its own estimate of the prior is
        convenient. "ranking", "information", "lee_liu", "lift" and "recall" need none.
    scenario : {"case-control", "single-sample"}, default="case-control"

    Returns
    -------
    PUScorer

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from purely.datasets import make_gaussians
    >>> from purely.model_selection import PUStratifiedKFold, pu_scorer
    >>> data = make_gaussians(n_features=5, random_state=0)
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [1e-4, 1.0]},
    ...     scoring=pu_scorer("roc_auc", class_prior=0.5),
    ...     cv=PUStratifiedKFold(5, random_state=0),
    ... ).fit(data.X, data.y)
    >>> bool(0.8 < search.best_score_ < 1.05)
    True
    """
    find_criterion(scoring, class_prior)
    prior = read_prior(class_prior) if class_prior is not None and CRITERIA[scoring].with_prior else None
    return PUScorer(scoring, prior, check_scenario(scenario))


def pu_scorer_names() -> list[str]:
    """Names that :func:`pu_scorer` and :func:`select_model` know.

    Examples
    --------
    >>> from purely.model_selection import pu_scorer_names
    >>> "f1" in pu_scorer_names()
    True
    """
    return sorted(CRITERIA)
