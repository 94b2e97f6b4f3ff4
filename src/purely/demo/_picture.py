"""The tour's picture: the displays of :mod:`purely.plotting`, a panel for each stage, and the truth beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from purely.classifiers import PUClassifier
from purely.datasets import PUSample
from purely.plotting import InformationDisplay, RepresentationDisplay, ScoreDisplay
from purely.plotting.style import INK, POSITIVE, UNLABELLED, label, room_above, style
from purely.prior import ClassPrior
from purely.smi import PUSMI
from purely.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Tour:
    """What the stages found.

    Attributes
    ----------
    sample : PUSample
    smi : PUSMI
    directions : list of ndarray
        The direction that PURL found and the first principal component; empty without torch.
    prior : ClassPrior
    model : PUClassifier
    error : float
        Share of new rows that the model gets wrong.
    """

    sample: PUSample
    smi: PUSMI
    directions: list[Floats]
    prior: ClassPrior
    model: PUClassifier
    error: float


def degrees_from_x0(direction: Floats) -> float:
    """Degrees between a direction and column x0, which holds all information."""
    return float(np.degrees(np.arctan2(abs(direction[1]), abs(direction[0]))))


def draw_picture(tour: Tour, path: Path) -> Path:
    """Save the panels, three in a row; return the path."""
    with style():
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        figure = Figure(figsize=(13.5, 7.8), layout=ConstrainedLayoutEngine(wspace=0.06, hspace=0.08))
        axes = figure.subplots(2, 3).ravel()
        sample, positive = tour.sample, tour.sample.y == 1
        RepresentationDisplay(sample.X, positive, names=("x0", "x1")).plot(axes[0])
        ratio_panel(axes[1], tour)
        InformationDisplay.from_estimator(tour.smi, sample.X, sample.y).plot(axes[2])
        truth = sample.problem.information().value
        axes[2].axhline(truth, color=INK, linewidth=1.3, linestyle="--", label=f"true: {truth:.3f}")
        axes[2].legend(loc="upper right")
        if tour.directions:
            name = "the direction that PURL found, {:.0f}° from x0 (PCA: {:.0f}°)"
            names = (name.format(*map(degrees_from_x0, tour.directions)), "")
            RepresentationDisplay(sample.X @ tour.directions[0][:, None], positive, names=names).plot(axes[3])
        else:
            axes[3].set_axis_off()
        ScoreDisplay.from_estimator(tour.prior, sample.X, sample.y).plot(axes[4])
        classification_panel(axes[5], tour)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)
    return path


def ratio_panel(axes: Axes, tour: Tour) -> None:
    """The fitted ratio along column 0, over the spread of column 1, against the true one."""
    sample = tour.sample
    low, high = np.quantile(sample.X[:, 0], [0.002, 0.998])
    line = np.linspace(low, high, 121)
    across = np.quantile(sample.X[:, 1], np.linspace(0.05, 0.95, 19))
    grid = np.column_stack([np.repeat(line, across.size), np.tile(across, line.size)])
    fitted = tour.smi.density_ratio(grid).reshape(line.size, across.size)
    truth = sample.problem.density_ratio(np.column_stack([line, np.zeros_like(line)]))
    axes.plot(line, fitted.mean(axis=1), color=POSITIVE, label="fitted, mean over x1")
    ends = np.quantile(fitted, [0.05, 0.95], axis=1)
    axes.fill_between(line, *ends, color=POSITIVE, alpha=0.18, linewidth=0, label="fitted, range over x1")
    axes.plot(line, truth, color=INK, linewidth=1.3, linestyle="--", label="true")
    axes.axhline(1.0, color=UNLABELLED, linewidth=0.8, zorder=0)
    axes.annotate("no information", (line[-1], 1.0), (0, 3), textcoords="offset points", ha="right", fontsize=7)
    room_above(axes)
    axes.legend(loc="upper left")
    label(axes, "The density ratio that is fitted", "x0", "p(x | y=1) / p(x)")


def classification_panel(axes: Axes, tour: Tour) -> None:
    """Probabilities over the plane with the boundary, learnt and best."""
    across, up = np.meshgrid(*(np.linspace(column.min() - 0.3, column.max() + 0.3, 81) for column in tour.sample.X.T))
    grid = np.column_stack([across.ravel(), up.ravel()])
    probability = tour.model.predict_proba(grid)[:, 1].reshape(across.shape)
    best = tour.sample.problem.posterior(grid).reshape(across.shape)
    shade = axes.contourf(across, up, probability, levels=np.linspace(0.0, 1.0, 11), cmap="RdGy_r", alpha=0.7)
    axes.contour(across, up, probability, levels=[0.5], colors=POSITIVE, linewidths=1.8)
    axes.contour(across, up, best, levels=[0.5], colors=INK, linewidths=1.3, linestyles="--")
    label(axes, f"Which ones: {tour.error:.1%} errors", "x0", "x1")
    axes.figure.colorbar(shade, ax=axes, ticks=[0.0, 0.5, 1.0], label="p(y=1 | x)", shrink=0.9)
