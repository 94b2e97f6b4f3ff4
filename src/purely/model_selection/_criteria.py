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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from purely.class_prior import KnownPrior
from purely.crossfit import Statement
from purely.metrics.estimate import Floats, Functional, group_scores
from purely.metrics.ranking import FUNCTIONALS as RANKING
from purely.metrics.risk import LOSSES, risk_functional
from purely.metrics.thresholds import FUNCTIONALS as THRESHOLD


@dataclass(frozen=True)
class Criterion:
    """A name, what it looks at, whether more is better, and whether its formula holds the prior."""

    name: str
    kind: Statement
    greater_is_better: bool = True
    with_prior: bool = True

    def prepare(self, output: Floats) -> tuple[NDArray[np.intp], int, Functional]:
        """Group of each row, number of groups, and the functional of the groups' shares."""
        if self.kind == "class":
            group, n_groups = (output > 0.5).astype(np.intp), 2
            if self.name == "risk":
                return group, n_groups, risk_functional(np.array([1.0, 0.0]), np.array([0.0, 1.0]), False)
            return group, n_groups, THRESHOLD[self.name][0]
        group, n_groups = group_scores(output)
        if self.name in RANKING:
            return group, n_groups, RANKING[self.name]
        if self.name == "ranking":
            return group, n_groups, lambda p, x, prior: RANKING["roc_auc"](p, x, np.zeros_like(prior))
        values = np.unique(output)
        if self.name == "information":
            return group, n_groups, _information(values)
        loss = {"brier": "brier", "logistic_risk": "logistic", "sigmoid_risk": "sigmoid"}[self.name]
        at_positive, at_negative = (f(values) for f in LOSSES[loss])
        return group, n_groups, risk_functional(at_positive, at_negative, False)


def _information(values: Floats) -> Functional:
    def functional(p: Floats, x: Floats, prior: Floats) -> Floats:
        square = np.asarray(x @ values**2)
        first = np.asarray(p @ values) ** 2
        return np.asarray(0.5 * (np.divide(first, square, out=np.ones_like(square), where=square > 0.0) - 1.0))

    return functional


CRITERIA: dict[str, Criterion] = {
    **{name: Criterion(name, "class", True, needs) for name, (_, _, needs) in THRESHOLD.items()},
    **{name: Criterion(name, "score") for name in RANKING},
    "risk": Criterion("risk", "class", greater_is_better=False),
    "brier": Criterion("brier", "probability", greater_is_better=False),
    "logistic_risk": Criterion("logistic_risk", "log-odds", greater_is_better=False),
    "sigmoid_risk": Criterion("sigmoid_risk", "log-odds", greater_is_better=False),
    "ranking": Criterion("ranking", "score", with_prior=False),
    "information": Criterion("information", "ratio", with_prior=False),
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
