"""What the analytic estimators share: the grid, one pass over the rows, the fitted ratio."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, with_parameters
from purely.checks import LARGEST_VALUE, RandomState, check_choice, check_number, draw_seed, refuse_huge
from purely.class_prior import check_class_prior
from purely.exceptions import DegenerateDataWarning, SearchBoundWarning
from purely.folds import deal_folds, stream_folds
from purely.labels import PULabels, read_labels
from purely.smi.basis import (
    Bases,
    GaussianBases,
    UserBasis,
    draw_centers,
    median_distance,
    row_blocks,
)
from purely.smi.model_choice import (
    PopulationWeights,
    best_cell,
    choose_without_fold,
    cross_validate,
    moments,
    results_table,
    still_rising,
)
from purely.smi.objective import BasisSums, linear_objective, ridge_solution
from purely.threads import one_blas_thread

Floats = NDArray[np.float64]

_N_BANDWIDTHS = 9
_BANDWIDTH_DECADES = 1.0
#: Largest l2 value: the diagonal of H is at most 1, so this shrinks every coefficient to nearly nothing.
_LARGEST_ALPHA = 10.0


@with_parameters
class LinearRatio(PUEstimator):
    """Base of the analytic estimators: a density ratio that is linear in a basis, fitted from sums over rows."""

    _supervised = False

    basis: str | Callable[[Any], ArrayLike] = "gaussian"
    n_centers: int = 100
    centers: ArrayLike | None = None
    bandwidth: ArrayLike | None = None
    alpha: ArrayLike | None = None
    intercept: bool = True
    cv: int = 5
    n_jobs: int | None = None
    random_state: RandomState = 0
    sums_: BasisSums = field(init=False)

    def _population_weights(self) -> PopulationWeights:
        raise NotImplementedError

    def _second_of_positives(self) -> bool:
        raise NotImplementedError

    def fit(self, X: Any, y: ArrayLike, folds: ArrayLike | None = None) -> Self:
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
            cv, self._seed = self._check_cv(), draw_seed(self.random_state)
            dealt = (
                deal_folds(X, labels.positive, cv, self._seed).number if folds is None else _check_folds(folds, labels)
            )
            self._start(X, labels, n_folds=int(dealt.max()) + 1)
            self._add_batch(X, labels, dealt)
            self._solve()
            self.folds_ = dealt
            self.oof_density_ratio_ = self._out_of_fold_ratio(X, dealt)
            self._after_fit(X, labels.positive)
        return self

    def _after_fit(self, X: Any, positive: NDArray[np.bool_]) -> None:
        """What a subclass computes from the rows once the out-of-fold ratios are known."""

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
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
            X, labels = self._validate_fit(X, y, min_positive=1, reset=True)
        else:
            X, labels = self._validate_batch(X, y, known, reset=first)
        self.forget("oof_density_ratio_", "folds_")
        with one_blas_thread():
            if first:
                self._seed = draw_seed(self.random_state)
                self._start(X, labels, n_folds=self._check_cv())
            self._add_batch(X, labels, stream_folds(X, self.sums_.count.shape[1], self._seed))
            if self.sums_.count.min() > 0:  # every fold has rows of both kinds
                self._solve()
        return self

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
        self.forget("oof_density_ratio_", "folds_")
        self.sums_ = self.sums_ + sums
        with one_blas_thread():
            if self.sums_.count.min() > 0:
                self._solve()
        return self

    def _validate_batch(self, X: Any, y: ArrayLike, classes: ArrayLike, *, reset: bool) -> tuple[Any, PULabels]:
        X = self._validate_rows(X, reset=reset)
        labels = read_labels(y, classes=classes)
        if labels.positive.size != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {labels.positive.size} labels; they must match.")
        return X, labels

    def _check_cv(self) -> int:
        return check_number("cv", self.cv, 2, integer=True)

    def _start(self, X: Any, labels: PULabels, n_folds: int) -> None:
        """Fix the coding, the basis and the grid."""
        check_number("n_centers", self.n_centers, 1, integer=True)
        check_choice("intercept", self.intercept, (True, False))
        self.classes_ = labels.classes
        if self.alpha is not None:
            check_grid(self.alpha, "alpha", positive=False)
        self._bases = self._make_bases(X, labels)
        self.sums_ = BasisSums.zeros(
            self._bases.n_bases, n_folds, self._bases.n_functions, second_of_positives=self._second_of_positives()
        )

    def _make_bases(self, X: Any, labels: PULabels) -> Bases:
        if callable(self.basis):
            if self.bandwidth is not None or self.centers is not None:
                raise ValueError("bandwidth and centers belong to basis='gaussian'; leave them None with a function.")
            return UserBasis.probe(self.basis, X)
        if not (isinstance(self.basis, str) and self.basis == "gaussian"):
            raise ValueError(f"basis must be 'gaussian' or a function of the rows; {self.basis!r} was given.")
        grid = None if self.bandwidth is None else check_grid(self.bandwidth, "bandwidth", positive=True)
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
        origin = None if hasattr(X, "indptr") else centers.mean(axis=0)
        shifted = centers if origin is None else centers - origin
        if grid is None:
            # a single centre, or copies of one, has no distance to itself; the rows may still have one to it
            median = median_distance(centers, shifted, origin) or median_distance(X, shifted[:1], origin)
            grid = default_bandwidths(median)
        return GaussianBases(shifted, origin, grid, bool(self.intercept))

    def _add_batch(self, X: Any, labels: PULabels, folds: NDArray[np.intp]) -> None:
        """Add rows to the sums of their folds."""
        sums, n_folds = self.sums_, self.sums_.count.shape[1]

        def add(positive: bool, k: int) -> None:
            rows = np.flatnonzero((labels.positive == positive) & (folds == k))
            for block in row_blocks(rows, self._bases.n_functions, X.shape[1]):
                sums.add_rows(self._bases(X[block]), positive, k)

        # each task writes to its own slice of the sums, so the result does not depend on n_jobs
        self._run(add, [(positive, k) for positive in (True, False) for k in range(n_folds)])

    def _run(self, task: Callable[..., None], arguments: list[tuple[Any, ...]]) -> None:
        """Call a function with each of the arguments, in `n_jobs` threads; NumPy lets others run while it computes."""
        workers = min(effective_n_jobs(self.n_jobs), len(arguments))
        if workers == 1:
            for args in arguments:
                task(*args)
            return
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda args: task(*args), arguments))

    def _solve(self) -> None:
        """Choose the cell, solve on all rows, report the objective in sample and out of fold."""
        weights, sums = self._population_weights(), self.sums_
        alphas = self._alpha_grid()
        grid = cross_validate(sums, alphas, weights, supervised=self._supervised, run=self._run)
        score_parts = -self._combine(grid.parts)
        score = score_parts.sum(axis=-1)
        s, a = best_cell(score)
        by_fold = -self._combine(grid.by_fold)
        bandwidths = self._bases.bandwidths if isinstance(self._bases, GaussianBases) else None
        self.cv_results_ = results_table(bandwidths, alphas, score, by_fold)
        self._chosen = s
        self.bandwidth_ = None if bandwidths is None else float(bandwidths[s])
        self.alpha_ = float(alphas[a])
        self._warn_at_bounds(by_fold, s, a)
        whole = moments(sums, np.ones(sums.count.shape[1], dtype=bool), weights)
        H, h = whole.H[s], whole.h[:, s]
        wanted = (self._supervised, True)
        self._beta = np.stack(
            [
                ridge_solution(H, h_y, self.alpha_) if needed else np.zeros_like(h_y)
                for h_y, needed in zip(h, wanted, strict=True)
            ]
        )
        self.coef_ = self._beta[1]
        in_sample = np.array([linear_objective(b[:, None], H, h_y)[0] for b, h_y in zip(self._beta, h, strict=True)])
        cells = choose_without_fold(score_parts)
        self._fold_bases = [cell[0] for cell in cells]
        self.fold_bandwidth_ = None if bandwidths is None else bandwidths[self._fold_bases]
        self.fold_coef_ = np.stack([grid.beta[1, s_k, a_k, k] for k, (s_k, a_k) in enumerate(cells)])
        self._report(in_sample, np.sum([grid.parts[:, s_k, a_k, k] for k, (s_k, a_k) in enumerate(cells)], axis=0))

    def _alpha_grid(self) -> Floats:
        """The user's l2 values, or half decades from one over the smaller sample to a value that shrinks all.

        Moments of n rows are known to about 1/sqrt(n); l2 values below 1/n leave directions in that hold noise only,
        and the ratio then explodes between and beyond the rows.
        """
        if self.alpha is not None:
            return check_grid(self.alpha, "alpha", positive=False)
        smaller = max(float(self.sums_.count.sum(axis=1).min()), 10.0)
        decades = np.log10(_LARGEST_ALPHA * smaller)
        return np.logspace(-np.log10(smaller), np.log10(_LARGEST_ALPHA), int(np.ceil(2 * decades)) + 1)

    def _combine(self, objective: Floats) -> Floats:
        """One number a cell from the objectives of both classes."""
        return objective[1]

    def _report(self, in_sample: Floats, out_of_fold: Floats) -> None:
        raise NotImplementedError

    def _warn_at_bounds(self, by_fold: Floats, s: int, a: int) -> None:
        # where nothing is found the smoothest ratio wins and the end of the grid means nothing
        gain = by_fold[s, a] - 0.5
        if gain.mean() <= gain.std(ddof=1) / np.sqrt(gain.size):
            return
        ends = []
        if isinstance(self._bases, GaussianBases) and still_rising(by_fold[:, a], s):
            ends.append(("bandwidth", self._bases.bandwidths, s))
        if self.alpha is not None and still_rising(by_fold[s], a):
            ends.append(("alpha", self._alpha_grid(), a))
        for name, values, best in ends:
            end = "smallest" if best == 0 else "largest"
            warnings.warn(
                f"{name}={values[best]:.3g} is the {end} of the grid and the cross-validated score still rises there; "
                f"give a grid that reaches further, {name}=[...], or scale the columns of X.",
                SearchBoundWarning,
                stacklevel=4,
            )

    def _out_of_fold_ratio(self, X: Any, folds: NDArray[np.intp]) -> Floats:
        ratio = np.empty(X.shape[0])

        def predict(k: int) -> None:
            chosen = slice(self._fold_bases[k], self._fold_bases[k] + 1)
            for block in row_blocks(np.flatnonzero(folds == k), self._bases.n_functions, X.shape[1]):
                (phi,) = self._bases(X[block], chosen)
                ratio[block] = phi @ self.fold_coef_[k]

        self._run(predict, [(k,) for k in range(self.sums_.count.shape[1])])
        return ratio

    def _chosen_basis(self, X: Any, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Blocks of rows with the chosen basis at them."""
        for block in row_blocks(rows, self._bases.n_functions, X.shape[1]):
            (phi,) = self._bases(X[block], slice(self._chosen, self._chosen + 1))
            yield block, phi

    def _ratio(self, X: Any, beta: Floats) -> Floats:
        ratio = np.empty((X.shape[0], *beta.shape[1:]))
        for block, phi in self._chosen_basis(X, np.arange(X.shape[0])):
            ratio[block] = phi @ beta
        return ratio

    def density_ratio(self, X: Any, *, clip: bool = True) -> Floats:
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

    def posterior(self, X: Any, class_prior: float) -> Floats:
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
        return np.clip(check_class_prior(class_prior) * self.density_ratio(X), 0.0, 1.0)


def _check_folds(folds: ArrayLike, labels: PULabels) -> NDArray[np.intp]:
    numbers = np.asarray(folds)
    if numbers.shape != labels.positive.shape or numbers.dtype.kind not in "iu" or numbers.min(initial=0) < 0:
        raise ValueError(
            f"folds must be {labels.positive.size} whole numbers from 0, one a row; "
            f"an array of shape {numbers.shape} and type {numbers.dtype} was given."
        )
    counts = [np.bincount(numbers[mask], minlength=2) for mask in (labels.positive, ~labels.positive)]
    for count, kind in zip(counts, ("labelled positives", "unlabelled rows"), strict=True):
        if count.size < numbers.max() + 1 or (count == 0).any():
            missing = int(np.argmin(count)) if (count == 0).any() else int(count.size)
            raise ValueError(
                f"folds: fold {missing} has no {kind}; every fold needs rows of both kinds, and two folds."
            )
    return numbers.astype(np.intp)


def check_grid(values: Any, name: str, *, positive: bool) -> Floats:
    """A number or a list of numbers as a sorted array; `positive` says whether zero is refused."""
    try:
        given = np.atleast_1d(np.asarray(values))
    except ValueError:  # lists of unequal lengths
        given = np.empty((0, 0))
    if given.size and given.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or a list of numbers; {values!r} was given.")
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"{name} must be a number or a non-empty list of numbers; {values!r} was given.")
    grid = np.unique(given.astype(np.float64))
    bad = ~np.isfinite(grid) | (grid <= 0.0 if positive else grid < 0.0)
    if bad.any():
        allowed = "positive and finite" if positive else "non-negative and finite"
        raise ValueError(f"{name} must be {allowed}; {grid[bad][0]:g} was given.")
    if positive and (grid[0] < 1.0 / LARGEST_VALUE or grid[-1] > LARGEST_VALUE):
        raise ValueError(
            f"{name} must lie between {1.0 / LARGEST_VALUE:g} and {LARGEST_VALUE:g}, since its square enters; "
            f"{grid[0] if grid[0] < 1.0 / LARGEST_VALUE else grid[-1]:g} was given. Rescale the columns of X."
        )
    return grid


def default_bandwidths(median: float) -> Floats:
    """Widths around the median distance of rows."""
    if median * 10.0**-_BANDWIDTH_DECADES < 1.0 / LARGEST_VALUE:
        warnings.warn(
            "the rows of X are all the same, or differ by less than can be squared: the estimate is that x tells "
            "nothing about y. Rescale the columns if they are not constant.",
            DegenerateDataWarning,
            stacklevel=5,
        )
        return np.array([1.0])
    return median * np.logspace(-_BANDWIDTH_DECADES, _BANDWIDTH_DECADES, _N_BANDWIDTHS)
