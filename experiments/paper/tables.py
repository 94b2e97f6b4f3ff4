"""Tables from stored rows: ours beside the paper's, in Markdown, LaTeX and CSV.

Bold is what the paper makes bold: the best mean of a row and all that a t-test at 5 % does not tell from it; trials of
one row are the same draws for all methods, so the test is paired.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from experiments.paper.config import COLUMNS, DATASETS, Config
from experiments.paper.store import Store
from experiments.sets import PAPER_SETS
from purely.files import replacing

#: The paper's tables, cell by cell (data set, prior and column; mean, standard error, bold).
PAPER = Path(__file__).parent / "paper_tables.csv"
NAMES = {"prior": "prior_abs_error", "classification": "misclassification_pct"}
HEADS = {
    "none": "None",
    "pca_d4": "PCA d/4",
    "pca_d2": "PCA d/2",
    "pca_3d4": "PCA 3d/4",
    "fda": "FDA",
    "pnrl": "PNRL",
    "purl": "PURL",
    "class_prior": "ClassPrior",
    "pu_classifier": "PUClassifier",
    "pu_classifier_true": "PUClassifier, true prior",
    "nnpu": "nnPU, raw",
    "nnpu_true": "nnPU, true prior",
    "best_bin_forest": "best bin (forest)",
    "best_bin_logistic": "best bin (logistic)",
    "dedpul_forest": "DEDPUL (forest)",
    "alphamax_forest": "AlphaMax (forest)",
    "tice": "TIcE",
    "naive_forest": "naive forest",
    "naive_logistic": "naive logistic",
    "oracle": "supervised",
}


@dataclass(frozen=True)
class Cell:
    """Mean and standard error over the trials; the paper's where it has any."""

    mean: float
    standard_error: float
    n: int
    bold: bool = False
    paper: float = float("nan")
    paper_error: float = float("nan")

    @property
    def distance(self) -> float:
        """Ours minus the paper's, in standard errors of the difference (the paper rounds, half a unit is added)."""
        return (self.mean - self.paper) / float(np.hypot(self.standard_error, self.paper_error + 0.0029))


def paper_cells() -> dict[tuple[str, str, float, str], tuple[float, float]]:
    """The paper's means and standard errors; misclassification as shares."""
    back = {entry.title: name for name, entry in PAPER_SETS.items()}
    cells = {}
    with PAPER.open(newline="") as file:
        for r in csv.DictReader(file):
            table = next(k for k, v in NAMES.items() if v == r["table"])
            unit = 0.01 if table == "classification" else 1.0
            key = table, back[r["dataset"]], float(r["class_prior"]), r["method"]
            cells[key] = float(r["mean"]) * unit, float(r["standard_error"]) * unit
    return cells


def cells_of(rows: list[dict[str, Any]], table: str) -> dict[tuple[str, float], dict[str, Cell]]:
    """Cells by row (data set, prior) and method, of one table."""
    errors: dict[tuple[str, float], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for r in rows:
        if r["table"] == table:
            errors[r["dataset"], r["prior"]][r["method"]][r["trial"]] = r["error"]
    printed = paper_cells()
    found: dict[tuple[str, float], dict[str, Cell]] = {}
    for where, by in errors.items():
        bold = bold_columns({m: v for m, v in by.items() if m in COLUMNS})
        found[where] = {}
        for method, values in by.items():
            v = np.array(list(values.values()))
            v = v[np.isfinite(v)]
            mean, spread = printed.get((table, *where, method), (float("nan"), float("nan")))
            error = float(v.std(ddof=1) / np.sqrt(v.size)) if v.size > 1 else float("nan")
            found[where][method] = Cell(float(v.mean()), error, v.size, method in bold, mean, spread)
    return found


def bold_columns(by: dict[str, dict[int, float]]) -> set[str]:
    """The best of some columns, and those that a paired t-test at 5 % does not tell from it."""
    if not by:
        return set()
    trials = sorted(set.intersection(*(set(v) for v in by.values())))
    values = {m: np.array([v[t] for t in trials]) for m, v in by.items()}
    best = min(values, key=lambda m: np.nanmean(values[m]))
    kept = {best}
    for method, v in values.items():
        difference = v - values[best]
        same = not np.any(difference)
        if same or (len(trials) > 1 and ttest_rel(v, values[best], nan_policy="omit").pvalue >= 0.05):
            kept.add(method)
    return kept


def write_tables(config: Config, folder: Path) -> list[Path]:
    """Write both tables and the tidy rows of a run."""
    rows = Store(folder / f"{config.name}.jsonl").tidy()
    written = [write_csv(folder / f"{config.name}_rows.csv.gz", rows)]
    for table, title in (("prior", "table1"), ("classification", "table2")):
        cells = cells_of(rows, table)
        if not cells:
            continue
        stem = f"{config.name}_{title}"
        written.append(write_cells(folder / f"{stem}.csv", cells))
        texts = {
            ".md": markdown(cells, table, config),
            "_differences.md": differences(cells, table),
            ".tex": latex(cells, table, config),
        }
        for suffix, text in texts.items():
            path = folder / f"{stem}{suffix}"
            path.write_text(text)
            written.append(path)
    return written


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows compressed, the same bytes for the same rows."""
    with (
        replacing(path) as partial,
        partial.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        io.TextIOWrapper(packed, newline="") as text,
    ):
        writer = csv.DictWriter(text, list(dict.fromkeys(k for r in rows for k in r)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_cells(path: Path, cells: dict[tuple[str, float], dict[str, Cell]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "prior", "method", "mean", "standard_error", "n", "bold", "paper", "distance"])
        for (name, prior), by in ordered(cells):
            for method, c in by.items():
                paper = "" if np.isnan(c.paper) else round(c.paper, 4)
                away = "" if np.isnan(c.paper) else round(c.distance, 2)
                writer.writerow(
                    [name, prior, method, round(c.mean, 5), round(c.standard_error, 5), c.n, int(c.bold), paper, away]
                )
    return path


def ordered(cells: dict[tuple[str, float], dict[str, Cell]]) -> list[tuple[tuple[str, float], dict[str, Cell]]]:
    return sorted(cells.items(), key=lambda item: (DATASETS.index(item[0][0]), item[0][1]))


def methods_of(cells: dict[tuple[str, float], dict[str, Cell]]) -> list[str]:
    present = {m for by in cells.values() for m in by}
    return [m for m in HEADS if m in present]


def text_of(value: float, table: str) -> str:
    if np.isnan(value):
        return ""
    return f"{100 * value:.1f}" if table == "classification" else f"{value:.3f}".replace("0.", ".", 1)


def means(cells: dict[tuple[str, float], dict[str, Cell]], method: str, *, paper: bool = False) -> float:
    values = [by[method].paper if paper else by[method].mean for by in cells.values() if method in by]
    return float(np.mean(values)) if len(values) == len(cells) else float("nan")


def markdown(cells: dict[tuple[str, float], dict[str, Cell]], table: str, config: Config) -> str:
    """The paper's columns with what it prints in brackets, and below them what it does not have."""
    unit = "misclassified, %" if table == "classification" else "absolute error of the class prior"
    present = methods_of(cells)
    parts = [f"Mean {unit}, {config.trials} trials; in brackets the paper's."]
    parts.append(_markdown_table(cells, table, [m for m in present if m in COLUMNS]))
    others = [m for m in present if m not in COLUMNS]
    if others:
        parts += ["The same draws, by what the paper does not have:", _markdown_table(cells, table, others)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(cells: dict[tuple[str, float], dict[str, Cell]], table: str, methods: list[str]) -> str:
    lines = ["| data | prior | " + " | ".join(HEADS[m] for m in methods) + " |"]
    lines.append("| --- | --- " + "| ---: " * len(methods) + "|")
    for (name, prior), by in ordered(cells):
        texts = []
        for m in methods:
            if m not in by:
                texts.append("")
                continue
            own, printed = text_of(by[m].mean, table), text_of(by[m].paper, table)
            own = f"**{own}**" if by[m].bold else own
            texts.append(own + (f" ({printed})" if printed else ""))
        lines.append(f"| {PAPER_SETS[name].title} | {prior} | " + " | ".join(texts) + " |")
    last = []
    for m in methods:
        own, printed = text_of(means(cells, m), table), text_of(means(cells, m, paper=True), table)
        last.append(own + (f" ({printed})" if printed else ""))
    return "\n".join([*lines, "| mean | | " + " | ".join(last) + " |"])


def differences(cells: dict[tuple[str, float], dict[str, Cell]], table: str) -> str:
    """Ours minus the paper's, and in brackets how many standard errors that is, for the columns that the paper has."""
    methods = [m for m in COLUMNS if any(m in by for by in cells.values())]
    lines = ["| data | prior | " + " | ".join(HEADS[m] for m in methods) + " |"]
    lines.append("| --- | --- " + "| ---: " * len(methods) + "|")
    for (name, prior), by in ordered(cells):
        texts = [_difference(by[m], table) if m in by else "" for m in methods]
        lines.append(f"| {PAPER_SETS[name].title} | {prior} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def _difference(cell: Cell, table: str) -> str:
    size = text_of(abs(cell.mean - cell.paper), table)
    away = f"{abs(cell.distance):.1f}" if abs(cell.distance) < 9.95 else f"{abs(cell.distance):.0f}"
    return f"{'+' if cell.mean > cell.paper else '−'}{size} ({away})"


def latex(cells: dict[tuple[str, float], dict[str, Cell]], table: str, config: Config) -> str:
    """Means with standard errors, as the paper sets them."""
    methods = methods_of(cells)
    lines = [
        r"\begin{tabular}{ll" + "c" * len(methods) + "}",
        r"\toprule",
        " & ".join(["Dataset", r"$\theta_\mathrm{P}$", *(HEADS[m] for m in methods)]) + r" \\",
        r"\midrule",
    ]
    for (name, prior), by in ordered(cells):
        texts = []
        for m in methods:
            if m not in by:
                texts.append("--")
                continue
            own, spread = text_of(by[m].mean, table), text_of(by[m].standard_error, table)
            texts.append(rf"$\mathbf{{{own}}}$ (${spread}$)" if by[m].bold else f"${own}$ (${spread}$)")
        lines.append(" & ".join([PAPER_SETS[name].title, f"${prior}$", *texts]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
