"""
The direction that tells the classes apart
==========================================

The artificial data of the paper: positives in the middle along the horizontal axis, negatives on either side, and both
spread widely along the vertical one. A linear :class:`~purely.representation.PURL` finds the horizontal axis from
positives and unlabelled rows alone; PCA follows the spread, and Fisher's discriminant analysis, which takes the
unlabelled rows for negatives, has no mean difference to go by.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from purely.datasets import make_paper_data
from purely.representation import PURL

sample = make_paper_data(random_state=0)
model = PURL(n_components=1, hidden=(), random_state=0).fit(sample.X, sample.y)
directions = {
    "PURL": model.components_[0],
    "PCA": PCA(1).fit(sample.X).components_[0],
    "FDA": LinearDiscriminantAnalysis(solver="eigen").fit(sample.X, sample.y).scalings_[:, 0],
}

# %%
# The data with the three directions, and the unlabelled rows projected by PURL with their true classes.
positive = sample.y == 1
figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.2), constrained_layout=True)
left.scatter(*sample.X[~positive].T, s=6, color="0.75", label="unlabelled")
left.scatter(*sample.X[positive].T, s=8, color="C4", marker="+", label="positive")
for (name, direction), style in zip(directions.items(), ("-", "--", "-."), strict=True):
    left.plot(*(8.0 * np.outer([-1, 1], direction / np.linalg.norm(direction))).T, "k", linestyle=style, label=name)
left.set(xlim=(-7, 7), ylim=(-7, 7), title="Directions", xlabel="$x_1$", ylabel="$x_2$")
left.legend(loc="upper right", fontsize="small")
projected = model.transform(sample.X[~positive])[:, 0]
truth = sample.y_true[~positive] == 1
right.hist([projected[truth], projected[~truth]], 40, stacked=True, color=["C4", "0.6"], label=["positive", "negative"])
right.set(title="Unlabelled rows along PURL's direction", xlabel="projection", ylabel="rows")
right.legend()
plt.show()
