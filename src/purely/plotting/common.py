"""What the displays share: scores and labels that were checked, and where they come from."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from purely.checks import refuse_length
from purely.class_prior import ClassPriors, KnownPrior, Prior, read_prior
from purely.crossfit import last_step, out_of_fold
from purely.labels import Scenario, check_scenario, read_labels
from purely.metrics.estimate import Resampling
from purely.plotting.style import Axes, new_axes, style
from purely.typing import Estimator, Floats, Indices, Mask, Matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IN_SAMPLE = "These rows may have trained the model: the picture may look too good."
ONE_POSITIVE = "One labelled positive only: what is drawn of it has no interval."


@dataclass
class Display:
    """Base of the displays: data on the object, `plot` draws them, and `ax_` and `figure_` are what was drawn on.

    Notes stand below the picture. Where there is a reason why there is nothing to draw, the picture is that sentence
    under `_title`.
    """

    ax_: Axes = field(init=False, repr=False, compare=False)
    figure_: Figure = field(init=False, repr=False, compare=False)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    reason: str = field(default="", kw_only=True)
    _title: ClassVar[str]
    _shape: ClassVar[tuple[float, float]] = (5.6, 3.7)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
            With `ax_` and `figure_`.
        """
        with style():
            self.ax_ = new_axes(self._size()) if ax is None else ax
            self.figure_ = self.ax_.figure  # type: ignore[assignment]
            if reason := self._missing():
                self.ax_.set_title(self._title, loc="left")
                self.ax_.set_axis_off()
                folded, place = textwrap.fill(reason, 46), self.ax_.transAxes
                self.ax_.text(0.5, 0.5, folded, ha="center", va="center", transform=place)
            else:
                self._draw(self.ax_)
        return self

    def _size(self) -> tuple[float, float]:
        return self._shape

    def _missing(self) -> str:
        return self.reason

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say what it draws.")


@dataclass(frozen=True)
class Rows:
    """Scores with their labels; rows without a finite score are left out, and `notes` says so."""

    positive: Mask
    score: Floats
    notes: tuple[str, ...]

    def above(self, cuts: Floats) -> tuple[Indices, Indices]:
        """How many labelled positives, and how many unlabelled rows, score at least each of these."""
        p, u = np.sort(self.score[self.positive]), np.sort(self.score[~self.positive])
        return p.size - np.searchsorted(p, cuts), u.size - np.searchsorted(u, cuts)


def read_rows(y: ArrayLike, score: ArrayLike, name: str = "score") -> Rows:
    """Labels and scores of the rows that have a score."""
    positive = read_labels(y).positive
    values = np.asarray(column_or_1d(np.asarray(score)), dtype=np.float64)
    refuse_length(name, values.size, positive.size)
    kept = np.isfinite(values)
    lost = f"{np.count_nonzero(~kept):,} of {kept.size:,} rows have no finite {name} and are left out."
    said = (lost, not kept.all()), (ONE_POSITIVE, np.count_nonzero(positive & kept) == 1)
    return Rows(positive[kept], values[kept], tuple(sentence for sentence, holds in said if holds))


def nothing_to_show(rows: Rows, *, spread: bool = True) -> str:
    """Why there is nothing to draw; empty where there is something."""
    if rows.positive.size == 0:
        return "No row has a finite score."
    if rows.positive.all() or not rows.positive.any():
        kind = "unlabelled row" if rows.positive.all() else "labelled positive"
        return f"No {kind} has a finite score."
    return "".join(all_equal(rows.score)) if spread else ""


def all_equal(score: Floats) -> tuple[str, ...]:
    """A sentence about scores that are all equal; none about others."""
    if np.ptp(score) > 0.0:
        return ()
    return (f"All scores are equal ({score[0]:.3g}): they tell no row from another.",)


def unlabelled_prior(class_prior: KnownPrior, rows: Rows, scenario: Scenario) -> Prior:
    """The share of positives among the unlabelled rows, with its interval, from the population's prior."""
    scenario = check_scenario(scenario)
    n_u, n_p = np.bincount(rows.positive, minlength=2).tolist()
    prior = read_prior(class_prior, n_unlabelled=max(n_u, 1))
    if scenario == "case-control":
        return prior

    def convert(value: float) -> float:
        at = max(value, n_p / (n_p + n_u))
        share = ClassPriors.from_population(at, n_positive=n_p, n_unlabelled=n_u, scenario=scenario).unlabelled
        return float(np.clip(share, 1e-9, 1.0 - 1e-9))

    value, low, high = map(convert, (prior.value, *prior.interval))
    return Prior(value, low, high, prior.level)


@dataclass(frozen=True)
class ModelRows:
    """A fitted model's probabilities of some rows, and its class prior."""

    probability: Floats
    class_prior: Prior
    scenario: Scenario
    notes: tuple[str, ...]


def model_rows(estimator: Estimator, X: Matrix) -> ModelRows:
    """Probabilities of the rows: out of fold where the model holds those of these rows, else predicted, with a note."""
    check_is_fitted(estimator)
    last = last_step(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator must have predict_proba; {type(last).__name__} has none. Wrap it in "
            "purely.CalibratedPUClassifier, or use from_predictions with its scores."
        )
    if not hasattr(last, "class_prior_"):
        raise TypeError(f"estimator must have class_prior_; {type(last).__name__} has none. Use from_predictions.")
    found = np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, 1]
    stored, scenario = out_of_fold(last, found), check_scenario(getattr(last, "scenario", "case-control"))
    probability, notes = (found, (IN_SAMPLE,)) if stored is None else (stored, ())
    return ModelRows(probability, read_prior(last), scenario, notes)


class Predicting(Resampling, total=False):
    """What pictures of predictions take by name."""

    notes: tuple[str, ...]


class PredictionDisplay(Display):
    """A picture of predictions: what `_compute` makes of them, `notes`, and the `reason` where there is none."""

    _score: ClassVar[str] = "score"
    _fewest: ClassVar[int] = 1

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        class_prior: KnownPrior,
        *,
        notes: tuple[str, ...] = (),
        **options: Unpack[Resampling],
    ) -> Self:
        """From labels, scores of rows that did not train the model, and a class prior with or without an interval.

        Options are those of the metrics: `scenario`, `level`, `n_resamples` and `random_state`.
        """
        found: tuple[object, ...] = (None,)
        rows = read_rows(y, score, cls._score)
        reason = nothing_to_show(rows, spread=False)
        if not reason and np.count_nonzero(rows.positive) < cls._fewest:
            reason = f"{np.count_nonzero(rows.positive)} labelled positive says nothing about shares in bins."
        if not reason:
            found = cls._compute(rows, class_prior, **options)
            notes += all_equal(rows.score)
        return cls(*found, notes=rows.notes + notes, reason=reason)

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Matrix, y: ArrayLike, *, level: float = 0.9) -> Self:
        """From a fitted classifier with a class prior; out of fold where it holds such probabilities of these rows."""
        model = model_rows(estimator, X)
        return cls.from_predictions(
            y, model.probability, model.class_prior, scenario=model.scenario, level=level, notes=model.notes
        )

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Unpack[Resampling]) -> tuple[object, ...]:
        raise NotImplementedError(f"{cls.__name__} does not say what it computes.")
