"""What the displays share: scores and labels that were checked, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from purely.checks import RandomState
from purely.class_prior import ClassPriors, KnownPrior, Prior, read_prior
from purely.crossfit import last_step, out_of_fold
from purely.labels import Scenario, check_scenario, read_labels
from purely.plotting.style import Axes, new_axes, say_instead, style
from purely.typing import Floats, Mask, Matrix

IN_SAMPLE = "These rows may have trained the model: the picture may look too good."
ONE_POSITIVE = "One labelled positive only: what is drawn of it has no interval."


class Display:
    """Base of the displays: data on the object, `plot` draws them, and `ax_` and `figure_` are what was drawn on.

    Where `_missing` has a reason why there is nothing to draw, the picture is that sentence under `_title`.
    """

    ax_: Axes
    figure_: Any
    _title: ClassVar[str]

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
            self.ax_ = new_axes(ax, self._size())
            self.figure_ = self.ax_.figure
            if reason := self._missing():
                say_instead(self.ax_, self._title, reason)
            else:
                self._draw(self.ax_)
        return self

    def _size(self) -> tuple[float, float]:
        return 5.6, 3.7

    def _missing(self) -> str:
        return ""

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say what it draws.")


@dataclass(frozen=True)
class Rows:
    """Scores with their labels; rows without a finite score are left out, and `notes` says so."""

    positive: Mask
    score: Floats
    notes: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """True where one kind of rows is missing."""
        return bool(self.positive.all() or not self.positive.any())


def read_rows(y: ArrayLike, score: ArrayLike, name: str = "score") -> Rows:
    """Labels and scores of the rows that have a score."""
    positive = read_labels(y).positive
    values = np.asarray(column_or_1d(np.asarray(score)), dtype=np.float64)
    if values.size != positive.size:
        raise ValueError(f"{name} and y must have the same length; they have {values.size} and {positive.size} rows.")
    kept = np.isfinite(values)
    notes = []
    if not kept.all():
        notes.append(f"{np.count_nonzero(~kept):,} of {kept.size:,} rows have no finite {name} and are left out.")
    if np.count_nonzero(positive & kept) == 1:
        notes.append(ONE_POSITIVE)
    return Rows(positive[kept], values[kept], tuple(notes))


def nothing_to_show(rows: Rows, *, spread: bool = True) -> str:
    """Why there is nothing to draw; empty where there is something."""
    if rows.positive.size == 0:
        return "No row has a finite score."
    if rows.empty:
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
    n_p = int(np.count_nonzero(rows.positive))
    n_u = rows.positive.size - n_p
    prior = read_prior(class_prior, n_unlabelled=max(n_u, 1))
    if scenario == "case-control":
        return prior
    floor = n_p / (n_p + n_u)

    def convert(value: float) -> float:
        share = ClassPriors.from_population(
            max(value, floor), n_positive=n_p, n_unlabelled=n_u, scenario=scenario
        ).unlabelled
        return float(np.clip(share, 1e-9, 1.0 - 1e-9))

    return Prior(convert(prior.value), convert(prior.low), convert(prior.high), prior.level)


@dataclass(frozen=True)
class ModelRows:
    """A fitted model's probabilities of some rows, and its class prior."""

    probability: Floats
    class_prior: Prior
    scenario: Scenario
    notes: tuple[str, ...]


def model_rows(estimator: Any, X: Matrix) -> ModelRows:
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
    if stored is None:
        return ModelRows(found, read_prior(last), scenario, (IN_SAMPLE,))
    return ModelRows(stored, read_prior(last), scenario, ())


class PredictionDisplay(Display):
    """A picture of predictions: what `_compute` makes of them, `notes`, and the `reason` where there is none."""

    reason: str
    _score: ClassVar[str] = "score"
    _fewest: ClassVar[int] = 1

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        class_prior: KnownPrior,
        *,
        scenario: Scenario = "case-control",
        level: float = 0.9,
        random_state: RandomState = 0,
        notes: tuple[str, ...] = (),
    ) -> Self:
        """From labels, scores of rows that did not train the model, and a class prior with or without an interval."""
        rows, found = read_rows(y, score, cls._score), (None,)
        reason = nothing_to_show(rows, spread=False)
        if not reason and np.count_nonzero(rows.positive) < cls._fewest:
            reason = f"{np.count_nonzero(rows.positive)} labelled positive says nothing about shares in bins."
        if not reason:
            found = cls._compute(rows, class_prior, scenario=scenario, level=level, random_state=random_state)
            notes += all_equal(rows.score)
        return cls(*found, notes=rows.notes + notes, reason=reason)  # type: ignore[call-arg]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: ArrayLike, *, level: float = 0.9) -> Self:
        """From a fitted classifier with a class prior; out of fold where it holds such probabilities of these rows."""
        model = model_rows(estimator, X)
        return cls.from_predictions(
            y, model.probability, model.class_prior, scenario=model.scenario, level=level, notes=model.notes
        )

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Any) -> tuple[Any, ...]:
        raise NotImplementedError(f"{cls.__name__} does not say what it computes.")

    def _missing(self) -> str:
        return self.reason
