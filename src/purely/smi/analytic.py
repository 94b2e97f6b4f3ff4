"""PUSMI and PNSMI: squared-loss mutual information in closed form, from PU data and from labels of both classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.base import with_parameters
from purely.checks import check_share
from purely.labels import check_scenario
from purely.smi.inference import InformationInterval, SMIInterval, fold_interaction_variance, information_interval
from purely.smi.linear import LinearRatio
from purely.smi.model_choice import Equations, Moments, class_means, population_weights, positive_mean
from purely.smi.objective import information_from_objective, pn_smi, ratio_objective, smi_from_information
from purely.typing import Floats, Mask, Matrix


@with_parameters
class PUSMI(LinearRatio):
    r"""Squared-loss mutual information between x and y from positive and unlabelled data, in closed form.

    The density ratio :math:`p(x \mid y{=}1)/p(x)` is modelled as :math:`w(x) = \beta^\top \phi(x)` and fitted by
    :math:`\hat\beta = (\hat H + \alpha I)^{-1} \hat h` [1]_. The result is the *information* :math:`-J(w) - 1/2`, which
    needs no class prior. Multiplied by the prior's odds it is the SMI (:meth:`smi`).

    Parameters
    ----------
    basis : "gaussian" or callable, default="gaussian"
        Gaussian functions on centres drawn from the unlabelled rows, or any function that maps rows to an array of
        shape (n, b).
    n_centers : int, default=100
        How many centres are drawn from the unlabelled rows; all of those where there are fewer.
    centers : array-like of shape (b, d), optional
        Centres to use instead.
    bandwidth : float or list of floats, optional
        The Gaussians' width, or the values to choose from. None: nine values from a tenth to ten times the median
        distance between centres.
    alpha : float or list of floats, optional
        The l2 parameter (the paper's lambda), or the values to choose from. None: half decades from
        1 / min(n_P, n_U) to 10.
    intercept : bool, default=True
        Add the constant function to the Gaussian basis, so that "no information" is exactly representable.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabelled rows are a sample of the population (the paper's setting), or what is left of one
        sample after some of its positives were labelled. In the latter all rows together represent p(x).
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, RandomState or None
        Draws the centres and the folds. Both depend on the rows' values, not on their order.

    Attributes
    ----------
    information_ : float
        Out-of-fold information: each row's ratio comes from the folds that it is not in; bandwidth and l2 parameter are
        chosen there too. Unlike `information_in_sample_` it is not optimistic.
    information_in_sample_ : float
        The paper's estimate, with the objective on the rows that the ratio was fitted to. Optimistic.
    coef_ : ndarray of shape (b,)
    centers_ : ndarray of shape (n_centers, d)
    bandwidth_, alpha_ : float
        The chosen values.
    cv_results_ : dict
        Every pair of values, as in :class:`sklearn.model_selection.GridSearchCV`.
    oof_density_ratio_ : ndarray of shape (n,)
        Out-of-fold ratio of each training row (not clipped; not after :meth:`partial_fit`).
    folds_ : ndarray of int, shape (n,)
        Fold of each training row (not after :meth:`partial_fit`).
    fold_coef_, fold_bandwidth_ : ndarray of shape (cv, b) and (cv,)
        The models behind the out-of-fold ratios.
    classes_ : ndarray of shape (2,)
        The coding of the labels: unlabelled, positive.
    sums_ : BasisSums
        The sums behind the estimate; they merge with ``+``.

    See Also
    --------
    PNSMI : The same from labels of both classes.

    References
    ----------
    .. [1] T. Sakai, G. Niu, M. Sugiyama. Information-Theoretic Representation Learning for Positive-Unlabeled
       Classification. Neural Computation 33(1), 2021. Section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import PUSMI, stack
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(1.0, 1.0, size=(400, 1))
    >>> U = np.concatenate([rng.normal(1.0, 1.0, size=(500, 1)), rng.normal(-1.0, 1.0, size=(500, 1))])
    >>> X, y = stack(P, U)
    >>> estimator = PUSMI(random_state=0).fit(X, y)
    >>> interval = estimator.smi_interval(class_prior=0.5)
    >>> bool(interval.low < estimator.smi(class_prior=0.5) < interval.high)
    True
    """

    scenario: str = "case-control"

    def _second_of_positives(self) -> bool:
        return check_scenario(self.scenario) == "single-sample"

    def _equations(self) -> Equations:
        return Equations(population_weights(self._second_of_positives()), positive_mean)

    def _report(self, in_sample: Floats, out_of_fold: Floats) -> None:
        self.information_in_sample_ = information_from_objective(in_sample[0])
        self.information_ = information_from_objective(out_of_fold[0])

    def _after_fit(self, X: Matrix, positive: Mask, solved: Moments) -> None:
        self._oof_positive = positive
        A = solved.H[self._chosen] + self.alpha_ * np.eye(self.coef_.size)
        omega = self._score_covariance(X, positive, solved.h[0, self._chosen])
        # least-norm solutions (alpha=0 on a singular H) live on H's range; a trace of rounding keeps A invertible
        A += np.finfo(float).eps * np.trace(A) * np.eye(self.coef_.size)
        self._fold_variance = fold_interaction_variance(A, omega, len(self.fold_coef_))

    def _score_covariance(self, X: Matrix, positive: Mask, h: Floats) -> Floats:
        r"""Covariance of the mean score :math:`\hat h - \widehat{E}[w \phi]`, a sum of outer products over rows.

        A row's term is :math:`c_i \phi_i - a`, with :math:`c_i = 1/n_P` and :math:`a = h/n_P` for a positive, and
        :math:`c_i = -w_i/n_U`, :math:`a = -m/n_U`, :math:`m = E[w \phi]`, for an unlabelled row. In the single-sample
        scenario every row has the second part, over all n rows.
        """
        w, n_p, n = self.oof_density_ratio_, int(positive.sum()), positive.size
        single = self._second_of_positives()
        n_population = n if single else n - n_p
        factor = np.where(positive & (not single), 0.0, -w / n_population) + np.where(positive, 1.0 / n_p, 0.0)
        omega = np.zeros((self.coef_.size,) * 2)
        totals = np.zeros((2, self.coef_.size))
        mean = np.zeros(self.coef_.size)
        for kind in (0, 1):
            for block, phi in self._bases.blocks(X, np.flatnonzero(positive == bool(kind)), self._chosen):
                scaled = phi * factor[block, None]
                omega += scaled.T @ scaled
                totals[kind] += scaled.sum(axis=0)
                if single or not kind:
                    mean += w[block] @ phi / n_population
        centres = np.stack([-mean / n_population, h / n_p - (mean / n_population if single else 0.0)])
        for total, centre, count in zip(totals, centres, (n - n_p, n_p), strict=True):
            omega += count * np.outer(centre, centre) - np.outer(total, centre) - np.outer(centre, total)
        return omega

    def smi(self, class_prior: float) -> float:
        """The squared-loss mutual information: ``information_`` times class_prior / (1 - class_prior)."""
        check_is_fitted(self, "coef_")
        return smi_from_information(self.information_, class_prior)

    def score(self, X: Matrix, y: ArrayLike) -> float:
        """Minus the objective J on new data; larger is better, and the constant ratio 1 scores 0.5.

        Both kinds of rows are needed, so give ``GridSearchCV`` and similar functions folds that have both, for example
        ``cv=StratifiedKFold(5, shuffle=True)``. If ``cv`` is a number there, folds are blocks of adjacent rows.
        """
        check_is_fitted(self, "coef_")
        return -ratio_objective(*self._ratio_and_labels(X, y), check_scenario(self.scenario))

    def _ratio_and_labels(self, X: Matrix, y: ArrayLike) -> tuple[Floats, Mask]:
        X, labels = self._validate_fit(X, y, least=(1, 1), reset=False)
        return self._ratio(X, self.coef_), labels.positive

    def information_interval(
        self, X: Matrix | None = None, y: ArrayLike | None = None, *, level: float = 0.9
    ) -> InformationInterval:
        """Confidence interval of the information that the fitted ratio captures (a lower bound on the truth).

        Parameters
        ----------
        X, y : optional
            New rows. Without them the out-of-fold ratios of the training rows are used.
        level : float, default=0.9

        Returns
        -------
        InformationInterval
            Prior-free; its ``smi(class_prior)`` gives the scaled one.
        """
        check_is_fitted(self, "coef_")
        if X is not None:
            (w, positive), extra = self._ratio_and_labels(X, y), 0.0  # type: ignore[arg-type]
        elif hasattr(self, "oof_density_ratio_"):
            w, positive, extra = self.oof_density_ratio_, self._oof_positive, self._fold_variance
        else:
            raise ValueError(
                "after partial_fit no ratios of single rows are kept; pass rows that were set aside: "
                "information_interval(X, y)."
            )
        scenario = check_scenario(self.scenario)
        return information_interval(w, positive, scenario=scenario, level=level, extra_variance=extra)

    def smi_interval(self, class_prior: float, *, level: float = 0.9) -> SMIInterval:
        """Confidence interval of the captured SMI at a given class prior (taken as known)."""
        return self.information_interval(level=level).smi(class_prior)


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

    def _equations(self) -> Equations:
        # the same prior in every fold: folds are dealt out by class, so their own shares differ by rounding only
        n_negative, n_positive = self.sums_.count.sum(axis=1)
        given = self.class_prior
        prior = n_positive / (n_positive + n_negative) if given is None else check_share("class_prior", given)
        self.class_prior_ = float(prior)
        return Equations(lambda count: np.array([1.0 - prior, prior]) / np.maximum(count, 1.0), class_means)

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

    def score(self, X: Matrix, y: ArrayLike) -> float:
        """The appendix's L on new data, SMI + 1/2; larger is better, and independence scores 0.5."""
        check_is_fitted(self, "coef_")
        X, labels = self._validate_fit(X, y, least=(1, 1), reset=False)
        w = self._ratio(X, self._beta.T)
        positive, theta = labels.positive, self.class_prior_
        second = theta * np.mean(w[positive] ** 2, axis=0) + (1.0 - theta) * np.mean(w[~positive] ** 2, axis=0)
        objectives = 0.5 * second - np.array([w[~positive, 0].mean(), w[positive, 1].mean()])
        return pn_smi(objectives[1], objectives[0], theta) + 0.5
