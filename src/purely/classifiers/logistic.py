"""PULogisticClassifier: logistic regression of the class, fitted to which rows are labelled."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from purely._base import draw_seed
from purely._rows import row_order
from purely._threads import one_blas_thread
from purely.classifiers._base import BasePUClassifier
from purely.classifiers._calibration import shift_to_share
from purely.classifiers._likelihood import equal_kinds, labelled_loss
from purely.classifiers._weights import normalised_weights
from purely.nn.scaling import ROUNDING
from purely.prior._ratio import kernel_features
from purely.representation._checks import check_number
from purely.smi.basis import row_blocks

__all__ = ["PULogisticClassifier"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Ways to describe rows, and the penalty that each has where none is given.
PENALTIES = {"linear": 0.3, "gaussian": 10.0}
#: Columns up to which the search is led by the curvature at its start: a kernel's features are of very different size,
#: and with it some 25 iterations do what took 50 to 270.
LARGEST_CURVATURE = 1000


class PULogisticClassifier(BasePUClassifier):
    r"""Logistic regression of the class itself, by the likelihood of which rows are labelled; no torch.

    Logistic regression of labels on rows models the probability of a *label*, and is linear in the wrong place: the
    density ratio of positives to unlabelled rows is bounded by :math:`1 / \pi_U`, and a linear model of its logarithm
    is not. Here the class has linear log-odds, :math:`z(x) = \beta^\top \phi(x) + b`. The ratio is then
    :math:`\sigma(z) / \pi_U`, a row of an equal mixture of *P* and *U* is labelled with probability
    :math:`\sigma(z) / (\sigma(z) + \pi_U)`, and the parameters maximise that likelihood with an l2 penalty. This is
    the presence-only model of [1]_ and [2]_ with a known share of positives. In the end the constant is moved so that
    the mean probability over the unlabelled rows is that share, from which the penalty leads away.

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
    gamma : float, optional
        The kernel is :math:`\exp(-\gamma \|x - x'\|^2)` of standardised columns. None: 0.5 / number of columns.
    max_iter : int, default=1000
        Iterations of the L-BFGS method.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    random_state : int, RandomState or None, default=None
        Draws the rows for the kernel, which depend on what is in the rows and not on their order.

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

    def __init__(
        self,
        class_prior: Any = "auto",
        *,
        basis: str = "linear",
        C: float | None = None,
        n_components: int = 400,
        gamma: float | None = None,
        max_iter: int = 1000,
        threshold: Any = 0.5,
        scenario: str = "case-control",
        random_state: Any = None,
    ) -> None:
        self.class_prior = class_prior
        self.basis = basis
        self.C = C
        self.n_components = n_components
        self.gamma = gamma
        self.max_iter = max_iter
        self.threshold = threshold
        self.scenario = scenario
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows in the likelihood, those of positives and those of unlabelled rows normalised apart. The
            kernel's rows and the scale of the columns do not depend on them. An estimator of the class prior gets them
            where its `fit` takes them.

        Returns
        -------
        self
        """
        X, labels = self._start(X, y, min_positive=1, min_unlabelled=1)
        C = self._check_parameters()
        weight = normalised_weights(sample_weight, X, labels.positive)
        self._resolve_prior(X, labels, weight)
        self._kernel = self._kernel_of(X) if self.basis == "gaussian" else None
        rows = X if self._kernel is None else self._kernel.transform(X)
        self._solve(rows, labels.positive, equal_kinds(labels.positive, weight), 0.5 / (C * X.shape[0]))
        return self

    def _check_parameters(self) -> float:
        if not isinstance(self.basis, str) or self.basis not in PENALTIES:
            raise ValueError(f"basis must be 'linear' or 'gaussian'; {self.basis!r} was given.")
        check_number("n_components", self.n_components, 1, integer=True)
        check_number("max_iter", self.max_iter, 1, integer=True)
        if self.gamma is not None:
            check_number("gamma", self.gamma, 0.0, open_low=True)
        return PENALTIES[self.basis] if self.C is None else float(check_number("C", self.C, 0.0, open_low=True))

    def _kernel_of(self, X: Any) -> Any:
        """Standardised columns, and the kernel by rows drawn from those of `X`."""
        seed = draw_seed(self.random_state)
        features = kernel_features(
            min(self.n_components, X.shape[0]), X.shape[1], sparse=sp.issparse(X), seed=seed, gamma=self.gamma
        )
        return features.fit(X[row_order(X, seed)])

    def _solve(self, X: Any, positive: Mask, weight: Floats, penalty: float) -> None:
        """Minimise the penalised loss over coefficients of scaled columns, without a scaled copy of the rows."""
        center, scale = _center_and_scale(X) if self._kernel is None else (np.zeros(X.shape[1]), np.ones(X.shape[1]))
        share = self.unlabelled_prior_
        start = np.append(np.zeros(X.shape[1]), logit(share))
        factor = None
        if not sp.issparse(X) and X.shape[1] <= LARGEST_CURVATURE:
            # Fisher information where the search begins: there both kinds of rows are labelled with probability 1/2.
            curvature = 0.25 * (1.0 - share) ** 2 * _second_moments(X, center, scale, weight)
            curvature[np.diag_indices(X.shape[1])] += 2.0 * penalty
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

        settings = {"maxiter": int(self.max_iter), "ftol": 1e-12, "gtol": 1e-8}
        with one_blas_thread():
            first = start if factor is None else factor.T @ start
            found = minimize(loss, first, jac=True, method="L-BFGS-B", options=settings)
        if found.nit >= self.max_iter:
            warnings.warn(
                f"the likelihood was still rising after {found.nit} iterations. Raise max_iter, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        best = found.x if factor is None else solve_triangular(factor, found.x, lower=True, trans="T")
        beta = best[:-1] * scale
        constant = best[-1] - center @ beta
        of_unlabelled = np.asarray(X @ beta)[~positive] + constant
        constant += shift_to_share(of_unlabelled, weight[~positive] / weight[~positive].sum(), share)
        self.n_iter_ = int(found.nit)
        self.coef_ = beta[None, :]
        self.intercept_ = np.array([constant + self._population_shift()])

    def _log_odds(self, X: Any) -> Floats:
        if self._kernel is None:
            return np.asarray(X @ self.coef_[0]) + self.intercept_[0]
        z = np.empty(X.shape[0])
        for block in row_blocks(np.arange(X.shape[0]), self.coef_.shape[1], X.shape[1]):
            z[block] = self._kernel.transform(X[block]) @ self.coef_[0]
        return z + self.intercept_[0]

    def density_ratio(self, X: Any) -> Floats:
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


def _second_moments(X: Any, center: Floats, scale: Floats, weight: Floats) -> Floats:
    """Weighted second moments of the scaled columns and a constant, a block of rows at a time."""
    d = X.shape[1]
    total = np.zeros((d + 1, d + 1))
    with one_blas_thread():
        for block in row_blocks(np.arange(X.shape[0]), d, d):
            rows = np.column_stack([(X[block] - center) * scale, np.ones(block.size)])
            total += rows.T @ (weight[block, None] * rows)
    return total


def _of_columns(of: Any) -> Floats:
    """What a reduction over rows gives, as an array; sparse matrices give sparse ones."""
    return np.asarray(of.toarray() if sp.issparse(of) else of, dtype=np.float64).ravel()


def _center_and_scale(X: Any) -> tuple[Floats, Floats]:
    """Mean of each column and one over the largest distance from it; 0 where a column is constant but for rounding."""
    mean, high, low = (_of_columns(of) for of in (X.mean(axis=0), X.max(axis=0), X.min(axis=0)))
    varies = high - low > ROUNDING * np.maximum(np.abs(high), np.abs(low))
    reach = np.maximum(high - mean, mean - low)
    return mean, np.where(varies, 1.0 / np.where(varies, reach, 1.0), 0.0)
