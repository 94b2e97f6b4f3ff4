"""What a report computes, one function for each of its questions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from purely import plotting as pictures
from purely.checks import dense
from purely.class_prior import Prior, read_prior
from purely.classifiers import PUClassifier
from purely.classifiers.thresholds import threshold_of
from purely.crossfit import cross_fit, last_step, out_of_fold
from purely.explain import explain_rows
from purely.folds import deal_folds
from purely.metrics import PUReport, RankingGain, pu_ranking_gain, pu_report
from purely.metrics.estimate import Resampling
from purely.plotting.common import Rows as ScoredRows
from purely.plotting.common import unlabelled_prior
from purely.prior import ClassPrior
from purely.prior.ratio import built_in
from purely.report._data import MAX_COLUMNS, MAX_ROWS, Rows, Table
from purely.representation import LSDR, PURL, InformationRetained, information_retained
from purely.smi import PUSMI, FeatureRanking, InformationInterval, SMIInterval, independence_test, rank_features
from purely.smi.features import most_different
from purely.typing import Estimator, Floats, Indices

#: Level of the intervals that the report asks for itself.
LEVEL = 0.9
#: Reasons beside each record of the list.
N_REASONS = 3


@dataclass(frozen=True, eq=False)
class Scored:
    """A model's probability of every row, by models that have not seen it wherever `honest`."""

    model: Estimator
    probability: Floats
    honest: bool
    fitted_rows: Rows | None  # rows that the report's own model was fitted to; None for a model that was given


@dataclass(frozen=True, eq=False)
class PriorFinding:
    """The class prior that is used, and what the rows say about it."""

    population: Prior
    unlabelled: Prior
    readings: list[pictures.PriorReading]
    reader: ClassPrior  # whose scores are read
    score_y: Indices
    bound: str | None


@dataclass(frozen=True, eq=False)
class Signal:
    """Information with its interval and the p-value of 'none'."""

    by_rows: pictures.InformationDisplay
    interval: InformationInterval
    smi: SMIInterval
    p_value: float
    n_permutations: int


@dataclass(frozen=True, eq=False)
class Picture:
    """A representation learnt on one half of the rows, and what the other half keeps in it."""

    display: pictures.RepresentationDisplay
    retained: InformationRetained | None
    method: str
    n_components: int
    n_rows: int


@dataclass(frozen=True, eq=False)
class Lists:
    """What thresholds give, and the metrics at the model's own."""

    table: pictures.ThresholdTable
    start: int
    metrics: PUReport


def score_rows(table: Table, model: Estimator | None) -> Scored:
    """Probabilities of all rows; fits the recommended classifier, to a draw of large data, where no model is given."""
    if model is None:
        rows = table.thin("model")
        members = "auto" if _networks_pay(rows.size) else "light"
        own = PUClassifier(members=members, scenario=table.scenario, random_state=table.seed)
        own.fit(table.X[rows], table.y[rows])
        probability = np.empty(table.positive.size)
        probability[rows] = own.oof_probability_
        others = np.setdiff1d(np.arange(table.positive.size), rows)
        if others.size:
            probability[others] = own.predict_proba(table.X[others])[:, 1]
        return Scored(own, probability, True, rows)
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"model must be a fitted classifier with predict_proba; {type(model).__name__} has none.")
    found = np.asarray(model.predict_proba(table.given), dtype=np.float64)[:, 1]
    if not np.isfinite(found).all():
        raise ValueError(f"model predicts {int((~np.isfinite(found)).sum())} probabilities that are not finite.")
    stored = out_of_fold(model, found)
    return Scored(model, found if stored is None else stored, stored is not None, None)


def explain_top(table: Table, scored: Scored, rows: Rows) -> list[list[str]]:
    """Reasons of some rows, in the words of the records where there are any."""
    found = explain_rows(scored.model, table.X[rows], table.X, groups=table.groups, random_state=table.seed)
    records = [table.record(row) for row in rows]

    def cell(i: int, name: str) -> object:
        return records[i][name] if name in records[i] else float(table.X[rows[i], table.groups.index(name)])

    return found.said(cell, N_REASONS)


def _networks_pay(n_rows: int) -> bool:
    """Whether the report's own model has networks: they take about a minute for a thousand rows on a CPU."""
    if not find_spec("torch"):
        return False
    if n_rows <= MAX_ROWS["networks"]:
        return True
    import torch

    return bool(torch.cuda.is_available())


def find_prior(table: Table, scored: Scored) -> PriorFinding:
    """The model's class prior; where it was a number, or there is none, the recommended estimator looks too."""
    last = last_step(scored.model)
    estimator = getattr(last, "prior_estimator_", None)
    rows = np.arange(table.positive.size) if scored.fitted_rows is None else scored.fitted_rows
    if estimator is not None and len(getattr(estimator, "scores_", ())) == rows.size:
        own = estimator
    else:
        rows = table.thin("prior")
        own = ClassPrior(scenario=table.scenario, random_state=table.seed).fit(table.X[rows], table.y[rows])
    known = hasattr(last, "class_prior_")
    population = read_prior(last if known else own)
    share = unlabelled_prior(population, ScoredRows(table.positive, scored.probability, ()), table.scenario)
    try:
        readings = pictures.read_priors(table.y[rows], own.scores_, scenario=table.scenario, level=own.level)
    except ValueError:
        readings = []
    is_source = own is estimator or (estimator is None and not known)
    return PriorFinding(population, share, readings, own, table.y[rows], own.diagnostics_.bound if is_source else None)


def measure_signal(table: Table, class_prior: float) -> Signal:
    """Out-of-fold information of all columns, by the number of rows, and a permutation test."""
    rows = table.thin("information")
    X, y = table.scaled(rows), table.y[rows]
    model = PUSMI(scenario=table.scenario, random_state=table.seed)
    display = pictures.InformationDisplay.from_data(X, y, estimator=model, level=LEVEL, random_state=table.seed)
    if not display.intervals:
        raise ValueError(" ".join(display.notes))
    few = table.thin("test")
    test = independence_test(table.scaled(few), table.y[few], random_state=table.seed)
    interval = display.intervals[-1]
    return Signal(display, interval, interval.smi(class_prior), test.p_value, test.null_distribution.size)


def draw_representation(table: Table, signal: Signal | None) -> Picture:
    """Learn a representation on one half of the rows and show the other half in it."""
    rows = table.thin("representation")
    rng = np.random.default_rng(table.seed)
    halves = []
    for value, kind in ((1, "labelled positives"), (0, "unlabelled rows")):
        members = rng.permutation(rows[table.y[rows] == value])
        if members.size < 10:
            raise ValueError(f"A representation needs at least 10 {kind}; there are {members.size}.")
        halves.append(np.split(members, [members.size // 2]))
    train, test = (np.concatenate(half) for half in zip(*halves, strict=True))
    X = table.scaled(np.concatenate([train, test]))
    X_test, y_test, d = X[train.size :], table.y[test], X.shape[1]
    model: PURL | LSDR
    if find_spec("torch"):
        method, model = "PURL, a network", PURL(min(10, d), n_ensemble=1, max_epochs=60, device="cpu")
    else:
        method, model = "LSDR, a linear map", LSDR(min(2, d), n_starts=3)
    model.set_params(scenario=table.scenario, random_state=table.seed).fit(X[: train.size], table.y[train])
    retained = None
    if signal is not None and signal.interval.low > 0.0:
        with suppress(ValueError):  # no information to retain a share of in these rows
            retained = information_retained(
                model, X_test, y_test, scenario=table.scenario, level=LEVEL, random_state=table.seed
            )
    display = pictures.RepresentationDisplay.from_estimator(model, X_test, y_test)
    return Picture(display, retained, method, int(model.transform(X_test[:2]).shape[1]), int(test.size))


def make_lists(table: Table, scored: Scored, prior: PriorFinding) -> Lists:
    """Thresholds with size, precision and recall; the slider starts at the model's own threshold."""
    how = Resampling(scenario=table.scenario, level=LEVEL, n_resamples=300, random_state=table.seed)
    found = pictures.threshold_table(table.y, scored.probability, prior.population, **how)
    start = found.at(threshold_of(scored.model))
    if found.size[start] == 0:  # nothing reaches it: start at the first list there is
        start = int(np.flatnonzero(found.size > 0)[-1])
    cut = float(found.thresholds[start])
    metrics = pu_report(table.y, scored.probability, prior.population, cut, out_of_fold=scored.honest, **how)
    return Lists(found, start, metrics)


def measure_gain(table: Table, scored: Scored, prior: PriorFinding) -> RankingGain:
    """How much better the model ranks than a plain forest of positives against the pool, on the same rows."""
    p, plain, by = scored.probability, _plain_scores(table, scored), prior.population
    return pu_ranking_gain(table.y, p, plain, by, out_of_fold=scored.honest, scenario=table.scenario, level=LEVEL)


def _plain_scores(table: Table, scored: Scored) -> Floats:
    """Scores of forests: the model's own members, or else one that is fitted to the other folds of these rows."""
    last, n = last_step(scored.model), table.positive.size
    stored = last.plain_log_odds() if isinstance(last, PUClassifier) else None
    if stored is not None and scored.fitted_rows is not None:
        plain = np.asarray(last.plain_log_odds(table.X))
        plain[:, scored.fitted_rows] = stored
        return plain
    if stored is not None and scored.honest:
        return stored
    if stored is not None and not hasattr(scored.model, "steps"):
        return np.asarray(last.plain_log_odds(table.given))
    if not scored.honest:
        raise ValueError("The model's scores are not out of fold, so those of a forest cannot be compared with them.")
    if n > MAX_ROWS["model"]:
        raise ValueError(f"There are more than {MAX_ROWS['model']:,} rows to fit a forest to.")
    forest = built_in("forest", n, table.X.shape[1], sparse=sp.issparse(table.X), seed=table.seed)
    return cross_fit([forest], table.X, table.positive, deal_folds(table.X, table.positive, 5, table.seed))[0]


def rank_columns(table: Table) -> tuple[FeatureRanking, int]:
    """Information of the columns that differ most between positives and pool, and how many were left out."""
    rows = table.thin("columns")
    X, y, columns = table.scaled(rows), table.y[rows], table.columns
    chosen = most_different(X, y, columns, MAX_COLUMNS)
    features = sorted(j for places in chosen.values() for j in places)
    part = dense(X[:, features])
    groups = {name: [features.index(j) for j in places] for name, places in chosen.items()}
    return rank_features(part, y, groups=groups, random_state=table.seed), len(columns) - len(chosen)
