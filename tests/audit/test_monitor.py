"""Looking often at a pool."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import ks_2samp, ttest_ind

from purely.audit import Batch, Monitor
from purely.audit._monitor import kolmogorov_smirnov, welch


def batch(rng, n: int = 200, shift: float = 0.0, column: float = 0.0) -> Batch:
    X = rng.normal(size=(n, 3))
    X[:, 2] = X[:, 2] > 0.3  # ties
    X[:, 1] += column
    return Batch("b", 1.0 / (1.0 + np.exp(2.0 - shift - X[:, 0])), X)


def test_fifty_looks_without_a_change_raise_few_false_alarms() -> None:
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        monitor = Monitor(batch(rng, 400))
        alarms += any(monitor.look(batch(rng)).changed for _ in range(50))
    assert alarms <= 8  # more in one of 200 runs where the probability is 5 %


def test_the_tests_are_those_of_scipy() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=80), np.round(rng.normal(0.3, 1.2, 150), 1)
        assert welch(a, b) == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)
        smaller = ks_2samp(a, b, method="asymp").pvalue  # scipy's allows for the number of rows
        assert smaller <= kolmogorov_smirnov(a, b) <= 2.0 * smaller


def test_levels_of_all_looks_sum_to_alpha() -> None:
    rng = np.random.default_rng(0)
    monitor = Monitor(batch(rng), alpha=0.1)
    levels = [3.0 * monitor.look(batch(rng)).level for _ in range(30)]
    assert sum(levels) == pytest.approx(0.1 * (1.0 - 1.0 / 31.0))


def test_changes_are_found_and_named() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        monitor = Monitor(batch(rng, 2000), ["a", "b", "c"])
        assert {"share", "scores"} <= set(monitor.look(batch(rng, 1000, shift=0.5)).changed)
        assert monitor.look(batch(rng, 1000, column=0.5)).changed == ("column b",)


def test_sparse_columns_and_constants() -> None:
    rng = np.random.default_rng(0)
    one, two = (Batch(n, np.full(50, 0.2), sp.csr_matrix((50, 4))) for n in "ab")
    assert Monitor(one).look(two).changed == ()
    with pytest.raises(ValueError, match="b has 4 columns and the reference 3"):
        Monitor(batch(rng)).look(two)
    with pytest.raises(ValueError, match="s has 10 rows; at least 30 are needed"):
        Monitor(one).look(Batch("s", np.full(10, 0.2)))
