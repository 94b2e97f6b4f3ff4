"""Tables of the class-prior study for the documentation, from the rows of the runs.

    python -m experiments.prior_tables

reads `results/prior_report.csv.gz` and `results/prior_whole.csv` (the paper's 21 cells, reporting half),
`results/paper/full.jsonl` (ClassPrior and its rivals on the same cells, 20 trials), `results/prior_generators.csv.gz`
and `results/prior_peers.csv`, and writes CSV files to `docs/theory/tables`, or to the folder ``--out``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.entry import Options, option, read_options
from experiments.paper.store import Store
from experiments.records import RESULTS, read_rows
from experiments.sets import SETS, public_name

#: What the columns call them.
SHORT = ("ijcnn1", "phishing", "mushr.", "a9a", "mnist", "fashion", "20news")
NONE = "n/a"
#: (ratio, method) of the study, and what the table calls it.
ESTIMATORS = {
    ("auto", "combined"): "ClassPrior, draws of the other rows",
    ("auto", "logistic-ceiling"): "LogisticCeilingPrior",
    ("auto", "kernel-mean"): "kernel means of the score",
    ("auto", "best-bin"): "BestBinPrior",
    ("auto", "dedpul"): "DEDPULPrior",
    ("auto", "monotone"): "MonotoneRatioPrior",
    ("auto", "alphamax"): "AlphaMaxPrior",
    ("auto", "rank-pruning"): "RankPruningPrior",
    ("auto", "elkan-noto-e1"): "ElkanNotoPrior e1",
    ("auto", "elkan-noto-e2"): "ElkanNotoPrior e2",
    ("auto", "elkan-noto-e3"): "ElkanNotoPrior e3",
    ("none", "km2"): "KernelMeanPrior KM2",
    ("none", "regrouping-km1"): "RegroupingPrior of KM1",
    ("none", "penl1"): "PenL1Prior",
}

#: Methods of the paper's run, 20 trials, and what the table calls them.
PAPER_RUN = {
    "class_prior": "ClassPrior",
    "best_bin_forest": "best bin on a random forest",
    "best_bin_logistic": "best bin on logistic regression",
    "dedpul_forest": "DEDPUL on a random forest",
    "alphamax_forest": "AlphaMax on a random forest",
    "tice": "TIcEPrior",
    "none": "KernelMeanPrior KM1",
}


def paper_rows(method: str) -> list[dict[str, Any]]:
    """Rows of a method in the paper's run; columns that it does not have are empty."""
    return [
        {"covered": "", "warned": "", **row, "dataset": public_name(row["dataset"])}
        for row in Store(RESULTS / "paper" / "full.jsonl").tidy()
        if row["table"] == "prior" and row["method"] == method
    ]


def number(value: float, digits: int = 3) -> str:
    """A number for a narrow column: .021, -.015, 4.8."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1.0 and text.lstrip("-").startswith("0.") else text


def mean_of(rows: Iterable[dict[str, Any]], key: str, digits: int = 2) -> str:
    found = [float(r[key]) for r in rows if str(r[key]) != ""]
    return number(float(np.mean(found)), digits) if found else NONE


def errors_by_dataset(rows: list[dict[str, Any]]) -> list[str]:
    """Mean absolute error over all rows, then by data set; rows without an estimate count for neither."""
    made = [r for r in rows if str(r["error"]) != ""]
    cells = [[abs(float(r["error"])) for r in made if r["dataset"] == name] for name in SETS]
    every = [e for cell in cells for e in cell]
    return [number(float(np.mean(c))) if c else NONE for c in [every, *cells]]


def estimators_table() -> list[list[str]]:
    head = ["estimator", "mean", *SHORT, "cover", "warn", "s", "draws"]

    def line(name: str, rows: list[dict[str, Any]], *, timed: bool = True) -> list[str]:
        took = number(float(np.median([float(r["seconds"]) for r in rows])), 1) if timed else NONE
        rates = [mean_of(rows, "covered"), mean_of(rows, "warned")]
        return [name, *errors_by_dataset(rows), *rates, took, str(len(rows))]

    # The run of all readings had the rows of five estimators for one data set only; they have a run of their own.
    study = [r for r in read_rows("prior_report") if r["ratio"] != "none"]
    study += read_rows("prior_whole")
    lines = []
    for method, name in PAPER_RUN.items():
        if rows := paper_rows(method):
            # In the paper's run the recommended prior is timed together with the members of PUClassifier.
            lines.append(line(name, rows, timed=method != "class_prior"))
    for (ratio, method), name in ESTIMATORS.items():
        rows = [r for r in study if (r["ratio"], r["method"]) == (ratio, method)]
        if rows:
            lines.append(line(name, rows))
    return [head, *sorted(lines, key=lambda cells: float(cells[1]))]


def cells_table() -> list[list[str]]:
    """ClassPrior by data set: in the paper's run, and in the study's, whose draws are others."""
    paper = paper_rows("class_prior")
    study = [r for r in read_rows("prior_report") if (r["ratio"], r["method"]) == ("auto", "combined")]
    table = [["data set", "draws", "mean absolute error", "covered", "warned", "other draws", "covered", "warned"]]
    for name in (*SETS, "all"):
        one, two = ([r for r in rows if name in (r["dataset"], "all")] for rows in (paper, study))
        error = number(float(np.mean([abs(r["error"]) for r in one])))
        first = [str(len(one)), error, mean_of(one, "covered"), mean_of(one, "warned")]
        table.append([name, *first, str(len(two)), mean_of(two, "covered"), mean_of(two, "warned")])
    return table


def generators_table() -> list[list[str]]:
    rows = read_rows("prior_generators")
    table = [["problem", "draws", "mean absolute error", "mean error", "covered", "warned", "mean width of interval"]]
    for name in dict.fromkeys(r["dataset"] for r in rows):
        mine = [r for r in rows if r["dataset"] == name]
        errors = np.array([float(r["error"]) for r in mine])
        width = float(np.mean([float(r["high"]) - float(r["low"]) for r in mine]))
        rates = [mean_of(mine, "covered"), mean_of(mine, "warned")]
        table.append(
            [name, str(len(mine)), number(np.abs(errors).mean()), number(errors.mean()), *rates, number(width)]
        )
    return table


def peers_table() -> list[list[str]]:
    rows = [r | {"dataset": public_name(r["dataset"])} for r in read_rows("prior_peers")]
    head = ["estimator", "mean", *SHORT, "failed", "CPU s"]
    lines = []
    for name in dict.fromkeys(r["method"] for r in rows):
        mine = [r for r in rows if r["method"] == name]
        failed = f"{sum(r['error'] == '' for r in mine)}/{len(mine)}"
        timed = [float(r["seconds"]) for r in mine if r["seconds"]]
        took = number(float(np.median(timed)), 1) if timed else NONE
        lines.append([name.replace("Estimator", ""), *errors_by_dataset(mine), failed, took])
    return [head, *sorted(lines, key=lambda cells: float(cells[1]))]


@dataclass(frozen=True)
class PriorTables(Options):
    """Options of the tables."""

    out: Path = option(Path(__file__).parents[1] / "docs" / "theory" / "tables", "folder of the tables")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(PriorTables, __doc__, {}, arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    made = {"estimators": estimators_table, "cells": cells_table, "generators": generators_table, "peers": peers_table}
    for name, table in made.items():
        with (options.out / f"class_priors_{name}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table())


if __name__ == "__main__":
    main()
