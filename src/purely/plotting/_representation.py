"""What a representation makes of the rows, and how the training of its networks went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.checks import check_choice, dense, refuse_length
from purely.crossfit import last_step
from purely.labels import read_labels
from purely.nn.fitted import History
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, UNLABELLED, Axes, label, sequential
from purely.typing import Estimator, Floats, Indices, Mask, Matrix

#: More points than this say no more and make a picture heavy.
_MAX_POINTS = 4000
What = Literal["auto", "j", "loss"]
#: Density ratios or probabilities, by which points are coloured.
Ratio: TypeAlias = ArrayLike | None


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

    @classmethod
    def from_representation(
        cls, Z: Matrix, y: ArrayLike, ratio: Ratio = None, *, ratio_name: str = "density ratio", random_state: int = 0
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
        return cls(points[rows], positive[rows], picked, names, ratio_name, notes=tuple(notes))

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Matrix, y: ArrayLike, ratio: Ratio = None) -> Self:
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
        kinds = (~self.positive, UNLABELLED, "unlabelled"), (self.positive, POSITIVE, "labelled positive")
        for mask, colour, name in kinds:
            if mask.any():
                share = np.histogram(column[mask], edges)[0] / mask.sum()
                ax.stairs(share, edges, color=colour, fill=True, alpha=0.5, label=name)
        ax.legend(loc="upper left")
        label(ax, self._title, self.names[0], "share of the rows", self.notes)


def plot_representation(
    Z: Matrix,
    y: ArrayLike,
    ratio: Ratio = None,
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


@dataclass
class HistoryDisplay(Display):
    """Loss of every network epoch by epoch, on training batches and on rows held out.

    Parameters
    ----------
    train, held : ndarray of shape (n_epochs, n_networks)
        NaN after a network's stop, and where nothing was held out.
    best_epoch : ndarray of int, shape (n_networks,)
    loss_name : str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np
    >>> from purely.plotting import HistoryDisplay
    >>> fall = np.linspace(-0.5, -0.8, 20)[:, None]
    >>> display = HistoryDisplay(fall, fall + 0.05, np.array([19])).plot()
    >>> display.ax_.get_xlabel()
    'epoch'
    """

    _title: ClassVar[str] = "How the networks learnt"

    train: Floats
    held: Floats
    best_epoch: Indices
    loss_name: str = "loss"

    @classmethod
    def from_history(cls, history: History, *, what: What = "j") -> Self:
        """From a `history_`: J where `what` is "j", the loss that was minimised where it is "loss"."""
        check_choice("what", what, ("j", "loss"))
        train, held = getattr(history, f"train_{what}"), getattr(history, f"held_{what}")
        name = "objective J, lower is better" if what == "j" else "loss, lower is better"
        return cls(np.asarray(train), np.asarray(held), np.asarray(history.best_epoch), name)

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Matrix | None = None, y: ArrayLike | None = None, *, what: What = "auto"
    ) -> Self:
        """From a fitted network: representations show J, classifiers their risk; `X` and `y` are not used."""
        found = last_step(estimator)
        if not hasattr(found, "history_"):
            raise TypeError(f"estimator must have a history_ of its training; {type(found).__name__} has none.")
        own: What = "j" if hasattr(found, "transform") else "loss"
        return cls.from_history(found.history_, what=own if what == "auto" else what)

    def _missing(self) -> str:
        return "" if np.isfinite(self.train).any() else "The history holds no finite value."

    def _draw(self, ax: Axes) -> None:
        epochs = np.arange(1, self.train.shape[0] + 1)
        parts = (self.train, ESTIMATE, "-", "training batches"), (self.held, POSITIVE, "--", "rows held out")
        for values, colour, line, name in parts:
            if not np.isfinite(values).any():
                continue
            ax.plot(epochs, values, color=colour, alpha=0.25, linewidth=0.8)
            alive = np.isfinite(values).any(axis=1)
            mean = np.array([np.nanmean(row) for row in values[alive]])
            ax.plot(epochs[alive], mean, color=colour, linestyle=line, linewidth=2.0, label=f"{name}, mean")
        judged = np.isfinite(self.held).any()
        if judged:
            at = np.clip(self.best_epoch, 0, self.train.shape[0] - 1)
            kept = self.held[at, np.arange(at.size)]
            ax.plot(at + 1, kept, "v", color=POSITIVE, markersize=5, label="kept")
        ax.legend(loc="upper right")
        many = self.train.shape[1]
        title = f"How {many} networks learnt" if many > 1 else "How the network learnt"
        label(ax, title, "epoch", self.loss_name, self.notes if judged else (*self.notes, "No rows were held out."))


def plot_history(estimator: Estimator, *, what: What = "auto", ax: Axes | None = None) -> HistoryDisplay:
    """Training of a fitted network: :class:`HistoryDisplay`.

    Examples
    --------
    >>> from purely.classifiers import NNPUClassifier
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_history
    >>> data = make_gaussians(50, 100, n_features=2, random_state=0)
    >>> model = NNPUClassifier(0.5, hidden=(4,), max_epochs=3, n_ensemble=1, device="cpu").fit(data.X, data.y)
    >>> plot_history(model).ax_.get_title(loc="left")
    'How the network learnt'
    """
    return HistoryDisplay.from_estimator(estimator, what=what).plot(ax)
