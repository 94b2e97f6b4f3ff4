"""What the analytic estimators share: the grid, one pass over the rows, the fitted ratio."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, number, one_of, parameter, with_parameters
from purely.checks import RandomState, check_share, draw_seed, refuse_huge, refuse_length
from purely.exceptions import SearchBoundWarning
from purely.folds import deal_folds, stream_folds
from purely.labels import PULabels, read_labels
from purely.smi import model_choice
from purely.smi.basis import Bases, Calls, Function, GaussianBases, UserBasis, check_grid, draw_centers
from purely.smi.objective import BasisSums, linear_objective, ridge_solution
from purely.threads import one_blas_thread
from purely.typing import Floats, Indices, Mask, Matrix


@with_parameters
class LinearRatio(PUEstimator):
    """Base of the analytic estimators: a density ratio that is linear in a basis, fitted from sums over rows."""

    _supervised = False

    basis: str | Function = "gaussian"
    n_centers: int = number(default=100, low=1, integer=True)
    centers: ArrayLike | None = None
    bandwidth: ArrayLike | None = parameter(default=None, check=partial(check_grid, positive=True))
    alpha: ArrayLike | None = parameter(default=None, check=partial(check_grid, positive=False))
    intercept: bool = one_of(True, False, default=True)
    cv: int = number(default=5, low=2, integer=True)
    n_jobs: int | None = None
    random_state: RandomState = 0
    sums_: BasisSums = field(init=False)

    def _equations(self) -> model_choice.Equations:
        """How the sums become the moments of the ratios; the positives' ratio is the last."""
        raise NotImplementedError

    def _second_of_positives(self) -> bool:
        raise NotImplementedError

    def fit(self, X: Matrix, y: ArrayLike, folds: ArrayLike | None = None) -> Self:
        """Estimate the density ratio and its information.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Labels; see :mod:`purely.labels` for the coding.
        folds : array-like of int, shape (n,), optional
            Fold of each row, numbered from 0, for rows that belong together (visits of one patient) and must not be
            split between training and judging. None: rows are dealt out at random to `cv` folds.

        Returns
        -------
        self
        """
        X, labels = self._validate_fit(X, y)
        with one_blas_thread():
            self._seed = draw_seed(self.random_state)
            own = None if folds is None else _check_folds(folds, labels)
            self.folds_ = deal_folds(X, labels.positive, self.cv, self._seed).number if own is None else own
            self._start(X, labels, n_folds=int(self.folds_.max()) + 1)
            self._bases.add_rows(self.sums_, X, labels.positive, self.folds_, self._run)
            solved = self._solve()
            self.oof_density_ratio_ = self._out_of_fold_ratio(X, self.folds_)
            self._after_fit(X, labels.positive, solved)
        return self

    def _after_fit(self, X: Matrix, positive: Mask, solved: model_choice.Moments) -> None:
        """What a subclass computes from the rows, and the moments, once the out-of-fold ratios are known."""

    def partial_fit(self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Add a batch of a stream to the sums and solve anew.

        Centres, bandwidths and the coding of the labels are fixed by the first batch (or by `centers`, `bandwidth`
        and `classes`); what follows is the estimate that :meth:`fit` would give on all rows with those. Out-of-fold
        ratios of single rows are not kept, so intervals need :meth:`information_interval` on rows set aside. A
        row's fold depends on what is in the row, so that order and size of batches do not matter; there is an estimate
        as soon as every fold holds positives and unlabelled rows, not before.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            After the first batch, or where `classes` is given, a batch may hold one kind of row only.
        classes : array-like of two values, optional
            The coding of the labels, for a first batch that has one kind of row only.

        Returns
        -------
        self
        """
        first = not hasattr(self, "sums_")
        known = classes if first else self.classes_
        if known is None:
            X, labels = self._validate_fit(X, y, least=(1, 2), reset=True)
        else:
            X, labels = self._validate_rows(X, reset=first), read_labels(y, classes=known)
            refuse_length("X", X.shape[0], labels.positive.size)
        with one_blas_thread():
            if first:
                self._seed = draw_seed(self.random_state)
                self._start(X, labels, n_folds=self.cv)
            folds = stream_folds(X, self.sums_.count.shape[1], self._seed)
            self._bases.add_rows(self.sums_, X, labels.positive, folds, self._run)
        return self._solve_again()

    def add_sums(self, sums: BasisSums) -> Self:
        """Add sums over other rows, made with the same centres, bandwidths and folds, and solve anew.

        Parameters
        ----------
        sums : BasisSums
            `sums_` of another estimator with these settings, for example of a part of the rows on another machine.

        Returns
        -------
        self
        """
        check_is_fitted(self, "sums_")
        if sums.second.shape != self.sums_.second.shape:
            raise ValueError(
                f"the sums have the shape {sums.second.shape} where {self.sums_.second.shape} belongs: both estimators "
                "need the same centers, bandwidth and cv."
            )
        self.sums_ = self.sums_ + sums
        return self._solve_again()

    def _solve_again(self) -> Self:
        """Solve for sums that have grown, as soon as every fold has rows of both kinds; ratios of rows are not kept."""
        self.forget("oof_density_ratio_", "folds_")
        with one_blas_thread():
            if self.sums_.count.min() > 0:
                self._solve()
        return self

    def _start(self, X: Matrix, labels: PULabels, n_folds: int) -> None:
        """Fix the basis; sums start at zero."""
        self.classes_ = labels.classes
        self._bases = self._make_bases(X, labels)
        self.sums_ = self._bases.sums(n_folds, second_of_positives=self._second_of_positives())

    def _make_bases(self, X: Matrix, labels: PULabels) -> Bases:
        if callable(self.basis):
            if self.bandwidth is not None or self.centers is not None:
                raise ValueError("bandwidth and centers belong to basis='gaussian'; leave them None with a function.")
            return UserBasis.probe(self.basis, X)
        if not (isinstance(self.basis, str) and self.basis == "gaussian"):
            raise ValueError(f"basis must be 'gaussian' or a function of the rows; {self.basis!r} was given.")
        pool = X if self._supervised else X[np.flatnonzero(~labels.positive)]
        if self.centers is not None:
            centers = check_array(self.centers, dtype=np.float64, input_name="centers")
            refuse_huge(centers, "centers")
            if centers.shape[1] != X.shape[1]:
                raise ValueError(f"centers has {centers.shape[1]} columns, X has {X.shape[1]}; they must be the same.")
        elif pool.shape[0] == 0:
            raise ValueError("the first batch has no unlabelled rows to draw centres from; give centers= or such rows.")
        else:
            centers = draw_centers(pool, self.n_centers, self._seed)
        self.centers_ = centers
        grid = None if self.bandwidth is None else check_grid("bandwidth", self.bandwidth, positive=True)
        return GaussianBases.about(centers, grid, bool(self.intercept), sparse=hasattr(X, "indptr"), rows=X)

    def _run(self, task: Callable[..., None], arguments: Calls) -> None:
        """Call a function with each of the arguments, in `n_jobs` threads; NumPy lets others run while it computes."""
        Parallel(self.n_jobs, require="sharedmem")(delayed(task)(*args) for args in arguments)

    def _solve(self) -> model_choice.Moments:
        """Choose the cell, solve on all rows, report the objective in sample and out of fold."""
        equations, widths = self._equations(), self._bases.bandwidths
        alphas = model_choice.alpha_grid(self.alpha, float(self.sums_.count.sum(axis=1).min()))
        grid = model_choice.cross_validate(self.sums_, alphas, equations, self._run)
        score_parts, by_fold = -self._combine(grid.parts), -self._combine(grid.by_fold)
        score = score_parts.sum(axis=-1)
        s, a = model_choice.best_cell(score)
        self.cv_results_ = model_choice.results_table(widths, alphas, score, by_fold)
        self._chosen, self.alpha_ = s, float(alphas[a])
        self.bandwidth_ = None if widths is None else float(widths[s])
        self._warn_at_bounds(by_fold, alphas, s, a)
        whole = equations.whole(self.sums_)
        solved = [ridge_solution(whole.H[s], h, self.alpha_) for h in whole.h[:, s]]
        self._beta = np.stack([*(2 - len(solved)) * [np.zeros_like(solved[0])], *solved])
        self.coef_ = self._beta[1]
        in_sample = [linear_objective(b[:, None], whole.H[s], h)[0] for b, h in zip(solved, whole.h[:, s], strict=True)]
        cells = model_choice.choose_without_fold(score_parts)
        self._fold_bases = [cell[0] for cell in cells]
        self.fold_bandwidth_ = None if widths is None else widths[self._fold_bases]
        self.fold_coef_ = np.stack([grid.beta[-1, s_k, a_k, k] for k, (s_k, a_k) in enumerate(cells)])
        parts = [grid.parts[:, s_k, a_k, k] for k, (s_k, a_k) in enumerate(cells)]
        self._report(np.array(in_sample), np.sum(parts, axis=0))
        return whole

    def _combine(self, objective: Floats) -> Floats:
        """One number a cell from the objectives of all ratios."""
        return objective[-1]

    def _report(self, in_sample: Floats, out_of_fold: Floats) -> None:
        raise NotImplementedError

    def _warn_at_bounds(self, by_fold: Floats, alphas: Floats, s: int, a: int) -> None:
        # where nothing is found the smoothest ratio wins and the end of the grid means nothing
        gain = by_fold[s, a] - 0.5
        if gain.mean() <= gain.std(ddof=1) / np.sqrt(gain.size):
            return
        ends = []
        if self._bases.bandwidths is not None and model_choice.still_rising(by_fold[:, a], s):
            ends.append(("bandwidth", self._bases.bandwidths, s))
        if self.alpha is not None and model_choice.still_rising(by_fold[s], a):
            ends.append(("alpha", alphas, a))
        for name, values, best in ends:
            end = "smallest" if best == 0 else "largest"
            warnings.warn(
                f"{name}={values[best]:.3g} is the {end} of the grid and the cross-validated score still rises there; "
                f"give a grid that reaches further, {name}=[...], or scale the columns of X.",
                SearchBoundWarning,
                stacklevel=4,
            )

    def _out_of_fold_ratio(self, X: Matrix, folds: Indices) -> Floats:
        ratio = np.empty(X.shape[0])

        def predict(k: int) -> None:
            for block, phi in self._bases.blocks(X, np.flatnonzero(folds == k), self._fold_bases[k]):
                ratio[block] = phi @ self.fold_coef_[k]

        self._run(predict, [(k,) for k in range(self.sums_.count.shape[1])])
        return ratio

    def _ratio(self, X: Matrix, beta: Floats) -> Floats:
        """Linear combinations of the chosen basis, with coefficients of shape (b,) or (b, a), at validated rows."""
        return self._bases.product(X, self._chosen, beta)

    def density_ratio(self, X: Matrix, *, clip: bool = True) -> Floats:
        """The fitted ratio p(x | y=1) / p(x).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
        clip : bool, default=True
            Raise negative values to 0. The linear model can go below zero where there is little data; a true ratio
            cannot, and clipping only ever lowers the population's objective.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "coef_")
        ratio = self._ratio(self._validate_rows(X), self.coef_)
        return np.maximum(ratio, 0.0) if clip else ratio

    def posterior(self, X: Matrix, class_prior: float) -> Floats:
        """Probability of the positive class, class_prior * ratio, clipped to [0, 1].

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
        class_prior : float
            p(y=1) in the population, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.clip(check_share("class_prior", class_prior) * self.density_ratio(X), 0.0, 1.0)


def _check_folds(folds: ArrayLike, labels: PULabels) -> Indices:
    numbers = np.asarray(folds)
    if numbers.shape != labels.positive.shape or numbers.dtype.kind not in "iu" or numbers.min(initial=0) < 0:
        raise ValueError(
            f"folds must be {labels.positive.size} whole numbers from 0, one a row; "
            f"an array of shape {numbers.shape} and type {numbers.dtype} was given."
        )
    n_folds = max(2, int(numbers.max()) + 1)
    for mask, kind in ((labels.positive, "labelled positives"), (~labels.positive, "unlabelled rows")):
        empty = np.flatnonzero(np.bincount(numbers[mask], minlength=n_folds) == 0)
        if empty.size:
            raise ValueError(
                f"folds: fold {empty[0]} has no {kind}; every fold needs rows of both kinds, and two folds."
            )
    return numbers.astype(np.intp)
