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
from purely.classifiers._stacked_fit import begin as begin_fit
from purely.classifiers._stacked_fit import fit_members
from purely.classifiers.auto import LIGHT_MEMBERS, NETWORK_SETTINGS


def begin(draw: Draw, device: str, settings: dict[str, Any]) -> PUClassifier:
    """A PUClassifier with everything but its networks."""
    members: Any = "auto"
    if settings:
        members = [NNPUClassifier(**{**NETWORK_SETTINGS, **settings}), *LIGHT_MEMBERS]
    model = PUClassifier(members=members, random_state=draw.key.seed, device=device)
    begin_fit(model, draw.X, draw.y)
    return model


def finish(models: list[PUClassifier], draws: list[Draw]) -> None:
    """Train the networks of all as one stack, and calibrate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        fit_members(models, [(d.X, d.y) for d in draws])
    for model in models:
        model._end()


def probabilities(model: PUClassifier, draw: Draw) -> dict[str, Any]:
    """Of the test rows: as they are, and with the last calibration done with the true share of positives."""
    told = model.member_weights_ @ model.member_log_odds(draw.X_test)
    known = model.member_weights_ @ model.oof_member_log_odds_
    with_truth = calibrate_scores(known[draw.y == 1], known[draw.y == 0], float(np.clip(draw.share, 1e-3, 1 - 1e-3)))
    return {"pu_classifier": model.predict_proba(draw.X_test)[:, 1], "pu_classifier_true": expit(with_truth(told))}
