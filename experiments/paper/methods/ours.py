"""ClassPrior and PUClassifier, the library's defaults.

PUClassifier has two parts: what comes before its networks (class prior, density ratios), one draw at a time on a core,
and the networks, those of all draws at once.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit

from experiments.paper.draws import Draw
from purely import NNPUClassifier, PUClassifier, PurelyWarning
from purely.calibration import calibrate_scores
from purely.classifiers.members import NETWORK_SETTINGS, TABLE_MEMBERS
from purely.nn.plan import finish_together


def begin(draw: Draw, device: str, settings: dict[str, Any]) -> tuple[PUClassifier, Any]:
    """A PUClassifier with everything but its networks, and what it needs to be finished."""
    members: Any = "auto"
    if settings:
        members = [NNPUClassifier(**{**NETWORK_SETTINGS, **settings}), *TABLE_MEMBERS]
    model = PUClassifier(members=members, random_state=draw.key.seed, device=device)
    return model, model.prepare_fit(draw.X, draw.y)


def finish(prepared: list[tuple[PUClassifier, Any]]) -> list[PUClassifier]:
    """Train the networks of all as one stack, and calibrate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        return finish_together(prepared)


def probabilities(model: PUClassifier, draw: Draw) -> dict[str, Any]:
    """Of the test rows: as they are, and with the last calibration done with the true share of positives."""
    told = model.member_weights_ @ model.member_log_odds(draw.X_test)
    known = model.member_weights_ @ model.oof_member_log_odds_
    with_truth = calibrate_scores(known[draw.y == 1], known[draw.y == 0], float(np.clip(draw.share, 1e-3, 1 - 1e-3)))
    return {"pu_classifier": model.predict_proba(draw.X_test)[:, 1], "pu_classifier_true": expit(with_truth(told))}
