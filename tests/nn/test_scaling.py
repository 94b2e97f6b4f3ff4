from __future__ import annotations

import numpy as np
import pytest

from purely.nn.scaling import column_scaling


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1 / 3, 1e7 + 0.1, 1e-12])
def test_a_constant_column_keeps_its_unit(value):
    """The mean of n times 0.1 is not 0.1 to the last digit, so its standard deviation is not zero."""
    rows = np.column_stack([np.full(1301, value), np.arange(1301.0)])
    scaling = column_scaling(rows)
    assert scaling.scale[0] == 1.0
    np.testing.assert_allclose(scaling(rows)[:, 0], 0.0, atol=1e-6)


def test_a_column_that_varies_by_rounding_is_constant():
    rows = 0.3 + np.spacing(0.3) * np.arange(3)[:, None]
    assert column_scaling(rows).scale[0] == 1.0


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_columns_are_centred_and_scaled(offset):
    rows = offset + np.random.default_rng(0).normal(0.0, 1e-3, size=(400, 2))
    scaled = column_scaling(rows)(rows)
    assert np.abs(scaled.mean(axis=0)).max() < 1e-4  # of 1e7, a sum keeps ten digits
    assert np.all(scaled.std(axis=0) > 0.3)
