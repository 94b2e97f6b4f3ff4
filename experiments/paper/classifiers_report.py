"""The classifiers' results for the documentation, from stored rows: a table, a summary and the reliability diagrams.

    python -m experiments.paper.classifiers_report

writes ``theory/classification_results.inc`` (included by the page) and ``_static/reliability.png`` below ``--out``, the
documentation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.classifier_peers import compared
from experiments.entry import Options, option, read_options
from experiments.paper.config import COLUMNS, DATASETS, FULL
from experiments.paper.store import Store
from experiments.paper.tables import paper_cells
from experiments.records import RESULTS
from experiments.sets import PAPER_SETS

FOLDER = RESULTS / "paper"
NAMES = {
    "pu_classifier": "PUClassifier",
    "pu_classifier_true": "PUClassifier, true prior in the last calibration",
    "pu_classifier_core": "PUClassifier, fitted on one core",
    "pu_classifier_light": "PUClassifier, light: no networks",
    "nnpu": "NNPUClassifier, ClassPrior's estimate",
    "nnpu_true": "NNPUClassifier, true prior",
    "oracle": "networks of the same size, supervised: all true classes known",
    "naive_logistic": "logistic regression of P against U, threshold at the prior",
    "naive_forest": "random forest of P against U, threshold at the prior",
    "logistic": "PULogisticClassifier",
    "kernel_logistic": "PULogisticClassifier, Gaussian kernel",
    "least_squares": "PULeastSquaresClassifier",
    "reweighted": "ReweightedPUClassifier",
    "calibrated_logistic": "CalibratedPUClassifier, logistic regression",
    "elkan_noto": "ElkanNotoClassifier",
    "elkan_noto_weighted": "ElkanNotoClassifier, weighted",
    "elkan_noto_prior": "ElkanNotoClassifier, estimated prior",
    "bagging": "BaggingPUClassifier",
    "two_step": "TwoStepPUClassifier",
    "self_training": "SelfTrainingPUClassifier",
    "tedn": "SelfTrainingPUClassifier, alternating with best bin",
}
#: Classifiers whose rows in the table are the full run's.
STACKED = ("nnpu", "nnpu_true", "oracle")
#: Draws of a cell behind its reliability diagram.
SHOWN_DRAWS = 5
#: Peers that were run on fewer cells are left out: a mean over a few says little.
FEWEST_CELLS = 12
Cells = dict[tuple[str, float], list[dict[str, Any]]]


def by_method(path: Path) -> dict[str, Cells]:
    """Rows of the classification table by method and cell."""
    found: dict[str, Cells] = defaultdict(lambda: defaultdict(list))
    for r in Store(path).tidy():
        if r["table"] == "classification":
            found[r["method"]][r["dataset"], r["prior"]].append(r)
    return found


def mean(cells: Cells, field: str) -> float:
    """Mean over the cells of the mean over the trials."""
    return float(np.mean([np.mean([r[field] for r in rows]) for rows in cells.values()]))


def three(values: list[float]) -> str:
    return " / ".join(f"{100 * v:.1f}" for v in values)


def list_table(head: list[str], rows: list[list[str]], widths: str) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in [head, *rows]:
        lines += [f"   {'* -' if i == 0 else '  -'} {text}" for i, text in enumerate(row)]
    return [*lines, ""]


def cell_table(full: dict[str, Cells]) -> list[str]:
    """Errors in each cell beside the paper's."""
    printed = paper_cells()
    best = {
        (name, p): min(printed["classification", name, p, c][0] for c in COLUMNS)
        for name in DATASETS
        for p in FULL.priors
    }
    purl = {(name, p): printed["classification", name, p, "purl"][0] for name in DATASETS for p in FULL.priors}
    ours, true = ({c: float(np.mean([r["error"] for r in v])) for c, v in full[m].items()} for m in list(NAMES)[:2])
    rows = []
    for name in DATASETS:
        cells = [(name, p) for p in FULL.priors]
        rows.append([PAPER_SETS[name].title, *(three([by[c] for c in cells]) for by in (purl, best, ours, true))])
    rows.append(["mean", *(f"{100 * np.mean(list(by.values())):.2f}" for by in (purl, best, ours, true))])
    won = sum(ours[c] <= best[c] for c in best)
    trials = len(next(iter(full["pu_classifier"].values())))
    ece, ece_true = (mean(full[m], "calibration_error") for m in list(NAMES)[:2])
    return [
        f"Misclassified test rows in per cent at priors .3 / .5 / .7, {trials} trials a cell (1,000 positives, 2,000 "
        "unlabelled rows; data that no setting was chosen on). "
        f"``PUClassifier`` errs no more than the paper's best column in {won} of {len(best)} cells. Expected "
        f"calibration error {ece:.3f}, with the true prior in the last calibration {ece_true:.3f}.",
        "",
        *list_table(
            ["data", "paper's PURL", "paper's best column", "``PUClassifier``", "true prior in its last calibration"],
            rows,
            "20 20 20 20 20",
        ),
    ]


def other_table(full: dict[str, Cells], others: dict[str, Cells]) -> list[str]:
    """Every other classifier, on the draws that it was run on, beside PUClassifier on the same draws."""
    rows, ours = [], []
    shown = {**others, **{method: full[method] for method in STACKED}}
    for method, cells in sorted(shown.items(), key=lambda item: mean(item[1], "error")):
        if len(cells) < len(DATASETS) * len(FULL.priors):
            continue  # a mean over some of the cells says little beside one over all
        drawn = {(c, r["trial"]) for c, v in cells.items() for r in v}
        same = {c: [r for r in v if (c, r["trial"]) in drawn] for c, v in full["pu_classifier"].items()}
        better = sum(np.mean([r["error"] for r in cells[c]]) < np.mean([r["error"] for r in same[c]]) for c in cells)
        ours.append(100 * mean(same, "error"))
        rows.append(
            [
                NAMES[method],
                f"{100 * mean(cells, 'error'):.2f}",
                str(better),
                f"{mean(cells, 'calibration_error'):.3f}",
                str(min(map(len, cells.values()))),
                "stack" if method in STACKED else f"{mean(cells, 'seconds'):.1f}",
            ]
        )
    head = ["classifier", "error", "wins", "ECE", "draws", "s"]
    return [
        "The other classifiers: error in per cent, the number of cells in which they err less than ``PUClassifier`` on "
        "the same draws (wins), and expected calibration error (ECE). Those that take long have fewer draws than "
        f"{FULL.trials} a cell, the first ones; the error of ``PUClassifier`` is {min(ours):.2f} to {max(ours):.2f} % "
        "on all these draws. Seconds (s) are of one core; nnPU and the supervised networks were trained as one stack "
        "on a GPU.",
        "",
        *list_table(head, rows, "50 10 10 10 10 10"),
    ]


def peer_table() -> list[str]:
    """Classifiers of other packages that were run on all cells."""
    rows = [
        [p.method, f"{100 * p.error:.2f}", f"{p.seconds:.1f}", f"{p.ours_better} of {p.cells}", str(p.failures)]
        for p in sorted(compared(RESULTS), key=lambda p: p.error)
        if p.cells + p.failures >= FEWEST_CELLS
    ]
    if not rows:
        return []
    return [
        "Classifiers of other packages (pulearn, pu-toolbox, pywsl) on the first draw of each cell that they were run "
        "on, some on more (up to 20), with their defaults and, where they take one, the true prior "
        "(``experiments/classifier_peers.py``). The fourth column counts the cells in which ``PUClassifier``, with its "
        "estimated prior, errs less on the same draws; the last one the fits that failed or ran out of time, "
        "40 to 120 seconds of a core.",
        "",
        *list_table(["classifier", "error, %", "seconds", "ours better", "failed"], rows, "52 12 12 14 10"),
    ]


def reliability(others: dict[str, Cells], path: Path) -> Path | None:
    """Reliability diagrams at the class prior .5, a panel a data set."""
    shown = [m for m in ("pu_classifier_core", "nnpu", "naive_logistic", "elkan_noto_prior") if m in others]
    labels = {
        "pu_classifier_core": "PUClassifier",
        "nnpu": "nnPU",
        "naive_logistic": "P against U",
        "elkan_noto_prior": "Elkan-Noto",
    }
    if not shown:
        return None
    common = {c for c in set.intersection(*(set(others[m]) for m in shown)) if c[1] == 0.5}
    fig = Figure(figsize=(11, 5.6), layout="constrained")
    axes = fig.subplots(2, 4, sharex=True, sharey=True)
    for ax, name in zip(axes.flat, DATASETS, strict=False):
        ax.plot([0, 1], [0, 1], color="0.75", linewidth=1, zorder=0)
        for method in shown:
            rows = [r for c, of_cell in others[method].items() if c[0] == name and c in common for r in of_cell]
            bins = [r["bins"] for r in rows if r["trial"] < SHOWN_DRAWS]
            if not bins:
                continue
            weight, hits, said = np.sum(bins, axis=0)
            kept = weight > 0.002 * weight.sum()  # a bin of a few rows is noise
            ax.plot(said[kept] / weight[kept], hits[kept] / weight[kept], marker="o", ms=3.5, label=labels[method])
        ax.set(title=PAPER_SETS[name].title, xlim=(0, 1), ylim=(0, 1), aspect="equal")
    handles, names = axes.flat[0].get_legend_handles_labels()
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(handles, names, loc="center", frameon=False)
    fig.supxlabel("predicted probability")
    fig.supylabel("share of positives")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130)
    return path


@dataclass(frozen=True)
class ClassifiersReport(Options):
    """Options of the report."""

    out: Path = option(Path(__file__).parents[2] / "docs", "the documentation's folder")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(ClassifiersReport, __doc__, {}, arguments)
    full, others = by_method(FOLDER / "full.jsonl"), by_method(FOLDER / "others.jsonl")
    target = options.out / "theory" / "classification_results.inc"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join([*cell_table(full), *other_table(full, others), *peer_table()]).rstrip() + "\n")
    print(target)
    print(reliability(others, options.out / "_static" / "reliability.png"))


if __name__ == "__main__":
    main()
