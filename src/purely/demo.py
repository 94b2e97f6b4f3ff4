"""A guided tour on artificial data with known truth: ``python -m purely.demo``.

Each stage has a function that computes, one that tells, and one that draws its panel; :func:`main` arranges them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from purely.datasets import PUSample, TrueValue, make_paper_data
from purely.smi import (
    PUSMI,
    FeatureRanking,
    IndependenceTest,
    InformationInterval,
    SMIInterval,
    independence_test,
    rank_features,
)

CLASS_PRIOR = 0.7
N_POSITIVE, N_UNLABELLED = 400, 1000
N_NEW = 100_000
PICTURE = "information.png"

_POSITIVE, _UNLABELLED, _TRUTH = "#c8553d", "#8a9aa8", "#22333b"


@dataclass(frozen=True)
class Information:
    """What the first question's answer consists of: estimates beside the values they aim at."""

    estimator: PUSMI
    interval: InformationInterval
    smi: SMIInterval
    captured: float
    true_information: TrueValue
    true_smi: TrueValue


# -- stages: what is computed -----------------------------------------------------------------------------------------


def draw_data(seed: int) -> PUSample:
    """The paper's artificial data at its own sizes: negatives on both sides of the positives, one useless column."""
    return make_paper_data(N_POSITIVE, N_UNLABELLED, class_prior=CLASS_PRIOR, random_state=seed)


def measure_information(sample: PUSample, seed: int) -> Information:
    """PU-SMI with its interval, prior-free and at the known class prior, and the true values by quadrature.

    What the fitted ratio captures is measured on a large new sample of the same problem.
    """
    estimator = PUSMI(random_state=seed).fit(sample.X, sample.y)
    new = sample.problem.sample(N_NEW, N_NEW, random_state=seed + 1)
    return Information(
        estimator,
        estimator.information_interval(),
        estimator.smi_interval(sample.class_prior),
        estimator.score(new.X, new.y) - 0.5,
        sample.problem.information(),
        sample.problem.smi(),
    )


# -- stages: what is told ---------------------------------------------------------------------------------------------


def tell_data(sample: PUSample) -> list[str]:
    """The data in words."""
    return [
        *_title("The data"),
        f"{sample.n_positive} labelled positives and {sample.n_unlabelled} unlabelled rows with "
        f"{sample.X.shape[1]} columns; no negatives.",
        f"The class prior p(y=1) is {sample.class_prior:g}: known here, because the data are artificial.",
        "Negatives lie on both sides of the positives in column x0. Column x1 has",
        "the larger variance and says nothing about the class.",
    ]


def tell_information(information: Information) -> list[str]:
    """Prior-free information and SMI, each beside its true value."""
    free, smi = information.interval, information.smi
    odds = smi.class_prior / (1.0 - smi.class_prior)
    truth = information.true_information.value, information.true_smi.value
    captured = information.captured, information.captured * odds
    return [
        *_title("1. Is there signal, and how much?"),
        f"{'':30}{'estimate':>9}{f'{free.level:.0%} interval':>19}{'captured':>10}{'true':>8}",
        _row("information (needs no prior)", free.information, free.low, free.high, captured[0], truth[0]),
        _row(f"SMI at class prior {smi.class_prior:g}", smi.value, smi.low, smi.high, captured[1], truth[1]),
        "",
        f"SMI is the information times the prior's odds, {odds:.3f} here. The interval covers",
        "what the fitted density ratio captures (measured on a large new sample), which",
        "is a lower bound on the true value (by quadrature).",
    ]


def tell_test(test: IndependenceTest) -> list[str]:
    """The p-value of 'no information'."""
    n_permutations = test.null_distribution.size
    return [
        "",
        f"Permutation test of 'no information': p = {test.p_value:.3f} ({n_permutations} permutations; "
        f"{1 / (1 + n_permutations):.3f}",
        "is the smallest value that they can give).",
    ]


def tell_ranking(ranking: FeatureRanking) -> list[str]:
    """The information of each column."""
    rows = [
        f"{name:10}{alone:>14.4f} ± {alone_error:.4f}{loss:>18.4f} ± {loss_error:.4f}"
        for name, alone, alone_error, loss, loss_error in zip(
            ranking.names, ranking.alone, ranking.alone_error, ranking.loss, ranking.loss_error, strict=True
        )
    ]
    return [
        *_title("Which columns carry it?"),
        f"{'column':10}{'alone':>14}{'':9}{'lost without it':>18}",
        *rows,
        "",
        "Prior-free information, ± one standard error. Both columns together: " + f"{ranking.full:.4f}.",
    ]


def _title(text: str) -> list[str]:
    return ["", text, "-" * len(text)]


def _row(name: str, value: float, low: float, high: float, captured: float, truth: float) -> str:
    return f"{name:30}{value:>9.4f}{f'[{low:.4f}, {high:.4f}]':>19}{captured:>10.4f}{truth:>8.4f}"


# -- stages: what is drawn --------------------------------------------------------------------------------------------


def draw_picture(sample: PUSample, information: Information, path: Path) -> Path:
    """Save the data, the fitted against the true ratio, and the information with its interval; return the path."""
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
    with mpl.rc_context(style):
        figure = Figure(figsize=(11.0, 3.7), layout=ConstrainedLayoutEngine(wspace=0.06))
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, 3, width_ratios=[1.15, 1.25, 1.0])
        draw_data_panel(panels[0], sample)
        draw_ratio_panel(panels[1], sample, information.estimator)
        draw_information_panel(panels[2], information)
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
    axes.annotate("no information", (line[-1], 1.0), (0, 3), textcoords="offset points", ha="right", fontsize=8)
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


# -- the tour ---------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="python -m purely.demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the picture")
    parser.add_argument("--seed", type=int, default=0, help="seed of the data and of the estimators")
    options = parser.parse_args(arguments)
    start = time.perf_counter()

    print("purely: learning purely from positive and unlabelled data")
    sample = draw_data(options.seed)
    _say(tell_data(sample))
    information = measure_information(sample, options.seed)
    _say(tell_information(information))
    _say(tell_test(independence_test(sample.X, sample.y, random_state=options.seed)))
    _say(tell_ranking(rank_features(sample.X, sample.y, estimator=information.estimator)))
    _say(_picture_lines(sample, information, options.output / PICTURE))
    print(f"\n{time.perf_counter() - start:.1f} seconds.")
    return 0


def _picture_lines(sample: PUSample, information: Information, path: Path) -> list[str]:
    try:
        return [*_title("The picture"), str(draw_picture(sample, information, path))]
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return [*_title("The picture"), "Not drawn: matplotlib is not installed. Try: pip install 'purely[plot]'"]


def _say(lines: list[str]) -> None:
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    sys.exit(main())
