"""
One direction: what PCA, FDA, LSDR and PURL find
================================================

The paper's artificial data: positives in the middle, negatives on either side along the horizontal axis, and a large
variance along the vertical one that says nothing. Principal components follow the variance. Fisher's discriminant, with
the unlabelled rows taken for negatives, compares means that agree. :class:`~purely.LSDR` and
:class:`~purely.PURL` follow the information.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from purely.datasets import make_paper_data
from purely.representation import LSDR, PURL

# %%
sample = make_paper_data(n_positive=400, n_unlabelled=1000, class_prior=0.7, random_state=0)
X, y = sample.X, sample.y
directions = {
    "PCA": PCA(1).fit(X).components_[0],
    "FDA": LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, 0],
    "LSDR": LSDR(n_starts=4, random_state=0).fit(X, y).components_[0],
    "PURL": PURL(n_components=1, hidden=(), n_starts=5, random_state=0, device="cpu").fit(X, y).components_[0],
}

# %%
# Each line is the direction that the rows are projected onto.
figure, axes = plt.subplots(figsize=(7.2, 4.6))
for value, colour, name in ((0, "C2", "unlabelled"), (1, "C0", "labelled positive")):
    axes.scatter(*X[y == value].T, s=9, alpha=0.6, linewidths=0, color=colour, label=name)
styles = {"PCA": ("C4", ":"), "FDA": ("C3", "-."), "LSDR": ("C1", "--"), "PURL": ("C1", "-")}
for name, direction in directions.items():
    line = 8.0 * np.outer([-1, 1], direction / np.linalg.norm(direction))
    colour, style = styles[name]
    angle = np.degrees(np.arctan2(abs(direction[1]), abs(direction[0])))
    axes.plot(*line.T, color=colour, linestyle=style, linewidth=2, label=f"{name}: {angle:.0f}° off the axis")
axes.set(xlabel="x0", ylabel="x1", xlim=(-6.5, 6.5), ylim=(-6.5, 6.5), aspect="equal")
figure.legend(loc="outside right center")
plt.show()
