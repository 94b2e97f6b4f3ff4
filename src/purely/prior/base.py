"""What every class-prior estimator shares: one `fit`, one set of results, one kind of warning."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator
from purely.checks import level_to_z
from purely.class_prior import ClassPriors, Prior
from purely.exceptions import ClassPriorWarning
from purely.folds import Folds
from purely.labels import PULabels, Scenario, check_scenario

__all__ = [
    "PriorDiagnostics",
    "PriorEstimate",
    "PriorEstimator",
]


@dataclass(frozen=True)
class PriorDiagnostics:
    """What is behind a class prior: a curve, and where on it the estimate was read.

    Attributes
    ----------
    x, curve : ndarray
        Abscissae and ordinates of the curve the estimate was read from.
    x_label, curve_label : str
        What the two are.
    chosen : float or None
        The abscissa at which the estimate was read.
    bound : {"lower", "upper"} or None
        The bound of the search that the estimate hit, if any.
    identifiable : bool
        False where the data do not determine the prior; the estimate is then an upper bound of it at best.
    details : dict
        Further numbers of the method, by name.
    """

    x: NDArray[np.float64]
    curve: NDArray[np.float64]
    x_label: str
    curve_label: str
    chosen: float | None = None
    bound: str | None = None
    identifiable: bool = True
    details: dict[str, Any] = field(default_factory=dict)

    def draw(self, ax: Any) -> None:
        """Draw the curve on a matplotlib axes, with a dotted line where the estimate was read."""
        ax.plot(self.x, self.curve, drawstyle="default")
        if self.chosen is not None and np.isfinite(self.chosen):
            ax.axvline(self.chosen, linestyle=":", color="0.3")
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(self.curve_label)


@dataclass(frozen=True)
class PriorEstimate:
    """Share of positives among the unlabelled rows, as a method gives it to the base class.

    Attributes
    ----------
    share : float
        Share of positives among the unlabelled rows, in [0, 1].
    interval : tuple of float
        Confidence interval of the share.
    diagnostics : PriorDiagnostics
    warnings : tuple of str
        Sentences for the user; each is raised as a :class:`ClassPriorWarning`.
    """

    share: float
    interval: tuple[float, float]
    diagnostics: PriorDiagnostics
    warnings: tuple[str, ...] = ()


class PriorEstimator(PUEstimator):
    """Base of the class-prior estimators.

    A method implements :meth:`_estimate`; the base validates once, converts between the share of positives among the
    unlabelled rows and the population's prior (:class:`purely.class_prior.ClassPriors`), and warns.
    """

    # Declared for type checkers; subclasses assign them in __init__.
    scenario: str
    level: float
    _min_positive = 2
    _min_unlabelled = 2

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Estimate the class prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)
            Labelled positives and unlabelled rows together; :func:`purely.stack` makes it from two arrays.
        y : array-like of shape (n,)
            1 for a labelled positive, 0 for an unlabelled row.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        X, labels = self._validate_fit(X, y, min_positive=self._min_positive, min_unlabelled=self._min_unlabelled)
        return self.fit_rows(X, labels)

    def fit_rows(self, X: Any, labels: PULabels, folds: Folds | None = None) -> Self:
        """Estimate the class prior of rows that were validated, for callers that have done so.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_features)
        labels : PULabels
        folds : Folds, optional
            Folds of the rows, for a method that cross-fits; its own by default.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        scenario = check_scenario(self.scenario)
        level_to_z(self.level)
        self.n_features_in_ = X.shape[1]
        self.classes_ = labels.classes
        self.n_positive_ = labels.n_positive
        self.n_unlabelled_ = labels.n_unlabelled
        self._publish(self._estimate(X, labels.positive, folds), scenario)
        return self

    def _publish(self, estimate: PriorEstimate, scenario: Scenario) -> None:
        def population(share: float) -> float:
            return self._convert(share, scenario).population

        priors = self._convert(estimate.share, scenario)
        low, high = sorted(population(end) for end in estimate.interval)
        value = priors.population
        self.prior_ = Prior(value, min(low, value), max(high, value), self.level)
        self.class_prior_ = value
        self.unlabelled_prior_ = priors.unlabelled
        self.label_frequency_ = priors.label_frequency
        self.class_prior_interval_ = (low, high)
        self.diagnostics_ = estimate.diagnostics
        for sentence in estimate.warnings:
            warnings.warn(sentence, ClassPriorWarning, stacklevel=4)

    def _convert(self, share: float, scenario: Scenario) -> ClassPriors:
        inside = float(np.clip(share, 0.0, 1.0))
        return ClassPriors.from_unlabelled(
            inside, n_positive=self.n_positive_, n_unlabelled=self.n_unlabelled_, scenario=scenario
        )

    def _estimate(self, X: Any, positive: NDArray[np.bool_], folds: Folds | None) -> PriorEstimate:
        raise NotImplementedError(f"{type(self).__name__} does not say how it estimates the prior.")

    def plot(self, ax: Any = None) -> Any:
        """Draw what the estimate was read from.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        check_is_fitted(self, "class_prior_")
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        self.diagnostics_.draw(ax)
        low, high = self.class_prior_interval_
        ax.set_title(f"class prior {self.class_prior_:.3f} [{low:.3f}, {high:.3f}]")
        return ax
