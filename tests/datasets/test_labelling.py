"""Labels that depend on x: what is returned as truth is how the labels were given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from purely.datasets import Labelling, PUDraw, make_pu
from purely.datasets.labelling import inclusion, pick

SCENARIOS = ("case-control", "single-sample")
BIASED = ("easy", "hard", "column", "group")
RATIO = 20.0


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes; positives lie in two groups along column 1, column 2 is constant."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, 0], [1_500, 1_500]))
    X = np.column_stack([rng.normal(1.5 * y, 1.0), rng.normal(4.0 * rng.integers(0, 2, y.size), 1.0)])
    return np.column_stack([X, np.ones(y.size)]), y


def draw(data, mechanism, scenario="case-control", seed=0, **changes) -> PUDraw:
    sizes = {"n_positive": 200, "n_unlabelled": 600, "class_prior": 0.5, **changes}
    labelling = mechanism if isinstance(mechanism, Labelling) else Labelling(mechanism, RATIO)
    return make_pu(*data, scenario=scenario, labelling=labelling, random_state=seed, **sizes)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    ("mechanism", "replace", "n_draws"),
    [("easy", False, 3), ("hard", True, 3), ("column", False, 12), ("column", True, 12), ("group", False, 12)],
)
def test_labels_come_as_often_as_the_propensity_says(data, mechanism, replace, n_draws, scenario) -> None:
    chance, labelled = [], []
    for seed in range(n_draws):
        d = draw(
            data, mechanism, scenario, seed, replace=replace, n_validation_positive=50, n_validation_unlabelled=200
        )
        for propensity, y, truth in (
            (d.propensity, d.y, d.y_true),
            (d.propensity_validation, d.y_validation, d.y_true_validation),
        ):
            chance.append(propensity[truth == 1])
            labelled.append(y[truth == 1])
    mixed = np.random.default_rng(0).permutation(sum(map(len, chance)))  # rows of one chance in any order
    e, s = np.concatenate(chance)[mixed], np.concatenate(labelled)[mixed]
    order = np.argsort(e, kind="stable")
    for part in np.array_split(order, 8):
        # five standard errors of independent labels; their number is fixed, so that they vary less
        assert abs(s[part].mean() - e[part].mean()) <= 5.0 * np.sqrt((e[part] * (1.0 - e[part])).sum()) / part.size
    assert e[order[-100:]].mean() > 2.0 * e[order[:100]].mean()


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("mechanism", BIASED)
def test_the_odds_vary_by_the_ratio(data, mechanism, scenario) -> None:
    d = draw(data, mechanism, scenario)
    odds = d.propensity / (1.0 - d.propensity)
    assert odds.max() / odds.min() <= RATIO * (1.0 + 1e-9)
    if scenario == "single-sample" or mechanism == "group":
        assert odds.max() / odds.min() > 0.6 * RATIO
    flat = draw(data, Labelling(mechanism, 1.0), scenario)
    np.testing.assert_allclose(flat.propensity, draw(data, "random", scenario).propensity[0], rtol=1e-9)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_mechanisms_do_what_their_names_say(data, scenario) -> None:
    def labelled_mean(d: PUDraw, column: int) -> float:
        return float(d.X[d.y == 1][:, column].mean())

    def some(mechanism: Labelling | str) -> PUDraw:
        return draw(data, mechanism, scenario, n_positive=100)

    plain = some("random")
    assert labelled_mean(some("easy"), 0) > labelled_mean(plain, 0) + 0.2
    assert labelled_mean(some("hard"), 0) < labelled_mean(plain, 0) - 0.2
    by_column = some(Labelling("column", RATIO, column=1))
    assert labelled_mean(by_column, 1) > labelled_mean(plain, 1) + 0.3
    assert np.all(np.diff(by_column.propensity[np.argsort(by_column.X[:, 1])]) >= 0.0)
    by_group = some("group")
    shares = [(by_group.X[by_group.y == 1][:, 1] > 2.0).mean(), (plain.X[plain.y == 1][:, 1] > 2.0).mean()]
    assert abs(shares[0] - shares[1]) > 0.2
    assert np.unique(by_group.propensity).size == 2


def test_random_labels_have_one_propensity(data) -> None:
    for scenario in SCENARIOS:
        d = draw(data, "random", scenario)
        np.testing.assert_allclose(d.propensity, d.priors.label_frequency)
        plain = make_pu(*data, n_positive=200, n_unlabelled=600, class_prior=0.5, scenario=scenario, random_state=0)
        np.testing.assert_array_equal(d.indices, plain.indices)
        assert plain.labelling == Labelling("random")


@pytest.mark.parametrize("mechanism", BIASED)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_everything_else_is_as_promised(data, mechanism, scenario) -> None:
    X, y = data
    d = draw(data, mechanism, scenario, n_validation_positive=20, n_validation_unlabelled=80, n_test=300)
    drawn = np.concatenate([d.indices, d.validation_indices, d.test_indices])
    assert np.unique(drawn).size == drawn.size == 200 + 600 + 20 + 80 + 300
    np.testing.assert_array_equal(d.X, X[d.indices])
    np.testing.assert_array_equal(d.y_true, y[d.indices])
    np.testing.assert_array_equal(d.y, np.repeat([1, 0], [200, 600]))
    assert d.y_true[d.y == 1].all()
    assert d.y_test.sum() == 150
    again = draw(data, mechanism, scenario, n_validation_positive=20, n_validation_unlabelled=80, n_test=300)
    np.testing.assert_array_equal(d.indices, again.indices)


@pytest.mark.parametrize("seed", range(5))
def test_hidden_positives_are_no_different_in_the_case_control_scenario(data, seed) -> None:
    """They come from the population: the labelled are chosen among positives that the pool does not use."""
    X, y = data
    d = draw(data, Labelling("column", RATIO, column=0), seed=seed)
    hidden = d.X[(d.y == 0) & (d.y_true == 1)][:, 0]
    every = X[y == 1][:, 0]
    assert abs(hidden.mean() - every.mean()) <= 5.0 * every.std() / np.sqrt(hidden.size)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.tolist(),
        sp.csr_matrix,
        lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
        lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
    ],
    ids=["list", "csr", "pandas", "polars"],
)
def test_every_container_gives_the_same_draw(data, convert) -> None:
    X, y = data
    for mechanism in ("hard", "column", "group"):
        plain, other = draw((X, y), mechanism), draw((convert(X), y), mechanism)
        if mechanism != "group" or not sp.issparse(other.X):  # k-means adds up sparse rows in another order
            np.testing.assert_array_equal(plain.indices, other.indices)
    if hasattr(convert(X), "columns"):
        named = draw((convert(X), y), Labelling("column", RATIO, column="b"))
        np.testing.assert_array_equal(named.indices, draw((X, y), Labelling("column", RATIO, column=1)).indices)
        assert named.labelling.column == "b"


def test_a_column_is_drawn_among_those_that_vary(data) -> None:
    found = {draw(data, "column", seed=seed).labelling.column for seed in range(20)}
    assert found == {0, 1}


def test_every_candidate_is_picked_with_its_chance() -> None:
    rng = np.random.default_rng(0)
    log_odds = np.linspace(0.0, 3.0, 40)
    chances = inclusion(log_odds, 13, log_odds)
    assert chances.sum() == pytest.approx(13.0)
    np.testing.assert_allclose(np.diff(np.log(chances / (1.0 - chances))), np.diff(log_odds), rtol=1e-6)
    n_draws = 4_000
    counts = np.zeros(40)
    for _ in range(n_draws):
        picked = pick(chances, rng)
        assert picked.sum() == 13
        counts += picked
    z = (counts / n_draws - chances) / np.sqrt(chances * (1.0 - chances) / n_draws)
    assert np.abs(z).max() < 5.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"labelling": "clear"}, "labelling must be one of 'random', 'easy', 'hard', 'column', 'group'; 'clear' was"),
        ({"labelling": Labelling("column", column=7)}, "column must be one of the 3 columns of X; 7 was given"),
        ({"labelling": Labelling("column", column="a")}, "column must be one of the 3 columns of X; 'a' was given"),
        ({"labelling": Labelling("column", column=2)}, "labels cannot depend on column 2: all positives are alike"),
        (
            {"labelling": "easy", "n_positive": 1_200},
            "1200 positives are to be labelled and 1200 are there to choose from, so that labels cannot depend on x",
        ),
    ],
)
def test_refusals(data, options, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_pu(*data, **{"n_positive": 100, "n_unlabelled": 600, "class_prior": 0.5, **options})


def test_refuses_what_has_no_numbers_and_a_ratio_below_one(data) -> None:
    words = pd.DataFrame({"colour": np.where(data[0][:, 0] > 0, "red", "blue")})
    with pytest.raises(ValueError, match="labelling='easy' needs columns of numbers"):
        make_pu(words, data[1], n_positive=10, n_unlabelled=50, labelling="easy")
    with pytest.raises(ValueError, match="ratio must be a number of at least 1"):
        Labelling("easy", ratio=0.5)
    constant = np.ones((100, 2)), np.repeat([1, 0], 50)
    with pytest.raises(ValueError, match="needs a column in which positives differ"):
        make_pu(*constant, n_positive=10, n_unlabelled=20, labelling="column")
