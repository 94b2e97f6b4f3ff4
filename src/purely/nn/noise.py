"""Random numbers of a stack without a state: a hash of who draws them, when, what for, and which one it is.

Network m's numbers follow from its own seed, so they do not depend on the networks beside it; nothing has to be saved
to resume; a CPU and a GPU draw the same; and one call serves the whole stack. The hash is the counter-based generator
splitmix64 (Steele, Lea and Flood, OOPSLA 2014), in the wrapping integer arithmetic that NumPy and torch share.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from purely.folds import scramble
from purely.typing import Keys

ROWS_P, ROWS_U, DROPOUT, GRADIENT = range(4)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: This and two more numbers of the hash, as the signed integers that torch knows.
_STEP, _FIRST, _SECOND = (word - (1 << 64) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def stream_starts(seeds: Keys, purpose: int, number: int) -> NDArray[np.int64]:
    """Where each network's stream for a purpose and a step (or epoch) begins, shape (M,)."""
    with np.errstate(over="ignore"):
        state = scramble(seeds + np.uint64(purpose + 1) * _GOLDEN)
        return scramble(state + np.uint64(number + 1) * _GOLDEN).view(np.int64)


def random_words(starts: Tensor, count: int) -> Tensor:
    """Random 64-bit integers, shape (M, count), of streams that begin at `starts`, shape (M,)."""
    counter = torch.arange(1, count + 1, device=starts.device).mul_(_STEP)
    x = counter + starts.unsqueeze(1)
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        x.bitwise_xor_((x >> shift).bitwise_and_((1 << (64 - shift)) - 1)).mul_(factor)
    return x.bitwise_xor_((x >> 31).bitwise_and_((1 << 33) - 1))


def random_orders(starts: Tensor, counts: Tensor, longest: int) -> Tensor:
    """A random permutation of ``range(counts[m])`` for each network, in the first places of (M, longest)."""
    keys = random_words(starts, longest)
    outside = torch.arange(longest, device=counts.device) >= counts.unsqueeze(1)
    return keys.masked_fill_(outside, torch.iinfo(torch.int64).max).argsort(dim=1)


def dropout_mask(starts: Tensor, shape: tuple[int, ...], share: float) -> Tensor:
    """True where an input is kept, shape (M, *shape); a byte decides, so the share is a multiple of 1/256."""
    count = int(np.prod(shape))
    random_bytes = random_words(starts, -(-count // 8)).view(torch.uint8)
    return (random_bytes >= dropout_threshold(share))[:, :count].view(len(starts), *shape)


def dropout_threshold(share: float) -> int:
    """How many of the 256 values of a byte stand for a dropped input."""
    return min(255, round(256 * share))


def normal_noise(starts: Tensor, count: int) -> Tensor:
    """Standard normal numbers, shape (M, count), from 23 bits each."""
    return _normal_of(random_words(starts, count))


def _normal_of(words: Tensor) -> Tensor:
    # 23 bits and a half are exact in float32; of 24 bits the largest would round to a uniform number of 1, which is
    # an infinite normal one, once in every 16 million.
    uniform = (words >> 41).add_(1 << 22).float().add_(0.5).mul_(2.0**-23)
    return torch.special.ndtri(uniform)
