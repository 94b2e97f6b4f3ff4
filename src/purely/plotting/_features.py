"""Which columns carry the information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from purely.checks import RandomState, level_to_z
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, Axes, label, percent, shortened
from purely.smi import PUSMI, FeatureRanking, rank_features
from purely.typing import Matrix

_LONGEST_NAME = 28


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
    notes: tuple[str, ...] = ()

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
        notes = self.notes
        if n < len(r.names):
            notes = (*notes, f"The {n} most informative of {len(r.names):,} columns.")
        x = f"information (0: none), {percent(self.level)} intervals"
        label(ax, f"{_short(r.names[0], 18)} tells the most" if r.alone[0] > 0 else self._title, x, "", notes)


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
