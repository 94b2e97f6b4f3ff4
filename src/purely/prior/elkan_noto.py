r"""Elkan and Noto's estimators of the labelling frequency.

With :math:`g(x) = p(\text{labelled} \mid x)` over the pooled rows and :math:`c = p(\text{labelled} \mid y = 1)`,
positives that are surely positive have :math:`g(x) = c` [1]_. Three estimators of :math:`c`:

.. math::

    e_1 = \frac{1}{n_P} \sum_{x \in P} g(x), \qquad
    e_2 = \frac{\sum_{x \in P} g(x)}{\sum_{x \in P \cup U} g(x)}, \qquad
    e_3 = \max_x g(x) .

The share of positives among the unlabelled rows follows from counts, :math:`\pi_U = n_P (1/c - 1) / n_U`, in either
scenario: pooling two samples is labelling at a frequency of :math:`n_P / (n_P + \pi n_U)`.

References
----------
.. [1] Elkan, C. and Noto, K. Learning classifiers from only positive and unlabeled data. KDD 2008.
"""

from __future__ import annotations

import numpy as np

from purely.base import one_of, with_parameters
from purely.prior.one_dimensional import OneDimensionalPrior
from purely.prior.scores import ScoreReading, ScoreTable


def elkan_noto(table: ScoreTable, variant: str = "e1") -> ScoreReading:
    """Share of positives by one of the three estimators, from a table of log density ratios.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.scores import ScoreTable
    >>> from purely.prior.elkan_noto import elkan_noto
    >>> log_ratio_p, log_ratio_u = np.full(100, np.log(4.0)), np.repeat([-20.0, np.log(4.0)], [150, 50])
    >>> round(elkan_noto(ScoreTable.from_scores(log_ratio_p, log_ratio_u)).share, 6)
    0.25
    """
    labelled = table.label_probability
    total_p = float(table.count_p @ labelled)
    if variant == "e1":
        frequency = total_p / table.n_p
    elif variant == "e2":
        frequency = total_p / (total_p + float(table.count_u @ labelled))
    else:
        frequency = float(labelled.max())
    frequency = max(frequency, 1e-12)
    share = float(np.clip(table.n_p * (1.0 / frequency - 1.0) / table.n_u, 0.0, 1.0))
    axes, details = ("log density ratio", "probability of a label"), {"label_frequency": frequency}
    return ScoreReading(share, table.score, labelled, *axes, details=details)


@with_parameters
class ElkanNotoPrior(OneDimensionalPrior):
    """Class prior by Elkan and Noto's estimators of the labelling frequency.

    Parameters
    ----------
    variant : {"e1", "e2", "e3"}, default="e1"
        The mean over the positives, the ratio of sums, or the maximum; the last has a large variance.
    ratio : "auto", estimator or None, default="auto"
        How columns become a log density ratio; see :class:`BestBinPrior`. One column is the log-ratio itself.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        The probability of a label against the log density ratio.

    Notes
    -----
    `e1` and `e2` assume that every positive can be recognised with certainty, and overestimate the share where
    classes overlap.

    References
    ----------
    .. [1] Elkan, C. and Noto, K. Learning classifiers from only positive and unlabeled data. KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import ElkanNotoPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(5, 1, (300, 2))])
    >>> 0.3 < ElkanNotoPrior().fit(*stack(P, U)).class_prior_ < 0.5
    True
    """

    _read = staticmethod(elkan_noto)

    variant: str = one_of("e1", "e2", "e3", default="e1", kw_only=False)
