"""The logistic curve under a ceiling: the fast fit against a slow one, and what its posterior promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

from purely.prior.ceiling import GRID, ceiling_profile, logistic_ceiling, straightened
from purely.prior.scores import ScoreTable


def log_ratios(share, n_p, n_u, seed, distance=2.0):
    """Log density ratios of two normal classes, as a model that knows them would say them; logistic by construction."""
    rng = np.random.default_rng(seed)
    hidden = rng.binomial(n_u, share)
    p, u = (
        rng.normal(distance, 1.0, n_p),
        np.concatenate([rng.normal(distance, 1.0, hidden), rng.normal(size=n_u - hidden)]),
    )

    def ratio(x):
        return -np.logaddexp(np.log(share), np.log1p(-share) - (distance * x - 0.5 * distance**2))

    return ScoreTable.from_scores(ratio(p), ratio(u))


@pytest.mark.parametrize(("share", "n_p", "n_u"), [(0.02, 200, 3000), (0.3, 500, 1000), (0.8, 60, 400)])
def test_all_shares_at_once_equal_one_after_another(share, n_p, n_u):
    table = log_ratios(share, n_p, n_u, 0)
    profile = ceiling_profile(table)
    cells = straightened(table.coarsen(128))
    likeliest = min(n_u, 10 * n_p)  # rows of the pool that count
    n_eff, offset = 2.0 / (1.0 / n_p + 1.0 / likeliest), np.log(n_p / likeliest)
    p, u = cells.count_p / n_eff, cells.count_u / n_u * likeliest / n_eff
    assert profile.n_eff == pytest.approx(n_eff)
    x = (cells.score - profile.centre) / profile.spread
    for i in range(0, GRID.size, 25):

        def loss(theta, at=GRID[i]):
            log_w = -np.logaddexp(log_expit(at), log_expit(-at) - theta[0] - np.exp(theta[1]) * x)
            return -(p @ log_expit(log_w + offset) + u @ log_expit(-log_w - offset)) + 1e-4 * theta[1] ** 2

        starts = [np.array([a, t]) for a in (-2.0, 0.0, 4.0) for t in (-1.0, 0.5)]
        slow = min(minimize(loss, start, method="Nelder-Mead", options={"maxiter": 4000}).fun for start in starts)
        assert profile.loss[i] == pytest.approx(slow, abs=2e-5)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.8, *(pytest.param(s, marks=pytest.mark.full) for s in (0.05, 0.5))])
def test_the_interval_keeps_its_level_where_the_form_holds(share):
    hits, trials, widths = 0, 60, []
    for seed in range(trials):
        table = log_ratios(share, 300, 2000, seed, distance=3.0)
        low, high = ceiling_profile(table).posterior().interval(0.9)
        hits += low <= share <= high
        widths.append(logit(high) - logit(low))
    # 54 expected; three standard deviations below is 47. Intervals are made for scores that are worse than these.
    assert hits >= 47
    # Where most rows are positive the area says little of the top.
    assert np.median(widths) < (4.5 if share < 0.5 else 5.2)


def test_more_rows_shorten_the_interval_but_not_to_nothing():
    """The doubt about the ratio at the top is that of tables, not of rows."""
    lengths = []
    for n in (300, 3000, 300_000, 3_000_000):
        low, high = ceiling_profile(log_ratios(0.3, n, 2 * n, 0)).posterior().interval(0.9)
        lengths.append(high - low)
    assert lengths[0] > lengths[1] > lengths[2]
    assert lengths[3] > 0.7 * lengths[2]


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 4.0])
def test_the_posterior_is_that_of_a_plain_sum(distance):
    """Two routes: ceilings averaged over drawn ratios at the top, share by share."""
    profile = ceiling_profile(log_ratios(0.2, 400, 900, 3, distance))
    z = np.random.default_rng(0).normal(size=4000)
    weight = []
    for at, step in zip(GRID, np.gradient(GRID), strict=True):
        share = expit(at)
        area = min(max((profile.area - share / 2) / (1 - share), 0.5), 1 - 1e-6)
        at_top = np.exp(-4.2 * norm.ppf(area) ** 0.88 * np.exp(0.41 * z))
        ceiling = logit(np.clip(share + (1 - share) * at_top, 1e-9, 1 - 1e-9))
        loss = np.interp(ceiling, GRID, profile.loss + 0.5 * ((GRID - profile.anchor) / 1.7) ** 2 / profile.n_eff)
        before = share**0.4 * (1 - share) ** 0.2 * step
        weight.append(np.exp(-profile.n_eff * (loss - profile.loss.min())).mean() * before)
    slow = np.cumsum(weight) / np.sum(weight)
    np.testing.assert_allclose(np.cumsum(profile.posterior().weight), slow, atol=0.02)


def test_the_worse_classes_separate_the_lower_the_interval_begins():
    """Of two scores with the same ceiling, the one that tells less leaves more room for a top that is not pure."""
    ends = []
    for distance in (1.0, 2.0, 4.0):
        low, high = ceiling_profile(log_ratios(0.1, 2000, 4000, 0, distance)).posterior().interval(0.9)
        ends.append(logit(high) - logit(low))
    assert ends[0] > ends[1] > ends[2]


def test_scores_that_say_nothing_leave_every_share_open():
    rng = np.random.default_rng(0)
    posterior = ceiling_profile(ScoreTable.from_scores(rng.normal(size=300), rng.normal(size=900))).posterior()
    low, high = posterior.interval(0.9)
    assert low < 0.2
    assert high > 0.95


@pytest.mark.parametrize("share", [0.005, 0.02, 0.1, 0.4, 0.7])
def test_the_share_is_found_where_the_form_holds(share):
    found = [logistic_ceiling(log_ratios(share, 1000, 8000, seed, distance=3.5)).share for seed in range(8)]
    assert abs(np.median(logit(found)) - logit(share)) < 0.35


@pytest.mark.parametrize("distance", [2.0, 4.0])
def test_the_purity_above_a_score_is_that_of_the_classes(distance):
    """The drawn shares hold that of the two normal classes, though the class prior itself is in doubt."""
    share, cut, inside = 0.1, distance + 0.5, 0
    of_p, of_n = norm.sf(0.5), norm.sf(cut)
    purity = share * of_p / (share * of_p + (1 - share) * of_n)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        u = distance * (rng.random(4000) < share) + rng.normal(size=4000)
        table = ScoreTable.from_scores(rng.normal(distance, 1.0, 400), u)
        drawn = ceiling_profile(table, log_odds=True).draw_purity(table, np.array([cut]), 2000, rng)[0]
        low, high = np.quantile(drawn, [0.05, 0.95])
        inside += low <= purity <= high
        assert 0.0 <= drawn.min() <= drawn.max() <= 1.0
    assert inside >= 30  # 36 expected; three standard deviations below is 30.3


def test_no_row_above_a_score_is_no_error():
    table = log_ratios(0.3, 100, 300, 0)
    purity = ceiling_profile(table, log_odds=True).draw_purity(
        table, np.array([1e9, -1e9]), 50, np.random.default_rng(0)
    )
    assert np.isfinite(purity).all()


def test_quantiles_are_those_of_the_weights():
    posterior = ceiling_profile(log_ratios(0.3, 500, 1000, 0)).posterior()
    assert posterior.weight.sum() == pytest.approx(1.0)
    for q in (0.05, 0.5, 0.95):
        below = posterior.weight[expit(GRID) <= posterior.quantile(q)].sum()
        assert below == pytest.approx(q, abs=posterior.weight.max())
    assert posterior.interval(0.9)[1] == posterior.quantile(0.95)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_straightened_scores_keep_their_order(scale):
    table = ScoreTable.from_scores(scale * np.linspace(-1, 2, 50), scale * np.linspace(-3, 2, 70))
    straight = straightened(table)
    assert (np.diff(straight.score) <= 0).all()
    assert np.isfinite(straight.score).all()
    np.testing.assert_array_equal(straight.count_p, table.count_p)
