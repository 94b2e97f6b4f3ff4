"""`n_jobs` on every estimator that splits its work: the same result, on whatever backend joblib is told to use."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import purely
from purely import PUSMI, classifiers, prior, stack
from purely.exceptions import PurelyWarning
from tests.scale.test_local import draw

TREE = DecisionTreeClassifier(max_depth=3)
PRIORS = {
    name: cls(ratio=["linear", "boosting"], n_jobs=2)
    for name, cls in ((n, getattr(prior, n)) for n in prior.__all__ if n.endswith("Prior"))
    if "ratio" in inspect.signature(cls).parameters
}
CLASSIFIERS = {
    "calibrated": classifiers.CalibratedPUClassifier(TREE, class_prior=0.3, n_jobs=2),
    "elkan-noto": classifiers.ElkanNotoClassifier(TREE, n_jobs=2),
    "reweighted": classifiers.ReweightedPUClassifier(TREE, class_prior=0.3, n_jobs=2),
    "self-training": classifiers.SelfTrainingPUClassifier(TREE, class_prior=0.3, n_rounds=1, n_jobs=2),
    "two-step": classifiers.TwoStepPUClassifier(TREE, class_prior=0.3, n_jobs=2),
    "bagging": classifiers.BaggingPUClassifier(class_prior=0.3, n_estimators=5, n_jobs=2),
    "auto": classifiers.PUClassifier(members=["linear", "logistic"], cv=2, n_jobs=2),
    "information": PUSMI(n_centers=10, n_jobs=2),
}


@pytest.mark.parametrize("estimator", [*PRIORS.values(), *CLASSIFIERS.values()], ids=[*PRIORS, *CLASSIFIERS])
def test_the_number_of_jobs_does_not_matter(estimator):
    X, y = stack(*draw(0, 60, 150))
    with warnings.catch_warnings(), joblib.parallel_config("threading"):
        warnings.simplefilter("ignore", PurelyWarning)
        many, one = clone(estimator).fit(X, y), clone(estimator).set_params(n_jobs=None).fit(X, y)
    for name in ("class_prior_", "class_prior_interval_", "oof_probability_", "information_"):
        if hasattr(one, name):
            np.testing.assert_allclose(getattr(many, name), getattr(one, name), rtol=1e-12)


def test_the_recommended_prior_of_a_classifier_has_its_jobs():
    X, y = stack(*draw(0, 60, 150))
    with joblib.parallel_config("threading"):
        assert clone(CLASSIFIERS["auto"]).fit(X, y).prior_estimator_.n_jobs == 2


def test_no_backend_is_forced():
    source = Path(purely.__file__).parent
    forced = [
        path for path in source.rglob("*.py") if "Parallel(" in path.read_text() and "backend=" in path.read_text()
    ]
    assert forced == []
