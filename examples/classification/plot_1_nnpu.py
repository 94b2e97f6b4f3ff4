"""
A classifier without negatives
==============================

A classifier of positives against the pool takes hidden positives for negatives. Its probabilities are those of a label,
not of the class, so it calls a row positive only where labels are more frequent than not, which here is nowhere.
:class:`~purely.classifiers.NNPUClassifier` minimises the risk of the classes, and
:class:`~purely.classifiers.PULeastSquaresClassifier` does so in closed form.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from purely.classifiers import NNPUClassifier, PULeastSquaresClassifier
from purely.datasets import make_paper_data

# %%
# Small networks, and the true class prior, to save time; ``class_prior="auto"`` would estimate it.
sample = make_paper_data(400, 1000, class_prior=0.5, random_state=0)
X, y = sample.X, sample.y
models = {
    "positives against the pool": ExtraTreesClassifier(100, min_samples_leaf=10, random_state=0),
    "PU least squares": PULeastSquaresClassifier(class_prior=0.5, random_state=0),
    "non-negative PU risk": NNPUClassifier(
        class_prior=0.5, hidden=(30, 30), n_ensemble=2, max_epochs=30, cv=3, random_state=0, device="cpu"
    ),
}
new = sample.problem.sample(1, 5000, random_state=1)

# %%
# Probabilities over the plane, the boundary at one half, and the share of errors on new rows. The best that can be done
# are two vertical lines.
ends = [(-4.5, 4.5), (-6.5, 6.5)]
across, up = np.meshgrid(*(np.linspace(low, high, 61) for low, high in ends))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, panels = plt.subplots(1, 3, figsize=(10.5, 4.1), sharey=True)
for axes, (name, model) in zip(panels, models.items(), strict=True):
    model.fit(X, y)
    probability = model.predict_proba(grid)[:, 1].reshape(across.shape)
    error = np.mean((model.predict_proba(new.X)[:, 1] > 0.5) != new.y_true)
    shade = axes.contourf(across, up, probability, levels=np.linspace(0, 1, 11), cmap="RdGy_r", alpha=0.75)
    axes.contour(across, up, probability, levels=[0.5], colors="C1", linewidths=1.6)
    axes.contour(
        across, up, sample.problem.posterior(grid).reshape(across.shape), levels=[0.5], colors="C1", linestyles="--"
    )
    axes.set(xlabel="x0", xlim=ends[0], ylim=ends[1])
    axes.set_title(f"{name}\nerrors on new rows: {error:.1%}", fontsize=10)
panels[0].set_ylabel("x1")
figure.colorbar(shade, ax=panels, label="probability of the positive class", ticks=[0, 0.5, 1], shrink=0.9)
plt.show()
