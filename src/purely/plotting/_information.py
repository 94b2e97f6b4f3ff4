"""How much information there is, how it grows with the rows, and which columns carry it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from purely.checks import RandomState, level_to_z, refuse_length
from purely.labels import read_labels
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, Axes, label, number, percent, remark, remark_height, shortened
from purely.smi import PUSMI, FeatureRanking, InformationInterval, rank_features
from purely.typing import Matrix

_LONGEST_NAME = 28


class Part(TypedDict, total=False):
    """Which parts of the rows are measured, and how; see :meth:`InformationDisplay.from_data`."""

    shares: Sequence[float]
    estimator: PUSMI | None
    level: float
    random_state: int


@dataclass
class InformationDisplay(Display):
    """Out-of-fold information with its interval, by the number of rows.

    Parameters
    ----------
    n_rows : list of int
    intervals : list of InformationInterval
        One for each number of rows.
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import InformationDisplay
    >>> data = make_gaussians(random_state=0)
    >>> display = InformationDisplay.from_data(data.X, data.y, random_state=0).plot()
    >>> display.n_rows[-1]
    1400
    """

    _title: ClassVar[str] = "How much the columns tell about the class"

    n_rows: list[int]
    intervals: list[InformationInterval]

    @classmethod
    def from_data(
        cls,
        X: Matrix,
        y: ArrayLike,
        *,
        shares: Sequence[float] = (0.125, 0.25, 0.5, 1.0),
        estimator: PUSMI | None = None,
        level: float = 0.9,
        random_state: int = 0,
    ) -> Self:
        """Fit growing parts of the rows, both kinds alike; parts with too few of either are left out."""
        rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        positive = read_labels(y).positive
        refuse_length("X", rows.shape[0], positive.size)
        model = PUSMI(random_state=random_state) if estimator is None else estimator
        rng = np.random.default_rng(random_state)
        order = [rng.permutation(np.flatnonzero(mask)) for mask in (positive, ~positive)]
        sizes, intervals = [], []
        for share in sorted(shares):
            counts = [round(share * part.size) for part in order]
            if min(counts) < 10 and share < 1.0:
                continue
            if min(counts) < 2:
                return cls([], [], notes=("An interval needs at least 2 labelled positives and 2 unlabelled rows.",))
            kept = np.concatenate([part[:count] for part, count in zip(order, counts, strict=True)])
            fitted = clone(model).fit(rows[kept], positive[kept])
            sizes.append(int(kept.size))
            intervals.append(fitted.information_interval(level=level))
        return cls(sizes, intervals)

    @classmethod
    def from_estimator(
        cls, estimator: PUSMI, X: Matrix | None = None, y: ArrayLike | None = None, *, level: float = 0.9
    ) -> Self:
        """From a fitted PUSMI: its own information where no rows are given, else one more fit for each part of them."""
        check_is_fitted(estimator, "information_")
        if X is None or y is None:
            n = len(getattr(estimator, "oof_density_ratio_", ()))
            return cls([n], [estimator.information_interval(level=level)])
        return cls.from_data(X, y, estimator=estimator, level=level)

    _shape: ClassVar[tuple[float, float]] = (5.6, 3.3)

    def _missing(self) -> str:
        return "" if self.intervals else " ".join(self.notes) or "There is no information to draw."

    def _draw(self, ax: Axes) -> None:
        title, last = self._title, self.intervals[-1]
        value, low, high = np.array([(i.information, i.low, i.high) for i in self.intervals]).T
        x = np.arange(value.size)
        ax.axhline(0.0, color="0.6", linewidth=0.9)
        remark_height(ax, "no information", 0.0, left=0.0)
        ax.plot(x, value, color=ESTIMATE, linewidth=1.0, linestyle=":")
        ax.errorbar(x, value, yerr=[value - low, high - value], fmt="o", color=ESTIMATE, capsize=4, markersize=5)
        ax.plot(x[-1:], value[-1:], "o", color=POSITIVE, markersize=7)
        said = f"{number(last.information)} [{number(last.low)}, {number(last.high)}]"
        remark(ax, said, (x[-1], high[-1]), (0, 5), ha="center", size=9.5)
        ax.set_xticks(x, [f"{n:,}" for n in self.n_rows])
        bottom, top = min(0.0, float(low.min())), max(0.0, float(high.max()))
        span = max(top - bottom, 1e-6)
        ax.set(xlim=(-0.6, value.size - 0.4), ylim=(bottom - 0.08 * span, top + 0.22 * span))
        if last.low > 0.0:
            title = "The columns tell something about the class"
        elif last.high > 0.0:
            title = "Whether the columns tell anything about the class is open"
        label(ax, title, "rows used", f"information, {percent(last.level)} interval", self.notes)


def plot_information(X: Matrix, y: ArrayLike, *, ax: Axes | None = None, **options: Unpack[Part]) -> InformationDisplay:
    """Information by the number of rows: :class:`InformationDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_information
    >>> data = make_gaussians(100, 200, n_features=2, random_state=0)
    >>> plot_information(data.X, data.y).ax_.get_ylabel()
    'information, 90 % interval'
    """
    return InformationDisplay.from_data(X, y, **options).plot(ax)


@dataclass
class FeatureDisplay(Display):
    """Information of each column alone, and what is lost without it, with intervals.

    Parameters
    ----------
    ranking : FeatureRanking
    n_top : int, default=15
        How many are drawn, the most informative first.
    level : float, default=0.9
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import FeatureDisplay
    >>> data = make_gaussians(n_features=2, random_state=0)
    >>> display = FeatureDisplay.from_data(data.X, data.y, random_state=0).plot()
    >>> len(display.ax_.get_yticks())
    2
    """

    _title: ClassVar[str] = "Which columns carry the information"

    ranking: FeatureRanking
    n_top: int = 15
    level: float = 0.9

    @classmethod
    def from_data(
        cls, X: Matrix, y: ArrayLike, *, n_top: int = 15, level: float = 0.9, random_state: RandomState = 0
    ) -> Self:
        """From rows and labels; put the columns on a common scale first."""
        return cls(rank_features(X, y, random_state=random_state), n_top, level)

    @classmethod
    def from_estimator(cls, estimator: PUSMI, X: Matrix, y: ArrayLike, *, n_top: int = 15, level: float = 0.9) -> Self:
        """With the settings of a PUSMI."""
        return cls(rank_features(X, y, estimator=estimator), n_top, level)

    def _size(self) -> tuple[float, float]:
        return 5.6, 1.7 + 0.36 * min(self.n_top, len(self.ranking.names))

    def _missing(self) -> str:
        some = np.isfinite(self.ranking.alone[: self.n_top]).any()
        return "" if some else "No column has an information that could be drawn."

    def _draw(self, ax: Axes) -> None:
        r, n = self.ranking, min(self.n_top, len(self.ranking.names))
        z = level_to_z(self.level)
        rows = np.arange(n)[::-1]
        kinds = (
            ("alone", r.alone, r.alone_error, POSITIVE, "o", 0.14),
            ("lost without it", r.loss, r.loss_error, ESTIMATE, "s", -0.14),
        )
        for name, value, error, colour, marker, shift in kinds:
            at, arms = rows + shift, z * error[:n]
            ax.errorbar(value[:n], at, xerr=arms, fmt=marker, color=colour, markersize=4.5, elinewidth=1.4, label=name)
        ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
        ax.set_yticks(rows, [_short(name) for name in r.names[:n]])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(-0.7, n - 0.3)
        ax.legend(loc="lower right")
        left_out = (f"The {n} most informative of {len(r.names):,} columns.",) if n < len(r.names) else ()
        x = f"information (0: none), {percent(self.level)} intervals"
        title = f"{_short(r.names[0], 18)} tells the most" if r.alone[0] > 0 else self._title
        label(ax, title, x, "", self.notes + left_out)


def _short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A column's name as plain text, without the signs that matplotlib reads as mathematics."""
    return shortened(str(name), longest).replace("\\", "\\\\").replace("$", r"\$")


def plot_features(
    X: Matrix,
    y: ArrayLike,
    *,
    n_top: int = 15,
    level: float = 0.9,
    random_state: RandomState = 0,
    ax: Axes | None = None,
) -> FeatureDisplay:
    """Information of each column: :class:`FeatureDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_features
    >>> data = make_gaussians(100, 200, n_features=2, random_state=0)
    >>> plot_features(data.X, data.y).ax_.get_xlabel()
    'information (0: none), 90 % intervals'
    """
    return FeatureDisplay.from_data(X, y, n_top=n_top, level=level, random_state=random_state).plot(ax)
