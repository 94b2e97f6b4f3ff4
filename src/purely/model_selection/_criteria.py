r"""What a model can be chosen by, with positive and unlabelled rows only.

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

from purely.class_prior import KnownPrior
from purely.crossfit import Statement
from purely.metrics.estimate import Functional, group_scores
from purely.metrics.ranking import FUNCTIONALS as RANKING
from purely.metrics.risk import LOSSES, risk_functional
from purely.metrics.thresholds import FUNCTIONALS as THRESHOLD
from purely.typing import Floats, Indices


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
