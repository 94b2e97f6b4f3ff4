"""Scores of positives and of the pool: histograms with the prior's decomposition, and the curve it is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.isotonic import isotonic_regression

from purely.class_prior import KnownPrior, Prior
from purely.crossfit import last_step
from purely.labels import Scenario
from purely.plotting.common import Display, Rows, all_equal, model_rows, nothing_to_show, read_rows, unlabelled_prior
from purely.plotting.style import ESTIMATE, INK, POSITIVE, UNLABELLED, Axes, label, percent, room_above
from purely.typing import Estimator, Floats, Matrix

#: A class prior that is drawn where there is one.
AnyPrior: TypeAlias = KnownPrior | None


class Scoring(TypedDict, total=False):
    """What pictures of scores take by name."""

    scenario: Scenario
    score_name: str
    notes: tuple[str, ...]


class _OfScores(Display):
    """A picture of scores, from predictions or from a model."""

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        class_prior: AnyPrior = None,
        *,
        scenario: Scenario = "case-control",
        score_name: str = "score",
        notes: tuple[str, ...] = (),
    ) -> Self:
        """From labels, scores, and a class prior with or without an interval; without one nothing is drawn of it."""
        rows = read_rows(y, score)
        prior = None if class_prior is None else unlabelled_prior(class_prior, rows, scenario)
        return cls._of_rows(rows, prior, score_name, rows.notes + notes)

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Matrix, y: ArrayLike) -> Self:
        """From a fitted prior estimator with `scores_`, or a classifier; out of fold where it holds such scores."""
        own = last_step(estimator)
        if hasattr(own, "scores_") and hasattr(own, "class_prior_interval_"):
            name = "log density ratio, out of fold"
            return cls.from_predictions(y, own.scores_, own, scenario=own.scenario, score_name=name)
        m, name = model_rows(estimator, X), "probability of being positive"
        how = Scoring(scenario=m.scenario, score_name=name, notes=m.notes)
        return cls.from_predictions(y, m.probability, m.class_prior, **how)

    @classmethod
    def _of_rows(cls, rows: Rows, prior: Prior | None, score_name: str, notes: tuple[str, ...]) -> Self:
        raise NotImplementedError


@dataclass
class ScoreDisplay(_OfScores):
    """Histograms of the scores of positives and of the pool, and how the class prior divides the pool.

    The unlabelled rows are a mixture: the labelled positives' histogram, scaled to the estimated share of positives,
    is the part that is positive; what is left of the pool above it is negative.

    Parameters
    ----------
    positive, unlabelled : ndarray
        Scores of the two kinds of rows.
    unlabelled_prior : Prior or None
        Share of positives among the unlabelled rows.
    score_name : str
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import ScoreDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = ScoreDisplay.from_predictions(data.y, data.posterior, class_prior=0.5).plot()
    >>> display.ax_.get_ylabel()
    'unlabelled rows'
    """

    _title: ClassVar[str] = "Scores of the positives and of the pool"

    positive: Floats
    unlabelled: Floats
    unlabelled_prior: Prior | None = None
    score_name: str = "score"

    @classmethod
    def _of_rows(cls, rows: Rows, prior: Prior | None, score_name: str, notes: tuple[str, ...]) -> Self:
        return cls(rows.score[rows.positive], rows.score[~rows.positive], prior, score_name, notes=notes)

    def _missing(self) -> str:
        both = np.concatenate([self.positive, self.unlabelled])
        return nothing_to_show(Rows(np.arange(both.size) < self.positive.size, both, ()), spread=False)

    def _draw(self, ax: Axes) -> None:
        title, both = self._title, np.concatenate([self.positive, self.unlabelled])
        n_bins = int(np.clip(np.sqrt(self.unlabelled.size), 8, 40)) if np.ptp(both) else 1
        edges = np.histogram_bin_edges(both, n_bins)
        of_p, of_u = (np.histogram(part, edges)[0].astype(float) for part in (self.positive, self.unlabelled))
        ax.stairs(of_u, edges, fill=True, color=UNLABELLED, alpha=0.55, label="unlabelled rows")
        share, name = self.positive.size / self.unlabelled.size, "labelled positives"
        if self.unlabelled_prior is not None:
            share = self.unlabelled_prior.value
            name = f"positives among them: labelled ones, scaled to {percent(share)}"
            title = f"{percent(share)} of the pool scores like the labelled positives"
        scaled = of_p / self.positive.size * self.unlabelled.size * share
        ax.stairs(scaled, edges, fill=True, color=POSITIVE, alpha=0.22)
        ax.stairs(scaled, edges, color=POSITIVE, linewidth=1.8, label=name)
        room_above(ax)
        ax.legend(loc="upper left")
        rows = "rows" if self.unlabelled_prior is None else "unlabelled rows"
        label(ax, title, self.score_name, rows, self.notes + all_equal(both))


@dataclass
class DensityRatioDisplay(_OfScores):
    r"""Share of the pool over share of the positives along the score: the curve the class prior is read from.

    Above each score the pool's share over the positives' share, :math:`q_U / q_P`, and the same ratio at each score,
    made monotone, are at least the share of positives in the pool; both fall towards it where the top of the score is
    purely positive.

    Parameters
    ----------
    score, tail, low, high : ndarray of shape (m,)
        Thresholds, and the ratio of the shares above them with its pointwise interval.
    local : ndarray of shape (m,)
        The monotone ratio at the thresholds.
    unlabelled_prior : Prior or None
        The share of positives that was read off the curve.
    level : float
    score_name : str
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import DensityRatioDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = DensityRatioDisplay.from_predictions(data.y, data.posterior, class_prior=0.5).plot()
    >>> bool((display.low <= display.tail).all())
    True
    """

    _title: ClassVar[str] = "The ratio that the class prior is read from"

    score: Floats
    tail: Floats
    low: Floats
    high: Floats
    local: Floats
    unlabelled_prior: Prior | None = None
    level: float = 0.9
    score_name: str = "score"

    @classmethod
    def _of_rows(cls, rows: Rows, prior: Prior | None, score_name: str, notes: tuple[str, ...]) -> Self:
        reason = nothing_to_show(rows)
        score, tail, low, high, local = [np.empty(0)] * 5 if reason else _ratio_curve(rows)
        return cls(score, tail, low, high, local, prior, 0.95, score_name, notes=notes, reason=reason)

    def _draw(self, ax: Axes) -> None:
        title = self._title
        band, at_the_score = f"above the score, {percent(self.level)} interval", "rows at the score, made monotone"
        ax.fill_between(self.score, self.low, self.high, color=ESTIMATE, alpha=0.2, linewidth=0, label=band)
        ax.plot(self.score, self.tail, color=ESTIMATE, label="rows above the score")
        ax.plot(self.score, self.local, color=INK, linewidth=1.1, linestyle=":", label=at_the_score)
        if (prior := self.unlabelled_prior) is not None:
            if not prior.known:
                ax.axhspan(prior.low, prior.high, color=POSITIVE, alpha=0.15, linewidth=0)
            name = f"share of positives in the pool: {percent(prior.value)}"
            ax.axhline(prior.value, color=POSITIVE, linewidth=1.5, linestyle="--", label=name)
            title = f"The ratio falls to the share of positives, {percent(prior.value)}"
        ax.set_ylim(0.0, 1.45 * max(1.05, float(np.nanmax(self.tail))))
        ax.legend(loc="upper right")
        label(ax, title, self.score_name, "share of the pool / share of the positives", self.notes)


def _ratio_curve(rows: Rows, n_points: int = 120) -> list[Floats]:
    """Thresholds at quantiles of the positives, tail ratios with intervals, and the monotone local ratio."""
    size_u, size_p = np.bincount(rows.positive)
    share = np.linspace(0.0, 1.0 - min(0.5, 8.0 / size_p), n_points)
    cuts = np.unique(np.append(rows.score.min(), np.quantile(rows.score[rows.positive], share, method="lower")))
    above_p, above_u = rows.above(cuts)
    q_p, q_u = above_p / size_p, above_u / size_u
    tail = q_u / q_p
    # relative variances of two binomial shares add; a half keeps an empty top finite
    error = np.sqrt((1.0 - q_p) / above_p + (1.0 - q_u) / (above_u + 0.5))
    base = np.maximum(tail, 0.5 / size_u / q_p)
    low, high = np.maximum(tail - 1.96 * base * error, 0.0), tail + 1.96 * base * error
    n_p, n_u = (-np.diff(np.append(n, 0)).astype(float) for n in (above_p, above_u))
    total = n_p / size_p + n_u / size_u
    posterior = np.divide(n_p / size_p, total, out=np.full(cuts.size, 0.5), where=total > 0.0)
    rising = isotonic_regression(posterior, sample_weight=np.maximum(total, 1e-12), increasing=True)
    with np.errstate(divide="ignore"):
        local = np.where(rising > 0.0, (1.0 - rising) / np.maximum(rising, 1e-12), np.nan)
    return [cuts, tail, low, high, np.where(local > 1.1, np.nan, local)]


def plot_scores(
    y: ArrayLike, score: ArrayLike, class_prior: AnyPrior = None, *, ax: Axes | None = None, **options: Unpack[Scoring]
) -> ScoreDisplay:
    """Histograms of scores, divided by the class prior: :class:`ScoreDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_scores
    >>> plot_scores(data.y, data.posterior, class_prior=0.5).ax_.get_ylabel()
    'unlabelled rows'
    """
    return ScoreDisplay.from_predictions(y, score, class_prior, **options).plot(ax)


def plot_density_ratio(
    y: ArrayLike, score: ArrayLike, class_prior: AnyPrior = None, *, ax: Axes | None = None, **options: Unpack[Scoring]
) -> DensityRatioDisplay:
    """The curve that the class prior is read from: :class:`DensityRatioDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_density_ratio
    >>> plot_density_ratio(data.y, data.posterior, class_prior=0.5).ax_.get_ylabel()
    'share of the pool / share of the positives'
    """
    return DensityRatioDisplay.from_predictions(y, score, class_prior, **options).plot(ax)
