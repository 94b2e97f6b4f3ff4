"""
Two dimensions that keep the information
========================================

:class:`~purely.PURL` learns a representation that keeps what tells positives from the rest, without
negatives and without a class prior. Of twenty columns three matter, and the negatives lie on both sides of the
positives. The other columns share two common causes that have nothing to do with the class: they have the largest
variance, so the first two principal components follow them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from purely.datasets import high_dimensional_problem
from purely.exceptions import OverfittingWarning
from purely.representation import PURL

# %%
# The rows that a representation was trained on look more clearly apart than new rows, and the estimator warns of that.
# We look at new rows.
warnings.simplefilter("ignore", OverfittingWarning)

problem = high_dimensional_problem(n_features=20, two_sided=True, separation=4.0)


def draw(n_positive, n_unlabelled, seed):
    sample = problem.sample(n_positive, n_unlabelled, random_state=seed)
    causes = np.random.default_rng(seed).normal(size=(len(sample.X), 2))
    sample.X[:, 3:] += 2.0 * causes[:, np.arange(17) % 2]
    return sample


sample, new = draw(800, 1600, 0), draw(1, 1500, 1)
purl = PURL(n_components=2, max_epochs=60, n_ensemble=2, random_state=0, device="cpu").fit(sample.X, sample.y)
print(f"information on rows held out: {purl.information_:.3f}; true: {problem.information().value:.3f}")

# %%
# The classes of the new rows are shown; neither method has seen a class.
pictures = {
    "two of the three columns that matter": new.X[:, :2],
    "two principal components": PCA(2).fit(sample.X).transform(new.X),
    "PURL, two components": purl.transform(new.X),
}
figure, panels = plt.subplots(1, 3, figsize=(10.0, 3.6))
for axes, (name, rows) in zip(panels, pictures.items(), strict=True):
    for value, colour, label in ((0, "C2", "negative"), (1, "C0", "positive")):
        axes.scatter(*rows[new.y_true == value].T, s=7, alpha=0.5, linewidths=0, color=colour, label=label)
    axes.set(xticks=[], yticks=[])
    axes.set_title(name, fontsize=10)
panels[0].legend(loc="upper left", markerscale=2, handletextpad=0.1)
plt.show()
