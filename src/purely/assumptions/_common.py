"""Outcomes of the checks, and the counts and the test they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom, rankdata

from purely.checks import check_column, check_share
from purely.labels import PULabels, Scenario, read_labels
from purely.notebook import Sentence
from purely.typing import Floats

Status = Literal["ok", "doubtful", "violated"]

_MAX_BINS = 20
_MIN_ROWS_A_BIN = 25
#: 'violated' asks for a p-value this many times smaller than 'doubtful'.
STRICTER = 5.0


@dataclass(frozen=True)
class AssumptionCheck(Sentence):
    """Outcome of one check.

    Attributes
    ----------
    name : str
    status : {"ok", "doubtful", "violated"}
    statistic : float
        What the check looked at; its docstring says what it is.
    p_value : float
        NaN where the check is not a test.
    message : str
        What was found and what to do.
    details : dict of str to float

    Examples
    --------
    >>> from purely.assumptions import check_assumptions
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(500, 1000, random_state=0)
    >>> check = check_assumptions(data.y, data.posterior, class_prior=0.5).checks[0]
    >>> check.name, check.status
    ('selection', 'ok')
    """

    name: str
    status: Status
    statistic: float
    p_value: float
    message: str
    details: dict[str, float] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.status}. {self.message}"


@dataclass(frozen=True)
class AssumptionReport(Sentence):
    """Outcomes of :func:`check_assumptions`.

    Attributes
    ----------
    checks : tuple of AssumptionCheck

    Examples
    --------
    >>> from purely.assumptions import check_assumptions
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(500, 1000, random_state=0)
    >>> report = check_assumptions(data.y, data.posterior, class_prior=0.5)
    >>> report.status, report[report.checks[0].name] is report.checks[0]
    ('ok', True)
    """

    checks: tuple[AssumptionCheck, ...]

    @property
    def status(self) -> Status:
        """The worst status of all checks."""
        found = {check.status for check in self.checks}
        return "violated" if "violated" in found else "doubtful" if "doubtful" in found else "ok"

    def __getitem__(self, name: str) -> AssumptionCheck:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"{name!r}; the checks are {', '.join(c.name for c in self.checks)}.")

    def __str__(self) -> str:
        return "\n".join(str(check) for check in self.checks)


def read_rows(y: ArrayLike, score: ArrayLike, alpha: float) -> tuple[PULabels, Floats]:
    check_share("alpha", alpha, ", such as 0.05")
    labels = read_labels(y, min_positive=2, min_unlabelled=2)
    return labels, check_column("score", score, labels.positive.size)


def bin_counts(labels: PULabels, scores: Floats) -> tuple[Floats, Floats]:
    """Labelled and unlabelled rows in bins of equally many rows, ascending; equal scores share a bin."""
    n_bins = int(np.clip(scores.size // _MIN_ROWS_A_BIN, 2, _MAX_BINS))
    place = np.ceil(rankdata(scores, method="max") / scores.size * n_bins).astype(np.intp) - 1
    place = np.unique(place, return_inverse=True)[1]
    return labels.counts(place, int(place.max()) + 1)


def grade(p_value: float, alpha: float) -> Status:
    return "violated" if p_value < alpha / STRICTER else "doubtful" if p_value < alpha else "ok"


@dataclass(frozen=True)
class Excess:
    """Whether regions of the score hold more labelled positives than a class prior allows, see :func:`excess`."""

    p_value: float
    ratio: float  # by how much, in the worst region
    bound: float  # of the share among the unlabelled rows, from above


def excess(labels: PULabels, scores: Floats, prior: float, scenario: Scenario, alpha: float) -> Excess:
    r"""Test of :math:`U(A) \ge \pi_U P(A)` over bins and upper sets of the score.

    At equality a region's rows are labelled ones with the chance :math:`n_P / (n_P + \pi_U n_U)` each, so given how
    many rows it holds the labelled ones are binomial: an exact test, Bonferroni over the regions. Turned round, each
    region bounds the share :math:`\pi_U \le U(A) / P(A)` from above.
    """
    odds = labels.n_positive / labels.n_unlabelled
    of_all = labels.n_positive + labels.n_unlabelled
    share = prior if scenario == "case-control" else (prior * of_all - labels.n_positive) / labels.n_unlabelled
    share = float(np.clip(share, 0.0, 1.0))
    n_p, n_u = bin_counts(labels, scores)
    tops_p, tops_u = np.cumsum(n_p[::-1])[:-1], np.cumsum(n_u[::-1])[:-1]  # the set of all rows says nothing
    k_p, k_u = np.append(n_p, tops_p), np.append(n_u, tops_u)
    regions = k_p.size
    chance = odds / (odds + share) if share > 0.0 else 1.0
    p_values = binom.sf(k_p - 1.0, k_p + k_u, chance)
    tail = alpha / regions
    of_unlabelled = np.where(k_p > 0.0, beta.ppf(1.0 - tail, k_u + 1.0, np.maximum(k_p, 1e-9)), 1.0)
    with np.errstate(divide="ignore"):
        bounds = np.where(k_p > 0.0, of_unlabelled / (1.0 - of_unlabelled) * odds, np.inf)
    worst = int(np.argmin(p_values))
    ratio = share * (k_p[worst] / labels.n_positive) / max(k_u[worst] / labels.n_unlabelled, 0.5 / labels.n_unlabelled)
    return Excess(min(1.0, float(p_values.min()) * regions), float(ratio), float(min(bounds.min(), 1.0)))
