"""The tour's picture: a panel for each stage of :mod:`purely.demo`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from purely.datasets import PUSample
    from purely.demo import Classification, Direction, Information, Pool
    from purely.smi import PUSMI

_POSITIVE, _UNLABELLED, _TRUTH, _OTHER = "#c8553d", "#8a9aa8", "#22333b", "#d9a441"

#: What draws one panel on an axes.
Panel = Callable[[Any], None]


def draw_picture(panels: list[Panel], path: Path) -> Path:
    """Save the panels, three in a row; return the path."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    style: Any = {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.titlepad": 10,
        "legend.frameon": False,
    }
    n_rows = -(-len(panels) // 3)
    with mpl.rc_context(style):
        figure = Figure(figsize=(12.0, 3.7 * n_rows), layout=ConstrainedLayoutEngine(wspace=0.06, hspace=0.08))
        FigureCanvasAgg(figure)
        places = figure.subplots(n_rows, 3, squeeze=False, width_ratios=[1.15, 1.25, 1.15]).ravel()
        for axes, panel in zip(places, panels, strict=False):
            panel(axes)
        for axes in places[len(panels) :]:
            axes.set_axis_off()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
    return path


def draw_data_panel(axes: Any, sample: PUSample) -> None:
    """Labelled positives over unlabelled rows."""
    unlabelled, positive = sample.X[sample.y == 0], sample.X[sample.y == 1]
    axes.scatter(*unlabelled.T, s=9, color=_UNLABELLED, alpha=0.55, linewidths=0, label="unlabelled")
    axes.scatter(*positive.T, s=9, color=_POSITIVE, alpha=0.75, linewidths=0, label="labelled positive")
    low, high = sample.X[:, 1].min(), sample.X[:, 1].max()
    axes.set(xlabel="x0", ylabel="x1", ylim=(low - 0.4, high + 0.2 * (high - low)))
    axes.set_title("What is given: positives and unlabelled rows")
    axes.legend(loc="upper center", ncols=2, handletextpad=0.1, columnspacing=1.0, markerscale=1.8)


def draw_ratio_panel(axes: Any, sample: PUSample, estimator: PUSMI) -> None:
    """The fitted ratio along column 0, over the spread of column 1, against the true one."""
    ends = np.quantile(sample.X[:, 0], [0.002, 0.998])
    line = np.linspace(ends[0], ends[1], 121)
    across = np.quantile(sample.X[:, 1], np.linspace(0.05, 0.95, 19))
    grid = np.column_stack([np.repeat(line, across.size), np.tile(across, line.size)])
    fitted = estimator.density_ratio(grid).reshape(line.size, across.size)
    truth = sample.problem.density_ratio(np.column_stack([line, np.zeros_like(line)]))
    axes.fill_between(
        line,
        *np.quantile(fitted, [0.05, 0.95], axis=1),
        color=_POSITIVE,
        alpha=0.18,
        linewidth=0,
        label="fitted, range over x1",
    )
    axes.plot(line, fitted.mean(axis=1), color=_POSITIVE, linewidth=2.0, label="fitted, mean over x1")
    axes.plot(line, truth, color=_TRUTH, linewidth=1.3, linestyle="--", label="true")
    axes.axhline(1.0, color=_UNLABELLED, linewidth=0.8, zorder=0)
    axes.annotate("no information", (line[-1], 1.0), (0, 3), textcoords="offset points", ha="right", fontsize=7)
    axes.set(xlabel="x0", ylabel="p(x | y=1) / p(x)", ylim=(-0.04, 1.5 * float(max(truth.max(), fitted.max()))))
    axes.set_title("The density ratio that is fitted")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend([handles[1], handles[0], handles[2]], [labels[1], labels[0], labels[2]], loc="upper left", fontsize=8)


def draw_information_panel(axes: Any, information: Information) -> None:
    """Information and SMI with their intervals, each on its own row, and the true values."""
    free, smi = information.interval, information.smi
    rows = [
        (1.0, free.information, free.low, free.high, information.true_information.value, "information\n(prior-free)"),
        (0.0, smi.value, smi.low, smi.high, information.true_smi.value, f"SMI\n(prior {smi.class_prior:g})"),
    ]
    for height, value, low, high, truth, _ in rows:
        axes.barh(height, value, height=0.34, color=_POSITIVE, alpha=0.3, linewidth=0)
        axes.errorbar(
            value, height, xerr=[[value - low], [high - value]], fmt="o", color=_POSITIVE, markersize=5, capsize=4
        )
        axes.plot([truth, truth], [height - 0.3, height + 0.3], color=_TRUTH, linestyle="--", linewidth=1.3)
        axes.annotate(f"{value:.3f}", (0.0, height), (6, 0), textcoords="offset points", va="center", color=_POSITIVE)
        axes.annotate(f"true {truth:.3f}", (truth, height + 0.32), ha="center", va="bottom", color=_TRUTH)
    axes.set_yticks([row[0] for row in rows], [row[-1] for row in rows])
    axes.set(xlim=(min(0.0, free.low), 1.12 * max(smi.high, rows[1][4])), ylim=(-0.5, 1.6))
    axes.tick_params(axis="y", length=0)
    axes.set_title("How much x tells about y")
    axes.set_xlabel(f"estimate with {free.level:.0%} interval")


def draw_direction_panel(axes: Any, sample: PUSample, direction: Direction) -> None:
    """Rows projected onto the direction that was learnt: what is left where one column's worth is kept."""
    projected = sample.X @ direction.component
    low, high = np.quantile(projected, [0.001, 0.999])
    bins = np.linspace(low, high, 45)
    for value, colour, name in ((0, _UNLABELLED, "unlabelled"), (1, _POSITIVE, "labelled positive")):
        axes.hist(projected[sample.y == value], bins, density=True, color=colour, alpha=0.55, label=name)
    axes.set(xlabel="the direction that PURL found", ylabel="density", yticks=[])
    axes.set_ylim(0.0, 1.25 * axes.get_ylim()[1])
    axes.set_title(f"One dimension, {direction.angle:.0f}° from x0 (PCA: {direction.angle_of_pca:.0f}°)")
    axes.legend(loc="upper left", fontsize=8)


def draw_pool_panel(axes: Any, sample: PUSample, pool: Pool) -> None:
    """Scores of the pool, and those of the labelled positives at the height of the estimated share."""
    prior = pool.prior
    scores, positive = prior.scores_, sample.y == 1
    bins = np.linspace(scores.min(), scores.max(), 41)
    weight = np.full(sample.n_positive, prior.unlabelled_prior_ * sample.n_unlabelled / sample.n_positive)
    axes.hist(scores[~positive], bins, color=_UNLABELLED, alpha=0.6, label="unlabelled")
    axes.hist(
        scores[positive],
        bins,
        weights=weight,
        histtype="step",
        linewidth=1.7,
        color=_POSITIVE,
        label=f"labelled positives, scaled to {prior.unlabelled_prior_:.0%} of the pool",
    )
    axes.set(xlabel="log density ratio, out of fold", ylabel="rows")
    axes.set_ylim(0.0, 1.25 * axes.get_ylim()[1])
    axes.set_title("How many positives are in the pool")
    axes.legend(loc="upper left", fontsize=8)


def draw_classification_panel(axes: Any, sample: PUSample, classification: Classification) -> None:
    """Probabilities over the plane with the boundary, learnt and best."""
    ends = [(column.min() - 0.3, column.max() + 0.3) for column in sample.X.T]
    across, up = np.meshgrid(*(np.linspace(low, high, 81) for low, high in ends))
    grid = np.column_stack([across.ravel(), up.ravel()])
    probability = classification.model.predict_proba(grid)[:, 1].reshape(across.shape)
    best = sample.problem.posterior(grid).reshape(across.shape)
    shade = axes.contourf(across, up, probability, levels=np.linspace(0.0, 1.0, 11), cmap="RdGy_r", alpha=0.7)
    axes.contour(across, up, probability, levels=[0.5], colors=_POSITIVE, linewidths=1.8)
    axes.contour(across, up, best, levels=[0.5], colors=_TRUTH, linewidths=1.3, linestyles="--")
    axes.set(xlabel="x0", ylabel="x1")
    axes.set_title(f"Which ones: {classification.error:.1%} errors")
    axes.figure.colorbar(shade, ax=axes, ticks=[0.0, 0.5, 1.0], label="p(y=1 | x)", shrink=0.9)
