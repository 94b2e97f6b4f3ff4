from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from purely.nn.noise import _normal_of, dropout_mask, normal_noise, random_orders, random_words, stream_starts

CPU = torch.device("cpu")


def starts(seeds, purpose=0, number=0):
    return torch.from_numpy(stream_starts(np.asarray(seeds, dtype=np.uint64), purpose, number))


@pytest.mark.parametrize("seed", range(3))
def test_bytes_are_uniform(seed):
    values = random_words(starts([seed]), 50_000).view(torch.uint8).numpy().ravel()
    counts = np.bincount(values, minlength=256)
    assert stats.chisquare(counts).pvalue > 1e-6


def test_words_match_the_reference_generator():
    """splitmix64 in Python integers."""
    mask = (1 << 64) - 1
    state = int(starts([3]).numpy().view(np.uint64)[0])
    expected = []
    for _ in range(5):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        expected.append(z ^ (z >> 31))
    found = random_words(starts([3]), 5).numpy().view(np.uint64)[0].tolist()
    assert found == expected


@pytest.mark.parametrize("seed", range(3))
def test_normal_noise_is_normal(seed):
    draws = normal_noise(starts([seed, seed + 1]), 20_000)
    assert torch.isfinite(draws).all()
    assert stats.kstest(draws[0].numpy(), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(draws.numpy())[0, 1]) < 5 / np.sqrt(20_000)


def test_no_word_makes_an_infinite_number():
    """An infinite number in one gradient loses the network, and training draws hundreds of millions of them."""
    ends = torch.tensor([torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max, 0, -1])
    draws = _normal_of(ends)
    assert torch.isfinite(draws).all()
    assert draws[0] == -draws[1]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_dropout_drops_its_share(share):
    keep = dropout_mask(starts([1, 2]), (37, 101), share)
    assert keep.shape == (2, 37, 101)
    n = keep.numel()
    kept = round(256 * (1 - share)) / 256
    assert abs(keep.float().mean().item() - kept) < 5 * np.sqrt(0.25 / n) + 1e-12


def test_orders_are_permutations_of_the_own_rows():
    counts = torch.tensor([5, 8, 1])
    orders = random_orders(starts([1, 2, 3]), counts, 8)
    for m, n in enumerate(counts.tolist()):
        assert sorted(orders[m, :n].tolist()) == list(range(n))


def test_every_position_is_as_likely():
    first = random_orders(starts(np.arange(6000)), torch.full((6000,), 6), 6)[:, 0].numpy()
    assert stats.chisquare(np.bincount(first, minlength=6)).pvalue > 1e-6


def test_streams_depend_on_seed_purpose_and_number_only():
    together = random_words(starts([1, 2, 3]), 10)
    assert torch.equal(together[1], random_words(starts([2]), 10)[0])
    others = [starts([2], purpose=1), starts([2], number=1), starts([4])]
    for other in others:
        assert not torch.equal(together[1], random_words(other, 10)[0])
