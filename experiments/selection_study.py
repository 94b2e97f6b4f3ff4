"""Labels that were not chosen at random: what naming the column is worth, and whether ranges for gamma hold.

Tables of ``PURELY_DATA/tabular``, five mechanisms (`experiments/biased.py`). First, areas under the curve of
`SelectionAwareClassifier`, which is told the column where one decides, and of `PUClassifier(members="light")` on the
same draws; with the true propensity taken off, and with twice what the classifier takes off. Second, labels whose odds
vary by a factor of 3: do the ranges of `purely.audit.sensitivity` for that factor cover share and precision?

    PURELY_DATA=... python -m experiments.selection_study --jobs 1

Fits are kept in the folder `--fits`, which `experiments/audit_study.py` uses too; some 5 seconds a fit on one core.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.metrics import roc_auc_score

from experiments.biased import MECHANISMS, PRIOR, dealt_half, fitted_scores, table_names
from experiments.entry import Options, in_parallel, option, read_options
from experiments.records import provenance
from purely.audit import Sensitivity

GAMMA = 3.0
PARTS = ("areas", "ranges")


@dataclass(frozen=True)
class SelectionStudy(Options):
    """Options of the study."""

    tables: tuple[str, ...] = option((), "names of tables; all where none is named")
    parts: tuple[str, ...] = option(PARTS, "what is not run keeps the rows that are there", choices=PARTS)
    seeds: int = option(3, "draws of a table and a mechanism")
    fits: Path = option(Path("build/fits"), "folder of fits that are kept")


SMOKE: dict[str, Any] = {"tables": ("vehicle",), "seeds": 1, "fits": Path("build/smoke/fits")}


def areas(name: str, mechanism: Any, seed: int, folder: Path) -> dict[str, Any]:
    """Areas and errors of both classifiers on a draw."""
    warnings.filterwarnings("ignore")
    scores = fitted_scores(name, mechanism, seed, folder)
    z = logit(np.clip(scores.test, 1e-12, 1.0 - 1e-12))
    # without a named column the classifier is PUClassifier itself
    aware, aware_prior = (scores.aware, scores.aware_prior) if mechanism == "column" else (scores.test, scores.prior)
    return {
        "study": "areas",
        "table": name,
        "half": dealt_half(name),
        "mechanism": mechanism,
        "draw": seed,
        "area": roc_auc_score(scores.truth, scores.test),
        "area_aware": roc_auc_score(scores.truth, aware),
        "area_twice": roc_auc_score(scores.truth, z - 2.0 * scores.propensity),
        "area_true": roc_auc_score(scores.truth, z - scores.true_propensity),
        "error": np.mean((scores.test > 0.5) != scores.truth),
        "error_aware": np.mean((aware > 0.5) != scores.truth),
        "prior": scores.prior[0],
        "prior_aware": aware_prior[0],
        "covers": scores.prior[1] <= PRIOR <= scores.prior[2],
        "covers_aware": aware_prior[1] <= PRIOR <= aware_prior[2],
        "fit_commit": str(scores.commit),
    }


def ranges(name: str, mechanism: Any, seed: int, folder: Path) -> dict[str, Any]:
    """Whether ranges for gamma cover share and precision in the pool."""
    warnings.filterwarnings("ignore")
    scores = fitted_scores(name, mechanism, seed, folder, GAMMA)
    q, (value, low, high) = scores.pool, scores.prior
    found = Sensitivity(GAMMA, 0.5, q, np.ones(q.size), (low / value, high / value), 0.9)
    plain, called = found.at(1.0), q > 0.5
    precision = float(scores.hidden[called].mean()) if called.any() else np.nan
    share = float(scores.hidden.mean())
    row = {"study": "ranges", "table": name, "half": dealt_half(name), "mechanism": mechanism, "draw": seed}
    row["fit_commit"] = str(scores.commit)
    for said, own in (("", plain), ("_gamma", found)):
        row[f"share{said}"] = own.share.low <= share <= own.share.high
        row[f"width{said}"] = own.share.high - own.share.low
        row[f"precision{said}"] = bool(own.precision.low <= precision <= own.precision.high) if called.any() else np.nan
    return row


def summarise(rows: pd.DataFrame) -> str:
    """Means by mechanism, of the parts that are there."""
    parts = {"areas": summarise_areas, "ranges": summarise_ranges}
    own = {name: rows[rows.study == name].dropna(axis=1, how="all") for name in parts}
    return "\n\n".join(parts[name](table) for name, table in own.items() if len(table))


def summarise_areas(rows: pd.DataFrame) -> str:
    """Areas and errors by mechanism, and by half of the tables."""
    worse = rows.area_aware < rows.area - 0.01
    table = rows.drop(columns="draw").groupby("mechanism").mean(numeric_only=True)
    table["worse_by_.01"] = worse.groupby(rows.mechanism).mean()
    for said in ("", "_aware"):
        table[f"prior_error{said}"] = (rows[f"prior{said}"] - PRIOR).abs().groupby(rows.mechanism).mean()
        table[f"covers{said}"] = rows[f"covers{said}"].astype(float).groupby(rows.mechanism).mean()
    halves = rows.groupby(["half", "mechanism"])[["area", "area_aware"]].mean().unstack("half")
    return (
        f"{len(rows)} draws; area {rows.area.mean():.4f}, selection-aware {rows.area_aware.mean():.4f}, "
        f"worse by .01 in {worse.mean():.1%}\n{table.T.round(3).to_string()}\n\n"
        f"by half of the tables\n{halves.round(3).to_string()}"
    )


def summarise_ranges(rows: pd.DataFrame) -> str:
    """How often share and precision are covered, without and with gamma."""
    columns = ["share", "share_gamma", "width", "width_gamma", "precision", "precision_gamma"]
    covered = rows[columns].astype(float).groupby(rows.mechanism).mean()
    covered.loc["all"] = rows[columns].astype(float).mean()
    return (
        f"{len(rows)} draws with odds that vary by {GAMMA:g}: covered without and with gamma\n"
        f"{covered.round(3).to_string()}"
    )


def main() -> None:
    options = read_options(SelectionStudy, __doc__, SMOKE)
    provenance()  # the commit at the start is that of the run
    named = options.tables or tuple(table_names())
    cells = {
        part: [(t, m, s, options.fits) for s in range(options.seeds) for t in named for m in mechanisms]
        for part, mechanisms in (("areas", MECHANISMS), ("ranges", MECHANISMS[1:]))
    }
    work = {"areas": areas, "ranges": ranges}
    rows = [row for part in options.parts for row in in_parallel(work[part], cells[part], options.jobs)]
    table, path = pd.DataFrame(rows).round(5).assign(**provenance()), options.out / "selection.csv"
    if path.exists():
        before = pd.read_csv(path)
        table = pd.concat([table, before[~before.study.isin(options.parts)]], ignore_index=True)
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)
    print(summarise(table))


if __name__ == "__main__":
    from experiments.selection_study import main as run  # by its name, so that workers find what the module caches

    run()
