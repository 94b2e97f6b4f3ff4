"""What a threshold gives: how long the list is, how pure, and how much of what there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from purely.checks import RandomState
from purely.class_prior import KnownPrior
from purely.labels import Scenario
from purely.metrics import pu_precision_recall_curve
from purely.metrics.estimate import Resampling
from purely.plotting.common import Predicting, PredictionDisplay, Rows, nothing_to_show, read_rows, unlabelled_prior
from purely.plotting.style import ESTIMATE, POSITIVE, Axes, label, percent
from purely.typing import Floats, Indices

#: Height of the axes in units of the shares on them: the legend is above 1.
LEGEND_ROOM = 1.32
#: Lengths of lists that people ask for; their thresholds are in every table.
_LIST_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """What the unlabelled rows with a probability of at least each threshold are expected to hold.

    Attributes
    ----------
    thresholds : ndarray of shape (m,)
        Ascending.
    size : ndarray of int, shape (m,)
        How many unlabelled rows reach the threshold.
    precision, precision_low, precision_high : ndarray of shape (m,)
        Share of positives among them, with a pointwise interval; NaN where there are none.
    recall, recall_low, recall_high : ndarray of shape (m,)
        Share of all positives that reach it: that of the labelled ones, which stand for all.
    found, found_low, found_high : ndarray of shape (m,)
        Expected number of positives among them, precision times size.
    level : float

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import threshold_table
    >>> data = make_gaussians(1000, 2000, random_state=0)
    >>> table = threshold_table(data.y, data.posterior, 0.5, thresholds=[0.3, 0.5, 0.7])
    >>> table.size.tolist() == sorted(table.size.tolist(), reverse=True), table.at(0.5)
    (True, 1)
    """

    thresholds: Floats = field(repr=False)
    size: Indices = field(repr=False)
    precision: Floats = field(repr=False)
    precision_low: Floats = field(repr=False)
    precision_high: Floats = field(repr=False)
    recall: Floats = field(repr=False)
    recall_low: Floats = field(repr=False)
    recall_high: Floats = field(repr=False)
    level: float

    @property
    def found(self) -> Floats:
        """Expected number of positives on the list."""
        return np.where(self.size > 0, self.precision * self.size, 0.0)

    @property
    def found_low(self) -> Floats:
        """Low end of the interval of `found`."""
        return np.where(self.size > 0, self.precision_low * self.size, 0.0)

    @property
    def found_high(self) -> Floats:
        """High end of the interval of `found`."""
        return np.where(self.size > 0, self.precision_high * self.size, 0.0)

    def ends(self, what: str, k: int) -> tuple[float, float, float]:
        """Precision, recall or found at a threshold, and both ends of its interval."""
        value, low, high = (float(getattr(self, f"{what}{end}")[k]) for end in ("", "_low", "_high"))
        return value, low, high

    def at(self, threshold: float) -> int:
        """Index of the threshold nearest to the given one."""
        return int(np.argmin(np.abs(self.thresholds - threshold)))


def threshold_table(
    y: ArrayLike,
    probability: ArrayLike,
    class_prior: KnownPrior,
    *,
    thresholds: ArrayLike | None = None,
    scenario: Scenario = "case-control",
    level: float = 0.9,
    n_resamples: int = 300,
    random_state: RandomState = 0,
) -> ThresholdTable:
    r"""Size, precision and recall of the list of unlabelled rows above each threshold, without a negative.

    With :math:`\pi_U` the share of positives among the unlabelled rows and :math:`q_P, q_U` the shares of labelled
    positives and unlabelled rows at or above a threshold, recall is :math:`q_P` and precision :math:`\pi_U q_P / q_U`,
    both kept possible along the thresholds as in :func:`purely.metrics.pu_precision_recall_curve`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    probability : array-like of shape (n,)
        Scores of rows that did not train the model: held out, or out of fold. Rows without a finite one are left out.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
        Of the population; an interval is carried through.
    thresholds : array-like, optional
        None: hundredths from 0 to 1 and those of lists of round lengths, for probabilities; otherwise quantiles.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    n_resamples : int, default=300
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ThresholdTable

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import threshold_table
    >>> data = make_gaussians(1000, 2000, random_state=0)
    >>> table = threshold_table(data.y, data.posterior, 0.5, thresholds=[0.5])
    >>> bool(table.precision_low[0] < data.y_true[(data.y == 0) & (data.posterior >= 0.5)].mean())
    True
    """
    rows = read_rows(y, probability, "probability")
    if reason := nothing_to_show(rows, spread=False):
        raise ValueError(reason)
    prior = unlabelled_prior(class_prior, rows, scenario)
    cuts = _default_thresholds(rows) if thresholds is None else np.unique(np.asarray(thresholds, dtype=np.float64))
    # among the unlabelled rows alone the share of positives plays the prior's part, whatever the scenario
    curve = pu_precision_recall_curve(
        rows.positive, rows.score, prior, level=level, n_resamples=n_resamples, random_state=random_state
    )
    (above_p, size), n_p = rows.above(cuts), int(np.count_nonzero(rows.positive))
    place = np.searchsorted(-curve.thresholds, -cuts, side="right") - 1
    some = (place >= 0) & (size > 0)
    found = curve.precision, curve.precision_low, curve.precision_high
    precision, low, high = (np.where(some, values[np.maximum(place, 0)], np.nan) for values in found)
    tail, below_p = (1.0 - level) / 2.0, n_p - above_p
    ends = beta.ppf([[tail], [1.0 - tail]], above_p + 0.5, below_p + 0.5)
    recall_low, recall_high = np.where(above_p > 0, ends[0], 0.0), np.where(below_p > 0, ends[1], 1.0)
    recall = above_p / n_p
    return ThresholdTable(cuts, size, precision, low, high, recall, recall_low, recall_high, float(level))


def _default_thresholds(rows: Rows) -> Floats:
    score_u = np.sort(rows.score[~rows.positive])[::-1]
    lists = score_u[[size - 1 for size in _LIST_SIZES if size <= score_u.size]]
    if rows.score.min() >= 0.0 and rows.score.max() <= 1.0:
        # rounded down, so that the list that gave the threshold is not cut short
        fine = np.floor(lists * 1e4) / 1e4
        return np.unique(np.concatenate([np.arange(0, 100) / 100.0, fine]))
    return np.unique(np.quantile(rows.score, np.linspace(0.0, 1.0, 101)))


@dataclass
class ThresholdDisplay(PredictionDisplay):
    """Estimated precision and recall against the threshold, with intervals.

    Parameters
    ----------
    table : ThresholdTable or None
    score_name : str
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import ThresholdDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = ThresholdDisplay.from_predictions(data.y, data.posterior, class_prior=0.5).plot()
    >>> display.ax_.get_title(loc="left")
    'A higher threshold: a purer list that misses more'
    """

    _title: ClassVar[str] = "A higher threshold: a purer list that misses more"
    _score: ClassVar[str] = "probability"

    table: ThresholdTable | None
    score_name: str = "threshold on the probability"

    @classmethod
    def _compute(cls, rows: Rows, class_prior: KnownPrior, **options: Unpack[Resampling]) -> tuple[ThresholdTable]:
        return (threshold_table(rows.positive, rows.score, class_prior, **options),)

    def _draw(self, ax: Axes) -> None:
        table = self.table
        assert table is not None
        kinds = (
            ("precision: share of the list that is positive", POSITIVE, "-", "precision"),
            ("recall: share of the positives on the list", ESTIMATE, "--", "recall"),
        )
        for name, colour, line, what in kinds:
            value, low, high = (getattr(table, f"{what}{end}") for end in ("", "_low", "_high"))
            ax.fill_between(table.thresholds, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(table.thresholds, value, color=colour, linestyle=line, label=name)
        ax.set_ylim(0.0, LEGEND_ROOM)
        ax.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
        ax.legend(loc="upper center", ncols=1)
        label(ax, self._title, self.score_name, f"share, {percent(table.level)} intervals", self.notes)


def plot_thresholds(
    y: ArrayLike, score: ArrayLike, class_prior: KnownPrior, *, ax: Axes | None = None, **options: Unpack[Predicting]
) -> ThresholdDisplay:
    """Precision and recall against the threshold: :class:`ThresholdDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_thresholds
    >>> plot_thresholds(data.y, data.posterior, class_prior=0.5).ax_.get_title(loc="left")
    'A higher threshold: a purer list that misses more'
    """
    return ThresholdDisplay.from_predictions(y, score, class_prior, **options).plot(ax)
