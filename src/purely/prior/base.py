"""What every class-prior estimator shares: one `fit`, one set of results, one kind of warning."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, with_parameters
from purely.checks import RandomState, draw_seed, level_to_z
from purely.class_prior import ClassPriors, Prior
from purely.exceptions import ClassPriorWarning
from purely.folds import Folds
from purely.labels import PULabels, Scenario, check_scenario
from purely.prior.ceiling import SharePosterior, ceiling_profile
from purely.prior.ratio import Ratio, RatioScores, ratio_scores
from purely.prior.scores import Reader, ScoreReading, ScoreTable
from purely.typing import Floats, Mask, Matrix

#: Odds at the upper end of the 90 % interval over those at the lower end, up to which the prior counts as determined.
LARGEST_ODDS_RATIO = 4.0


@dataclass(frozen=True)
class PriorDiagnostics:
    """What is behind a class prior: a curve, and where on it the estimate was read.

    Attributes
    ----------
    x, curve : ndarray
        Abscissae and ordinates of the curve the estimate was read from.
    x_label, curve_label : str
        Names of the two axes.
    chosen : float or None
        The abscissa at which the estimate was read.
    bound : {"lower", "upper"} or None
        The bound of the search that the estimate hit, if any.
    details : dict
        Further numbers of the method, by name.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.prior import BestBinPrior
    >>> diagnostics = BestBinPrior(ratio="linear").fit(data.X, data.y).diagnostics_
    >>> diagnostics.x_label, diagnostics.x.shape == diagnostics.curve.shape
    ('share of the positives above the threshold', True)
    """

    x: Floats
    curve: Floats
    x_label: str
    curve_label: str
    chosen: float | None = None
    bound: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reading: ScoreReading, bound: str | None, **details: Any) -> PriorDiagnostics:
        """What a share was read from, with more details."""
        shown = {name: value for name, value in vars(reading).items() if name != "share"}
        return cls(**{**shown, "bound": bound, "details": {**details, **reading.details}})

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
    diagnostics : PriorDiagnostics
    posterior : SharePosterior or None
        What is known of the share; None where the method does not say, and the rows' density ratio is asked.
    warnings : tuple of str
        Sentences for the user; each is raised as a :class:`purely.exceptions.ClassPriorWarning`.
    """

    share: float
    diagnostics: PriorDiagnostics
    posterior: SharePosterior | None = None
    warnings: tuple[str, ...] = ()


def read_scores(score: Floats, positive: Mask, reader: Reader) -> PriorEstimate:
    """Share, what is known of it, diagnostics and warnings from a score."""
    table = ScoreTable.from_scores(score[positive], score[~positive])
    return read_table(table, reader, {"score_positive": score[positive], "score_unlabelled": score[~positive]})


def read_table(table: ScoreTable, reader: Reader, details: dict[str, Any] | None = None) -> PriorEstimate:
    """The same from a table of counts; `details` go to the diagnostics."""
    reading, posterior = reader(table), ceiling_profile(table).posterior()
    bound = "lower" if posterior.quantile(0.95) <= 1e-3 else None
    sentence = (
        f"The class prior {reading.share:.3g} is at the lower bound: no unlabelled row scores like the labelled "
        "positives. Check that both come from one population and that no column gives the label away."
    )
    diagnostics = PriorDiagnostics.of(reading, bound, **(details or {}))
    return PriorEstimate(reading.share, diagnostics, posterior, () if bound is None else (sentence,))


@with_parameters
class PriorEstimator(PUEstimator):
    """Base of the class-prior estimators.

    A method implements :meth:`_estimate`; the base validates once, converts between the share of positives among the
    unlabelled rows and the population's prior (:class:`purely.class_prior.ClassPriors`), and says what the data
    determine. A method's own spread says nothing about its bias, so every method has the interval of the rows'
    cross-fitted density ratio (:mod:`purely.prior.ceiling`), widened where it would not contain the estimate.

    Attributes
    ----------
    class_prior_ : float
        Share of positives in the population.
    unlabelled_prior_ : float
        Share of positives among the unlabelled rows.
    label_frequency_ : float
        Share of labelled rows among the positives at hand.
    class_prior_interval_ : tuple of float
        Interval of `class_prior_`, at `level`.
    upper_bound_ : float
        The class prior is below this with a confidence of 95 %.
    determined_ : bool
        Whether the data determine the class prior: the odds at both ends of its 90 % interval differ by at most a
        factor of 4. Where it is False, say "at most `upper_bound_`".
    prior_ : Prior
        All of these in one object.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.prior import BestBinPrior, PriorEstimator
    >>> prior = BestBinPrior(ratio="linear").fit(data.X, data.y)
    >>> isinstance(prior, PriorEstimator), prior.prior_.value == prior.class_prior_
    (True, True)
    >>> low, high = prior.class_prior_interval_
    >>> bool(low < 0.5 < high < prior.upper_bound_ + 0.1)
    True
    """

    ratio: Ratio = "auto"
    scenario: str = "case-control"
    level: float = 0.9
    n_jobs: int | None = None
    random_state: RandomState = 0

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
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
        X, labels = self._validate_fit(X, y)
        return self.fit_rows(X, labels)

    def fit_rows(self, X: Matrix, labels: PULabels, folds: Folds | None = None) -> Self:
        """Estimate the class prior of rows that the caller has validated.

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
        estimate = self._estimate(X, labels.positive, folds)
        self._publish(estimate, estimate.posterior or self._posterior(X, labels.positive, folds), scenario)
        return self

    def _posterior(self, X: Matrix, positive: Mask, folds: Folds | None) -> SharePosterior:
        """What the cross-fitted density ratio of the rows says of the share."""
        score = self._ratios(X, positive, folds).score
        return ceiling_profile(ScoreTable.from_scores(score[positive], score[~positive])).posterior()

    def _ratios(self, X: Matrix, positive: Mask, folds: Folds | None, cv: int = 5) -> RatioScores:
        """Log-ratios of the rows by models that have not seen them."""
        seed = draw_seed(self.random_state)
        return ratio_scores(self.ratio, X, positive, cv=cv, seed=seed, folds=folds, n_jobs=self.n_jobs)

    def _publish(self, estimate: PriorEstimate, posterior: SharePosterior, scenario: Scenario) -> None:
        def of_share(share: float) -> ClassPriors:
            n_p, n_u, inside = self.n_positive_, self.n_unlabelled_, float(np.clip(share, 0.0, 1.0))
            return ClassPriors.from_unlabelled(inside, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)

        priors = of_share(estimate.share)
        value = priors.population
        low, high = (of_share(end).population for end in posterior.interval(self.level))
        least, most = posterior.interval(0.9)
        determined = bool(most / (1.0 - most) * (1.0 - least) / least <= LARGEST_ODDS_RATIO)
        upper = max(of_share(posterior.quantile(0.95)).population, value)
        self.prior_ = Prior(value, min(low, value), max(high, value), self.level, upper, determined)
        self.class_prior_ = value
        self.unlabelled_prior_ = priors.unlabelled
        self.label_frequency_ = priors.label_frequency
        self.class_prior_interval_ = self.prior_.interval
        self.upper_bound_, self.determined_ = upper, determined
        self.diagnostics_ = estimate.diagnostics
        sentences = estimate.warnings
        if not (sentences or determined):
            low, high = self.class_prior_interval_
            sentences = (
                f"The data do not determine the class prior: it is at most {upper:.3g} (estimate {value:.3g}, between "
                f"{low:.3g} and {high:.3g}). Features that set some positives apart from every negative, more labelled "
                "positives, an audit of some unlabelled rows, or a class prior known from elsewhere would settle it.",
            )
        for sentence in sentences:
            warnings.warn(sentence, ClassPriorWarning, stacklevel=4)

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
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
        ax.set_title(f"class prior {self.prior_}")
        return ax
