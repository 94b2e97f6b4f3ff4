from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from purely.nn.networks import EncoderStack, StackedMLP, reinitialised
from purely.nn.recipe import Architecture

ARCHITECTURES = [
    Architecture.representation(5, (4,), 3),
    Architecture.representation(5, (), 2, (7,)),
    Architecture.representation(5, (6, 4), 3, (), n_outputs=2),
]


def with_statistics(architecture, seeds=(1, 2)):
    """A stack whose batch norms have seen data."""
    stack = StackedMLP(architecture, seeds)
    x = torch.from_numpy(np.random.default_rng(0).normal(1.0, 2.0, size=(len(seeds), 30, 5)).astype(np.float32))
    stack.forward(x, training=True)
    return stack, x


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_arrays_say_what_the_stack_says(architecture):
    stack, x = with_statistics(architecture)
    z, v = stack.forward(x), stack.features(x)
    for m in range(2):
        arrays = stack.network(m)
        np.testing.assert_allclose(arrays(x[m].numpy()), z[m].detach().numpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(arrays.features(x[m].numpy()), v[m].T.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_scaling_can_be_folded_into_a_network():
    stack, x = with_statistics(ARCHITECTURES[0])
    mean, scale = np.arange(5.0), np.linspace(1, 3, 5)
    X = x[0].numpy()
    folded = stack.network(0).after_scaling(mean, scale)
    np.testing.assert_allclose(folded(X), stack.network(0)((X - mean) / scale), atol=1e-9)


def test_the_gradient_is_that_of_a_plain_network():
    """The same network as a chain of torch modules, differentiated by torch's own backward."""
    stack = StackedMLP(Architecture.representation(5, (4,), 3), [7])
    plain = nn.Sequential(
        nn.Linear(5, 4, bias=False), nn.BatchNorm1d(4), nn.ReLU(),
        nn.Linear(4, 3, bias=False), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1),
    )  # fmt: skip
    at = 0
    with torch.no_grad():
        for layer in plain:
            for p in layer.parameters():
                values = stack.theta[0, at : at + p.numel()]
                p.copy_(values.view(p.shape))
                at += p.numel()
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32))
    plain(x)[:, 0].square().mean().backward()
    expected = torch.cat([p.grad.reshape(-1) for p in plain.parameters()])
    found = stack.gradient(stack.forward(x[None], training=True).square().mean(1))
    torch.testing.assert_close(found[0], expected, rtol=1e-4, atol=1e-5)
    for layer, mean in ((plain[1], stack.running[0]), (plain[4], stack.running[2])):
        torch.testing.assert_close(mean[0], layer.running_mean, rtol=1e-4, atol=1e-5)


def test_parts_of_the_gradient_are_those_of_the_parts():
    stack, x = with_statistics(ARCHITECTURES[0])
    whole = stack.gradient(stack.forward(x).mean(1))
    for update in ("g", "v"):
        part = stack.gradient(stack.forward(x, update=update).mean(1), update)
        torch.testing.assert_close(part, whole[:, stack.columns(update)])


def test_weights_depend_on_the_own_seed_only():
    one, three = StackedMLP(ARCHITECTURES[0], [5]), StackedMLP(ARCHITECTURES[0], [4, 5, 6])
    assert torch.equal(one.theta[0], three.theta[1])
    assert not torch.equal(three.theta[0], three.theta[1])


def test_a_module_can_be_the_encoder():
    """Of a stack of two, each network has its own parameters and its own running means."""
    encoders = [nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3)) for _ in range(2)]
    before = [p.clone() for encoder in encoders for p in encoder.parameters()]
    stack = EncoderStack(encoders, ARCHITECTURES[0], [3, 4])
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 10, 5)).astype(np.float32))
    for m, encoder in enumerate(encoders):
        torch.testing.assert_close(stack.features(x)[m].T, encoder.eval()(x[m]))
    grad = stack.gradient(stack.forward(x, training=True).mean(1))
    assert grad.shape == stack.theta.shape
    alone = EncoderStack(encoders[1:], ARCHITECTURES[0], [4])
    torch.testing.assert_close(grad[1:], alone.gradient(alone.forward(x[1:], training=True).mean(1)))
    with torch.no_grad():
        stack.theta += 1.0
    rows = x.numpy().astype(np.float64)
    for m in range(2):
        np.testing.assert_allclose(
            stack.network(m, None)(rows[m]), stack.forward(x)[m].detach().numpy(), rtol=1e-4, atol=1e-5
        )
    for p, old in zip((p for encoder in encoders for p in encoder.parameters()), before, strict=True):
        assert torch.equal(p, old)  # the caller's modules are not touched


def test_an_encoder_of_the_wrong_width_is_refused():
    stack = EncoderStack([nn.Linear(5, 4)], ARCHITECTURES[0], [3])
    with pytest.raises(ValueError, match=r"encoder must map \(6, 5\) to \(6, 3\)"):
        stack.forward(torch.zeros(1, 6, 5))


def test_new_parameters_leave_the_global_generator_alone():
    linear = nn.Linear(3, 2)
    before = torch.get_rng_state()
    drawn = reinitialised(linear, 11)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(drawn.weight, reinitialised(linear, 11).weight)
    assert not torch.equal(drawn.weight, linear.weight)
