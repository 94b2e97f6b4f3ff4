"""LightGBM, XGBoost and CatBoost as members: fitted, explained, saved; each where it is installed."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import purely
from purely import CalibratedPUClassifier, PUClassifier, explain_rows
from purely.datasets import make_gaussians
from purely.persistence import ModelFileError, ModelFileWarning

SETTINGS = {
    "lightgbm.LGBMClassifier": {"n_estimators": 120, "verbose": -1, "n_jobs": 1, "random_state": 0},
    "xgboost.XGBClassifier": {"n_estimators": 60, "n_jobs": 1, "random_state": 0},
    "catboost.CatBoostClassifier": {
        "n_estimators": 30,
        "verbose": 0,
        "thread_count": 1,
        "random_state": 0,
        "allow_writing_files": False,
    },
}
TRUSTED = {
    "lightgbm.LGBMClassifier": [
        "collections.defaultdict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "sklearn.preprocessing._label.LabelEncoder",
    ],
    "xgboost.XGBClassifier": ["xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"],
    "catboost.CatBoostClassifier": ["catboost.core.CatBoostClassifier"],
}
DATA = make_gaussians(200, 600, n_features=4, random_state=0)
FRAME = pd.DataFrame(DATA.X, columns=list("abcd"))


@pytest.fixture(params=list(SETTINGS))
def name(request):
    pytest.importorskip(request.param.partition(".")[0])
    return request.param


@pytest.fixture
def own(name):
    module, _, kind = name.partition(".")
    return getattr(importlib.import_module(module), kind)(**SETTINGS[name])


def test_a_booster_is_a_member_like_any_other(own):
    model = PUClassifier(0.5, members=["logistic", own, make_pipeline(StandardScaler(), own)], cv=3).fit(FRAME, DATA.y)
    assert [member.name for member in model.members_] == ["logistic", type(own).__name__, "Pipeline"]
    assert model.member_weights_.sum() == pytest.approx(1.0)
    assert np.mean((model.predict(FRAME) == 1) == (DATA.y_true == 1)) > 0.7
    found = explain_rows(model, FRAME[:20], FRAME)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.log_odds, atol=1e-6)
    clone(model)


def test_a_single_booster_is_calibrated(own):
    model = CalibratedPUClassifier(own, class_prior=0.5).fit(FRAME, DATA.y)
    pool = model.predict_proba(FRAME[DATA.y == 0])[:, 1]
    # of its own training rows: a booster knows them, but the mean stays near the share of positives
    assert abs(pool.mean() - 0.5) < 0.2


def test_a_saved_booster_loads_where_it_is_trusted_and_nowhere_else(name, own, tmp_path):
    model = PUClassifier(0.5, members=[own], cv=3).fit(DATA.X, DATA.y)
    path = tmp_path / "model.purely"
    with pytest.warns(ModelFileWarning, match="loads only with"):
        purely.save(model, path)
    with pytest.raises(ModelFileError, match="not of purely"):
        purely.load(path)
    again = purely.load(path, trusted=TRUSTED[name])
    np.testing.assert_array_equal(again.predict_proba(DATA.X), model.predict_proba(DATA.X))
