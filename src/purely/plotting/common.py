"""What the displays share: scores and labels that were checked, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from purely.class_prior import ClassPriors, KnownPrior, Prior, read_prior
from purely.labels import Scenario, check_scenario, read_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

IN_SAMPLE = "These rows may have trained the model: the picture may flatter it."
ONE_POSITIVE = "One labelled positive only: what is drawn of it has no interval."


class Display:
    """Base of the displays: data on the object, `plot` draws them, and `ax_` and `figure_` are what was drawn on."""

    ax_: Axes
    figure_: Any

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
        from purely.plotting.style import new_axes, style

        with style():
            self.ax_ = new_axes(ax, self._size())
            self.figure_ = self.ax_.figure
            self._draw(self.ax_)
        return self

    def _size(self) -> tuple[float, float]:
        return 5.6, 3.7

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
    if spread and np.ptp(rows.score) == 0.0:
        return f"All scores are equal ({rows.score[0]:.3g}): they tell no row from another."
    return ""


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


def last_step(estimator: Any) -> Any:
    """The estimator itself, or what a pipeline ends with."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


@dataclass(frozen=True)
class ModelRows:
    """A fitted model's probabilities of some rows, and its class prior."""

    probability: Floats
    class_prior: Prior
    scenario: Scenario
    notes: tuple[str, ...]


def model_rows(estimator: Any, X: Any, y: ArrayLike) -> ModelRows:
    """Probabilities of the rows: out of fold where the model holds them, else predicted, with a note."""
    check_is_fitted(estimator)
    last = last_step(estimator)
    n = np.asarray(y).shape[0]
    stored = getattr(last, "oof_probability_", None)
    if stored is not None and len(stored) == n:
        probability, notes = np.asarray(stored, dtype=np.float64), ()
    else:
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"estimator must have predict_proba or oof_probability_; {type(last).__name__} has neither. "
                "Wrap it in purely.CalibratedPUClassifier, or use from_predictions with its scores."
            )
        probability = np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, 1]
        notes = (IN_SAMPLE,)  # type: ignore[assignment]
    if not hasattr(last, "class_prior_"):
        raise TypeError(f"estimator must have class_prior_; {type(last).__name__} has none. Use from_predictions.")
    prior = read_prior(_WithLevel(last))
    return ModelRows(probability, prior, check_scenario(getattr(last, "scenario", "case-control")), notes)


class _WithLevel:
    """A classifier's prior at the level of the estimator behind it; a classifier has no level of its own."""

    def __init__(self, model: Any) -> None:
        self.class_prior_ = model.class_prior_
        self.class_prior_interval_ = getattr(model, "class_prior_interval_", None)
        self.level = getattr(getattr(model, "prior_estimator_", None), "level", getattr(model, "level", 0.95))
