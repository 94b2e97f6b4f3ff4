from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from purely.exceptions import TrainingInterrupted
from purely.nn import steps
from purely.nn.losses import LogisticLoss, NonNegativeSquaredLoss, SquaredLoss
from purely.nn.networks import StackedMLP
from purely.nn.recipe import Architecture, TrainingSettings
from purely.nn.sources import BatchShape, StreamBatches, rows_of
from purely.nn.training import HeldOut, resolve_device, train

from .conftest import make_engine

WAYS = [
    {},
    {"update": "alternating", "optimizer": "sgd", "weight_decay": 0.01, "gradient_noise": 0.01},
    {"optimizer": "adagrad", "learning_rate": 0.05, "clip_norm": 0.1, "schedule": "cosine"},
    {"dropout": 0.3, "weight_decay": 0.1},
    {"dropout": 0.2, "patience": 2, "max_epochs": 30, "learning_rate": 0.05},
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(2))
def test_stacked_equals_alone(way, seed):
    engine = make_engine(seed)
    together = engine.train([0, 1, 2], **way)
    for m in range(3):
        alone = engine.train([m], **way)
        torch.testing.assert_close(together.stack.theta[m], alone.stack.theta[0], rtol=1e-3, atol=1e-4)
        n = alone.history.held_j.shape[0]
        np.testing.assert_allclose(together.history.held_j[:n, m], alone.history.held_j[:, 0], rtol=1e-3, atol=1e-4)
        assert np.isnan(together.history.held_j[n:, m]).all()
        assert together.history.best_epoch[m] == alone.history.best_epoch[0]


@pytest.mark.parametrize("way", WAYS)
def test_the_restored_network_is_the_best_on_held_out_rows(engine, way):
    result = engine.train([0, 1, 2], **way)
    best = np.nanmin(result.history.held_j, axis=0)
    held_out = HeldOut(rows_of(engine.X, engine.device), engine.splits)
    _, j = held_out.judge(result.stack, LogisticLoss(0.1), np.arange(3))
    np.testing.assert_allclose(j.numpy(), best, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result.history.best_held_j, best)


@pytest.mark.parametrize("way", WAYS)
def test_killed_and_resumed_equals_not_killed(engine, way, tmp_path):
    way = {**way, "max_epochs": 9}
    whole = engine.train([0, 1, 2], **way)
    file = tmp_path / "run.pt"
    resumable = {**way, "checkpoint": file, "checkpoint_every": 2, "fingerprint": "x"}

    class KilledError(Exception):
        pass

    class Bomb(LogisticLoss):
        """Ends the process, as it were, in the middle of the sixth epoch."""

        calls = 0

        def __call__(self, z_p, z_u):
            Bomb.calls += z_p.requires_grad
            if Bomb.calls == 5 * engine.shape.steps + 2:
                raise KilledError
            return super().__call__(z_p, z_u)

    with pytest.raises(KilledError):
        engine.train([0, 1, 2], loss=Bomb(0.1), **resumable)
    assert file.exists()
    resumed = engine.train([0, 1, 2], **resumable)
    assert torch.equal(resumed.stack.theta, whole.stack.theta)
    np.testing.assert_array_equal(resumed.history.held_j, whole.history.held_j)
    again = engine.train([0, 1, 2], **resumable)  # nothing is left to do
    assert torch.equal(again.stack.theta, whole.stack.theta)


def test_a_checkpoint_that_does_not_fit_on_the_disk_is_a_file_error(engine, tmp_path):
    resource, signal = pytest.importorskip("resource"), pytest.importorskip("signal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            engine.train([0], checkpoint=tmp_path / "stack.pt", fingerprint="a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_of_something_else_is_refused(engine, tmp_path):
    file = tmp_path / "run.pt"
    engine.train([0], checkpoint=file, fingerprint="a")
    with pytest.raises(ValueError, match="belongs to other data, parameters or random_state"):
        engine.train([0], checkpoint=file, fingerprint="b")


def test_interrupt_returns_the_best_so_far(engine):
    class Interrupted(LogisticLoss):
        calls = 0

        def __call__(self, z_p, z_u):
            Interrupted.calls += z_p.requires_grad
            if Interrupted.calls == 3 * engine.shape.steps + 2:
                raise KeyboardInterrupt
            return super().__call__(z_p, z_u)

    with pytest.warns(TrainingInterrupted, match="interrupted after 3 epochs"):
        stopped = engine.train([0, 1, 2], loss=Interrupted(0.1), max_epochs=50)
    assert stopped.history.interrupted
    whole = engine.train([0, 1, 2], max_epochs=3)
    assert torch.equal(stopped.stack.theta, whole.stack.theta)


def test_sparse_equals_dense(engine):
    X = np.where(np.abs(engine.X) > 0.8, engine.X, 0.0)
    dense = engine.train([0, 1], X=X, dropout=0.2)
    sparse = engine.train([0, 1], X=sp.csr_matrix(X), dropout=0.2)
    torch.testing.assert_close(sparse.stack.theta, dense.stack.theta, rtol=1e-5, atol=1e-6)


def test_memory_mapped_equals_array(engine, tmp_path):
    np.save(tmp_path / "X.npy", engine.X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    a = engine.train([0, 1])
    b = engine.train([0, 1], X=mapped)
    assert isinstance(mapped, np.memmap)
    torch.testing.assert_close(a.stack.theta, b.stack.theta, rtol=1e-5, atol=1e-6)


def test_a_stream_of_batches_trains(engine):
    split, asked = engine.splits[0], []

    def batches(epoch):
        asked.append(epoch)
        rng = np.random.default_rng(epoch)
        for _ in range(4):
            yield engine.X[rng.choice(split.train_p, 20)], engine.X[rng.choice(split.train_u, 30)]

    stack = StackedMLP(Architecture.representation(4, (6,), 3), [1, 2])
    held_out = HeldOut(rows_of(engine.X, engine.device), [split, split])
    settings = TrainingSettings(max_epochs=20, dropout=0.1, learning_rate=0.01)
    history = train(stack, StreamBatches(batches), held_out, LogisticLoss(0.1), settings, [1, 2])
    assert asked == list(range(len(asked)))
    assert (history.best_held_j < -0.5).all()
    with pytest.raises(ValueError, match="yielded no batch"):
        train(stack, StreamBatches(lambda epoch: []), held_out, LogisticLoss(), settings, [1, 2])


@pytest.mark.parametrize("loss", [SquaredLoss(), NonNegativeSquaredLoss(prior_min=0.2), LogisticLoss(0.1)])
def test_training_finds_information(loss):
    result = make_engine(1).train([0, 1], loss=loss, max_epochs=40, learning_rate=0.01)
    assert (result.history.best_held_j < -0.55).all()


def test_a_risk_of_a_classifier_plugs_in():
    """A non-negative PU risk: what is reported and what is differentiated differ, and J is something of its own."""
    from dataclasses import dataclass

    from purely.nn.losses import Loss, LossValue

    @dataclass(frozen=True)
    class Risk(Loss):
        prior: float = 0.5
        n_outputs: int = 1
        initial_bias: float = 0.0

        def __call__(self, z_p, z_u):
            positive = self.prior * torch.sigmoid(-z_p).mean(-1)
            negative = torch.sigmoid(z_u).mean(-1) - self.prior * torch.sigmoid(z_p).mean(-1)
            objective = torch.where(negative >= 0, positive + negative, -negative)
            return LossValue(positive + negative.clamp(min=0), objective)

        def information(self, z_p, z_u):
            return self(z_p, z_u).value

    result = make_engine(0).train([0, 1], loss=Risk(), max_epochs=20, learning_rate=0.01)
    assert (result.history.best_held_j < 0.5).all()


def test_bfloat16_is_close(engine):
    full, half = engine.train([0, 1]), engine.train([0, 1], dtype="bfloat16")
    assert half.stack.theta.dtype == torch.float32
    np.testing.assert_allclose(half.history.held_j, full.history.held_j, atol=0.1)


def test_progress_bar_shows_j(engine, capsys):
    engine.train([0], verbose=True, max_epochs=2)
    assert "held-out J" in capsys.readouterr().err


def test_devices():
    assert resolve_device("cpu").type == "cpu"
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda'; 'tpu' was given"):
        resolve_device("tpu")


def test_batch_shapes_cover_the_rows():
    for n_p, n_u, size in ((1000, 2000, 250), (7, 500, 32), (3, 2, 1000), (400, 1, 10)):
        shape = BatchShape.of(n_p, n_u, size)
        assert shape.steps * shape.n_p >= n_p
        assert shape.steps * shape.n_u >= n_u
        assert (shape.steps - 1) * shape.n_p < n_p + shape.steps


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("way", WAYS)
def test_cpu_and_cuda_agree(way):
    way = {**way, "max_epochs": 4}
    cpu, cuda = make_engine(0).train([0, 1, 2], **way), make_engine(0, device="cuda").train([0, 1, 2], **way)
    np.testing.assert_allclose(cuda.history.held_j, cpu.history.held_j, atol=5e-3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("way", WAYS)
def test_replayed_steps_are_the_steps(way, monkeypatch):
    replayed = make_engine(0, device="cuda").train([0, 1, 2], **way)
    monkeypatch.setattr(steps, "MOST_GRAPHS", 0)
    launched = make_engine(0, device="cuda").train([0, 1, 2], **way)
    np.testing.assert_allclose(replayed.history.held_j, launched.history.held_j, atol=1e-4)
    np.testing.assert_allclose(replayed.history.train_j, launched.history.train_j, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_steps_are_replayed(monkeypatch):
    replays = []
    whole = steps._Recording.replay
    monkeypatch.setattr(steps._Recording, "replay", lambda *a: replays.append(1) or whole(*a))
    make_engine(0, device="cuda").train([0, 1, 2], max_epochs=4)
    assert len(replays) >= 4
