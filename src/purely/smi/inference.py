r"""How far to trust an information: intervals, a bootstrap to check them, a test of 'no information'.

**What the interval covers.** Let :math:`\hat w` be a fitted ratio and take rows that it was not fitted to. Then

.. math::

    \hat I = \frac{1}{n_P} \sum_i \hat w(x^P_i) - \frac{1}{2 n_U} \sum_k \hat w(x^U_k)^2 - \frac12

is a difference of two means of independent rows, so a central limit theorem holds with variance
:math:`\operatorname{Var}_P(\hat w)/n_P + \operatorname{Var}_U(\hat w^2/2)/n_U`. The interval covers
:math:`I(\hat w) = -J(\hat w) - \tfrac12`: the information that the fitted ratio *captures*. By theorem 2
that is a lower bound on the true information :math:`I(s)`, and

.. math:: I(s) - I(\hat w) = \tfrac12 \int (\hat w - s)^2 p(x) dx,

so the error of the fitted ratio enters squared only: where the model is rich enough and the sample large enough, the
two are close. Out-of-fold ratios, pooled over folds, give the mean of :math:`I(\hat w_{-k})` over folds.

**Why out-of-fold rows are a little less certain than new ones.** The fold :math:`k` is judged by a model of the other
folds, and itself shapes the models that judge those. To second order the error of the pooled value is

.. math::

    \frac1K \sum_k \Big( g_k^\top \beta^* - \tfrac12 \beta^{*\top} \Delta_k \beta^* \Big)
    + \frac{1}{K(K-1)} \sum_{j \ne k} u_k^\top A^{-1} u_j,
    \qquad u_k = g_k - \Delta_k \beta^*, \quad A = H + \alpha I,

with :math:`g_k, \Delta_k` the errors of the fold's :math:`h` and :math:`H`. The first term is the one above. The second
is uncorrelated with it and has variance :math:`\frac{2K}{K-1} \operatorname{tr}\big((A^{-1} \Omega)^2\big)`, where
:math:`\Omega` is the covariance of the mean score over all rows: :func:`fold_interaction_variance`. It is of order
:math:`b / n^2` against :math:`1 / n`; at 400 positives and 100 centres it is a tenth to a half of the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from purely.checks import RandomState, check_number, check_share, draw_seed, level_to_z
from purely.labels import Scenario, check_scenario, read_labels
from purely.notebook import Sentence
from purely.smi.objective import information_from_objective, ratio_objective
from purely.typing import Floats, Mask


@dataclass(frozen=True)
class SMIInterval(Sentence):
    """An interval of the squared-loss mutual information, for the class prior it carries.

    Attributes
    ----------
    value, standard_error, low, high : float
        In units of SMI: the prior's odds are in them.
    level : float
    class_prior : float
        Taken as known.

    Examples
    --------
    >>> from purely.smi import SMIInterval
    >>> print(SMIInterval(0.4, 0.05, 0.32, 0.48, 0.9, class_prior=0.5))
    SMI 0.4000 [0.3200, 0.4800] (90% interval, class prior 0.5)
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float
    class_prior: float

    def __str__(self) -> str:
        return (
            f"SMI {self.value:.4f} [{self.low:.4f}, {self.high:.4f}] "
            f"({self.level:.0%} interval, class prior {self.class_prior:g})"
        )


@dataclass(frozen=True)
class InformationInterval(Sentence):
    """An interval of the prior-free information -J - 1/2.

    Attributes
    ----------
    information, standard_error, low, high : float
        Prior-free; :meth:`smi` scales them.
    level : float

    Examples
    --------
    >>> from purely.smi import InformationInterval
    >>> found = InformationInterval(0.4, 0.05, 0.32, 0.48, 0.9)
    >>> print(found)
    information 0.4000 [0.3200, 0.4800] (90% interval)
    >>> print(found.smi(class_prior=0.5))
    SMI 0.4000 [0.3200, 0.4800] (90% interval, class prior 0.5)
    """

    information: float
    standard_error: float
    low: float
    high: float
    level: float

    def smi(self, class_prior: float) -> SMIInterval:
        """The interval of the SMI at a given class prior."""
        theta = check_share("class_prior", class_prior)
        odds = theta / (1.0 - theta)
        value, error, low, high = (odds * x for x in (self.information, self.standard_error, self.low, self.high))
        return SMIInterval(value, error, low, high, self.level, theta)

    def __str__(self) -> str:
        return f"information {self.information:.4f} [{self.low:.4f}, {self.high:.4f}] ({self.level:.0%} interval)"


def _check_rows(ratio: ArrayLike, positive: ArrayLike) -> tuple[Floats, Mask]:
    w = np.asarray(ratio, dtype=np.float64)
    labels = np.asarray(positive)
    if w.shape != labels.shape or w.ndim != 1:
        raise ValueError(f"ratio and positive must be one-dimensional and equally long; got {w.shape}, {labels.shape}.")
    mask = labels if labels.dtype == bool else read_labels(labels).positive
    if not np.isfinite(w).all():
        raise ValueError(f"ratio has {int((~np.isfinite(w)).sum())} NaN or infinite values; it must be finite.")
    for count, kind in ((int(mask.sum()), "positive"), (int((~mask).sum()), "unlabelled")):
        if count < 2:
            raise ValueError(f"an interval needs at least 2 {kind} rows; {count} were given.")
    return w, mask


def captured_information(w: Floats, positive: Mask, scenario: Scenario) -> float:
    """The information -J - 1/2 of a ratio, from its values at rows of which those of p(x) depend on the scenario."""
    return information_from_objective(ratio_objective(w, positive, scenario))


def row_contributions(w: Floats, positive: Mask, scenario: Scenario) -> Floats:
    r"""Centred contributions :math:`\psi_i` whose sum of squares is the variance of the information.

    In the case-control scenario :math:`\psi = (w - \bar w_P)/n_P` at positives and :math:`-(w^2/2 - m)/n_U` at
    unlabelled rows; in the single-sample scenario every row stands for p(x), so a positive contributes to both means.
    """
    n_p, n = int(positive.sum()), positive.size
    first = np.where(positive, w - w[positive].mean(), 0.0) / n_p
    half_square = 0.5 * w**2
    if scenario == "single-sample":
        return first - (half_square - half_square.mean()) / n
    return first - np.where(positive, 0.0, half_square - half_square[~positive].mean()) / (n - n_p)


def fold_interaction_variance(A: Floats, omega: Floats, n_folds: int) -> float:
    r"""Variance :math:`\frac{2K}{K-1} \operatorname{tr}((A^{-1} \Omega)^2)` that pooling over folds adds.

    Parameters
    ----------
    A : ndarray of shape (b, b)
        :math:`H + \alpha I`, positive definite.
    omega : ndarray of shape (b, b)
        Covariance of the mean score over all rows.
    n_folds : int
        K, at least 2.
    """
    B = np.linalg.solve(A, omega)
    return float(2.0 * n_folds / (n_folds - 1.0) * np.sum(B * B.T))


def information_interval(
    ratio: ArrayLike,
    positive: ArrayLike,
    *,
    scenario: Scenario = "case-control",
    level: float = 0.9,
    extra_variance: float = 0.0,
) -> InformationInterval:
    """Confidence interval of the information that a ratio captures, by the central limit theorem.

    Parameters
    ----------
    ratio : array-like of shape (n,)
        The ratio at rows it was not fitted to (out-of-fold, or new rows).
    positive : array-like of shape (n,)
        Which rows are labelled positives: a mask, or labels in any coding of :mod:`purely.labels`.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    extra_variance : float, default=0.0
        What out-of-fold ratios add, see :func:`fold_interaction_variance`; zero for new rows.

    Returns
    -------
    InformationInterval

    Examples
    --------
    >>> import numpy as np
    >>> from purely.smi.inference import information_interval
    >>> rng = np.random.default_rng(0)
    >>> w = np.concatenate([rng.uniform(1.0, 2.0, 100), rng.uniform(0.0, 2.0, 200)])
    >>> print(information_interval(w, np.arange(300) < 100))
    information 0.2995 [0.2116, 0.3873] (90% interval)
    """
    w, mask = _check_rows(ratio, positive)
    scenario = check_scenario(scenario)
    z = level_to_z(level)
    if not 0.0 <= extra_variance < np.inf:
        raise ValueError(f"extra_variance must be non-negative and finite; {extra_variance!r} was given.")
    value = captured_information(w, mask, scenario)
    error = float(np.sqrt(np.sum(row_contributions(w, mask, scenario) ** 2) + extra_variance))
    return InformationInterval(value, error, value - z * error, value + z * error, float(level))


def bootstrap_information(
    ratio: ArrayLike,
    positive: ArrayLike,
    *,
    scenario: Scenario = "case-control",
    level: float = 0.9,
    n_resamples: int = 1000,
    random_state: RandomState = 0,
) -> InformationInterval:
    """Percentile bootstrap of the captured information: rows are drawn anew, the ratio stays as it is.

    A check on :func:`information_interval` that uses no normal approximation. Takes the same arguments.

    Parameters
    ----------
    ratio, positive, scenario, level
        As for :func:`information_interval`.
    n_resamples : int, default=1000
    random_state : int, optional

    Returns
    -------
    InformationInterval

    Examples
    --------
    >>> import numpy as np
    >>> from purely.smi import bootstrap_information, information_interval
    >>> rng = np.random.default_rng(0)
    >>> w = np.concatenate([rng.uniform(1.0, 2.0, 100), rng.uniform(0.0, 2.0, 200)])
    >>> drawn, formula = (f(w, np.arange(300) < 100) for f in (bootstrap_information, information_interval))
    >>> bool(abs(drawn.low - formula.low) < 0.05)
    True
    """
    w, mask = _check_rows(ratio, positive)
    scenario = check_scenario(scenario)
    level_to_z(level)
    check_number("n_resamples", n_resamples, 2, integer=True)
    rng = np.random.default_rng(draw_seed(random_state))
    draws = np.empty(n_resamples)
    for b in range(n_resamples):
        if scenario == "single-sample":
            rows = rng.integers(0, w.size, w.size)
            w_p, w_u = w[rows][mask[rows]], w[rows]
        else:
            w_p, w_u = (kind[rng.integers(0, kind.size, kind.size)] for kind in (w[mask], w[~mask]))
        draws[b] = (w_p.mean() if w_p.size else 0.0) - 0.5 * np.mean(w_u**2) - 0.5
    value = captured_information(w, mask, scenario)
    low, high = np.quantile(draws, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return InformationInterval(value, float(draws.std(ddof=1)), float(low), float(high), float(level))
