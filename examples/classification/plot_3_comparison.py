"""
Every classifier on one problem
===============================

The classifiers differ in how they do without negatives; given the same class prior, all of them come near the best
possible error, and the plain classifier of positives against the pool does not. The recommended
:class:`~purely.classifiers.PUClassifier` is shown without its networks, to save time.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from purely.classifiers import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PULeastSquaresClassifier,
    PULogisticClassifier,
    ReweightedPUClassifier,
    SelfTrainingPUClassifier,
    TwoStepPUClassifier,
)
from purely.datasets import make_gaussians

# %%
sample = make_gaussians(300, 700, shift=1.5, class_prior=0.5, n_features=3, random_state=0)
new = sample.problem.sample(1, 20_000, random_state=1)
linear = LogisticRegression()
common = {"class_prior": 0.5, "random_state": 0}
models = {
    "PUClassifier, light": PUClassifier(members="light", **common),
    "nnPU": NNPUClassifier(hidden=(30,), n_ensemble=2, max_epochs=30, device="cpu", **common),
    "PU logistic regression": PULogisticClassifier(**common),
    "PU least squares": PULeastSquaresClassifier(**common),
    "prior times ratio": ReweightedPUClassifier(linear, **common),
    "Elkan and Noto": ElkanNotoClassifier(linear, **common),
    "self-training": SelfTrainingPUClassifier(linear, **common),
    "two steps with spies": TwoStepPUClassifier(linear, **common),
    "bagging": BaggingPUClassifier(linear, **common),
    "positives against the pool": linear,
}
error = {name: np.mean(model.fit(sample.X, sample.y).predict(new.X) != new.y_true) for name, model in models.items()}

# %%
best = np.mean((new.posterior > 0.5) != new.y_true)
figure, axes = plt.subplots(figsize=(8.0, 4.2))
place = np.arange(len(error))[::-1]
colours = ["C0"] * (len(error) - 1) + ["C2"]
axes.barh(place, list(error.values()), height=0.62, color=colours, alpha=0.85)
for height, value in zip(place, error.values(), strict=True):
    axes.annotate(f"{value:.3f}", (value, height), (4, 0), textcoords="offset points", va="center", fontsize=9)
axes.axvline(best, color="C1", linestyle="--", linewidth=1.2)
axes.annotate("best possible", (best, place[0] + 0.5), (4, 0), textcoords="offset points", fontsize=9)
axes.set_yticks(place, list(error))
axes.tick_params(axis="y", length=0)
axes.set(xlabel="share of errors on new rows", ylim=(-0.6, place[0] + 0.9))
plt.show()
