"""Columns of the smallest numbers there are: dividing by their spread leaves a double's range."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from purely.nn.scaling import column_scaling
from purely.representation import LSDR


def representations():
    yield "LSDR", LSDR(2, n_starts=1, max_iter=3, n_centers=10)
    pytest.importorskip("torch")
    from purely.representation import PNRL, PURL

    settings = {"max_epochs": 3, "hidden": (8,), "n_ensemble": 1, "device": "cpu"}
    yield "PURL", PURL(2, **settings)
    yield "PNRL", PNRL(2, **settings)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-310, 1e-300, 1e-160])
def test_denormal_columns_give_finite_values(size):
    rng = np.random.default_rng()
    y = np.repeat([1, 0], [40, 80])
    X = rng.normal(size=(120, 3))
    X[:, 0] += y
    X[:, 1] *= size
    for name, model in representations():
        model.fit(X, y)
        assert np.isfinite(model.transform(X)).all(), name
        assert np.isfinite(model.transform(X + [0.0, 1.0, 0.0])).all(), name
        if hasattr(model, "density_ratio"):
            assert np.isfinite(model.density_ratio(X)).all(), name


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-100, 1.0])
def test_a_scale_can_be_divided_by(size):
    X = np.random.default_rng().normal(size=(50, 3)) * size
    for rows in (X, sp.csr_matrix(X)):
        assert np.isfinite(1e150 / column_scaling(rows).scale).all()
