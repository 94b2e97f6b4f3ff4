r"""Has the pool changed? Looks at one batch after another, with a false alarm in at most a share alpha of all series.

Each batch is compared with a reference by three kinds of tests: the mean probability (Welch's), the distribution of the
scores (Kolmogorov and Smirnov's), and the distribution of each column (likewise; the smallest p-value times the number
of columns). At the :math:`k`-th look each kind has the level

.. math:: \alpha_k = \frac{\alpha}{3\, k (k + 1)}, \qquad \sum_k 3 \alpha_k = \alpha,

so that all looks together, however many, raise a false alarm with probability :math:`\alpha` at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import kolmogorov
from scipy.stats import ks_2samp, ttest_ind_from_stats

from purely.audit._design import read_probability
from purely.checks import check_number, check_share, dense, level_to_z
from purely.metrics import PUEstimate
from purely.typing import Floats, Matrix

#: Rows of a batch at least: with fewer nothing can be told.
FEWEST = 30
ASSUMPTION = "The model's probabilities are as right in this batch as they were in the reference."


@dataclass(frozen=True)
class Batch:
    """The part of a batch that a monitor compares.

    Attributes
    ----------
    name : str
    probability : ndarray of shape (n,)
    X : array or CSR matrix of shape (m, d), optional
        Columns of some of the rows, drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Batch
    >>> Batch("week 1", np.array([0.1, 0.7])).probability.mean().round(2).item()
    0.4
    """

    name: str
    probability: Floats
    X: Matrix | None = None


@dataclass(frozen=True)
class Look:
    """What a look at a batch has found.

    Attributes
    ----------
    name : str
    number : int
        Number of the look, from 1.
    rows : int
    share : PUEstimate
        Mean probability: the share of positives, as far as the model is right.
    p_share, p_score, p_column : float
        P-values of the three kinds of tests; that of the columns is for all of them together.
    column : str
        The column that has changed most.
    level : float
        Level of this look: a smaller p-value counts as a change.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Batch, Monitor
    >>> rng = np.random.default_rng(0)
    >>> look = Monitor(Batch("reference", rng.beta(1, 9, 2000))).look(Batch("week 1", rng.beta(2, 9, 500)))
    >>> look.changed, bool(look.p_share < look.level)
    (('share', 'scores'), True)
    """

    name: str
    number: int
    rows: int
    share: PUEstimate
    p_share: float
    p_score: float
    p_column: float
    column: str
    level: float

    @property
    def changed(self) -> tuple[str, ...]:
        """What has changed: "share", "scores", or a column's name."""
        found = [("share", self.p_share), ("scores", self.p_score), (f"column {self.column}", self.p_column)]
        return tuple(what for what, p in found if p < self.level)

    def __str__(self) -> str:
        verdict = f"changed: {', '.join(self.changed)}" if self.changed else "no change"
        return f"{self.name}: share {self.share.value:.3f} [{self.share.low:.3f}, {self.share.high:.3f}], {verdict}"


@dataclass
class Monitor:
    """Compares batches with a reference, one after another.

    Attributes
    ----------
    reference : Batch
    columns : sequence of str
        Names of the columns of X.
    alpha : float, default=0.05
        Probability of a false alarm over all looks together.
    looks : list of Look
        What was found so far.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import Batch, Monitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = Monitor(Batch("reference", rng.beta(1, 9, 2000)))
    >>> monitor.look(Batch("week 1", rng.beta(1, 9, 500))).changed
    ()
    >>> monitor.look(Batch("week 2", rng.beta(2, 9, 500))).changed
    ('share', 'scores')
    """

    reference: Batch
    columns: Sequence[str] = ()
    alpha: float = 0.05
    looks: list[Look] = field(default_factory=list)
    #: Rows whose columns are compared at most.
    most_compared: ClassVar[int] = 5000

    def __post_init__(self) -> None:
        check_share("alpha", self.alpha)
        check_number("the number of rows of the reference", read_probability(self.reference.probability).size, FEWEST)

    def look(self, batch: Batch, *, level: float = 0.9) -> Look:
        """Compare a batch with the reference.

        Parameters
        ----------
        batch : Batch
        level : float, default=0.9
            Level of the share's interval.

        Returns
        -------
        Look
        """
        q, first = read_probability(batch.probability), read_probability(self.reference.probability)
        if q.size < FEWEST:
            raise ValueError(f"{batch.name} has {q.size} rows; at least {FEWEST} are needed to tell a change.")
        number, share = len(self.looks) + 1, mean_share(q, level)
        p_values, at = (welch(q, first), kolmogorov_smirnov(q, first)), self.alpha / (3.0 * number * (number + 1.0))
        self.looks.append(Look(batch.name, number, q.size, share, *p_values, *self._columns(batch), at))
        return self.looks[-1]

    def _columns(self, batch: Batch) -> tuple[float, str]:
        """The smallest p-value of the columns, for all of them together, and the column."""
        if batch.X is None or self.reference.X is None:
            return 1.0, ""
        one, other = (dense(X[: self.most_compared]) for X in (self.reference.X, batch.X))
        if one.shape[1] != other.shape[1]:
            raise ValueError(
                f"{batch.name} has {other.shape[1]} columns and the reference {one.shape[1]}; they must be the same."
            )
        p = [kolmogorov_smirnov(a, b) for a, b in zip(one.T, other.T, strict=True)]
        worst = int(np.argmin(p))
        name = self.columns[worst] if len(self.columns) == len(p) else str(worst)
        return min(1.0, p[worst] * len(p)), name


def mean_share(probability: ArrayLike, level: float) -> PUEstimate:
    """The mean probability with the interval of so many rows."""
    q = np.asarray(probability, dtype=np.float64)
    mean, error = float(q.mean()), float(q.std(ddof=1) / np.sqrt(q.size))
    low, high = np.clip(mean + level_to_z(level) * error * np.array([-1.0, 1.0]), 0.0, 1.0)
    return PUEstimate("share of positives", mean, error, float(low), float(high), level, ASSUMPTION, mean)


def welch(a: Floats, b: Floats) -> float:
    """P-value of Welch's test for equal means; 1 where all values are the same."""
    if min(a.min(), b.min()) == max(a.max(), b.max()):
        return 1.0
    moments = [x for of in (a, b) for x in (of.mean(), of.std(ddof=1), of.size)]
    with np.errstate(divide="ignore", invalid="ignore"):  # of two different constants the value is 0
        return float(ttest_ind_from_stats(*moments, equal_var=False).pvalue)


def kolmogorov_smirnov(a: Floats, b: Floats) -> float:
    """P-value of the two-sample test of Kolmogorov and Smirnov, by its limiting law; ties make it larger."""
    distance = ks_2samp(a, b, method="asymp").statistic
    return float(kolmogorov(distance * np.sqrt(a.size * b.size / (a.size + b.size))))
