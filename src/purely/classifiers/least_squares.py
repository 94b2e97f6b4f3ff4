"""PULeastSquaresClassifier: the unbiased PU risk with the squared loss, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from purely.base import number, parameter, with_parameters
from purely.checks import RandomState, dense, draw_seed
from purely.class_prior import PriorParameter
from purely.classifiers.base import BasePUClassifier, log_odds_of_margin
from purely.classifiers.weights import normalised_weights
from purely.folds import deal_folds
from purely.nn.scaling import ScaledRows, column_scaling
from purely.smi import model_choice
from purely.smi.basis import Bases, GaussianBases, UserBasis, check_grid, draw_centers, in_turn
from purely.smi.objective import BasisSums, ridge_solution
from purely.threads import one_blas_thread
from purely.typing import Floats, Matrix


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
        Draws the centres and the folds. Both depend on the rows' values, not on their order.

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
        The chosen values.
    cv_results_ : dict
        Every pair of values, as in :class:`sklearn.model_selection.GridSearchCV`; scores are minus the risk up to a
        constant.
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
    n_centers: int = number(default=300, low=1, integer=True)
    bandwidth: float | Sequence[float] | None = parameter(default=None, check=partial(check_grid, positive=True))
    alpha: float | Sequence[float] | None = parameter(default=None, check=partial(check_grid, positive=False))
    cv: int = number(default=5, low=2, integer=True)
    standardize: bool = True
    random_state: RandomState = 0

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
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
        weight = normalised_weights(sample_weight, X, labels.positive)
        self._resolve_prior(X, labels, weight)
        seed = draw_seed(self.random_state)
        self._scaling = column_scaling(X) if self.standardize else None
        alphas = model_choice.alpha_grid(self.alpha, min(labels.n_positive, labels.n_unlabelled), decades_below=1)
        with one_blas_thread():
            self._bases = self._make_bases(X, seed)
            folds = deal_folds(X, labels.positive, self.cv, seed)
            sums = self._bases.sums(folds.n_folds, second_of_positives=self.scenario == "single-sample")
            self._bases.add_rows(sums, self._scaled(X), labels.positive, folds.number, in_turn, weight)
            self._solve(sums, alphas)
        return self

    def _make_bases(self, X: Matrix, seed: int) -> Bases:
        if self.basis == "linear":
            return UserBasis(_with_constant, X.shape[1] + 1)
        if self.basis != "gaussian":
            raise ValueError(f"basis must be 'gaussian' or 'linear'; {self.basis!r} was given.")
        drawn = draw_centers(X, self.n_centers, seed)
        self.centers_ = drawn if self._scaling is None else self._scaling(drawn)
        grid = None if self.bandwidth is None else check_grid("bandwidth", self.bandwidth, positive=True)
        return GaussianBases.about(self.centers_, grid, True, sparse=sp.issparse(X))

    def _scaled(self, rows: Matrix) -> Matrix:
        return rows if self._scaling is None else ScaledRows(rows, self._scaling)

    def _solve(self, sums: BasisSums, alphas: Floats) -> None:
        """Choose bandwidth and penalty by the held-out risk, then solve on all rows."""
        weights = model_choice.population_weights(self.scenario == "single-sample")

        def linear(count: Floats, first: Floats) -> Floats:
            population = np.tensordot(weights(count), first, axes=1)
            return 2.0 * self.class_prior_ * (model_choice.positive_mean(count, first) - population)

        equations = model_choice.Equations(weights, linear)
        score = -model_choice.cross_validate(sums, alphas, equations).by_fold[0]
        s, a = model_choice.best_cell(score.mean(axis=2))
        widths, whole = self._bases.bandwidths, equations.whole(sums)
        self.cv_results_ = model_choice.results_table(widths, alphas, score.mean(axis=2), score)
        self._chosen, self.alpha_ = s, float(alphas[a])
        self.bandwidth_ = None if widths is None else float(widths[s])
        self.coef_ = ridge_solution(whole.H[s], whole.h[0, s], self.alpha_)

    def _log_odds(self, X: Matrix) -> Floats:
        z = self._bases.product(self._scaled(X), self._chosen, self.coef_)
        return log_odds_of_margin(z + 2.0 * self.class_prior_ - 1.0)


def _with_constant(X: Matrix) -> Floats:
    rows = dense(X)
    return np.column_stack([rows, np.ones(rows.shape[0])])
