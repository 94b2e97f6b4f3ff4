"""Is the prior identifiable? Whether the top of a density ratio is pure, as it must be somewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purely.prior.logistic_ceiling import logistic_ceiling
from purely.prior.scores import ScoreTable

#: Below this purity of the best twentieth of the positives the share hangs on an extrapolation.
PURE = 0.965


@dataclass(frozen=True)
class TopOfRatio:
    """What the top of the density ratio says about identifiability.

    Attributes
    ----------
    first, second : float
        Ratio of the unlabelled to the positive share in the best tenth of the positives and in the next fifth.
    z : float
        Their difference in standard errors; large where the ratio still improves towards the top.
    purity : float
        Share of positives among the unlabelled rows that score like the best twentieth of the positives, under a
        logistic posterior; one where some rows can only be positive.
    """

    first: float
    second: float
    z: float
    purity: float

    @property
    def rising(self) -> bool:
        """True where the ratio has not levelled off."""
        return self.z > 3.0 and self.second > 1.2 * self.first

    @property
    def pure(self) -> bool:
        """True where the data determine the share."""
        return self.purity >= PURE and not self.rising


def top_of_ratio(table: ScoreTable, slices: tuple[float, float] = (0.1, 0.3), leeway: float = 0.5) -> TopOfRatio:
    """Compare the best slices of the positives, and extrapolate the purity of the very best."""
    details = logistic_ceiling(table, leeway=leeway).details or {}
    purity = float(details["purity"])
    q_p, q_u = table.tails()
    second = min(int(np.searchsorted(q_p, slices[1] - 1e-12)), q_p.size - 1)
    first = min(int(np.searchsorted(q_p, slices[0] - 1e-12)), second)
    p1, p2 = q_p[first], q_p[second] - q_p[first]
    u1, u2 = q_u[first], q_u[second] - q_u[first]
    if p2 <= 0.0:
        return TopOfRatio(float(u1 / p1), float("nan"), 0.0, purity)
    r1, r2 = u1 / p1, u2 / p2
    # Poisson counts: relative variances add. A half keeps an empty slice finite.
    v1 = r1**2 * (1.0 / (u1 * table.n_u + 0.5) + 1.0 / (p1 * table.n_p)) + (0.5 / table.n_u / p1) ** 2
    v2 = r2**2 * (1.0 / (u2 * table.n_u + 0.5) + 1.0 / (p2 * table.n_p)) + (0.5 / table.n_u / p2) ** 2
    return TopOfRatio(float(r1), float(r2), float((r2 - r1) / np.sqrt(v1 + v2)), purity)
