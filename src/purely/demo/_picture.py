"""The tour's picture: a panel for each stage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.classifiers import PUClassifier
from purely.datasets import PUSample
from purely.prior import ClassPrior
from purely.smi import PUSMI

_POSITIVE, _UNLABELLED, _TRUTH = "#c8553d", "#8a9aa8", "#22333b"
_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "legend.frameon": False,
}


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
    directions: list[NDArray[np.float64]]
    prior: ClassPrior
    model: PUClassifier
    error: float


def degrees_from_x0(direction: NDArray[np.float64]) -> float:
    """Degrees between a direction and column x0, which holds all information."""
    return float(np.degrees(np.arctan2(abs(direction[1]), abs(direction[0]))))


def draw_picture(tour: Tour, path: Path) -> Path:
    """Save the panels, three in a row; return the path."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = [data_panel, ratio_panel, information_panel, direction_panel, pool_panel, classification_panel]
    if not tour.directions:
        panels.remove(direction_panel)
    with rc_context(_STYLE):
        figure = Figure(figsize=(12.0, 7.4), layout=ConstrainedLayoutEngine(wspace=0.06, hspace=0.08))
        places = figure.subplots(2, 3, width_ratios=[1.15, 1.25, 1.15]).ravel()
        for axes, panel in zip(places, panels, strict=False):
            panel(axes, tour)
        for axes in places[len(panels) :]:
            axes.set_axis_off()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
    return path


def data_panel(axes: Any, tour: Tour) -> None:
    """Labelled positives over unlabelled rows."""
    sample = tour.sample
    for value, colour, alpha, name in ((0, _UNLABELLED, 0.55, "unlabelled"), (1, _POSITIVE, 0.75, "labelled positive")):
        axes.scatter(*sample.X[sample.y == value].T, s=9, color=colour, alpha=alpha, linewidths=0, label=name)
    low, high = sample.X[:, 1].min(), sample.X[:, 1].max()
    title = "What is given: positives and unlabelled rows"
    axes.set(title=title, xlabel="x0", ylabel="x1", ylim=(low - 0.4, high + 0.2 * (high - low)))
    axes.legend(loc="upper center", ncols=2, handletextpad=0.1, columnspacing=1.0, markerscale=1.8)


def ratio_panel(axes: Any, tour: Tour) -> None:
    """The fitted ratio along column 0, over the spread of column 1, against the true one."""
    sample = tour.sample
    line = _between(sample.X[:, 0], 0.002, 121)
    across = np.quantile(sample.X[:, 1], np.linspace(0.05, 0.95, 19))
    grid = np.column_stack([np.repeat(line, across.size), np.tile(across, line.size)])
    fitted = tour.smi.density_ratio(grid).reshape(line.size, across.size)
    truth = sample.problem.density_ratio(np.column_stack([line, np.zeros_like(line)]))
    axes.plot(line, fitted.mean(axis=1), color=_POSITIVE, linewidth=2.0, label="fitted, mean over x1")
    ends = np.quantile(fitted, [0.05, 0.95], axis=1)
    axes.fill_between(line, *ends, color=_POSITIVE, alpha=0.18, linewidth=0, label="fitted, range over x1")
    axes.plot(line, truth, color=_TRUTH, linewidth=1.3, linestyle="--", label="true")
    axes.axhline(1.0, color=_UNLABELLED, linewidth=0.8, zorder=0)
    axes.annotate("no information", (line[-1], 1.0), (0, 3), textcoords="offset points", ha="right", fontsize=7)
    axes.set(xlabel="x0", ylabel="p(x | y=1) / p(x)")
    _finish(axes, "The density ratio that is fitted", (-0.04, 1.5 * float(max(truth.max(), fitted.max()))))


def information_panel(axes: Any, tour: Tour) -> None:
    """Information and SMI with their intervals, each on its own row, and the true values."""
    free, smi = tour.smi.information_interval(), tour.smi.smi_interval(tour.sample.class_prior)
    truths = tour.sample.problem.information().value, tour.sample.problem.smi().value
    for height, value, ends, truth in ((1.0, free.information, free, truths[0]), (0.0, smi.value, smi, truths[1])):
        arms = [[value - ends.low], [ends.high - value]]
        axes.barh(height, value, height=0.34, color=_POSITIVE, alpha=0.3, linewidth=0)
        axes.errorbar(value, height, xerr=arms, fmt="o", color=_POSITIVE, markersize=5, capsize=4)
        axes.plot([truth, truth], [height - 0.3, height + 0.3], color=_TRUTH, linestyle="--", linewidth=1.3)
        axes.annotate(f"{value:.3f}", (0.0, height), (6, 0), textcoords="offset points", va="center", color=_POSITIVE)
        axes.annotate(f"true {truth:.3f}", (truth, height + 0.32), ha="center", va="bottom", color=_TRUTH)
    axes.set_yticks([1.0, 0.0], ["information\n(prior-free)", f"SMI\n(prior {smi.class_prior:g})"])
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(min(0.0, free.low), 1.12 * max(smi.high, truths[1])), ylim=(-0.5, 1.6))
    axes.set(title="How much x tells about y", xlabel=f"estimate with {free.level:.0%} interval")


def direction_panel(axes: Any, tour: Tour) -> None:
    """Rows projected onto the direction that was learnt: what is left where one column's worth is kept."""
    sample, projected = tour.sample, tour.sample.X @ tour.directions[0]
    bins = _between(projected, 0.001, 45)
    for value, colour, name in ((0, _UNLABELLED, "unlabelled"), (1, _POSITIVE, "labelled positive")):
        axes.hist(projected[sample.y == value], bins, density=True, color=colour, alpha=0.55, label=name)
    axes.set(xlabel="the direction that PURL found", ylabel="density", yticks=[])
    _finish(axes, "One dimension, {:.0f}° from x0 (PCA: {:.0f}°)".format(*map(degrees_from_x0, tour.directions)))


def pool_panel(axes: Any, tour: Tour) -> None:
    """Scores of the pool, and those of the labelled positives at the height of the estimated share."""
    sample, scores, share = tour.sample, tour.prior.scores_, tour.prior.unlabelled_prior_
    bins = np.linspace(scores.min(), scores.max(), 41)
    weights = np.full(sample.n_positive, share * sample.n_unlabelled / sample.n_positive)
    name = f"labelled positives, scaled to {share:.0%} of the pool"
    axes.hist(scores[sample.y == 0], bins, color=_UNLABELLED, alpha=0.6, label="unlabelled")
    step: dict[str, Any] = {"histtype": "step", "linewidth": 1.7, "color": _POSITIVE, "label": name}
    axes.hist(scores[sample.y == 1], bins, weights=weights, **step)
    axes.set(xlabel="log density ratio, out of fold", ylabel="rows")
    _finish(axes, "How many positives are in the pool")


def _between(values: NDArray[np.float64], share: float, n: int) -> NDArray[np.float64]:
    """Points at equal distances over all but a share of the values at either end."""
    low, high = np.quantile(values, [share, 1.0 - share])
    return np.linspace(low, high, n)


def _finish(axes: Any, title: str, ylim: tuple[float, float] | None = None) -> None:
    """A title, and a legend above what is drawn."""
    axes.set(title=title, ylim=ylim or (0.0, 1.25 * axes.get_ylim()[1]))
    axes.legend(loc="upper left", fontsize=8)


def classification_panel(axes: Any, tour: Tour) -> None:
    """Probabilities over the plane with the boundary, learnt and best."""
    across, up = np.meshgrid(*(np.linspace(column.min() - 0.3, column.max() + 0.3, 81) for column in tour.sample.X.T))
    grid = np.column_stack([across.ravel(), up.ravel()])
    probability = tour.model.predict_proba(grid)[:, 1].reshape(across.shape)
    best = tour.sample.problem.posterior(grid).reshape(across.shape)
    shade = axes.contourf(across, up, probability, levels=np.linspace(0.0, 1.0, 11), cmap="RdGy_r", alpha=0.7)
    axes.contour(across, up, probability, levels=[0.5], colors=_POSITIVE, linewidths=1.8)
    axes.contour(across, up, best, levels=[0.5], colors=_TRUTH, linewidths=1.3, linestyles="--")
    axes.set(title=f"Which ones: {tour.error:.1%} errors", xlabel="x0", ylabel="x1")
    axes.figure.colorbar(shade, ax=axes, ticks=[0.0, 0.5, 1.0], label="p(y=1 | x)", shrink=0.9)
