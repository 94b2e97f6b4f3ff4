"""Draws whose labels were not chosen at random, from the tables of ``PURELY_DATA/tabular``, and models fitted to them.

A draw has a class prior of .3, up to 400 labelled positives and 2,000 unlabelled rows; positives are labelled at random
or by one of four mechanisms of :mod:`purely.datasets.labelling`, with odds that vary by a factor of 30. This module is
imported, never run, so that its cache reaches every process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np

from experiments.records import provenance
from purely.classifiers import SelectionAwareClassifier
from purely.datasets import PUDraw, make_pu
from purely.datasets.labelling import Labelling, Mechanism, ranks

__all__ = [
    "MECHANISMS",
    "PRIOR",
    "Scores",
    "biased_draw",
    "dealt_half",
    "fitted_scores",
    "overlapping_scores",
    "table_names",
]

MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)
PRIOR = 0.3
#: Shares of a table's positives: labelled, hidden among the unlabelled rows, in the test; the rest can be labelled.
LABELLED, HIDDEN, TESTED = 0.2, 0.4, 0.2


def table_names() -> list[str]:
    """Names of the tables."""
    return sorted(path.stem for path in (Path(os.environ["PURELY_DATA"]) / "tabular").glob("*.npz"))


def dealt_half(name: str) -> str:
    """Whether constants may be chosen on a table: every other one, as in `experiments/promises.py`."""
    return "choose" if table_names().index(name) % 2 == 0 else "report"


@cache
def load_table(name: str) -> tuple[Any, Any]:
    """Standardised rows of a table and their classes."""
    table = np.load(Path(os.environ["PURELY_DATA"]) / "tabular" / f"{name}.npz")
    X = table["X"].astype(np.float64)
    spread = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32), table["y"]


def biased_draw(name: str, mechanism: Mechanism, seed: int, ratio: float = 30.0) -> PUDraw:
    """A draw from a table with labels by a mechanism."""
    X, y = load_table(name)
    n_true, n_false = int(y.sum()), int((~y).sum())
    n_u = int(min(2000, HIDDEN * n_true / PRIOR, 0.6 * n_false / (1.0 - PRIOR)))
    n_test = int(min(4000, TESTED * n_true / PRIOR, 0.35 * n_false / (1.0 - PRIOR)))
    return make_pu(
        X,
        y.astype(int),
        n_positive=int(min(400, LABELLED * n_true)),
        n_unlabelled=n_u,
        class_prior=PRIOR,
        n_test=n_test,
        labelling=Labelling(mechanism, ratio=ratio),
        random_state=seed,
    )


@dataclass(frozen=True)
class Scores:
    """What ``PUClassifier(members="light")`` says of a draw.

    Attributes
    ----------
    pool, hidden : ndarray
        Out-of-fold probabilities of the unlabelled rows, and their classes.
    labelled : ndarray
        Out-of-fold probabilities of the labelled positives.
    test, truth : ndarray
        Probabilities of new rows, and their classes.
    prior : ndarray of shape (3,)
        The estimated class prior and the ends of its interval.
    aware, aware_prior : ndarray
        The same as `test` and `prior` by ``SelectionAwareClassifier``, which is told the column that decided.
    propensity, true_propensity : ndarray
        Log-propensities of the new rows: what was taken off, and the true ones up to a constant.
    members, test_members : ndarray of shape (n_members, n)
        Log-odds of the members on the unlabelled rows, out of fold, and on the new rows.
    commit : ndarray
        The commit of the fit.
    """

    pool: Any
    hidden: Any
    labelled: Any
    test: Any
    truth: Any
    prior: Any
    aware: Any
    aware_prior: Any
    propensity: Any
    true_propensity: Any
    members: Any
    test_members: Any
    commit: Any


def fitted_scores(name: str, mechanism: Mechanism, seed: int, folder: Path, ratio: float = 30.0) -> Scores:
    """Scores of a draw, kept in a folder: a fit takes seconds, an audit of its scores a fraction of one."""
    path = folder / f"{name}_{mechanism}_{seed}_{ratio:g}.npz"
    if not path.exists():
        draw = biased_draw(name, mechanism, seed, ratio)
        told = [draw.labelling.column] if mechanism == "column" else None
        model = SelectionAwareClassifier(selection_features=told, members="light", random_state=seed)
        model.fit(draw.X, draw.y)
        X, y = load_table(name)
        rank = ranks(draw.labelling, X, y, np.random.default_rng(0))[0][draw.test_indices] if told else 0.0
        keep(path, model, draw.y == 1, draw.y_true, draw.X_test, draw.y_test, np.log(ratio) * rank)
    return read_scores(path)


def keep(
    path: Path, model: SelectionAwareClassifier, labelled: Any, truth: Any, X: Any, new: Any, true_propensity: Any
) -> None:
    """Keep what a fitted model says of its rows and of new ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first = model.classifier_
    q = first.oof_probability_
    partial = path.with_suffix(".part.npz")
    np.savez_compressed(
        partial,
        pool=q[~labelled],
        hidden=truth[~labelled],
        labelled=q[labelled],
        test=first.predict_proba(X)[:, 1],
        truth=new,
        prior=[first.prior_.value, *first.prior_.interval],
        aware=model.predict_proba(X)[:, 1],
        aware_prior=[model.prior_.value, *model.prior_.interval],
        propensity=np.log(model.relative_propensity(X)),
        true_propensity=np.broadcast_to(true_propensity, new.shape),
        members=first.oof_member_log_odds_[:, ~labelled].astype(np.float16),
        test_members=first.member_log_odds(X).astype(np.float16),
        commit=provenance()["commit"],
    )
    partial.replace(path)


def read_scores(path: Path) -> Scores:
    """Scores that were kept."""
    with np.load(path) as kept:
        return Scores(**{field.name: kept[field.name] for field in fields(Scores)})


def overlapping_scores(prior: float, seed: int, folder: Path) -> Scores:
    """Scores of two overlapping normal classes in eight columns, 300 labelled positives, 600 / prior unlabelled rows.

    Positives are shifted by .9 in four columns and stretched twofold in a fifth; at priors .3, .05 and .01 there are
    2,000, 4,000 and 10,000 unlabelled rows.
    """
    path = folder / f"overlap-{prior}_{seed}.npz"
    if not path.exists():
        rng = np.random.default_rng([seed, round(1000 * prior)])
        n_u = {0.3: 2000, 0.05: 4000, 0.01: 10_000}.get(prior, 4000)
        k = round(prior * n_u)
        X, truth = rng.normal(size=(300 + 2 * n_u, 8)), np.arange(300 + 2 * n_u) < 300 + 2 * k
        X[truth, :4] += 0.9
        X[truth, 4] *= 2.0
        order = np.concatenate([np.arange(300 + k), np.arange(300 + 2 * k, 300 + k + n_u)])
        new = np.setdiff1d(np.arange(truth.size), order)
        labelled = order < 300
        model = SelectionAwareClassifier(members="light", random_state=seed).fit(X[order], labelled.astype(int))
        keep(path, model, labelled, truth[order].astype(int), X[new], truth[new], 0.0)
    return read_scores(path)
