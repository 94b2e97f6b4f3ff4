from __future__ import annotations

import numpy as np
import pytest
import torch

from purely.nn.losses import (
    LogisticLoss,
    Loss,
    NonNegativeSquaredLoss,
    PNSquaredLoss,
    SquaredLoss,
    bounded_log_ratio,
    j_pu,
    logistic_loss,
    non_negative_j_pu,
    pn_smi_loss,
)

SEEDS = range(3)


def outputs(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).requires_grad_()


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_of_j_is_the_documented_one(seed):
    w_p, w_u = outputs(seed, 2, 5), outputs(seed + 10, 2, 7)
    j_pu(w_p, w_u).sum().backward()
    torch.testing.assert_close(w_p.grad, torch.full_like(w_p, -1 / 5))
    torch.testing.assert_close(w_u.grad, w_u.detach() / 7)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_of_the_logistic_loss_is_the_documented_one(seed):
    z_p, z_u = outputs(seed, 2, 5), outputs(seed + 10, 2, 7)
    logistic_loss(z_p, z_u).sum().backward()
    torch.testing.assert_close(z_p.grad, -torch.sigmoid(-z_p.detach()) / 5)
    torch.testing.assert_close(z_u.grad, torch.sigmoid(z_u.detach()) / 7)


@pytest.mark.parametrize(
    "loss",
    [SquaredLoss(), LogisticLoss(), LogisticLoss(0.05), NonNegativeSquaredLoss(prior_min=0.3), PNSquaredLoss(0.3)],
)
def test_a_stack_gets_what_each_network_gets_alone(loss):
    shape = (5,) if loss.n_outputs == 1 else (5, 2)
    z_p, z_u = outputs(0, 3, *shape), outputs(1, 3, *shape)
    together = loss(z_p, z_u)
    for m in range(3):
        alone = loss(z_p[m], z_u[m])
        torch.testing.assert_close(together.value[m], alone.value)
        torch.testing.assert_close(together.objective[m], alone.objective)
        torch.testing.assert_close(loss.information(z_p, z_u)[m], loss.information(z_p[m], z_u[m]))
    assert isinstance(loss, Loss)


@pytest.mark.parametrize("make_loss", [SquaredLoss, lambda: LogisticLoss(0.0), lambda: LogisticLoss(0.1)])
def test_losses_share_the_optimum(make_loss):
    """On a discrete problem the minimiser of the population loss is the true ratio, whichever loss."""
    positive = torch.tensor([0.6, 0.3, 0.1, 0.0001], dtype=torch.float64)
    population = torch.tensor([0.3, 0.3, 0.2, 0.2], dtype=torch.float64)
    positive, population = positive / positive.sum(), population / population.sum()
    loss = make_loss()
    z = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([z], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-16)

    def closure():
        optimiser.zero_grad()
        # One row a value, weighted: the loss of single rows is linear in the two samples.
        values = [loss(z[i : i + 1], z[i : i + 1].detach()).value for i in range(4)]
        others = [loss(z[i : i + 1].detach(), z[i : i + 1]).value for i in range(4)]
        total = sum(p * v for p, v in zip(positive, values, strict=True))
        total = total + sum(p * v for p, v in zip(population, others, strict=True))
        total.backward()
        return total

    optimiser.step(closure)
    z = z.detach()
    ratio = z if isinstance(loss, SquaredLoss) else bounded_log_ratio(z, loss.prior_min).exp()
    torch.testing.assert_close(ratio, positive / population, rtol=2e-3, atol=1e-3)


def test_bounded_ratio_stays_below_its_bound_and_keeps_the_order():
    z = torch.linspace(-20, 20, 50, dtype=torch.float64)
    w = bounded_log_ratio(z, 0.2).exp()
    assert (w < 5.0 + 1e-12).all()
    assert (w.diff() > 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_non_negative_correction_changes_nothing_where_the_bracket_is_not_negative(seed):
    rng = np.random.default_rng(seed)
    w_p, w_u = torch.from_numpy(rng.uniform(0, 1, 20)), torch.from_numpy(rng.uniform(1, 2, 30))
    corrected = non_negative_j_pu(w_p, w_u, 0.2)
    torch.testing.assert_close(corrected.value, j_pu(w_p, w_u))
    torch.testing.assert_close(corrected.objective, j_pu(w_p, w_u))


@pytest.mark.parametrize("seed", SEEDS)
def test_non_negative_correction_is_bounded_below(seed):
    rng = np.random.default_rng(seed)
    for scale in (1.0, 10.0, 1000.0):
        w_p, w_u = torch.from_numpy(scale * rng.random(20)), torch.from_numpy(0.01 * rng.random(30))
        assert non_negative_j_pu(w_p, w_u, 0.1).value >= -1 / (2 * 0.1)


def test_the_step_of_an_overfitted_network_undoes_the_overfitting():
    w_p, w_u = torch.full((4,), 20.0, requires_grad=True), torch.zeros(6)
    loss = non_negative_j_pu(w_p, w_u, 0.1)
    loss.objective.backward()
    assert (w_p.grad > 0).all()  # descent makes the ratio at training positives smaller


@pytest.mark.parametrize("seed", SEEDS)
def test_pn_smi_loss_is_the_sum_over_rows_of_appendix_e(seed):
    rng = np.random.default_rng(seed)
    h_p, h_n = rng.normal(size=(4, 2)), rng.normal(size=(6, 2))
    h = np.concatenate([h_p, h_n])
    share = 0.4
    linear = (h_p[:, 0].sum() + h_n[:, 1].sum()) / 10
    square = sum(p / 20 * (h[:, k] ** 2).sum() for k, p in enumerate((share, 1 - share)))
    found = pn_smi_loss(torch.from_numpy(h_p), torch.from_numpy(h_n), share)
    assert float(found) == pytest.approx(square - linear)
