"""PULeastSquaresClassifier: the unbiased PU risk with the squared loss, in closed form."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from purely.base import with_parameters
from purely.checks import RandomState, check_number, draw_seed
from purely.class_prior import PriorParameter
from purely.classifiers.base import BasePUClassifier, log_odds_of_margin
from purely.classifiers.weights import normalised_weights
from purely.folds import deal_folds
from purely.labels import PULabels, check_scenario
from purely.nn.scaling import Scaling, column_scaling
from purely.smi.basis import Bases, GaussianBases, UserBasis, draw_centers, median_distance, row_blocks
from purely.smi.linear import check_grid, default_bandwidths
from purely.smi.model_choice import PopulationWeights, best_cell, moments, results_table
from purely.smi.objective import BasisSums, linear_objective, ridge_path, ridge_solution
from purely.threads import one_blas_thread

__all__ = ["PULeastSquaresClassifier"]

Floats = NDArray[np.float64]


@with_parameters
class PULeastSquaresClassifier(BasePUClassifier):
    r"""Unbiased PU learning with the squared loss: one linear system, no iterations, no torch.

    With :math:`\ell(z) = (1 - z)^2 / 4` the unbiased risk [1]_ of :math:`z(x) = 2\pi - 1 + \beta^\top \phi(x)` is, up
    to a constant,

    .. math:: \tfrac14 \beta^\top H \beta - \tfrac12 \beta^\top h, \qquad
        H = \mathbb E[\phi \phi^\top], \quad h = 2 \pi \left( \mathbb E_P\, \phi - \mathbb E\, \phi \right),

    with minimiser :math:`\hat\beta = (H + \alpha I)^{-1} h`, where :math:`\mathbb E` is the mean over the population:
    the unlabelled rows, or all rows in the single-sample scenario. At the optimum :math:`(1 + z)/2` is the posterior.
    The l2 penalty pulls towards the class prior. Bandwidth and penalty are chosen by cross-validation of the risk,
    from sums over folds.

    Parameters
    ----------
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    basis : {"gaussian", "linear"}, default="gaussian"
        Gaussian functions on centres drawn from all rows, or the columns themselves; each with a constant.
    n_centers : int, default=300
        How many centres are drawn; all rows where there are fewer.
    bandwidth : float or list of floats, optional
        The Gaussians' width, or the values to choose from. None: nine values from a tenth to ten times the median
        distance between centres.
    alpha : float or list of floats, optional
        The l2 parameter, or the values to choose from. None: half decades from 0.1 / min(n_P, n_U) to 10.
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    standardize : bool, default=True
        Scale the columns, see :func:`purely.nn.scaling.column_scaling`.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    random_state : int, RandomState or None, default=0
        Draws the centres and the folds. They depend on what is in the rows and not on their order.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        The prior estimator's interval; the number itself where one was given.
    coef_ : ndarray of shape (b,)
        Coefficients; the last is that of the constant.
    centers_ : ndarray of shape (n_centers, d)
        Only with `basis` "gaussian"; in scaled columns.
    bandwidth_, alpha_ : float
        The chosen cell.
    cv_results_ : dict
        Every cell, as in :class:`sklearn.model_selection.GridSearchCV`; scores are minus the risk up to a constant.
    classes_ : ndarray of shape (2,)

    References
    ----------
    .. [1] M. C. du Plessis, G. Niu, M. Sugiyama. Convex formulation for learning from positive and unlabeled data.
       ICML, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import PULeastSquaresClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (300, 2)), rng.normal(-2, 1, (300, 2))])
    >>> model = PULeastSquaresClassifier(class_prior=0.5, random_state=0).fit(*stack(P, U))
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    """

    class_prior: PriorParameter = field(default="auto", kw_only=False)
    basis: str = "gaussian"
    n_centers: int = 300
    bandwidth: Any = None
    alpha: Any = None
    cv: int = 5
    standardize: bool = True
    random_state: RandomState = 0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows in the means of the risk, those of positives and those of unlabelled rows normalised
            apart. Centres, folds and the scale of the columns do not depend on them. An estimator of the class prior
            gets them where its `fit` takes them.

        Returns
        -------
        self
        """
        X, labels = self._start(X, y)
        check_number("n_centers", self.n_centers, 1, integer=True)
        n_folds = min(check_number("cv", self.cv, 2, integer=True), labels.n_positive, labels.n_unlabelled)
        alphas = self._alphas(labels)
        weight = normalised_weights(sample_weight, X, labels.positive)
        self._resolve_prior(X, labels, weight)
        seed = draw_seed(self.random_state)
        self._scaling = column_scaling(X) if self.standardize else None
        with one_blas_thread():
            self._bases = self._make_bases(X, seed)
            folds = deal_folds(X, labels.positive, n_folds, seed).number
            self._solve(self._sums(X, labels.positive, folds, weight), alphas)
        return self

    def _alphas(self, labels: PULabels) -> Floats:
        if self.alpha is not None:
            return check_grid(self.alpha, "alpha", positive=False)
        least = np.log10(0.1 / max(10, min(labels.n_positive, labels.n_unlabelled)))
        return np.logspace(least, 1.0, int(np.ceil(2.0 * (1.0 - least))) + 1)

    def _make_bases(self, X: Any, seed: int) -> Bases:
        if self.basis == "linear":
            return UserBasis(_with_constant, X.shape[1] + 1)
        if self.basis != "gaussian":
            raise ValueError(f"basis must be 'gaussian' or 'linear'; {self.basis!r} was given.")
        grid = None if self.bandwidth is None else check_grid(self.bandwidth, "bandwidth", positive=True)
        drawn = self._scaled(draw_centers(X, self.n_centers, seed), sparse=sp.issparse(X))
        self.centers_ = drawn
        origin = None if sp.issparse(X) else drawn.mean(axis=0)
        shifted = drawn if origin is None else drawn - origin
        if grid is None:
            grid = default_bandwidths(median_distance(drawn, shifted, origin))
        return GaussianBases(shifted, origin, grid, True)

    def _scaled(self, rows: Any, *, sparse: bool | None = None) -> Any:
        if self._scaling is None:
            return rows
        if sp.issparse(rows):
            return rows @ sp.diags(1.0 / self._scaling.scale)
        # Centres of a sparse matrix are dense rows, scaled like its rows: by one number, without a centre.
        return (Scaling(None, self._scaling.scale) if sparse else self._scaling)(rows)

    def _sums(self, X: Any, positive: NDArray[np.bool_], folds: NDArray[np.intp], weight: Floats | None) -> BasisSums:
        single = check_scenario(self.scenario) == "single-sample"
        n_folds = int(folds.max()) + 1
        sums = BasisSums.zeros(self._bases.n_bases, n_folds, self._bases.n_functions, second_of_positives=single)
        for kind in (False, True):
            for k in range(n_folds):
                rows = np.flatnonzero((positive == kind) & (folds == k))
                for block in row_blocks(rows, self._bases.n_functions, X.shape[1]):
                    of_block = None if weight is None else weight[block]
                    sums.add_rows(self._bases(self._scaled(X[block])), kind, k, of_block)
        return sums

    def _solve(self, sums: BasisSums, alphas: Floats) -> None:
        """Choose bandwidth and penalty by the held-out risk, then solve on all rows."""
        n_bases, n_folds = self._bases.n_bases, sums.count.shape[1]
        objective = np.empty((n_bases, alphas.size, n_folds))
        for k in range(n_folds):
            kept = np.arange(n_folds) != k
            H, h = self._system(sums, kept)
            held_H, held_h = self._system(sums, ~kept)
            objective[:, :, k] = linear_objective(ridge_path(H, h, alphas), held_H, held_h)
        score = -objective.mean(axis=2)
        s, a = best_cell(score)
        widths = self._bases.bandwidths if isinstance(self._bases, GaussianBases) else None
        self.cv_results_ = results_table(widths, alphas, score, -objective)
        self._chosen, self.alpha_ = s, float(alphas[a])
        self.bandwidth_ = None if widths is None else float(widths[s])
        H, h = self._system(sums, np.ones(n_folds, dtype=bool))
        self.coef_ = ridge_solution(H[s], h[s], self.alpha_)

    def _system(self, sums: BasisSums, folds: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """H, shape (S, b, b), and h, shape (S, b), of some folds."""
        weights = self._population_weights()
        found = moments(sums, folds, weights)
        count = sums.count[:, folds].sum(axis=1)
        first = sums.first[:, :, folds].sum(axis=2)
        mean = np.tensordot(weights(count), first, axes=1)
        return found.H, 2.0 * self.class_prior_ * (found.h[1] - mean)

    def _population_weights(self) -> PopulationWeights:
        if check_scenario(self.scenario) == "single-sample":
            return lambda count: np.full(2, 1.0 / max(count.sum(), 1.0))
        return lambda count: np.array([1.0 / max(count[0], 1.0), 0.0])

    def _margin(self, X: Any) -> Floats:
        z = np.empty(X.shape[0])
        for block in row_blocks(np.arange(X.shape[0]), self._bases.n_functions, X.shape[1]):
            (phi,) = self._bases(self._scaled(X[block]), slice(self._chosen, self._chosen + 1))
            z[block] = phi @ self.coef_
        return z + 2.0 * self.class_prior_ - 1.0

    def _log_odds(self, X: Any) -> Floats:
        return log_odds_of_margin(self._margin(X))


def _with_constant(X: Any) -> Floats:
    rows = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    return np.column_stack([rows, np.ones(rows.shape[0])])
