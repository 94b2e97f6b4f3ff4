"""Logistic regression of the class, by the likelihood of which rows are labelled."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from purely.base import check_parameters, number, one_of, with_parameters
from purely.calibration import shift_to_share
from purely.checks import RandomState, dense, draw_seed
from purely.class_prior import PriorParameter
from purely.classifiers.base import BasePUClassifier
from purely.classifiers.weights import check_weights
from purely.collapsed import KernelScore, LinearScore, kernel_score
from purely.folds import row_order
from purely.nn.scaling import ROUNDING
from purely.prior.ratio import kernel_features
from purely.threads import one_blas_thread
from purely.typing import Floats, Mask, Matrix
from purely.weighing import equal_kinds, labelled_loss

#: Ways to describe rows, and the penalty that each has where none is given.
PENALTIES = {"linear": 0.3, "gaussian": 10.0}
#: Columns up to which the search is led by the curvature at its start: a kernel's features are of very different size,
#: and with it some 25 iterations do what took 50 to 270.
LARGEST_CURVATURE = 1000
#: Numbers that are computed of a block of rows.
BLOCK_ELEMENTS = 1 << 17


@dataclass(frozen=True)
class LogisticModel:
    """A fitted logistic regression of the class among the unlabelled rows.

    Attributes
    ----------
    coef : ndarray of shape (d,) or (n_components,)
    intercept : float
    kernel : fitted transformer or None
        What describes rows by a kernel; None where the columns themselves do.
    n_iter : int
    """

    coef: Floats = field(repr=False)
    intercept: float
    kernel: Any
    n_iter: int

    def log_odds(self, X: Matrix) -> Floats:
        """Log-odds of the positive class among the unlabelled rows."""
        if self.kernel is None:
            return np.asarray(X @ self.coef) + self.intercept
        blocks = _blocks(X, self.coef.size)
        return np.concatenate([self.kernel.transform(X[block]) @ self.coef for block in blocks]) + self.intercept

    def collapsed(self) -> LinearScore | KernelScore | None:
        """The same in less arithmetic; None where the kernel is of another kind."""
        if self.kernel is None:
            return LinearScore(self.coef, float(self.intercept), False)
        return kernel_score(self.kernel, self.coef, self.intercept, limited=False)


@dataclass(frozen=True)
class LogisticSettings:
    """How the regression is fitted; see :class:`PULogisticClassifier` for what is not explained here.

    Attributes
    ----------
    share : float
        Share of positives among the unlabelled rows.
    seed : int
    """

    share: float
    seed: int
    basis: str
    C: float | None
    n_components: int
    bandwidth: float | None
    max_iter: int

    def fit(self, X: Matrix, target: ArrayLike, sample_weight: Floats | None = None) -> LogisticModel:
        """Maximise the penalised likelihood of which rows are labelled (1) and which are not (0).

        Rows stand in an order that depends on what is in them alone, since a kernel is approximated with some of them.
        """
        positive = np.asarray(target, dtype=bool)
        kernel, rows = None, X
        if self.basis == "gaussian":
            size, sparse = min(self.n_components, X.shape[0]), sp.issparse(X)
            kernel = kernel_features(size, X.shape[1], sparse=sparse, seed=self.seed, bandwidth=self.bandwidth)
            rows = kernel.fit_transform(X)
        total = positive.size if sample_weight is None else float(sample_weight.sum())
        C = PENALTIES[self.basis] if self.C is None else self.C
        beta, constant, n_iter = _solve(
            rows, positive, sample_weight, self.share, 0.5 / (C * total), self.max_iter, scaled=kernel is None
        )
        return LogisticModel(beta, constant, kernel, n_iter)


def _solve(
    X: Matrix, positive: Mask, given: Floats | None, share: float, penalty: float, max_iter: int, *, scaled: bool
) -> tuple[Floats, float, int]:
    """Coefficients, constant and iterations of the maximum."""
    weight = equal_kinds(positive, given)
    d = X.shape[1]
    center, scale = _center_and_scale(X, given) if scaled else (np.zeros(d), np.ones(d))
    start = np.append(np.zeros(d), logit(share))
    factor = None
    if not sp.issparse(X) and d <= LARGEST_CURVATURE:
        # Fisher information where the search begins: there both kinds of rows are labelled with probability 1/2.
        curvature = 0.25 * (1.0 - share) ** 2 * _second_moments(X, center, scale, weight)
        curvature[np.diag_indices(d)] += 2.0 * penalty
        # Without a penalty (C infinite) columns that repeat each other would leave it singular.
        factor = np.linalg.cholesky(curvature + 1e-12 * np.eye(start.size))

    def loss(steps: Floats) -> tuple[float, Floats]:
        parameters = steps if factor is None else solve_triangular(factor, steps, lower=True, trans="T")
        own, constant = parameters[:-1], parameters[-1]
        beta = own * scale
        value, slope = labelled_loss(X @ beta + (constant - center @ beta), positive, weight, share)
        total = slope.sum()
        gradient = np.append(scale * (X.T @ slope - total * center) + 2.0 * penalty * own, total)
        if factor is not None:
            gradient = solve_triangular(factor, gradient, lower=True)
        return value + penalty * float(own @ own), gradient

    with one_blas_thread():
        first = start if factor is None else factor.T @ start
        options = {"maxiter": int(max_iter), "ftol": 1e-12, "gtol": 1e-8}
        found = minimize(loss, first, jac=True, method="L-BFGS-B", options=options)
    if found.nit >= max_iter:
        warnings.warn(
            f"the likelihood was still rising after {found.nit} iterations. Raise max_iter, or lower C.",
            ConvergenceWarning,
            stacklevel=4,
        )
    best = found.x if factor is None else solve_triangular(factor, found.x, lower=True, trans="T")
    beta = best[:-1] * scale
    constant = best[-1] - center @ beta
    of_unlabelled = np.asarray(X @ beta)[~positive] + constant
    constant += shift_to_share(of_unlabelled, weight[~positive] / weight[~positive].sum(), share)
    return beta, float(constant), int(found.nit)


def _second_moments(X: Matrix, center: Floats, scale: Floats, weight: Floats) -> Floats:
    """Weighted second moments of the scaled columns and a constant, a block of rows at a time."""
    d = X.shape[1]
    total = np.zeros((d + 1, d + 1))
    with one_blas_thread():
        for block in _blocks(X, d):
            rows = np.column_stack([(X[block] - center) * scale, np.ones(len(X[block]))])
            total += rows.T @ (weight[block, None] * rows)
    return total


def _blocks(X: Matrix, n_functions: int) -> Iterator[slice]:
    """Rows a block at a time, so that what is computed of them stays in a core's cache."""
    return gen_batches(X.shape[0], max(64, BLOCK_ELEMENTS // max(n_functions, X.shape[1], 1)))


def _center_and_scale(X: Matrix, given: Floats | None) -> tuple[Floats, Floats]:
    """Weighted mean of each column, and one over the largest distance from it among rows that count."""
    counted = X if given is None else X[np.flatnonzero(given)]
    # the largest and least values of a sparse matrix come as a sparse matrix
    high, low = (dense(of).ravel() for of in (counted.max(axis=0), counted.min(axis=0)))
    mean = dense(X.mean(axis=0)).ravel() if given is None else np.asarray(given @ X).ravel() / given.sum()
    varies = high - low > ROUNDING * np.maximum(np.abs(high), np.abs(low))
    reach = np.maximum(high - mean, mean - low)
    return mean, np.where(varies, 1.0 / np.where(varies, reach, 1.0), 0.0)


@with_parameters
class PULogisticClassifier(BasePUClassifier):
    r"""Logistic regression of the class itself, by the likelihood of which rows are labelled; no torch.

    Logistic regression of labels on rows models the probability of a *label*. That is the wrong quantity for a linear
    model: the density ratio of positives to unlabelled rows is bounded by :math:`1 / \pi_U`, and a linear model of its
    logarithm is not. Here the class has linear log-odds, :math:`z(x) = \beta^\top \phi(x) + b`. The ratio is then
    :math:`\sigma(z) / \pi_U`, a row of an equal mixture of *P* and *U* is labelled with probability :math:`\sigma(z) /
    (\sigma(z) + \pi_U)`, and the parameters maximise that likelihood with an l2 penalty. This is the presence-only
    model of [1]_ and [2]_ with a known share of positives. In the end the constant is moved so that the mean
    probability over the unlabelled rows is that share; the penalty alone would lead to another mean.

    Parameters
    ----------
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    basis : {"linear", "gaussian"}, default="linear"
        The columns themselves, or a Gaussian kernel by Nyström's approximation.
    C : float, optional
        Inverse of the penalty's strength, as in :class:`sklearn.linear_model.LogisticRegression`, for columns that have
        been divided by their largest distance from the mean. None: 0.3 for linear, 10 for Gaussian rows.
    n_components : int, default=400
        Rows that the kernel is approximated with; all rows where there are fewer.
    bandwidth : float, optional
        The :math:`\sigma` of the kernel :math:`\exp(-\|x - x'\|^2 / 2 \sigma^2)` of standardised columns. None: the
        square root of the number of columns.
    max_iter : int, default=1000
        Iterations of the L-BFGS method.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    random_state : int, RandomState or None, default=0
        Draws the rows for the kernel. Which rows are drawn depends on their values, not on their order.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        The prior estimator's interval; the number itself where one was given.
    coef_ : ndarray of shape (1, d) or (1, n_components)
        Coefficients; with `basis` "linear" those of the columns as they were given, so that ``exp(coef_)`` are
        ratios of odds.
    intercept_ : ndarray of shape (1,)
        Constant of the log-odds in the population.
    n_iter_ : int
        Iterations that it took.
    classes_ : ndarray of shape (2,)

    References
    ----------
    .. [1] T. Lancaster, G. Imbens. Case-control studies with contaminated controls. Journal of Econometrics 71, 1996.
    .. [2] G. Ward, T. Hastie, S. Barry, J. Elith, J. R. Leathwick. Presence-only data and the EM algorithm.
       Biometrics 65, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import PULogisticClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal([1, 0], 1, (2000, 2))
    >>> U = np.concatenate([rng.normal([1, 0], 1, (2000, 2)), rng.normal([-1, 0], 1, (2000, 2))])
    >>> model = PULogisticClassifier(class_prior=0.5, C=100).fit(*stack(P, U))
    >>> bool(np.abs(model.coef_ - [[2.0, 0.0]]).max() < 0.2)  # the truth has log-odds 2 x_0
    True
    """

    class_prior: PriorParameter = field(default="auto", kw_only=False)
    basis: str = one_of(*PENALTIES, default="linear")
    C: float | None = number(default=None, low=0.0, open_low=True)
    n_components: int = number(default=400, low=1, integer=True)
    bandwidth: float | None = number(default=None, low=0.0, open_low=True)
    max_iter: int = number(default=1000, low=1, integer=True)
    random_state: RandomState = 0

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; a whole number is the same as that many copies of the row. Only the rows that a kernel
            is approximated with, and the scale of its columns, do not depend on them. An estimator of the class prior
            gets them where its `fit` takes them.

        Returns
        -------
        self
        """
        X, labels = self._start(X, y, least=(1, 1))
        settings = self.settings(0.5, draw_seed(self.random_state))
        weight = check_weights(sample_weight, X, labels.positive)
        self._resolve_prior(X, labels, weight)
        order = row_order(X, settings.seed)
        weight = None if weight is None else weight[order]
        self._model = replace(settings, share=self.unlabelled_prior_).fit(X[order], labels.positive[order], weight)
        self.n_iter_ = self._model.n_iter
        self.coef_ = self._model.coef[None, :]
        self.intercept_ = np.array([self._model.intercept + self._population_shift()])
        return self

    def settings(self, share: float, seed: int) -> LogisticSettings:
        """The regression itself, with a share of positives and a seed; its parameters are checked."""
        values = check_parameters(type(self), self.get_params(deep=False))
        described = (values[name] for name in ("basis", "C", "n_components", "bandwidth", "max_iter"))
        return LogisticSettings(share, seed, *described)

    def _log_odds(self, X: Matrix) -> Floats:
        return self._model.log_odds(X) + self._population_shift()

    def density_ratio(self, X: Matrix) -> Floats:
        """Density of positives over that of unlabelled rows, at most one over the share of positives among these.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "classes_")
        return expit(self._log_odds(self._validate_rows(X)) - self._population_shift()) / self.unlabelled_prior_
