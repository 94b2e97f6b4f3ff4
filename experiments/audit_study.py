"""Audits of a few labels: error of the share, coverage of its interval, promised precisions, gain over uniform draws.

Four kinds of rows; what is not run keeps the rows that are there:

- *overlap*: two overlapping normal classes, `PUClassifier(members="light")`, shares of .01, .05 and .3;
- *tables*: ``PURELY_DATA/tabular``, models fitted to labels by five mechanisms (`experiments/biased.py`), rows drawn so
  that shares of .005 to .7 are positive; every other table is for choosing constants (column `half`);
- *errors*: the same models at the draw's own share of .3, 100 labels: errors on new rows before, recalibrated, refined;
- *scores*: normal classes with scores that are right, shifted, stretched, noisy, useless, turned round, coarse, or that
  miss a third of the positives.

    PURELY_DATA=... python -m experiments.audit_study --jobs 1
    python -m experiments.audit_study --summarise

Fits are kept in the folder `--fits`. About an hour on one core, most of it fits.
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestRegressor

from experiments.biased import (
    MECHANISMS,
    Scores,
    biased_draw,
    dealt_half,
    fitted_scores,
    overlapping_scores,
    table_names,
)
from experiments.entry import Options, in_parallel, option, read_options
from experiments.records import provenance
from purely.audit import draw_audit, read_audit
from purely.datasets import PUDraw

KINDS = ("overlap", "tables", "errors", "scores")
SHARES = (0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 0.7)
SIZES = (30, 50, 100, 200, 300)
WRONG = ("right", "shifted", "flat", "steep", "noisy", "useless", "turned", "coarse", "missing")
OVERLAPPING = (0.01, 0.05, 0.3)


@dataclass(frozen=True)
class AuditStudy(Options):
    """Options of the study."""

    kinds: tuple[str, ...] = option(KINDS, choices=KINDS)
    tables: tuple[str, ...] = option((), "names of tables; all where none is named")
    shares: tuple[float, ...] = option(OVERLAPPING, "shares of positives of the overlapping classes")
    wrong: tuple[str, ...] = option(WRONG, "ways in which artificial scores are wrong")
    seeds: int = option(1, "draws of a table and a mechanism")
    overlap_seeds: int = option(10, "draws of the overlapping classes at each share")
    audits: int = option(40, "audits of each draw of the overlapping classes")
    fits: Path = option(Path("build/fits"), "folder of fits that are kept")
    summarise: bool = option(False, "print the tables of the rows that are there")


SMOKE: dict[str, Any] = {
    "tables": ("vehicle",),
    "shares": (0.3,),
    "wrong": ("right",),
    "overlap_seeds": 1,
    "audits": 1,
    "fits": Path("build/smoke/fits"),
}


def audit(pool: dict[str, Any], n: int, seed: int, rounds: int = 1) -> dict[str, Any]:
    """One audit of a pool: what it says, and what is true."""
    q, y = pool["probability"], pool["truth"]
    sample = draw_audit(q, n // rounds, random_state=seed)
    for extra in range(1, rounds):
        sample = draw_audit(q, n // rounds, random_state=seed + 10_000 * extra, after=sample)
    result = read_audit(sample, y[sample.index], q)
    share = result.share
    threshold = result.threshold_for_precision(0.8)
    called = q > threshold
    return {
        "n": n,
        "seed": seed,
        "rounds": rounds,
        "n_pool": q.size,
        "truth": y.mean(),
        "without": q.mean(),
        "share": share.value,
        "low": share.low,
        "high": share.high,
        "draws_low": np.quantile(result.posterior.total / q.size, 0.05),  # before intervals are made longer
        "draws_high": np.quantile(result.posterior.total / q.size, 0.95),
        "found": result.n_positive,
        "uniform_variance": y.mean() * (1.0 - y.mean()) / n * (1.0 - n / q.size),
        "called": int(called.sum()),
        "precision": float(y[called].mean()) if called.any() else np.nan,
    }


def overlap_rows(prior: float, seed: int, audits: int, folder: Path) -> list[dict[str, Any]]:
    """Audits of the pool of unlabelled rows."""
    warnings.filterwarnings("ignore")
    scores = overlapping_scores(prior, seed, folder)
    pool = {"probability": scores.pool, "truth": scores.hidden}
    said = {"kind": "overlap", "source": "overlap", "mechanism": "random", "asked": prior, "estimate": scores.prior[0]}
    one = [{**said, "draw": seed, **audit(pool, 100, 1000 * seed + r)} for r in range(audits)]
    two = [{**said, "draw": seed, **audit(pool, 100, 1000 * seed + r, rounds=2)} for r in range(audits)]
    return one + two


def table_rows(name: str, mechanism: Any, seed: int, folder: Path) -> list[dict[str, Any]]:
    """Audits at several shares and sizes."""
    warnings.filterwarnings("ignore")
    scores = fitted_scores(name, mechanism, seed, folder)
    said = {"kind": "tables", "source": name, "mechanism": mechanism, "draw": seed, "estimate": scores.prior[0]}
    said |= {"half": dealt_half(name), "fit_commit": str(scores.commit)}
    rows = []
    for number, asked in enumerate(SHARES):
        rng = np.random.default_rng([number, seed, zlib.crc32(f"{name} {mechanism}".encode())])
        pool = pool_of_share(scores, asked, rng)
        if pool is None:
            continue
        for n in SIZES:
            if 3 * n <= pool["probability"].size:
                rows.append({**said, "asked": asked, **audit(pool, n, int(rng.integers(2**31)))})
    return rows


def error_rows(name: str, mechanism: Any, seed: int, folder: Path) -> list[dict[str, Any]]:
    """One audit of 100 labels, and errors on new rows."""
    warnings.filterwarnings("ignore")
    scores = fitted_scores(name, mechanism, seed, folder)
    said = {"kind": "errors", "source": name, "mechanism": mechanism, "draw": seed, "estimate": scores.prior[0]}
    said |= {"half": dealt_half(name), "fit_commit": str(scores.commit), "asked": 0.3}
    return [{**said, **audit_and_test(scores, biased_draw(name, mechanism, seed), seed)}]


def pool_of_share(scores: Scores, share: float, rng: np.random.Generator) -> dict[str, Any] | None:
    """Unlabelled and new rows, as many as possible of which the share is positive; None where positives are too few."""
    q, y = np.concatenate([scores.pool, scores.test]), np.concatenate([scores.hidden, scores.truth]).astype(int)
    ones, zeros = (rng.permutation(np.flatnonzero(y == value)) for value in (1, 0))
    n = int(min(ones.size / share, zeros.size / (1.0 - share)))
    k = round(share * n)
    if k < 3:
        return None
    rows = np.concatenate([ones[:k], zeros[: n - k]])
    return {"probability": q[rows], "truth": y[rows]}


def audit_and_test(scores: Scores, draw: PUDraw, seed: int) -> dict[str, Any]:
    """An audit of 100 of the unlabelled rows, and the error on new rows before, recalibrated, and refined."""
    pool = {"probability": scores.pool, "truth": scores.hidden}
    row = audit(pool, 100, seed)
    sample = draw_audit(scores.pool, 100, random_state=seed)
    result = read_audit(sample, scores.hidden[sample.index], scores.pool)
    pool_rows, truth = draw.X[draw.y == 0], scores.truth == 1
    given = Remembered([(pool_rows, scores.pool), (draw.X_test, scores.test)])
    row["error_before"] = float(np.mean((scores.test > 0.5) != truth))
    for name, rows in (("after", None), ("refined", pool_rows[sample.index])):
        model = result.recalibrated(given, rows)
        row[f"error_{name}"] = float(np.mean((model.log_odds(draw.X_test) > 0.0) != truth))
    row["p_value"] = result.assumptions(scores.labelled).p_value
    return row


class Remembered:
    """Stands for a fitted model, of which only the probabilities of some rows are at hand.

    Of other rows, by which a refinement finds the columns that matter, it says what a forest of the known ones says.
    """

    classes_ = np.array([0, 1])

    def __init__(self, known: list[tuple[Any, Any]]) -> None:
        self.n_features_in_ = known[0][0].shape[1]
        own = [logit(np.clip(q, 1e-12, 1.0 - 1e-12)) for _, q in known]
        self.known = {
            self._key(x): z for (X, _), said in zip(known, own, strict=True) for x, z in zip(X, said, strict=True)
        }
        forest = RandomForestRegressor(30, min_samples_leaf=5, max_features=0.5, random_state=0)
        self.others = forest.fit(known[0][0], np.clip(own[0], -6.0, 6.0))

    @staticmethod
    def _key(x: Any) -> bytes:
        return np.asarray(x, dtype=np.float64).tobytes()

    def log_odds(self, X: Any) -> Any:
        """Log-odds of rows."""
        known = [self.known.get(self._key(x)) for x in X]
        return np.array(known) if None not in known else self.others.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of both classes."""
        q = expit(self.log_odds(X))
        return np.column_stack([1.0 - q, q])


def score_rows(wrong: str, seed: int) -> list[dict[str, Any]]:
    """Audits of normal classes with scores that are wrong in one way."""
    warnings.filterwarnings("ignore")
    said = {"kind": "scores", "source": wrong, "mechanism": "", "draw": seed, "estimate": np.nan}
    rows = []
    for asked in SHARES:
        for n in SIZES:
            rng = np.random.default_rng([seed, round(1000 * asked), n, zlib.crc32(wrong.encode())])
            rows.append({**said, "asked": asked, **audit(wrong_pool(wrong, asked, rng), n, int(rng.integers(2**31)))})
    return rows


def wrong_pool(wrong: str, share: float, rng: np.random.Generator) -> dict[str, Any]:
    """A pool whose scores are wrong."""
    n = 6000 if share < 0.05 else 3000
    y = np.arange(n) < round(share * n)
    X = rng.normal(size=(n, 5))
    X[y, :4] += 0.9
    X[y, 4] *= 2.0
    right = logit(share) + (0.9 * X[:, :4] - 0.405).sum(axis=1) - np.log(2.0) + 0.375 * X[:, 4] ** 2
    z = {
        "right": right,
        "shifted": right + 1.8,
        "flat": 0.5 * right - 1.0,
        "steep": 2.0 * right + 1.0,
        "noisy": 0.5 * right + 1.5 * rng.normal(size=n),
        "useless": 1.5 * rng.normal(size=n) - 1.0,
        "turned": -0.7 * right,
        "coarse": 1.5 * np.round(right / 1.5) + 1.0,
        "missing": np.where(rng.random(n) < 1.0 / 3.0, rng.permutation(right), right) + 1.0,
    }[wrong]
    return {"probability": expit(z), "truth": y.astype(int)}


def summarise(rows: pd.DataFrame) -> str:
    """The rows of the issue's table."""
    rows = rows.copy()
    rows["covers"] = (rows.low <= rows.truth) & (rows.truth <= rows.high)
    inside = (rows.draws_low <= rows.truth) & (rows.truth <= rows.draws_high)
    rows["covers_draws"] = inside.astype(float).where(rows.draws_low.notna())
    rows["above"], rows["below"] = rows.truth < rows.low, rows.truth > rows.high
    rows["error"], rows["error_without"] = (rows.share - rows.truth).abs(), (rows.without - rows.truth).abs()
    rows["width"] = rows.high - rows.low
    rows["promised"] = rows.called >= 5
    rows["kept"] = np.where(rows.promised, rows.precision >= 0.8, np.nan)
    parts = []
    overlap = rows[rows.kind == "overlap"]
    if len(overlap):
        square = ((overlap.share - overlap.truth) ** 2).groupby([overlap.asked, overlap.rounds]).mean()
        table = overlap.groupby(["asked", "rounds"])[["error", "error_without", "covers", "width", "kept"]].mean()
        table["variance_to_uniform"] = square / overlap.groupby(["asked", "rounds"]).uniform_variance.mean()
        parts.append(f"overlapping classes, 100 labels\n{table.round(4).to_string()}")
    columns = ["covers", "covers_draws", "above", "below", "error", "error_without", "width", "promised", "kept"]
    for kind in ("tables", "scores"):
        own = rows[rows.kind == kind]
        if own.empty:
            continue
        for by in ("asked", "n", *(("mechanism", "half") if kind == "tables" else ("source",))):
            table = own[columns].astype(float).groupby(own[by]).mean()
            table.insert(0, "audits", own.groupby(by).size())
            parts.append(f"{kind} by {by}\n{table.round(3).to_string()}")
        parts.append(
            f"{kind}: {len(own)} audits, {own.covers.mean():.3f} covered, {np.nanmean(own.kept.astype(float)):.3f} kept"
        )
    tested = rows[rows.kind == "errors"]
    if len(tested):
        table = tested.groupby("mechanism")[["covers", "error_before", "error_after", "error_refined"]].mean()
        bad = tested[tested.error_before > 0.2]
        table["error_before_bad"] = bad.groupby("mechanism").error_before.mean()
        for name in ("after", "refined"):
            table[f"error_{name}_bad"] = bad.groupby("mechanism")[f"error_{name}"].mean()
        table["biased_found"] = (tested.p_value < 0.05).groupby(tested.mechanism).mean()
        parts.append(f"100 labels at a share of .3, errors on new rows\n{table.round(3).to_string()}")
        means = bad.groupby("half")[["error_before", "error_after", "error_refined"]].mean()
        means.loc["all"] = bad[["error_before", "error_after", "error_refined"]].mean()
        means["draws"] = bad.groupby("half").size().reindex(means.index).fillna(len(bad))
        parts.append(f"where the error was above .2, by half of the tables\n{means.round(3).to_string()}")
    return "\n\n".join(parts)


def main() -> None:
    options = read_options(AuditStudy, __doc__, SMOKE)
    path = options.out / "audit.csv.gz"
    if options.summarise:
        print(summarise(pd.read_csv(path)))
        return
    provenance()  # the commit at the start is that of the run
    rows: list[dict[str, Any]] = []
    if "overlap" in options.kinds:
        cells = [(p, s, options.audits, options.fits) for s in range(options.overlap_seeds) for p in options.shares]
        rows += [row for part in in_parallel(overlap_rows, cells, options.jobs) for row in part]
    named = options.tables or tuple(table_names())
    draws = [(t, m, s, options.fits) for s in range(options.seeds) for t in named for m in MECHANISMS]
    for kind, work in (("tables", table_rows), ("errors", error_rows)):
        if kind in options.kinds:
            rows += [row for part in in_parallel(work, draws, options.jobs) for row in part]
    if "scores" in options.kinds:
        wrong = [(w, s) for s in range(max(1, 2 * (options.audits // 10))) for w in options.wrong]
        rows += [row for part in in_parallel(score_rows, wrong, options.jobs) for row in part]
    table = pd.DataFrame(rows).round(5).assign(**provenance())
    if path.exists():
        before = pd.read_csv(path)
        table = pd.concat([before[~before.kind.isin(options.kinds)], table], ignore_index=True)
    options.out.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        table.to_csv(file, index=False)
    print(summarise(table))


if __name__ == "__main__":
    from experiments.audit_study import main as run  # by its name, so that workers find what the module caches

    run()
