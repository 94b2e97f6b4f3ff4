r"""Regrouping: give the positives an anchor before estimating the prior.

Methods that read the largest proportion :math:`\kappa` of positives in the unlabelled rows overestimate where the
negatives' distribution contains the positives'. Regrouping [1]_ changes the problem so that it does not: in a small
region :math:`A` that looks positive every unlabelled row is declared positive. The new positives have the density

.. math:: p_1'(x) \propto \pi_U \, p_1(x) \text{ outside } A, \qquad p_1'(x) \propto p_U(x) \text{ inside } A,

they occur alone in :math:`A`, and their share :math:`\pi' = \pi_U + (1 - \pi_U) P_0(A)` exceeds the old one by the few
negatives of :math:`A` only.

A sample of :math:`p_1'` is made by copying unlabelled rows of :math:`A` to the positives. With :math:`c` the weight of
the copies, the density is :math:`p_1 + c \, p_U` in :math:`A`, and it has the form above for

.. math:: c = \frac{1}{\pi_U} - \frac{1}{\rho} = \frac{1 - h}{h \rho}, \qquad \rho = \frac{P_U(A)}{P_1(A)},

with :math:`h = \pi_U / \rho` the share of positives among the unlabelled rows of :math:`A`: none where they are all
positive, so that the estimate is left alone where the assumption holds. The share :math:`h` is just what the samples do
not determine; here the form of the logistic ceiling (:mod:`purely.prior.ceiling`) stands in.

Copying every row of :math:`A` once instead, whatever :math:`h` is, as the method's authors do, is the weight
:math:`c = n_U / n_P`. It turns the limit :math:`\kappa` of an estimate into
:math:`\kappa \, (1 + c P_U(A)) / (1 + c \kappa)`, for instance .40 into .27 where :math:`n_U = 2 n_P` and a tenth is
copied: also where :math:`\kappa` was right.

References
----------
.. [1] Yao, Y., Liu, T., Han, B., Gong, M., Niu, G., Sugiyama, M. and Tao, D. Rethinking class-prior estimation for
   positive-unlabeled learning. ICLR 2022.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from purely.base import check_parameters, number, one_of, with_parameters
from purely.folds import Folds
from purely.prior.base import PriorEstimate, PriorEstimator
from purely.prior.ceiling import ceiling_profile, logistic_ceiling
from purely.prior.kernel_mean import KernelMeanPrior
from purely.prior.scores import ScoreTable
from purely.typing import Floats, Indices, Mask, Matrix

#: Purity of the top from which on no copies are needed.
PURE = 0.9


@with_parameters
class RegroupingPrior(PriorEstimator):
    """Any prior estimator on regrouped data (ReCPE).

    Parameters
    ----------
    estimator : prior estimator, optional
        What estimates the prior of the regrouped problem; `KernelMeanPrior()` by default.
    fraction : float, default=0.1
        Size of the region, as a share of the unlabelled rows.
    copies : {"auto", "all"}, default="auto"
        How many rows of the region are copied: as many as its purity calls for, none where it is pure; or all of them
        once.
    ratio : "auto", str, estimator or list of these, default="auto"
        What ranks the unlabelled rows; see :class:`ClassPrior`.
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
        Confidence interval of `class_prior_`, that of the regrouped problem.
    estimator_ : prior estimator
        The estimator fitted on the regrouped problem.
    n_copied_ : int
        Number of rows that were copied to the positives.
    diagnostics_ : PriorDiagnostics
        That of `estimator_`.

    Notes
    -----
    With `copies="auto"` the answer depends on the form of the logistic ceiling if the classes overlap everywhere. The
    description of :mod:`purely.prior.regrouping` says how, and why `copies="all"` is too small where they do not.

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

    estimator: PriorEstimator | None = field(default=None, kw_only=False)
    fraction: float = number(default=0.1, low=0.0, high=0.5, open_low=True)
    copies: str = one_of("auto", "all", default="auto")

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
        inner = self._inner()
        score = self._ratios(X, positive, folds).score
        unlabelled = np.flatnonzero(~positive)
        best = unlabelled[np.argsort(-score[unlabelled], kind="stable")]
        region = best[: max(1, round(self.fraction * unlabelled.size))]
        self.n_copied_ = region.size if self.copies == "all" else _copies(score, positive, region)
        # Evenly over the region, with repeats where more copies than rows are called for.
        copied = region[np.arange(self.n_copied_) * region.size // max(self.n_copied_, 1)]
        rows = sp.vstack([X, X[copied]], format="csr") if sp.issparse(X) else np.concatenate([X, X[copied]])
        found = inner._estimate(rows, np.concatenate([positive, np.ones(copied.size, dtype=bool)]), None)
        profile = ceiling_profile(ScoreTable.from_scores(score[positive], score[~positive]))
        return PriorEstimate(found.share, found.diagnostics, profile.posterior(), found.warnings)

    def _inner(self) -> PriorEstimator:
        inner = KernelMeanPrior() if self.estimator is None else clone(self.estimator)
        if not isinstance(inner, PriorEstimator):
            raise TypeError(
                f"estimator must be a prior estimator such as BestBinPrior(); {self.estimator!r} was given."
            )
        # Regrouped data are two samples, whatever they were before: the prior is the share among the unlabelled rows.
        check_parameters(type(inner), vars(inner))
        return inner.set_params(scenario="case-control", level=self.level)


def _copies(score: Floats, positive: Mask, region: Indices) -> int:
    """Number of copies that make a region of unlabelled rows hold the new positives alone."""
    purity = logistic_ceiling(ScoreTable.from_scores(score[positive], score[~positive])).details["purity"]
    if purity >= PURE:
        return 0
    n_p, n_u = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    share_p = max(float(np.mean(score[positive] >= score[region].min())), 1.0 / n_p)
    ratio = region.size / n_u / share_p
    purity = max(purity, 0.05)
    return min(round((1.0 - purity) / (purity * ratio) * region.size * n_p / n_u), n_p)
