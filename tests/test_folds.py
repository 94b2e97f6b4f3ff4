"""Orders, folds and draws that depend on what is in the rows and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from purely.folds import content_keys, deal_folds, draw_rows, row_keys, row_order, share_out, stream_folds

SEEDS = range(5)


def some_rows(seed, n=200, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.6] = 0.0
    return X, rng


@pytest.mark.parametrize("seed", SEEDS)
def test_dense_and_sparse_rows_have_the_same_keys(seed):
    X, _ = some_rows(seed)
    dense = row_keys(X, seed)
    for make in (sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.csr_array):
        np.testing.assert_array_equal(row_keys(make(X), seed), dense)


def test_stored_zeros_and_doubled_entries_do_not_change_a_key():
    plain = sp.csr_matrix(np.array([[3.0, 0.0, 2.0]]))
    stored_zero = sp.csr_matrix((np.array([3.0, 0.0, 2.0]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3))
    doubled = sp.csr_matrix((np.array([1.0, 2.0, 2.0]), np.array([0, 0, 2]), np.array([0, 3])), shape=(1, 3))
    np.testing.assert_array_equal(row_keys(stored_zero, 0), row_keys(plain, 0))
    np.testing.assert_array_equal(row_keys(doubled, 0), row_keys(plain, 0))
    np.testing.assert_array_equal(doubled.data, [1.0, 2.0, 2.0])


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_travel_with_their_rows(seed):
    X, rng = some_rows(seed)
    shuffle = rng.permutation(len(X))
    np.testing.assert_array_equal(row_keys(X[shuffle], seed), row_keys(X, seed)[shuffle])
    np.testing.assert_array_equal(row_keys(X[::-1], seed), row_keys(X, seed)[::-1])
    np.testing.assert_array_equal(row_keys(np.asfortranarray(X), seed), row_keys(X, seed))


def test_keys_do_not_depend_on_blocks(monkeypatch):
    X, _ = some_rows(0)
    whole = row_keys(X, 3)
    monkeypatch.setattr("purely.folds._BLOCK_ELEMENTS", 20)
    np.testing.assert_array_equal(row_keys(X, 3), whole)


def test_minus_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert len(set(row_keys(X, 0).tolist())) == 1
    stored = sp.csr_matrix((np.array([-0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    np.testing.assert_array_equal(row_keys(stored, 0), row_keys(X[:1], 0))


@pytest.mark.parametrize("seed", SEEDS)
def test_equal_rows_have_equal_keys_and_others_do_not(seed):
    X, rng = some_rows(seed, n=300)
    X[0] += 1.0  # whatever was set to zero
    distinct = np.unique(X, axis=0)
    assert np.unique(row_keys(distinct, seed)).size == len(distinct)
    doubled = np.vstack([distinct, distinct[rng.permutation(len(distinct))]])
    assert np.unique(row_keys(doubled, seed)).size == len(distinct)


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_of_integers_and_of_single_columns_do_not_collide(seed):
    # short mantissas have zero low bits, which a multiplication alone would keep
    grid = np.stack(np.meshgrid(np.arange(-15.0, 16), np.arange(-15.0, 16)), axis=-1).reshape(-1, 2)
    assert np.unique(row_keys(grid, seed)).size == len(grid)
    column = np.arange(5000.0)[:, None]
    assert np.unique(row_keys(column, seed)).size == len(column)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_looks_random(seed):
    column = np.arange(4000.0)[:, None]
    order = row_order(column, seed)
    assert sorted(order.tolist()) == list(range(4000))
    # correlation of place and value is normal with standard deviation 1/sqrt(n) under a random order
    assert abs(np.corrcoef(order, np.arange(4000))[0, 1]) < 5 / np.sqrt(4000)


def test_another_seed_is_another_order():
    X, _ = some_rows(0)
    orders = {tuple(row_order(X, seed)) for seed in range(20)}
    assert len(orders) == 20
    assert len({tuple(np.sort(draw_rows(X, 20, seed))) for seed in range(20)}) == 20


def test_the_row_of_zeros_has_another_place_for_another_seed():
    X = np.arange(40.0)[:, None]
    places = {int(np.flatnonzero(row_order(X, seed) == 0)[0]) for seed in range(50)}
    assert len(places) > 10
    np.testing.assert_array_equal(row_keys(sp.csr_matrix((2, 3)), 4), row_keys(np.zeros((2, 3)), 4))


def distinct_rows(seed, n=200, d=6):
    X, rng = some_rows(seed, n, d)
    X = np.unique(X, axis=0)
    return X[rng.permutation(len(X))], rng


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_folds", [2, 5, 7])
def test_folds_are_balanced_in_both_kinds(seed, n_folds):
    X, rng = distinct_rows(seed)
    positive = rng.random(len(X)) < 0.3
    folds = deal_folds(X, positive, n_folds, seed)
    assert folds.n_folds == n_folds
    for kind in (positive, ~positive):
        counts = np.bincount(folds.number[kind], minlength=n_folds)
        assert counts.size == n_folds
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("copies", [2, 3])
def test_copies_of_a_row_share_a_fold(seed, copies):
    X, rng = distinct_rows(seed)
    X = np.repeat(X, copies, axis=0)
    positive = rng.random(len(X)) < 0.3  # copies under both labels too
    fold = deal_folds(X, positive, 5, seed).number.reshape(-1, copies)
    assert (fold == fold[:, :1]).all()
    for kind in (positive, ~positive):
        counts = np.bincount(fold.ravel()[kind], minlength=5)
        assert counts.max() - counts.min() <= 0.35 * counts.mean()


def test_a_value_that_many_rows_share_is_not_a_copy():
    """Two values in sixty rows each: were they kept together, no model would have met what it is asked about."""
    X = np.repeat([[0.0], [1.0]], 60, axis=0)
    positive = np.arange(120) % 4 == 0
    counts = []
    for seed in range(200):
        fold = deal_folds(X, positive, 2, seed).number
        counts.append(np.sum(fold[:60] == 0))
        for kind in (positive, ~positive):
            assert abs(int(np.sum(fold[kind] == 0)) - int(np.sum(fold[kind] == 1))) <= 1
    # dealt one by one and at random: the number in a fold is hypergeometric, kind by kind
    variance = sum(m * 0.25 * m / (2 * m - 1) for m in (15, 45))
    assert np.var(counts) == pytest.approx(variance, rel=0.4)
    assert abs(np.mean(counts) - 30) < 5 * np.sqrt(variance / 200)


@pytest.mark.parametrize("seed", SEEDS)
def test_folds_travel_with_their_rows(seed):
    X, rng = some_rows(seed)
    X = np.vstack([X, X[:50]])
    positive = rng.random(len(X)) < 0.3
    shuffle = rng.permutation(len(X))
    folds, moved = deal_folds(X, positive, 5, seed), deal_folds(X[shuffle], positive[shuffle], 5, seed)
    for k in range(5):
        np.testing.assert_array_equal(X[shuffle][moved.train(k)], X[folds.train(k)])
        np.testing.assert_array_equal(positive[shuffle][moved.train(k)], positive[folds.train(k)])


@pytest.mark.parametrize("seed", SEEDS)
def test_every_fold_has_both_kinds_however_few_the_rows(seed):
    rng = np.random.default_rng(seed)
    for n_p, n_u in ((2, 2), (2, 40), (3, 5), (40, 2)):
        for X in (rng.normal(size=(n_p + n_u, 2)), np.zeros((n_p + n_u, 2)), rng.integers(0, 2, (n_p + n_u, 2))):
            positive = np.arange(n_p + n_u) < n_p
            folds = deal_folds(X, positive, 5, seed)
            assert 2 <= folds.n_folds <= min(5, n_p, n_u)
            for train, test in folds:
                assert sorted([*train, *test]) == list(range(n_p + n_u))
                for rows in (train, test):
                    assert positive[rows].any()
                    assert not positive[rows].all()


@pytest.mark.parametrize("seed", SEEDS)
def test_folds_of_a_stream_do_not_depend_on_its_batches(seed):
    X, rng = some_rows(seed, n=237)
    whole = stream_folds(X, 5, seed)
    cuts = np.sort(rng.choice(np.arange(1, len(X)), size=9, replace=False))
    parts = [stream_folds(X[rows], 5, seed) for rows in np.split(np.arange(len(X)), cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    distinct, _ = distinct_rows(seed, n=2000)
    counts = np.bincount(stream_folds(distinct, 5, seed), minlength=5)
    assert (np.abs(counts - len(distinct) / 5) < 5 * np.sqrt(len(distinct) * 0.2 * 0.8)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_keeps_copies_together_and_the_proportions(seed):
    X, rng = distinct_rows(seed, n=300)
    X = np.repeat(X, 2, axis=0)
    positive = np.repeat(rng.random(len(X) // 2) < 0.3, 2)
    keys = row_keys(X, seed)
    part = share_out(keys, positive, 0.25)
    assert (part[::2] == part[1::2]).all()
    for kind in (positive, ~positive):
        assert abs(part[kind].mean() - 0.25) < 0.03
    others = [share_out(keys, positive, 0.25, draw=number) for number in range(1, 20)]
    assert len({other.tobytes() for other in others}) == 19
    shuffle = rng.permutation(len(X))
    np.testing.assert_array_equal(share_out(keys[shuffle], positive[shuffle], 0.25), part[shuffle])


@pytest.mark.filterwarnings("error")
def test_another_draw_is_another_part_without_a_warning():
    keys = content_keys(np.random.default_rng(0).normal(size=(40, 2)), 0)
    parts = [share_out(keys, np.arange(40) < 20, 0.5, draw) for draw in range(4)]
    assert len({part.tobytes() for part in parts}) == 4


def test_rows_of_any_kind_have_keys():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = {"a": [1.0, 2.0, 1.0, 1.0], "b": ["x", "y", "x", "z"]}
    for rows in (pandas.DataFrame(table), polars.DataFrame(table), list(zip(*table.values(), strict=True)), table["b"]):
        keys = content_keys(rows, 0)
        assert keys[0] == keys[2]
        assert len(set(keys.tolist())) == 3
    numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(content_keys(numbers.tolist(), 0), content_keys(numbers, 0))


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_take_distinct_rows_first(seed):
    X, rng = some_rows(seed, n=40)
    distinct = np.unique(X, axis=0)
    doubled = np.repeat(distinct, 3, axis=0)[rng.permutation(3 * len(distinct))]
    drawn = draw_rows(doubled, len(distinct), seed)
    assert len(np.unique(doubled[drawn], axis=0)) == len(distinct)
    more = draw_rows(doubled, len(distinct) + 10, seed)
    np.testing.assert_array_equal(more[: len(distinct)], drawn)
    assert len(set(more.tolist())) == len(more) == len(distinct) + 10


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_the_same_rows_in_any_order_of_the_data(seed):
    X, rng = some_rows(seed)
    shuffle = rng.permutation(len(X))
    np.testing.assert_array_equal(X[draw_rows(X, 50, seed)], X[shuffle][draw_rows(X[shuffle], 50, seed)])


def test_a_draw_of_more_rows_than_there_are_is_all_of_them():
    X, _ = some_rows(0, n=30)
    assert sorted(draw_rows(X, 100, 0).tolist()) == list(range(30))
    assert sorted(draw_rows(sp.csr_matrix(X), 100, 0).tolist()) == list(range(30))
