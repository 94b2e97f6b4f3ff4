"""A picture of the rows: what a representation makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.checks import dense
from purely.labels import read_labels
from purely.plotting.common import Display
from purely.plotting.style import POSITIVE, UNLABELLED, Axes, label, sequential
from purely.typing import Floats, Mask, Matrix

#: More points than this say no more and make a picture heavy.
_MAX_POINTS = 4000


@dataclass
class RepresentationDisplay(Display):
    """Labelled positives and unlabelled rows in the plane of a representation, coloured by the density ratio.

    Of a representation with more than two columns the two principal components are drawn; of one column, its density
    ratio, or a histogram where there is none.

    Parameters
    ----------
    points : ndarray of shape (n, 1) or (n, 2)
    positive : ndarray of bool, shape (n,)
    ratio : ndarray of shape (n,), optional
        Colours the unlabelled rows.
    names : pair of str
        What the axes are.
    ratio_name : str
    notes : tuple of str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import RepresentationDisplay
    >>> data = make_gaussians(n_features=2, random_state=0)
    >>> display = RepresentationDisplay.from_representation(data.X, data.y, data.posterior).plot()
    >>> display.ax_.get_title(loc="left")
    'Where the labelled positives lie among the pool'
    """

    _title: ClassVar[str] = "Where the labelled positives lie among the pool"

    points: Floats
    positive: Mask
    ratio: Floats | None = None
    names: tuple[str, str] = ("first direction", "second direction")
    ratio_name: str = "density ratio"
    notes: tuple[str, ...] = ()

    @classmethod
    def from_representation(
        cls,
        Z: Any,
        y: ArrayLike,
        ratio: ArrayLike | None = None,
        *,
        ratio_name: str = "density ratio",
        random_state: int = 0,
    ) -> Self:
        """From the representation of the rows, their labels, and their density ratios or probabilities."""
        points = dense(Z)
        points = points[:, None] if points.ndim == 1 else points
        positive = read_labels(y).positive
        values = None if ratio is None else np.asarray(ratio, dtype=np.float64).ravel()
        for name, found in (("Z", points.shape[0]), ("ratio", positive.size if values is None else values.size)):
            if found != positive.size:
                raise ValueError(f"{name} and y must have the same length; they have {found} and {positive.size}.")
        kept = np.isfinite(points).all(axis=1) & (True if values is None else np.isfinite(values))
        notes = []
        if not kept.all():
            notes.append(f"{np.count_nonzero(~kept):,} of {kept.size:,} rows have missing values and are left out.")
        names = ("first direction", "second direction")
        if points.shape[1] > 2 and kept.any():
            centred = points[kept] - points[kept].mean(axis=0)
            points = (points - points[kept].mean(axis=0)) @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
            names = ("first principal component", "second principal component")
        rows = np.flatnonzero(kept)
        if rows.size > _MAX_POINTS:
            rows = np.sort(np.random.default_rng(random_state).choice(rows, _MAX_POINTS, replace=False))
            notes.append(f"{_MAX_POINTS:,} of {np.count_nonzero(kept):,} rows are drawn.")
        picked = None if values is None else values[rows]
        return cls(points[rows], positive[rows], picked, names, ratio_name, tuple(notes))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: ArrayLike, ratio: ArrayLike | None = None) -> Self:
        """From a fitted transformer; the colour is its own density ratio where it has one and none is given."""
        check_is_fitted(estimator)
        if not hasattr(estimator, "transform"):
            raise TypeError(f"estimator must have transform; {type(estimator).__name__} has not.")
        if ratio is None and hasattr(estimator, "density_ratio"):
            ratio = estimator.density_ratio(X)
        return cls.from_representation(estimator.transform(X), y, ratio)

    def _missing(self) -> str:
        return "" if self.positive.size else "No row has all its values."

    def _draw(self, ax: Axes) -> None:
        if self.points.shape[1] == 1 and self.ratio is None:
            self._draw_histogram(ax)
            return
        one = self.points.shape[1] == 1
        second = self.ratio if one else self.points[:, 1]
        assert second is not None
        u, p = ~self.positive, self.positive
        common: dict[str, Any] = {"linewidths": 0, "rasterized": self.positive.size > 500}
        size = float(np.clip(9000.0 / self.positive.size, 5.0, 22.0))
        if self.ratio is None or one:
            colour: dict[str, Any] = {"color": UNLABELLED, "alpha": 0.6}
        else:
            # a few extreme ratios would leave all others one colour
            ends = np.quantile(self.ratio[u], [0.0, 0.99]) if u.any() else (0.0, 1.0)
            colour = {"c": self.ratio[u], "cmap": sequential(), "alpha": 0.85, "vmin": ends[0], "vmax": ends[1]}
        shade = ax.scatter(self.points[u, 0], second[u], s=size, label="unlabelled", **colour, **common)
        ax.scatter(
            self.points[p, 0],
            second[p],
            s=1.6 * size,
            marker="^",
            facecolors="none" if not one else POSITIVE,
            edgecolors=POSITIVE,
            linewidths=0.9,
            rasterized=common["rasterized"],
            label="labelled positive",
        )
        if self.ratio is not None and not one and u.any():
            ax.figure.colorbar(shade, ax=ax, label=f"{self.ratio_name} of unlabelled rows", pad=0.02)
        low, high = float(second.min()), float(second.max())
        ax.set_ylim(low - 0.05 * (high - low) - 1e-9, high + 0.18 * (high - low) + 1e-9)
        ax.legend(loc="upper left", ncols=2, handletextpad=0.2, columnspacing=1.0)
        label(ax, self._title, self.names[0], self.ratio_name if one else self.names[1], self.notes)

    def _draw_histogram(self, ax: Axes) -> None:
        column = self.points[:, 0]
        edges = np.histogram_bin_edges(column, bins=40)
        for mask, colour, name in (
            (~self.positive, UNLABELLED, "unlabelled"),
            (self.positive, POSITIVE, "labelled positive"),
        ):
            if mask.any():
                share = np.histogram(column[mask], edges)[0] / mask.sum()
                ax.stairs(share, edges, color=colour, fill=True, alpha=0.5, label=name)
        ax.legend(loc="upper left")
        label(ax, self._title, self.names[0], "share of the rows", self.notes)
