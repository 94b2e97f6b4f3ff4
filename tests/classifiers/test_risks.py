"""Risks against values computed by hand, autograd, and the rule of the non-negative correction."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from purely.nn.risks import MARGIN_LOSSES, PURisk

Z_P, Z_U = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.0, 2.0, -1.0]])


def by_hand(loss: str, z: float) -> float:
    return {
        "sigmoid": 1.0 / (1.0 + np.exp(z)),
        "logistic": np.log1p(np.exp(-z)),
        "squared": (1.0 - z) ** 2 / 4.0,
    }[loss]


@pytest.mark.parametrize("loss", list(MARGIN_LOSSES))
@pytest.mark.parametrize(("population", "unlabelled"), [(0.4, 0.4), (0.5, 0.3)])
def test_unbiased_risk_is_the_formula(loss, population, unlabelled):
    own = population * np.mean([by_hand(loss, z) for z in (1.0, -2.0)])
    false = [by_hand(loss, -z) for z in (0.0, 2.0, -1.0)]
    weight = (1.0 - population) / (1.0 - unlabelled)
    rest = weight * (np.mean(false) - unlabelled * np.mean([by_hand(loss, -z) for z in (1.0, -2.0)]))
    value = PURisk(population, unlabelled, risk="upu", loss=loss)(Z_P, Z_U).value
    assert value.item() == pytest.approx(own + rest, rel=1e-6)


@pytest.mark.parametrize("loss", list(MARGIN_LOSSES))
def test_supervised_risk_weights_both_classes_by_the_prior(loss):
    expected = 0.3 * np.mean([by_hand(loss, z) for z in (1.0, -2.0)])
    expected += 0.7 * np.mean([by_hand(loss, -z) for z in (0.0, 2.0, -1.0)])
    assert PURisk(0.3, 0.3, risk="pn", loss=loss)(Z_P, Z_U).value.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("gamma", [1.0, 0.25])
def test_the_step_goes_back_where_the_risk_of_negatives_is_below_the_tolerance(gamma):
    z_p = torch.tensor([[3.0, 2.0]], requires_grad=True)
    z_u = torch.tensor([[-3.0, -2.0]], requires_grad=True)
    risk = PURisk(0.5, 0.5, gamma=gamma)
    own, rest = risk.parts(z_p, z_u)
    assert rest.item() < 0.0
    value = risk(z_p, z_u)
    assert value.value.item() == pytest.approx(own.item())
    found = torch.autograd.grad(value.objective.sum(), (z_p, z_u))
    expected = torch.autograd.grad(-gamma * risk.parts(z_p, z_u)[1].sum(), (z_p, z_u))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_a_tolerance_keeps_the_plain_gradient():
    z_p, z_u = torch.full((1, 2), 3.0, requires_grad=True), torch.full((1, 2), -3.0, requires_grad=True)
    value = PURisk(0.5, 0.5, beta=1.0)(z_p, z_u)
    plain = PURisk(0.5, 0.5, risk="upu")(z_p, z_u)
    assert value.value.item() == pytest.approx(plain.value.item())
    a, b = (torch.autograd.grad(v.objective.sum(), z_u, retain_graph=True)[0] for v in (value, plain))
    torch.testing.assert_close(a, b)


def test_the_risk_is_unbiased():
    rng = np.random.default_rng(0)
    n, prior = 200_000, 0.3
    positive, negative = rng.normal(1.0, 1.0, n), rng.normal(-1.0, 1.0, n)
    U = np.concatenate([positive[: int(prior * n)], negative[: n - int(prior * n)]])
    z = [torch.from_numpy(a).float() for a in (rng.normal(1.0, 1.0, n), U)]
    found = PURisk(prior, prior, risk="upu")(*z).value.item()
    sigmoid = torch.sigmoid
    truth = (
        prior * sigmoid(-torch.from_numpy(positive)).mean() + (1 - prior) * sigmoid(torch.from_numpy(negative)).mean()
    )
    assert found == pytest.approx(truth.item(), abs=5.0 / np.sqrt(n))


def test_networks_of_a_stack_have_priors_of_their_own():
    risks = [PURisk(0.3, 0.3), PURisk(0.6, 0.5)]
    joined = PURisk.joined(risks, [2, 1])
    z_p, z_u = torch.randn(3, 5), torch.randn(3, 7)
    expected = torch.cat([risks[k](z_p[m : m + 1], z_u[m : m + 1]).value for m, k in enumerate((0, 0, 1))])
    torch.testing.assert_close(joined(z_p, z_u).value, expected)
    torch.testing.assert_close(joined.of_networks(np.array([2]))(z_p[2:], z_u[2:]).value, expected[2:])
    assert joined.kind == risks[0].kind
