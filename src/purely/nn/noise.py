"""Random tensors of a stack, one a step: network m draws from its own seed, whichever others are beside it.

Drawing for each network and each step by itself would cost M small calls a step; a block of steps is drawn at once.
A block depends on the seed, the purpose and its number only, so there is no state to save.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

__all__ = ["StepNoise", "dropout_bytes", "standard_normal"]

_BLOCK_ELEMENTS = 1 << 20
_MASK = (1 << 64) - 1


class StepNoise:
    """Random tensors ``(M, *shape)`` for step 0, 1, 2, ...

    Parameters
    ----------
    draw : callable
        ``draw(shape, generator)`` returns a random tensor.
    seeds : sequence of int
        One seed a network.
    purpose : int
        Keeps apart what is drawn from the same seed for different ends.
    """

    def __init__(
        self, draw: Callable[[tuple[int, ...], torch.Generator], Tensor], seeds: Sequence[int], purpose: int
    ) -> None:
        self.draw, self.seeds, self.purpose = draw, list(seeds), purpose
        self._held: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None
        self._block = torch.empty(0)

    def at(self, step: int, shape: tuple[int, ...], networks: Sequence[int], device: torch.device) -> Tensor:
        """The tensors of one step, for the given networks."""
        per_step = 1
        for width in shape:
            per_step *= width
        length = max(1, _BLOCK_ELEMENTS // max(1, per_step))
        block, offset = divmod(step, length)
        if self._held != (block, shape, tuple(networks)):
            generator = torch.Generator(device=device)
            drawn = []
            for m in networks:
                generator.manual_seed(_mix(self.seeds[m], self.purpose, block))
                drawn.append(self.draw((length, *shape), generator))
            self._block = torch.stack(drawn, dim=1)
            self._held = (block, shape, tuple(networks))
        return self._block[offset]


def standard_normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=generator, device=generator.device)


def dropout_bytes(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Uniform bytes; eight of them from one 64-bit draw, which is what makes dropout masks cheap on a CPU."""
    count = 1
    for width in shape:
        count *= width
    words = torch.empty(-(-count // 8), dtype=torch.int64, device=generator.device)
    words.random_(-(2**63), None, generator=generator)
    return words.view(torch.uint8)[:count].view(shape)


def _mix(*numbers: int) -> int:
    """A 63-bit hash of a few integers (the finaliser of splitmix64, once a number)."""
    state = 0
    for number in numbers:
        state = (state + number + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state >> 1
