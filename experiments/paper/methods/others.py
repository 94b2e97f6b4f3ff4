"""Every other classifier of the library, naive classifiers and a supervised one, one draw at a time on one core.

Each takes a draw and a class prior and gives the probability of the test rows. Settings are the library's defaults; the
networks are those of PUClassifier's member (three of width 100), which a core trains in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from experiments.paper.draws import Draw
from purely.classifiers import (
    BaggingPUClassifier,
    CalibratedPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PULeastSquaresClassifier,
    PULogisticClassifier,
    ReweightedPUClassifier,
    SelfTrainingPUClassifier,
    TwoStepPUClassifier,
)
from purely.prior import BestBinPrior

__all__ = ["METHODS", "TRUE_PRIOR", "Method"]

#: A draw and a class prior to the probability of the test rows.
Method = Callable[[Draw, float], Any]

NETWORKS: dict[str, Any] = {"hidden": (100, 100, 100), "n_ensemble": 3, "device": "cpu"}


def logistic() -> Any:
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=300))


def fitted(make: Callable[[float, int], Any], *, supervised: bool = False) -> Method:
    """A classifier by its class prior and seed."""

    def classify(d: Draw, prior: float) -> Any:
        model = make(float(np.clip(prior, 1e-3, 1.0 - 1e-3)), d.key.seed)
        return model.fit(d.X, d.truth if supervised else d.y).predict_proba(d.X_test)[:, 1]

    return classify


def naive(make: Callable[[int], Any]) -> Method:
    """Positives against unlabelled rows; the threshold is where the prior's share of U, out of fold, is above it."""

    def classify(d: Draw, prior: float) -> Any:
        model = make(d.key.seed)
        out_of_fold = cross_val_predict(model, d.X, d.y, cv=5, method="predict_proba")[:, 1]
        limit = float(np.clip(np.quantile(out_of_fold[d.y == 0], 1.0 - prior), 1e-6, 1.0 - 1e-6))
        # a piecewise-linear map that puts the threshold at one half
        return np.interp(model.fit(d.X, d.y).predict_proba(d.X_test)[:, 1], [0.0, limit, 1.0], [0.0, 0.5, 1.0])

    return classify


#: By name, the quickest first but for those over the same forests.
METHODS: dict[str, Method] = {
    "naive_logistic": naive(lambda s: logistic()),
    "calibrated_logistic": fitted(lambda p, s: CalibratedPUClassifier(logistic(), class_prior=p, random_state=s)),
    "least_squares": fitted(lambda p, s: PULeastSquaresClassifier(p, random_state=s)),
    "logistic": fitted(lambda p, s: PULogisticClassifier(p, random_state=s)),
    "kernel_logistic": fitted(lambda p, s: PULogisticClassifier(p, basis="gaussian", random_state=s)),
    "elkan_noto_prior": fitted(lambda p, s: ElkanNotoClassifier(class_prior=p, random_state=s)),
    "bagging": fitted(lambda p, s: BaggingPUClassifier(class_prior=p, random_state=s)),
    "nnpu": fitted(lambda p, s: NNPUClassifier(p, random_state=s, **NETWORKS)),
    "nnpu_true": fitted(lambda p, s: NNPUClassifier(p, random_state=s, **NETWORKS)),
    "oracle": fitted(lambda p, s: NNPUClassifier(p, risk="pn", random_state=s, **NETWORKS), supervised=True),
    "naive_forest": naive(lambda s: RandomForestClassifier(200, random_state=s)),
    "reweighted": fitted(lambda p, s: ReweightedPUClassifier(class_prior=p, random_state=s)),
    "elkan_noto": fitted(lambda p, s: ElkanNotoClassifier(random_state=s)),
    "elkan_noto_weighted": fitted(lambda p, s: ElkanNotoClassifier(weighted=True, random_state=s)),
    "two_step": fitted(lambda p, s: TwoStepPUClassifier(class_prior=p, random_state=s)),
    "self_training": fitted(lambda p, s: SelfTrainingPUClassifier(class_prior=p, random_state=s)),
    "pu_classifier_light": fitted(lambda p, s: PUClassifier(p, members="light", random_state=s)),
    "pu_classifier_core": fitted(lambda p, s: PUClassifier(p, device="cpu", random_state=s)),
    "tedn": fitted(lambda p, s: SelfTrainingPUClassifier(class_prior=BestBinPrior(), alternate=True, random_state=s)),
}
#: Methods that are told the true share of positives among the unlabelled rows; the others get ClassPrior's estimate.
TRUE_PRIOR = ("nnpu_true", "oracle")
