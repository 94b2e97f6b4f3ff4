"""PNSMI: squared-loss mutual information from labels of both classes, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from purely.base import with_parameters
from purely.class_prior import check_class_prior
from purely.smi.linear import LinearRatio
from purely.smi.model_choice import PopulationWeights
from purely.smi.objective import pn_smi

Floats = NDArray[np.float64]


@with_parameters
class PNSMI(LinearRatio):
    r"""Squared-loss mutual information from labels of both classes, in closed form (the paper's appendix E).

    The model is that of appendix E of [1]_.

    The supervised counterpart of :class:`PUSMI` with the same interface: one ratio a class,
    :math:`w_y(x) = p(x \mid y)/p(x)`, each linear in the same basis.

    Parameters
    ----------
    basis, n_centers, centers, bandwidth, alpha, intercept, cv, n_jobs, random_state
        As for :class:`PUSMI`; centres are drawn from all rows.
    class_prior : float, optional
        p(y=1) in the population. None: the share of positives among the rows. Given, the rows of either class are
        weighted to that share.

    Attributes
    ----------
    smi_ : float
        Out-of-fold SMI, with the class prior in it.
    smi_in_sample_ : float
        The same with the rows that the ratios were fitted to. Optimistic.
    information_, information_in_sample_ : float
        The prior-free counterpart, to compare with :class:`PUSMI`: SMI times (1 - class_prior) / class_prior.
    class_prior_ : float
    coef_, centers_, bandwidth_, alpha_, cv_results_, classes_, sums_
        As for :class:`PUSMI`; ``coef_`` is that of the positive class.

    References
    ----------
    .. [1] T. Sakai, G. Niu, M. Sugiyama. Information-Theoretic Representation Learning for Positive-Unlabeled
       Classification. Neural Computation 33(1), 2021. Appendix E.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.smi import PNSMI
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=500)
    >>> X = rng.normal(size=(500, 1)) + 4.0 * y[:, None]
    >>> bool(0.3 < PNSMI(random_state=0).fit(X, y).smi() < 0.55)
    True
    """

    _supervised = True

    class_prior: float | None = None

    def _second_of_positives(self) -> bool:
        return True

    def _population_weights(self) -> PopulationWeights:
        # the same prior in every fold: folds are dealt out by class, so their own shares differ by rounding only
        n_negative, n_positive = self.sums_.count.sum(axis=1)
        prior = (
            n_positive / (n_positive + n_negative) if self.class_prior is None else check_class_prior(self.class_prior)
        )
        self.class_prior_ = float(prior)
        return lambda count: np.array([1.0 - prior, prior]) / np.maximum(count, 1.0)

    def _combine(self, objective: Floats) -> Floats:
        return self.class_prior_ * objective[1] + (1.0 - self.class_prior_) * objective[0]

    def _report(self, in_sample: Floats, out_of_fold: Floats) -> None:
        theta = self.class_prior_
        self.smi_in_sample_ = pn_smi(in_sample[1], in_sample[0], theta)
        self.smi_ = pn_smi(out_of_fold[1], out_of_fold[0], theta)
        odds = theta / (1.0 - theta)
        self.information_, self.information_in_sample_ = self.smi_ / odds, self.smi_in_sample_ / odds

    def smi(self) -> float:
        """The out-of-fold SMI, ``smi_``. Labels of both classes carry their own class prior, so none is asked for."""
        check_is_fitted(self, "coef_")
        return self.smi_

    def score(self, X: Any, y: ArrayLike) -> float:
        """The appendix's L on new data, SMI + 1/2; larger is better, and independence scores 0.5."""
        check_is_fitted(self, "coef_")
        X, labels = self._validate_fit(X, y, min_positive=1, min_unlabelled=1, reset=False)
        w = self._ratio(X, self._beta.T)
        positive, theta = labels.positive, self.class_prior_
        second = theta * np.mean(w[positive] ** 2, axis=0) + (1.0 - theta) * np.mean(w[~positive] ** 2, axis=0)
        objectives = 0.5 * second - np.array([w[~positive, 0].mean(), w[positive, 1].mean()])
        return pn_smi(objectives[1], objectives[0], theta) + 0.5
