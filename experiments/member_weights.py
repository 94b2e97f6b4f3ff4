"""How PUClassifier should weigh its members: alike, or by the likelihood of which rows are labelled.

Rows come from the half of each data set that the reported tables do not use. Every member is fitted once; both
weightings are of the same members.

    PURELY_DATA=folder python -m experiments.member_weights --trials 2 --jobs 2
    python -m experiments.member_weights --summarise
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit

from experiments.paper.config import FULL
from experiments.paper.draws import Key, draw
from experiments.paper.methods import error_of
from experiments.records import read_rows, write_rows
from purely import PUClassifier
from purely.calibration import calibrate_scores
from purely.classifiers._stacking import stacked_weights
from purely.prior._ratio import AUTO_MODELS

NAME = "member_weights"
FIRST_TRIAL = 950
MEMBERS = ("networks", "ratio", *AUTO_MODELS)


def rows_of(name: str, prior: float, trial: int) -> list[dict[str, Any]]:
    """Error and calibration error of both weightings on one draw."""
    d = draw(FULL, Key(name, prior, FIRST_TRIAL + trial), "choose")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PUClassifier(members=["networks", "ratio", *AUTO_MODELS], device="cpu", random_state=d.key.seed).fit(
            d.X, d.y
        )
    known, told = model.oof_member_log_odds_, model.member_log_odds(d.X_test)
    share = model.unlabelled_prior_
    stacked = stacked_weights(known[[0, 2, 3, 4]], d.y == 1, share)
    weighings = {
        "equal": np.array([0.5, 0.5, 0.0, 0.0, 0.0]),
        "stacked": np.array([stacked[0], 0.0, *stacked[1:]]),
    }
    found = []
    for weights, by in weighings.items():
        score = by @ known
        calibrated = calibrate_scores(score[d.y == 1], score[d.y == 0], share)
        figures = error_of(expit(calibrated(by @ told)), d.y_test, prior)
        where = {"dataset": name, "prior": prior, "trial": d.key.trial, "seed": d.key.seed, "weights": weights}
        parts = dict(zip(MEMBERS, by.round(3), strict=True))
        found.append({**where, **{k: round(figures[k], 5) for k in ("error", "calibration_error")}, **parts})
    return found


def summarise() -> None:
    """Mean error and calibration error of both, and by data set."""
    rows = read_rows(NAME)
    for weights in ("equal", "stacked"):
        chosen = [r for r in rows if r["weights"] == weights]
        error, ece = (np.mean([float(r[k]) for r in chosen]) for k in ("error", "calibration_error"))
        by = {n: np.mean([float(r["error"]) for r in chosen if r["dataset"] == n]) for n in FULL.datasets}
        print(f"{weights:8s} {len(chosen)} draws, error {100 * error:.2f} %, calibration error {ece:.4f}; ", end="")
        print(", ".join(f"{n} {100 * e:.2f}" for n, e in by.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--summarise", action="store_true")
    args = parser.parse_args()
    if not args.summarise:
        todo = [(name, prior, t) for t in range(args.trials) for name in FULL.datasets for prior in FULL.priors]
        done = Parallel(args.jobs, verbose=5)(delayed(rows_of)(*one) for one in todo)
        print(write_rows(NAME, [row for one in done for row in one]))
    summarise()


if __name__ == "__main__":
    main()
