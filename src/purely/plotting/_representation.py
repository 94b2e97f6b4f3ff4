"""A picture of the rows: what a representation makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.checks import dense, refuse_length
from purely.labels import read_labels
from purely.plotting.common import Display
from purely.plotting.style import POSITIVE, UNLABELLED, Axes, label, sequential
from purely.typing import Estimator, Floats, Mask, Matrix

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
        Z: Matrix,
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
            refuse_length(name, found, positive.size)
        kept = np.isfinite(points if values is None else np.column_stack([points, values])).all(axis=1)
        notes = []
        if not kept.all():
            notes.append(f"{np.count_nonzero(~kept):,} of {kept.size:,} rows have missing values and are left out.")
        names = ("first direction", "second direction")
        if points.shape[1] > 2 and kept.any():
            points = points - points[kept].mean(axis=0)
            points = points @ np.linalg.svd(points[kept], full_matrices=False)[2][:2].T
            names = ("first principal component", "second principal component")
        rows = np.flatnonzero(kept)
        if rows.size > _MAX_POINTS:
            rows = np.sort(np.random.default_rng(random_state).choice(rows, _MAX_POINTS, replace=False))
            notes.append(f"{_MAX_POINTS:,} of {np.count_nonzero(kept):,} rows are drawn.")
        picked = None if values is None else values[rows]
        return cls(points[rows], positive[rows], picked, names, ratio_name, tuple(notes))

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Matrix, y: ArrayLike, ratio: ArrayLike | None = None) -> Self:
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
        one = self.points.shape[1] == 1
        second = self.ratio if one else self.points[:, 1]
        if second is None:
            self._draw_histogram(ax)
            return
        u, p = ~self.positive, self.positive
        size = float(np.clip(9000.0 / self.positive.size, 5.0, 22.0))
        of_u = ax.scatter(self.points[u, 0], second[u], size, linewidths=0, label="unlabelled")
        of_p = ax.scatter(self.points[p, 0], second[p], 1.6 * size, marker="^", linewidths=0.9)
        of_p.set(facecolors=POSITIVE if one else "none", edgecolors=POSITIVE, label="labelled positive")
        if self.ratio is None or one:
            of_u.set(color=UNLABELLED, alpha=0.6)
        elif u.any():
            # a few extreme ratios would leave all others one colour
            low, high = np.quantile(self.ratio[u], [0.0, 0.99])
            of_u.set(array=self.ratio[u], cmap=sequential(), alpha=0.85, clim=(low, high))
            ax.figure.colorbar(of_u, ax=ax, label=f"{self.ratio_name} of unlabelled rows", pad=0.02)
        for points in (of_u, of_p):
            points.set_rasterized(self.positive.size > 500)
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


def plot_representation(
    Z: Matrix,
    y: ArrayLike,
    ratio: ArrayLike | None = None,
    *,
    ratio_name: str = "density ratio",
    random_state: int = 0,
    ax: Axes | None = None,
) -> RepresentationDisplay:
    """Rows in the plane of a representation: :class:`RepresentationDisplay`.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> from purely.plotting import plot_representation
    >>> plot_representation(data.X[:, :2], data.y, data.density_ratio).ax_.get_xlabel()
    'first direction'
    """
    return RepresentationDisplay.from_representation(
        Z, y, ratio, ratio_name=ratio_name, random_state=random_state
    ).plot(ax)
