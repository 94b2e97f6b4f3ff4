r"""LSDR: linear representations by least-squares mutual information, with a kernel model for g; NumPy only.

The model on the projection :math:`z = B^\top x` is :math:`w(x) = \sum_l \beta_l \varphi_l(z)`,
:math:`\varphi_l(z) = \exp(-\|z - B^\top c_l\|^2 / (2\sigma^2))`. Whatever the data, the objective is a sum of terms

.. math:: F(B) = \min_\beta \; \tfrac12 \sum_i q_i w^2(x_i) - \sum_i \ell_i w(x_i) + \tfrac\lambda2 \|\beta\|^2
    = \min_\beta \; \tfrac12 \beta^\top H \beta - \beta^\top h + \tfrac\lambda2 \|\beta\|^2,

with :math:`H = \Phi^\top \operatorname{diag}(q) \Phi` and :math:`h = \Phi^\top \ell`: one term for PU data (q is the
mean over U, :math:`\ell` that over P), and one a class for PN data (appendix E). At the minimum, :math:`\hat\beta = (H
+ \lambda I)^{-1} h`, the gradient in B is that of the first two sums with :math:`\hat\beta` held fixed (envelope
theorem). F depends on the span of B only, so steps follow the gradient's part that leaves the span, and QR brings B
back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, number, one_of, with_parameters
from purely.checks import RandomState, draw_seed
from purely.folds import deal_folds, draw_rows, row_keys
from purely.labels import check_scenario
from purely.nn.scaling import column_scaling
from purely.smi.basis import squared_distances
from purely.smi.objective import information_from_objective, ridge_path
from purely.typing import Floats, Mask, Matrix

#: Bandwidths that are tried, as multiples of the median distance to the centres; and ridge penalties.
BANDWIDTH_FACTORS = (0.25, 0.4, 0.6, 1.0, 1.5)
ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)

#: Iterations of every start before the best few go on.
FIRST_STEPS, SURVIVORS = 15, 3


@dataclass(frozen=True)
class Term:
    """Weights of the rows in the square and in the linear sum, each of shape (n,)."""

    square: Floats
    linear: Floats


@dataclass(frozen=True)
class Choice:
    """Bandwidth and ridge penalty, with the out-of-fold objective they gave."""

    bandwidth: float
    alpha: float
    objective: float


def pu_terms(positive: Mask, scenario: str) -> list[Term]:
    """The single term of PU data: the mean over the population's rows, and over the positives."""
    population = np.ones(positive.size) if scenario == "single-sample" else (~positive).astype(float)
    return [Term(population / population.sum(), positive / positive.sum())]


def pn_terms(positive: Mask) -> list[Term]:
    """One term a class: all rows weighted by the share of the class, and the rows of the class."""
    n = positive.size
    return [Term(np.full(n, mask.mean() / n), mask / n) for mask in (positive, ~positive)]


def objective_and_gradient(
    B: Floats, X: Floats, centers: Floats, terms: list[Term], choice: Choice
) -> tuple[float, Floats]:
    r"""F(B) and its gradient, shape (d, m).

    With :math:`a_{il} = -(q_i w_i - \ell_i) \beta_l \varphi_{il} / \sigma^2` the gradient is
    :math:`\sum_{il} a_{il} (x_i - c_l)(z_i - B^\top c_l)^\top`, expanded so that nothing of shape (n, b, d) is formed.
    """
    Z, C = X @ B, centers @ B
    Phi = np.exp(squared_distances(Z, C) / (-2.0 * choice.bandwidth**2))
    ridge = choice.alpha * np.eye(Phi.shape[1])
    value, gradient = 0.0, np.zeros_like(B)
    for term in terms:
        beta = np.linalg.solve(Phi.T @ (term.square[:, None] * Phi) + ridge, Phi.T @ term.linear)
        w = Phi @ beta
        value += float(0.5 * term.square @ w**2 - term.linear @ w + 0.5 * choice.alpha * beta @ beta)
        A = Phi * ((term.linear - term.square * w) / choice.bandwidth**2)[:, None] * beta
        gradient += X.T @ (A.sum(1)[:, None] * Z - A @ C) - centers.T @ (A.T @ Z - A.sum(0)[:, None] * C)
    return value, gradient


def descend(
    B: Floats, X: Floats, centers: Floats, terms: list[Term], choice: Choice, max_iter: int, tol: float
) -> tuple[Floats, float, int]:
    """Follow the gradient along subspaces with backtracking; returns B, F(B) and the iterations it took."""
    value, gradient = objective_and_gradient(B, X, centers, terms, choice)
    step = 1.0
    for iteration in range(max_iter):
        tangent = gradient - B @ (B.T @ gradient)
        slope = float((tangent**2).sum())
        if slope < 1e-18:
            return B, value, iteration
        for _ in range(30):
            moved = np.linalg.qr(B - step * tangent)[0]
            new_value, new_gradient = objective_and_gradient(moved, X, centers, terms, choice)
            if new_value <= value - 1e-4 * step * slope:
                break
            step *= 0.5
        else:
            return B, value, iteration
        gain, B, value, gradient = value - new_value, moved, new_value, new_gradient
        if gain < tol:
            return B, value, iteration + 1
        step *= 2.0
    return B, value, max_iter


def unit_rows(directions: NDArray[np.floating]) -> Floats:
    """Rows of length 1 whose largest entry is positive: a direction has neither length nor sign."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions / np.where(lengths > 0, lengths, 1.0)
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(largest < 0, -1.0, 1.0)


@with_parameters
class LSDR(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PUEstimator):
    r"""Least-squares dimension reduction, for PU and for PN data.

    Finds the `n_components` orthonormal directions whose projection keeps the most squared-loss mutual
    information with the class. The ratio on the projection is a Gaussian kernel model, whose coefficients have a closed
    form.

    Parameters
    ----------
    n_components : int, default=1
    objective : {"pu", "pn"}, default="pu"
        PU-SMI (the rows that are not positive are unlabelled), or PN-SMI (they are negatives).
    n_centers : int, default=100
        Kernel centres, drawn from the rows.
    bandwidth, alpha : float or None, default=None
        Kernel width on the projection, and ridge penalty; None chooses by cross-validation, again after every round of
        steps.
    n_starts : int, default=10
        Random starts; after a few steps the best three go on.
    max_iter : int, default=100
        Largest number of steps of each of these three.
    tol : float, default=1e-5
        A gain in the objective below this ends the steps.
    cv : int, default=5
    standardize : bool, default=True
        Scale the columns before the search; ``components_`` refers to the columns as given.
    scenario : {"case-control", "single-sample"}, default="case-control"
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows.
    information_ : float
        :math:`-J - 1/2` (for "pn": PN-SMI), out of fold for the model on the projection; the projection itself has seen
        all rows.
    objectives_ : ndarray of shape (n_starts,)
        Objective of each start when it ended.
    bandwidth_, alpha_ : float
    n_iter_ : int
    classes_, n_features_in_, n_components_

    References
    ----------
    T. Suzuki, M. Sugiyama. Sufficient dimension reduction via squared-loss mutual information estimation. Neural
    Computation 25(3), 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.representation import LSDR
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal([0.0, 0.0], [0.5, 2.0], size=(200, 2))
    >>> sides = 3.0 * rng.choice([-1.0, 1.0], size=200)
    >>> N = rng.normal([0.0, 0.0], [0.5, 2.0], size=(200, 2)) + sides[:, None] * [1.0, 0.0]
    >>> X, y = stack(P[:100], np.concatenate([P[100:], N]))
    >>> model = LSDR(random_state=0, n_starts=4).fit(X, y)
    >>> bool(abs(model.components_[0, 0]) > 0.95)  # positives lie in the middle along the first axis
    True
    """

    _accepts_sparse = False

    n_components: int = number(default=1, low=1, integer=True, kw_only=False)
    objective: str = one_of("pu", "pn", default="pu")
    n_centers: int = number(default=100, low=1, integer=True)
    bandwidth: float | None = number(default=None, low=0.0, open_low=True)
    alpha: float | None = number(default=None, low=0.0, open_low=True)
    n_starts: int = number(default=10, low=1, integer=True)
    max_iter: int = number(default=100, low=1, integer=True)
    tol: float = number(default=1e-5, low=0.0)
    cv: int = number(default=5, low=2, integer=True)
    standardize: bool = True
    scenario: str = "case-control"
    random_state: RandomState = 0

    def fit(self, X: Matrix, y: ArrayLike) -> LSDR:
        """Find the projection.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            1 for positives, 0 for unlabelled rows (with ``objective="pn"`` for negatives).
        """
        X, labels = self._validate_fit(X, y)
        check_scenario(self.scenario)
        if self.n_components > X.shape[1]:
            raise ValueError(
                f"n_components must be at most the number of columns, {X.shape[1]}; {self.n_components} was given."
            )
        seed = draw_seed(self.random_state)
        scaling = column_scaling(X) if self.standardize else None
        rows = X if scaling is None else scaling(X)
        keys = row_keys(X, seed)
        order = np.argsort(keys, kind="stable")  # sums over rows then round alike however the rows were permuted
        self._rows, self._positive = rows[order], labels.positive[order]
        self._folds = deal_folds(X, labels.positive, self.cv, seed, keys).number[order]
        self._centers = rows[draw_rows(X, self.n_centers, seed)]
        best = self._search(seed)
        del self._rows, self._positive, self._folds, self._centers
        directions = best if scaling is None else best / scaling.scale[:, None]
        self.components_ = unit_rows(np.linalg.qr(directions)[0].T)
        self.classes_ = labels.classes
        self.n_components_ = self._n_features_out = int(self.n_components)
        return self

    def transform(self, X: Matrix) -> Floats:
        """Projected rows ``X @ components_.T``, shape (n, n_components)."""
        check_is_fitted(self, "components_")
        return np.asarray(self._validate_rows(X) @ self.components_.T)

    def _terms(self, positive: Mask) -> list[Term]:
        return pn_terms(positive) if self.objective == "pn" else pu_terms(positive, self.scenario)

    def _search(self, seed: int) -> Floats:
        rng = np.random.default_rng(seed)
        d, m = self._rows.shape[1], int(self.n_components)
        starts = [np.linalg.qr(rng.normal(size=(d, m)))[0] for _ in range(self.n_starts)]
        runs = [self._round(B, min(FIRST_STEPS, self.max_iter)) for B in starts]
        for i in np.argsort([choice.objective for _, choice, _ in runs], kind="stable")[:SURVIVORS]:
            B, choice, steps = runs[i]
            while steps < self.max_iter:
                moved, new_choice, taken = self._round(B, min(FIRST_STEPS, self.max_iter - steps))
                steps += max(taken, 1)
                if new_choice.objective >= choice.objective - self.tol:
                    break
                B, choice = moved, new_choice
            runs[i] = (B, choice, steps)
        self.objectives_ = np.array([choice.objective for _, choice, _ in runs])
        self.n_iter_ = max(steps for *_, steps in runs)
        B, choice, _ = runs[int(np.argmin(self.objectives_))]
        self.bandwidth_, self.alpha_ = choice.bandwidth, choice.alpha
        self.information_ = information_from_objective(choice.objective)
        return B

    def _round(self, B: Floats, max_iter: int) -> tuple[Floats, Choice, int]:
        """Choose bandwidth and penalty, follow the gradient, choose again."""
        choice = self._choose(B)
        B, _, steps = descend(B, self._rows, self._centers, self._terms(self._positive), choice, max_iter, self.tol)
        return B, self._choose(B), steps

    def _choose(self, B: Floats) -> Choice:
        """The smoothest kernel model whose out-of-fold objective is within two standard errors of the lowest.

        Directions are what matters here: a model that follows every bump of the sample makes the objective as bumpy
        a function of the direction.
        """
        distances = squared_distances(self._rows @ B, self._centers @ B)
        median = float(np.sqrt(np.median(distances))) or 1.0
        widths = [self.bandwidth] if self.bandwidth is not None else [f * median for f in BANDWIDTH_FACTORS]
        alphas = np.array([self.alpha] if self.alpha is not None else ALPHAS, dtype=float)
        by_fold = np.array([self._out_of_fold(np.exp(distances / (-2.0 * width**2)), alphas) for width in widths])
        means = by_fold.mean(axis=2)
        least = np.unravel_index(np.argmin(means), means.shape)
        excess = by_fold - by_fold[least]
        error = excess.std(axis=2, ddof=1) / np.sqrt(by_fold.shape[2])
        fair = np.argwhere(excess.mean(axis=2) <= 2.0 * error)
        w, a = max(map(tuple, fair))  # the widest kernel; of these the largest penalty
        return Choice(float(widths[w]), float(alphas[a]), float(means[w, a]))

    def _out_of_fold(self, Phi: Floats, alphas: Floats) -> Floats:
        """Objective on each held-out fold for each penalty, shape (n_alphas, n_folds)."""
        n_folds = int(self._folds.max()) + 1
        total = np.zeros((alphas.size, n_folds))
        for k in range(n_folds):
            inside, outside = Phi[self._folds != k], Phi[self._folds == k]
            fitted = self._terms(self._positive[self._folds != k])
            judged = self._terms(self._positive[self._folds == k])
            for fit, judge in zip(fitted, judged, strict=True):
                betas = ridge_path(inside.T @ (fit.square[:, None] * inside), inside.T @ fit.linear, alphas)
                w = outside @ betas
                total[:, k] += 0.5 * judge.square @ w**2 - judge.linear @ w
        return total
