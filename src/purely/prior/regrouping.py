r"""Regrouping: give the positives an anchor before estimating the prior.

Methods that read the largest proportion of positives in the unlabelled rows overestimate where the negatives'
distribution contains the positives'. Regrouping [1]_ changes the problem a little so that it does not: the unlabelled
rows that look most positive are copied into the positive sample. The region they lie in then belongs to the new
positives alone, the assumption holds, and the prior of the new problem exceeds the old one by the few negatives of
that region only.

References
----------
.. [1] Yao, Y., Liu, T., Han, B., Gong, M., Niu, G., Sugiyama, M. and Tao, D. Rethinking class-prior estimation for
   positive-unlabeled learning. ICLR 2022.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from purely._base import draw_seed
from purely.prior._base import PriorEstimate, PriorEstimator, check_number
from purely.prior._ratio import cross_fit

__all__ = ["RegroupingPrior"]


class RegroupingPrior(PriorEstimator):
    """Any prior estimator on regrouped data (ReCPE).

    Parameters
    ----------
    estimator : prior estimator, optional
        What estimates the prior of the regrouped problem; `KernelMeanPrior()` by default.
    fraction : float, default=0.1
        Number of unlabelled rows that are copied to the positives, as a share of the number of positives.
    ratio : "auto", str, estimator or list of these, default="auto"
        What ranks the unlabelled rows; see :class:`DensityRatioPrior`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.labels.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`, that of the regrouped problem.
    estimator_ : prior estimator
        The estimator fitted on the regrouped problem.
    diagnostics_ : PriorDiagnostics
        That of `estimator_`.

    Notes
    -----
    The copied rows weigh twice in their region, so where classes are separable and there is nothing to correct the
    estimate is too small; regrouping is for classes that overlap everywhere.

    References
    ----------
    .. [1] Yao, Y. et al. Rethinking class-prior estimation for positive-unlabeled learning. ICLR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import RegroupingPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(4, 1, (300, 2))])
    >>> 0.3 < RegroupingPrior().fit(*stack(P, U)).class_prior_ < 0.5
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        fraction: float = 0.1,
        ratio: Any = "auto",
        scenario: str = "case-control",
        level: float = 0.9,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.fraction = fraction
        self.ratio = ratio
        self.scenario = scenario
        self.level = level
        self.random_state = random_state

    def _estimate(self, X: Any, positive: NDArray[np.bool_]) -> PriorEstimate:
        fraction = check_number("fraction", self.fraction, 0.0, 0.5, open_low=True)
        inner = self._inner()
        score = cross_fit(self.ratio, X, positive, cv=5, seed=draw_seed(self.random_state)).score
        unlabelled = np.flatnonzero(~positive)
        best = unlabelled[np.argsort(-score[unlabelled], kind="stable")]
        copied = best[: max(1, round(fraction * np.count_nonzero(positive)))]
        rows = sp.vstack([X, X[copied]], format="csr") if sp.issparse(X) else np.concatenate([X, X[copied]])
        labels = np.concatenate([positive, np.ones(copied.size, dtype=bool)]).astype(np.intp)
        self.estimator_ = inner.fit(rows, labels)
        return PriorEstimate(
            share=self.estimator_.unlabelled_prior_,
            interval=self.estimator_.class_prior_interval_,
            diagnostics=self.estimator_.diagnostics_,
        )

    def _inner(self) -> Any:
        from purely.prior.kernel_mean import KernelMeanPrior

        inner = KernelMeanPrior() if self.estimator is None else clone(self.estimator)
        if not isinstance(inner, PriorEstimator):
            raise TypeError(
                f"estimator must be a prior estimator such as BestBinPrior(); {self.estimator!r} was given."
            )
        # Regrouped data are two samples, whatever they were before: the prior is the share among the unlabelled rows.
        return inner.set_params(scenario="case-control", level=self.level)
