"""Which members PUClassifier should have, and how they should be weighed.

Rows come from the half of each data set that the reported tables do not use. Every member is fitted once; all
combinations are of the same members.

    PURELY_DATA=folder python -m experiments.member_weights --trials 2 --jobs 2
    python -m experiments.member_weights --summarise
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from experiments.entry import in_parallel, option, read_options
from experiments.paper.config import CONFIGS, SMOKE_DRAWS, DrawOptions
from experiments.paper.draws import Key, draw
from experiments.paper.methods import error_of
from experiments.records import read_rows, write_rows
from purely import PUClassifier, PULogisticClassifier
from purely.calibration import calibrate_scores
from purely.weighing import stacked_weights

NAME = "member_weights"
FIRST_TRIAL = 950
FIGURES = ("error", "calibration_error")
#: Members by name; the numbers are inverse strengths of the penalty.
MEMBERS: dict[str, Any] = {
    **{name: name for name in ("networks", "ratio", "trees", "linear", "kernel")},
    **{f"logistic {C:g}": PULogisticClassifier(C=C) for C in (0.1, 0.3, 1.0)},
    **{f"kernel-logistic {C:g}": PULogisticClassifier(basis="gaussian", C=C) for C in (3.0, 10.0, 30.0)},
}
#: What is combined, and whether its weights are stacked.
COMBINATIONS: dict[str, tuple[tuple[str, ...], bool]] = {
    "networks, ratio": (("networks", "ratio"), False),
    "networks, the ratio's models, stacked": (("networks", "trees", "linear", "kernel"), True),
    "the ratio's models, stacked": (("trees", "linear", "kernel"), True),
    "with logistic": (("networks", "trees", "linear", "kernel", "logistic 0.3"), True),
    "with both": (("networks", "trees", "linear", "kernel", "logistic 0.3", "kernel-logistic 10"), True),
    "both instead": (("networks", "trees", "logistic 0.3", "kernel-logistic 10"), True),
    "both instead, equal": (("networks", "trees", "logistic 0.3", "kernel-logistic 10"), False),
    "both instead, weaker": (("networks", "trees", "logistic 1", "kernel-logistic 30"), True),
    "both instead, stronger": (("networks", "trees", "logistic 0.1", "kernel-logistic 3"), True),
    "both instead, no networks": (("trees", "logistic 0.3", "kernel-logistic 10"), True),
}


LIGHT = ("trees", "linear", "logistic 0.3", "kernel-logistic 10")
SMOKE = {**SMOKE_DRAWS, "members": LIGHT}


@dataclass(frozen=True)
class MemberWeights(DrawOptions):
    """Options of this study."""

    members: tuple[str, ...] = option(tuple(MEMBERS), "combinations of other members are left out", choices=MEMBERS)
    summarise: bool = option(False, "only print the means of the rows that are there")


@dataclass(frozen=True)
class Scored:
    """Calibrated log-odds of the members on one draw: out of fold, shape (m, n), and of the test rows."""

    key: Key
    known: Any
    told: Any
    positive: Any
    truth: Any
    share: float


def scored(options: MemberWeights, name: str, prior: float, trial: int) -> Scored:
    """Fit every member on one draw."""
    d = draw(CONFIGS[options.config], Key(name, prior, FIRST_TRIAL + trial), "choose")
    model = PUClassifier(members=[MEMBERS[m] for m in options.members], device="cpu", random_state=d.key.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(d.X, d.y)
        told = model.member_log_odds(d.X_test)
    return Scored(d.key, model.oof_member_log_odds_, told, d.y == 1, d.y_test, model.unlabelled_prior_)


def rows_of(options: MemberWeights, name: str, prior: float, trial: int) -> list[dict[str, Any]]:
    """Error and calibration error of the members and of all combinations on one draw."""
    s = scored(options, name, prior, trial)
    where = {"dataset": name, "prior": prior, "trial": s.key.trial, "seed": s.key.seed}
    alone: dict[str, tuple[tuple[str, ...], bool]] = {member: ((member,), False) for member in options.members}
    found = []
    for label, (members, stack) in (alone | COMBINATIONS).items():
        if not set(members) <= set(options.members):
            continue
        places = [options.members.index(m) for m in members]
        known, told = s.known[places], s.told[places]
        weights = stacked_weights(known, s.positive, s.share) if stack else np.full(len(places), 1.0 / len(places))
        score = weights @ known
        calibrated = calibrate_scores(score[s.positive], score[~s.positive], s.share)
        figures = error_of(special.expit(calibrated(weights @ told)), s.truth, prior)
        by = " ".join(f"{w:.3f}" for w in weights)
        found.append({**where, "combination": label, **{k: round(figures[k], 5) for k in FIGURES}, "weights": by})
    return found


def summarise(folder: Path) -> None:
    """Mean error and calibration error of members and combinations, and by data set."""
    rows = read_rows(NAME, folder)
    for label in dict.fromkeys(r["combination"] for r in rows):
        chosen = [r for r in rows if r["combination"] == label]
        error, ece = (np.mean([float(r[k]) for r in chosen]) for k in FIGURES)
        names = dict.fromkeys(r["dataset"] for r in chosen)
        by = {n: np.mean([float(r["error"]) for r in chosen if r["dataset"] == n]) for n in names}
        print(f"{label:38s} {len(chosen)} draws, error {100 * error:.2f} %, ECE {ece:.4f}; ", end="")
        print(", ".join(f"{n} {100 * e:.2f}" for n, e in by.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(MemberWeights, __doc__, SMOKE, arguments)
    if not options.summarise:
        cells = [
            (options, name, prior, t)
            for t in range(options.trials)
            for name in options.datasets
            for prior in options.priors
        ]
        print(write_rows(NAME, [row for one in in_parallel(rows_of, cells, options.jobs) for row in one], options.out))
    summarise(options.out)


if __name__ == "__main__":
    main()
