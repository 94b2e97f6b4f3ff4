"""Where rows come from: arrays in memory, arrays on disk, sparse matrices, or the caller's own iterator.

Rows are asked for by index, ``(M, steps, b)`` at a time, and come as tensors ``(M, b, d)`` of float32 on the device.
A dense array is copied to the device once; a memory-mapped array is read batch by batch; a sparse matrix stays sparse
on the device and only the rows of the current batch are made dense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from purely.nn.losses import Loss
from purely.nn.networks import StackedMLP
from purely.nn.noise import ROWS_P, ROWS_U, random_orders, stream_starts
from purely.nn.plan import Split
from purely.nn.scaling import Scaling
from purely.typing import Indices, Matrix

#: Rows of one forward pass without gradient hold at most this many numbers.
EVALUATION_ELEMENTS = 1 << 26


class ArrayRows:
    """A dense array, held on the device as float32."""

    def __init__(self, X: Matrix, device: torch.device) -> None:
        self.tensor = torch.from_numpy(np.array(X, dtype=np.float32, order="C")).to(device)
        self.n_features = int(X.shape[1])

    def batches(self, index: Tensor) -> Iterator[Tensor]:
        """Rows by index, gathered on the device."""
        M, _, b = index.shape
        for rows in index.to(self.tensor.device).unbind(1):
            yield self.tensor.index_select(0, rows.reshape(-1)).view(M, b, self.n_features)


class MappedRows:
    """A memory-mapped array; a batch is read, converted and scaled when it is asked for."""

    def __init__(self, X: Matrix, device: torch.device, scaling: Scaling | None = None) -> None:
        self.array, self.device, self.scaling = X, device, scaling
        self.n_features = int(X.shape[1])

    def batches(self, index: Tensor) -> Iterator[Tensor]:
        """Rows by index, read from the file."""
        for rows in index.cpu().numpy().swapaxes(0, 1):
            block = np.asarray(self.array[rows.ravel()], dtype=np.float64)
            if self.scaling is not None:
                block = self.scaling(block)
            x = torch.from_numpy(np.ascontiguousarray(block, dtype=np.float32)).to(self.device)
            yield x.view(*rows.shape, self.n_features)


class CSRRows:
    """A SciPy sparse matrix, held on the device in compressed rows; only the rows of a batch are made dense."""

    def __init__(self, X: Matrix, device: torch.device) -> None:
        X = sp.csr_matrix(X, copy=True)
        X.sum_duplicates()
        self.n_features = int(X.shape[1])
        self.indptr = X.indptr.astype(np.int64)
        self.values = torch.from_numpy(X.data.astype(np.float32)).to(device)
        self.columns = torch.from_numpy(X.indices.astype(np.int64)).to(device)

    def batches(self, index: Tensor) -> Iterator[Tensor]:
        """Rows by index, scattered into a dense batch on the device."""
        device = self.values.device
        for rows in index.cpu().numpy().swapaxes(0, 1):
            flat = rows.ravel()
            counts = self.indptr[flat + 1] - self.indptr[flat]
            before = np.cumsum(counts) - counts
            # Entry e of the batch belongs to the row whose run of entries covers e; its place in the matrix is that
            # row's start plus how far e is into the run.
            length = int(counts.sum())
            repeats = torch.from_numpy(counts).to(device, non_blocking=True)
            starts = torch.from_numpy(self.indptr[flat] - before).to(device, non_blocking=True)
            row_starts = torch.arange(flat.size, device=device) * self.n_features
            both = torch.stack([starts, row_starts]).repeat_interleave(repeats, dim=1, output_size=length)
            place = both[0] + torch.arange(length, device=device)
            x = torch.zeros(flat.size * self.n_features, device=device)
            x[both[1] + self.columns[place]] = self.values[place]
            yield x.view(*rows.shape, self.n_features)


#: Rows of a data set, as the loop asks for them: ``batches(index)`` gives those of `index`, shape (M, steps, b), one
#: tensor (M, b, d) a step.
Rows = ArrayRows | MappedRows | CSRRows


def rows_of(X: Matrix, device: torch.device, scaling: Scaling | None = None, *, mapped: bool = False) -> Rows:
    """The source for what `X` is: a sparse matrix, a memory-mapped array, or an array."""
    if mapped or isinstance(X, np.memmap):
        return MappedRows(X, device, scaling)
    rows = X if scaling is None else scaling(X)
    return CSRRows(rows, device) if sp.issparse(rows) else ArrayRows(rows, device)


@dataclass(frozen=True)
class BatchShape:
    """Minibatches of an epoch: how many, and how many positives and unlabelled rows each has.

    One for the whole stack. P and U are in every batch in the proportion in which they are in the data, and all of
    them are seen once in an epoch (a few twice where the batch size does not divide their number).

    Examples
    --------
    >>> from purely.nn.sources import BatchShape
    >>> BatchShape.of(n_positive=1000, n_unlabelled=2000, batch_size=250)
    BatchShape(steps=12, n_p=84, n_u=167)
    """

    steps: int
    n_p: int
    n_u: int

    @classmethod
    def of(cls, n_positive: int, n_unlabelled: int, batch_size: int) -> BatchShape:
        """The shape for batches of about `batch_size` rows."""
        steps = max(1, min(round((n_positive + n_unlabelled) / batch_size), n_positive, n_unlabelled))
        return cls(steps, -(-n_positive // steps), -(-n_unlabelled // steps))


class RowBatches:
    """Minibatches of rows: every network goes through its own rows in its own order.

    The order in epoch e of a network comes from its seed and e alone: nothing has to be remembered to resume, and
    nothing depends on the other networks.
    """

    def __init__(self, rows: Rows, splits: Sequence[Split], seeds: Sequence[int], shape: BatchShape) -> None:
        self.rows, self.shape = rows, shape
        self.seeds = np.asarray(seeds, dtype=np.uint64)
        of_p, of_u = (padded_rows(rows) for rows in ([s.train_p for s in splits], [s.train_u for s in splits]))
        self.parts = (ROWS_P, shape.n_p, of_p), (ROWS_U, shape.n_u, of_u)

    def epoch(self, number: int, networks: Indices, device: torch.device) -> Iterator[tuple[Tensor, int]]:
        """Minibatches of one epoch."""
        places, parts = torch.from_numpy(networks), []
        for purpose, per_batch, padded in self.parts:
            rows, counts = (of.index_select(0, places).to(device) for of in padded)
            starts = torch.from_numpy(stream_starts(self.seeds[networks], purpose, number)).to(device)
            order = random_orders(starts, counts, rows.shape[1])
            # The first rows in this epoch's order come again where they run out.
            wanted = torch.arange(self.shape.steps * per_batch, device=device) % counts.unsqueeze(1)
            parts.append(rows.gather(1, order.gather(1, wanted)).view(len(networks), self.shape.steps, per_batch))
        for x in self.rows.batches(torch.cat(parts, dim=2)):
            yield x, self.shape.n_p


def padded_rows(parts: Sequence[Indices]) -> tuple[Tensor, Tensor]:
    """Row numbers of each network, padded to the longest (M, longest), and how many there are (M,)."""
    padded = pad_sequence([torch.from_numpy(part.astype(np.int64)) for part in parts], batch_first=True)
    return padded, torch.tensor([part.size for part in parts])


#: Pairs (P, U) of rows, by the number of the epoch.
Stream: TypeAlias = Callable[[int], Iterable[tuple[Matrix, Matrix]]]


class StreamBatches:
    """Minibatches from the caller: `make` is called with the number of the epoch and yields pairs (P, U) of rows.

    Every network of the stack sees the same batches.
    """

    def __init__(self, make: Stream, scaling: Scaling | None = None) -> None:
        self.make, self.scaling = make, scaling

    def epoch(self, number: int, networks: Indices, device: torch.device) -> Iterator[tuple[Tensor, int]]:
        """Minibatches of one epoch."""
        for P, U in self.make(number):
            both = sp.vstack([P, U], format="csr") if sp.issparse(P) else np.concatenate([np.asarray(P), np.asarray(U)])
            index = torch.arange(both.shape[0]).view(1, 1, -1)
            x = next(rows_of(both, device, self.scaling).batches(index))
            yield x.expand(len(networks), -1, -1).contiguous(), P.shape[0]


#: What the loop trains on: ``epoch(number, networks, device)`` gives minibatches (M, b, d), positives first, each with
#: its number of positives.
Batches = RowBatches | StreamBatches


class HeldOut:
    """Rows that each network of a stack is judged by.

    Networks may hold out different numbers of rows: rows are padded to the longest for one forward pass, and the loss
    is taken over networks with equal numbers together, without the padding.
    """

    def __init__(self, rows: Rows, splits: Sequence[Split]) -> None:
        self.rows = rows
        self.index, _ = padded_rows([np.concatenate([s.held_p, s.held_u]) for s in splits])
        self.sizes = np.array([[s.held_p.size, s.held_u.size] for s in splits])

    @torch.no_grad()
    def judge(self, stack: StackedMLP, loss: Loss, networks: Indices) -> tuple[Tensor, Tensor]:
        """Loss and J of the given networks on their held-out rows, each of shape (M,); NaN where there are none."""
        if not self.index.shape[1]:
            nothing = torch.full((stack.size,), torch.nan, device=stack.device)
            return nothing, nothing
        sizes, index = self.sizes[networks], self.index[torch.from_numpy(networks)]
        blocks = index.unsqueeze(1).split(max(1, EVALUATION_ELEMENTS // (index.shape[0] * self.rows.n_features)), dim=2)
        z = torch.cat([stack.forward(x).float() for block in blocks for x in self.rows.batches(block)], dim=1)
        value, information = z.new_empty(2, stack.size)
        for n_p, n_u in np.unique(sizes, axis=0):
            same = torch.from_numpy(np.flatnonzero((sizes == (n_p, n_u)).all(axis=1))).to(z.device)
            z_p, z_u = z[same, :n_p], z[same, n_p : n_p + n_u]
            own_loss = loss.of_networks(networks[same.cpu().numpy()])
            value[same] = own_loss(z_p, z_u).value
            information[same] = own_loss.information(z_p, z_u)
        return value, information
