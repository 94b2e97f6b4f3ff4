"""Draws from labelled data keep their promises, or say what is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from purely.datasets import PUDraw, make_pu

N_POSITIVE, N_NEGATIVE = 400, 600
SCENARIOS = ("case-control", "single-sample")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows that carry their own number, in a mixed order."""
    y = np.random.default_rng(0).permutation(np.repeat([1, -1], [N_POSITIVE, N_NEGATIVE]))
    X = np.column_stack([np.arange(y.size), y]).astype(float)
    return X, y


def all_indices(draw: PUDraw) -> np.ndarray:
    return np.concatenate([draw.indices, draw.validation_indices, draw.test_indices])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("counts", ["exact", "binomial"])
def test_rows_are_disjoint_and_described_truly(data, scenario, counts, seed) -> None:
    X, y = data
    draw = make_pu(
        X,
        y,
        n_positive=60,
        n_unlabelled=240,
        class_prior=0.4,
        scenario=scenario,
        counts=counts,
        n_validation_positive=10,
        n_validation_unlabelled=40,
        n_test=100,
        random_state=seed,
    )
    drawn = all_indices(draw)
    assert np.unique(drawn).size == drawn.size == 60 + 240 + 10 + 40 + 100
    for rows, indices, truth in (
        (draw.X, draw.indices, draw.y_true),
        (draw.X_validation, draw.validation_indices, draw.y_true_validation),
        (draw.X_test, draw.test_indices, draw.y_test),
    ):
        np.testing.assert_array_equal(rows[:, 0], indices)
        np.testing.assert_array_equal(rows, X[indices])
        np.testing.assert_array_equal(truth, y[indices] == 1)
    np.testing.assert_array_equal(draw.y, np.repeat([1, 0], [60, 240]))
    np.testing.assert_array_equal(draw.y_validation, np.repeat([1, 0], [10, 40]))
    assert draw.y_true[draw.y == 1].all()
    assert draw.y_true_validation[draw.y_validation == 1].all()
    assert draw.unlabelled_prior == draw.y_true[draw.y == 0].mean()
    assert (draw.class_prior, draw.scenario) == (0.4, scenario)


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5, 0.7])
def test_exact_counts(data, prior) -> None:
    X, y = data
    two = make_pu(X, y, n_positive=50, n_unlabelled=200, class_prior=prior, n_test=110, random_state=1)
    assert two.y_true[two.y == 0].sum() == round(200 * prior)
    assert two.y_test.sum() == round(110 * prior)
    assert two.priors.population == pytest.approx(prior)
    one = make_pu(X, y, n_positive=20, n_unlabelled=180, class_prior=prior, scenario="single-sample", random_state=1)
    assert one.y_true.sum() == round(200 * prior)
    assert one.unlabelled_prior == pytest.approx((200 * prior - 20) / 180)
    assert one.priors.population == pytest.approx(prior)


def test_no_class_prior_keeps_that_of_the_data(data) -> None:
    X, y = data
    draw = make_pu(X, y, n_positive=50, n_unlabelled=500)
    assert draw.class_prior == N_POSITIVE / (N_POSITIVE + N_NEGATIVE)
    assert draw.y_true[draw.y == 0].sum() == 200


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_binomial_counts_have_the_right_mean_and_variance(data, scenario) -> None:
    X, y = data
    n_p, n_u, prior, n_draws = 20, 280, 0.3, 300
    found = np.array(
        [
            make_pu(
                X, y, n_positive=n_p, n_unlabelled=n_u, class_prior=prior, scenario=scenario, counts="binomial",
                random_state=seed,
            ).y_true.sum()
            for seed in range(n_draws)
        ]
    )  # fmt: skip
    n = n_u if scenario == "case-control" else n_u + n_p
    expected = prior * n + (n_p if scenario == "case-control" else 0)
    variance = prior * (1 - prior) * n
    assert abs(found.mean() - expected) <= 5 * np.sqrt(variance / n_draws)
    assert 0.6 < found.var(ddof=1) / variance < 1.5  # beyond five standard errors, sqrt(2 / 300) each


def test_every_row_is_as_likely(data) -> None:
    X, y = data
    counts = np.zeros(y.size)
    n_draws = 400
    for seed in range(n_draws):
        draw = make_pu(X, y, n_positive=40, n_unlabelled=200, class_prior=0.4, random_state=seed)
        counts[draw.indices] += 1
    for rows, share in ((y == 1, 120 / N_POSITIVE), (y == -1, 120 / N_NEGATIVE)):
        assert counts[rows].mean() == pytest.approx(n_draws * share)
        z = (counts[rows] - n_draws * share) / np.sqrt(n_draws * share * (1 - share))
        assert np.abs(z).max() < 6.0


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.tolist(),
        np.float32,
        sp.csr_matrix,
        sp.csr_array,
        sp.csc_matrix,
        lambda X: pd.DataFrame(X, columns=["row", "class"], index=np.arange(len(X))[::-1]),
        lambda X: pl.DataFrame(X, schema=["row", "class"]),
    ],
    ids=["list", "float32", "csr", "csr_array", "csc", "pandas", "polars"],
)
def test_every_container_gives_the_same_rows(data, convert) -> None:
    X, y = data
    kwargs = {
        "n_positive": 30,
        "n_unlabelled": 90,
        "n_validation_positive": 3,
        "n_validation_unlabelled": 9,
        "n_test": 20,
    }
    plain = make_pu(X, y, class_prior=0.3, random_state=5, **kwargs)
    other = make_pu(convert(X), y, class_prior=0.3, random_state=5, **kwargs)
    for part in ("X", "X_validation", "X_test"):
        rows = getattr(other, part)
        if sp.issparse(rows):
            assert rows.format == "csr"
            rows = rows.toarray()
        elif isinstance(rows, (pd.DataFrame, pl.DataFrame)):
            assert list(rows.columns) == ["row", "class"]
            rows = rows.to_numpy()
        np.testing.assert_array_equal(rows, getattr(plain, part))
    np.testing.assert_array_equal(other.y_true, plain.y_true)


@pytest.mark.parametrize(
    "code",
    [
        lambda y: y == 1,
        lambda y: (y + 1) // 2,
        lambda y: np.where(y == 1, 2, 1),
        lambda y: np.where(y == 1, "spam", "ham"),
        lambda y: pd.Series(y),
        lambda y: pl.Series(y),
    ],
    ids=["bool", "0/1", "1/2", "str", "pandas", "polars"],
)
def test_every_coding_gives_the_same_draw(data, code) -> None:
    X, y = data
    first = make_pu(X, y, n_positive=5, n_unlabelled=20, random_state=0)
    second = make_pu(X, code(y), n_positive=5, n_unlabelled=20, random_state=0)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.y_true, second.y_true)


def test_nothing_is_held_out_unless_asked_for(data) -> None:
    draw = make_pu(*data, n_positive=5, n_unlabelled=20)
    assert draw.X_validation is None
    assert draw.X_test is None
    assert draw.y_test.size == draw.y_validation.size == draw.test_indices.size == 0


def test_seeds(data) -> None:
    draws = [make_pu(*data, n_positive=5, n_unlabelled=20, random_state=seed).indices for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


@pytest.mark.parametrize("seed", range(5))
def test_replacement_draws_more_than_there_is_without_a_leak(data, seed) -> None:
    X, y = data
    draw = make_pu(
        X, y, n_positive=900, n_unlabelled=2000, class_prior=0.5, replace=True, n_validation_positive=5,
        n_validation_unlabelled=20, n_test=300, random_state=seed,
    )  # fmt: skip
    train, validation, test = set(draw.indices), set(draw.validation_indices), set(draw.test_indices)
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert draw.X.shape == (2900, 2)
    assert draw.y_true[draw.y == 0].sum() == 1000
    assert draw.y_test.sum() == 150
    # nearly every row that is left to training is used: 1,900 positives out of at most 400
    assert sum(y[i] == 1 for i in train) > 0.9 * (N_POSITIVE * 1900 / (1900 + 15 + 150))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"n_positive": 300, "n_unlabelled": 400, "class_prior": 0.5},
            r"500 positives are needed \(300 labelled and 200 unlabelled\), but y has 400: 100 positives are missing",
        ),
        (
            {"n_positive": 10, "n_unlabelled": 700, "class_prior": 0.1},
            r"630 negatives are needed \(630 unlabelled\), but y has 600: 30 negatives are missing",
        ),
        (
            {"n_positive": 300, "n_unlabelled": 100, "class_prior": 0.5, "n_test": 104},
            r"402 positives .*300 labelled and 50 unlabelled and 52 for the test\).* 2 positives are missing",
        ),
        (
            {"n_positive": 100, "n_unlabelled": 100, "class_prior": 0.3, "scenario": "single-sample"},
            "leaves about 60 positives in a single sample of 200 rows, but n_positive=100",
        ),
        (
            {"n_positive": 10, "n_unlabelled": 20, "class_prior": 0.01},
            r"class_prior=0.01 rounds to 0 positives among 20 rows \(n_unlabelled=20\); ask for at least 51 rows",
        ),
        (
            {"n_positive": 10, "n_unlabelled": 8, "class_prior": 0.95},
            r"class_prior=0.95 rounds to 0 negatives among 8 rows \(n_unlabelled=8\); ask for at least 11 rows",
        ),
        (
            {"n_positive": 10, "n_unlabelled": 100, "class_prior": 0.01, "n_test": 9},
            r"0 positives among 9 rows \(n_test=9\)",
        ),
        ({"n_positive": 1, "n_unlabelled": 2, "class_prior": 1.0}, "class_prior must be a number strictly"),
        ({"n_positive": 0, "n_unlabelled": 2}, "n_positive must be an integer of at least 1; 0 was given"),
        ({"n_positive": 1, "n_unlabelled": 2, "n_test": -1}, "n_test must be an integer of at least 0; -1 was given"),
        (
            {"n_positive": 1, "n_unlabelled": 2, "counts": "about"},
            "counts must be one of 'exact', 'binomial'; 'about' was given",
        ),
        ({"n_positive": 1, "n_unlabelled": 2, "scenario": "x"}, "scenario must be"),
        (
            {"n_positive": 1, "n_unlabelled": 2, "n_validation_positive": 3},
            "must both be 0 or both be at least 1; 3 and 0 were given",
        ),
    ],
)
def test_refusals(data, options, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_pu(*data, **options)


def test_what_is_just_there_is_given(data) -> None:
    draw = make_pu(*data, n_positive=200, n_unlabelled=400, class_prior=0.5)
    assert draw.y_true.sum() == N_POSITIVE
    rare = make_pu(*data, n_positive=10, n_unlabelled=51, class_prior=0.01)
    assert rare.y_true[rare.y == 0].sum() == 1


def test_refuses_labels_that_are_no_truth(data) -> None:
    X, y = data
    with pytest.raises(ValueError, match="y must hold both classes"):
        make_pu(X, np.ones(len(X)), n_positive=1, n_unlabelled=1)
    with pytest.raises(ValueError, match="3 different values"):
        make_pu(X, np.arange(len(X)) % 3, n_positive=1, n_unlabelled=1)
    with pytest.raises(ValueError, match="they have 1000 and 999 rows"):
        make_pu(X, y[1:], n_positive=1, n_unlabelled=1)
    with pytest.raises(ValueError, match="X must have two dimensions"):
        make_pu(X[:, 0], y, n_positive=1, n_unlabelled=1)


def test_replacement_still_needs_a_row_for_each_part() -> None:
    X, y = np.arange(5.0)[:, None], np.array([1, 0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"2 disjoint parts need at least 2 positives, but y has 1: 1 positives are"):
        make_pu(X, y, n_positive=3, n_unlabelled=10, class_prior=0.5, n_test=10, replace=True)
    draw = make_pu(X, y, n_positive=3, n_unlabelled=10, class_prior=0.5, replace=True)
    assert set(draw.indices[:3]) == {0}
