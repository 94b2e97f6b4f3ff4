"""Draws whose true metrics are known."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from purely.datasets import PUProblem, gaussians_problem

THRESHOLD = 0.5


@dataclass(frozen=True)
class Case:
    """A problem with the population's true metrics of its posterior at a threshold."""

    problem: PUProblem
    truth: dict[str, float]

    @property
    def prior(self) -> float:
        return self.problem.class_prior


def true_metrics(problem: PUProblem, n: int = 400_000) -> dict[str, float]:
    """Metrics of a large labelled sample of the population."""
    prior = problem.class_prior
    sample = problem.sample(1, n, random_state=12345, exact_counts=True)
    truth, score = sample.y_true[1:], sample.posterior[1:]
    above = score > THRESHOLD
    recall, rate = above[truth == 1].mean(), above[truth == 0].mean()
    share = prior * recall + (1 - prior) * rate
    return {
        "accuracy": prior * recall + (1 - prior) * (1 - rate),
        "precision": prior * recall / share,
        "recall": recall,
        "f1": 2 * prior * recall / (prior + share),
        "specificity": 1 - rate,
        "balanced_accuracy": (recall + 1 - rate) / 2,
        "lift": recall / share,
        "roc_auc": roc_auc_score(truth, score),
        "average_precision": average_precision_score(truth, score),
        "risk": prior * (1 - recall) + (1 - prior) * rate,
        "brier": brier_score_loss(truth, score),
        "calibration_error": 0.0,
    }


@pytest.fixture(scope="session", params=[(1.0, 0.5), (2.0, 0.3), (3.0, 0.7)], ids=lambda p: f"shift{p[0]}-prior{p[1]}")
def case(request) -> Case:
    shift, prior = request.param
    problem = gaussians_problem(shift=shift, class_prior=prior)
    return Case(problem, true_metrics(problem))
