r"""What a model can be chosen by, with positive and unlabelled rows only, and scorers of scikit-learn's kind.

A criterion turns a model's outputs into groups of rows and a functional of the groups' shares, as the metrics do. Three
need no class prior: "ranking", :math:`\Pr(s_P > s_X)`, which orders models as the area under the ROC curve does;
"lee_liu", :math:`r^2 / q`; and "information", that of the best multiple of a non-negative score *s*,

.. math::

    I = \max_a \; a E_P[s] - \tfrac12 a^2 E_X[s^2] - \tfrac12
    = \frac12 \left( \frac{E_P[s]^2}{E_X[s^2]} - 1 \right),

which the density ratio, and so p(y=1|x), makes largest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from purely.class_prior import KnownPrior, Prior, read_prior
from purely.crossfit import Statement, model_says
from purely.labels import Scenario, check_scenario
from purely.metrics.estimate import Evaluation, Functional, group_scores
from purely.metrics.ranking import FUNCTIONALS as RANKING
from purely.metrics.risk import LOSSES, risk_functional
from purely.metrics.thresholds import FUNCTIONALS as THRESHOLD
from purely.typing import Estimator, Floats, Indices, Matrix


@dataclass(frozen=True)
class Criterion:
    """A name, what it looks at, its formula, whether more is better, and whether the formula holds the prior.

    Attributes
    ----------
    name : str
    kind : Statement
        What is asked of a model.
    functional_of : callable
        From the output of each group of rows, ascending, to the functional of the groups' shares.
    greater_is_better, with_prior : bool
    """

    name: str
    kind: Statement
    functional_of: Callable[[Floats], Functional]
    greater_is_better: bool = True
    with_prior: bool = True

    @property
    def sign(self) -> float:
        """1 where more is better, otherwise -1."""
        return 1.0 if self.greater_is_better else -1.0

    def prepare(self, output: Floats) -> tuple[Indices, int, Functional]:
        """Group of each row, number of groups, and the functional of the groups' shares."""
        group, n_groups = ((output > 0.5).astype(np.intp), 2) if self.kind == "class" else group_scores(output)
        return group, n_groups, self.functional_of(np.unique(output))


def _information(values: Floats) -> Functional:
    def functional(p: Floats, x: Floats, prior: Floats) -> Floats:
        square = np.asarray(x @ values**2)
        first = np.asarray(p @ values) ** 2
        return np.asarray(0.5 * (np.divide(first, square, out=np.ones_like(square), where=square > 0.0) - 1.0))

    return functional


def _ranking(p: Floats, x: Floats, prior: Floats) -> Floats:
    return RANKING["roc_auc"](p, x, np.zeros_like(prior))


def _as_it_is(functional: Functional) -> Callable[[Floats], Functional]:
    """A formula that looks at the order of the outputs alone."""
    return lambda values: functional


def _risk(name: str, kind: Statement, loss: str) -> Criterion:
    at_positive, at_negative = LOSSES[loss]
    return Criterion(name, kind, lambda v: risk_functional(at_positive(v), at_negative(v), False), False)


_ERRORS = risk_functional(np.array([1.0, 0.0]), np.array([0.0, 1.0]), False)
CRITERIA = {
    criterion.name: criterion
    for criterion in (
        *(Criterion(name, "class", _as_it_is(f), True, needs) for name, (f, _, needs) in THRESHOLD.items()),
        *(Criterion(name, "score", _as_it_is(f)) for name, f in RANKING.items()),
        Criterion("risk", "class", _as_it_is(_ERRORS), greater_is_better=False),
        _risk("brier", "probability", "brier"),
        _risk("logistic_risk", "log-odds", "logistic"),
        _risk("sigmoid_risk", "log-odds", "sigmoid"),
        Criterion("ranking", "score", _as_it_is(_ranking), with_prior=False),
        Criterion("information", "ratio", _information, with_prior=False),
    )
}


def find_criterion(name: object, class_prior: KnownPrior | None) -> Criterion:
    """The criterion of that name; refused where it is unknown, or needs a prior and has none."""
    if name not in CRITERIA:
        raise ValueError(f"scoring must be one of {', '.join(map(repr, sorted(CRITERIA)))}; {name!r} was given.")
    criterion = CRITERIA[str(name)]
    if criterion.with_prior and class_prior is None:
        free = ", ".join(repr(n) for n, c in sorted(CRITERIA.items()) if not c.with_prior and n != "recall")
        raise ValueError(f"scoring={name!r} needs class_prior; without one choose among {free}.")
    return criterion


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
        shares = evaluation.shares(*evaluation.labels.counts(group, n_groups))
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
