"""The promises that every estimator of this package keeps; scikit-learn's checks are in test_common."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from purely.representation import LSDR, PNRL, PURL

SMALL = {"max_epochs": 3, "device": "cpu", "random_state": 0}
ESTIMATORS = [
    PURL(n_components=2, hidden=(4,), n_ensemble=1, **SMALL),
    PNRL(n_components=2, hidden=(4,), **SMALL),
    LSDR(n_starts=2, max_iter=3, n_centers=10, random_state=0),
]


def sample(seed, n_p=40, n_u=80, d=3):
    """Half of the unlabelled rows are positives, so the ratio is at most 2."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_p, n_u])
    truth = (y == 1) | (rng.random(y.size) < 0.5)
    return rng.normal(size=(n_p + n_u, d)) + 2.0 * truth[:, None] * np.eye(1, d), y


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_permuting_rows_changes_nothing(estimator, seed):
    X, y = sample(seed)
    order = np.random.default_rng(seed + 50).permutation(y.size)
    first, second = clone(estimator).fit(X, y), clone(estimator).fit(X[order], y[order])
    np.testing.assert_allclose(second.transform(X), first.transform(X), rtol=1e-4, atol=1e-5)
    assert second.information_ == pytest.approx(first.information_, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_codings_of_the_labels_give_the_same_fit(estimator):
    X, y = sample(0)
    expected = clone(estimator).fit(X, y).transform(X)
    for coded in (np.where(y == 1, 1, -1), y == 1, np.where(y == 1, "yes", "no"), y.astype(float)):
        np.testing.assert_array_equal(clone(estimator).fit(X, coded).transform(X), expected)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_refit_clone_and_pickle_give_the_same(estimator):
    X, y = sample(1)
    model = clone(estimator).fit(X, y)
    expected = model.transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), expected)
    np.testing.assert_array_equal(clone(model).fit(X, y).transform(X), expected)
    np.testing.assert_array_equal(model.fit(X, y).transform(X), expected)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_feature_names_and_frames(estimator):
    pd = pytest.importorskip("pandas")
    X, y = sample(2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(estimator).set_output(transform="pandas").fit(frame, y)
    out = model.transform(frame)
    names = [f"{type(estimator).__name__.lower()}{i}" for i in range(estimator.n_components)]
    assert list(out.columns) == names == list(model.get_feature_names_out())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_constant_column_changes_little(estimator):
    X, y = sample(3, n_p=300, n_u=600)
    settings = {"max_epochs": 40} if hasattr(estimator, "max_epochs") else {"max_iter": 30}
    model = clone(estimator).set_params(**settings)
    plain = clone(model).fit(X, y).information_
    wider = clone(model).fit(np.column_stack([X, np.full(y.size, 7.0)]), y).information_
    assert wider == pytest.approx(plain, abs=0.15)  # two standard errors of either
