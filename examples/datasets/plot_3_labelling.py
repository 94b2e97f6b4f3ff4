"""
Labels that are not chosen at random
====================================

:func:`~purely.datasets.make_pu` gives labels by a mechanism that depends on the row, and returns the truth: the
propensity, which is the chance that a positive like the row carries a label.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely.datasets import Labelling, make_gaussians, make_pu

# %%
# Two normal classes that overlap along the first column; the second column has the same law in both.
sample = make_gaussians(1, 6000, shift=2.0, n_features=2, random_state=0)
X, y = sample.X[1:], sample.y_true[1:]
mechanisms = {
    "at random": Labelling(),
    "clear positives first": Labelling("easy"),
    "doubtful positives first": Labelling("hard"),
    "by column 1": Labelling("column", column=1),
    "by a hidden group": Labelling("group"),
}
draws = {
    name: make_pu(X, y, n_positive=300, n_unlabelled=1000, labelling=labelling, random_state=0)
    for name, labelling in mechanisms.items()
}

# %%
# Where labelled positives lie, and how many of the positives at a propensity carry a label: as many as it says.
figure, panels = plt.subplots(2, 5, figsize=(14.0, 5.6), sharex="row", sharey="row", layout="constrained")
for (above, below), (name, draw) in zip(panels.T, draws.items(), strict=True):
    labelled, positive = draw.y == 1, draw.y_true == 1
    above.scatter(*draw.X[~labelled].T, s=5, color="0.75", label="unlabelled")
    above.scatter(*draw.X[labelled].T, s=5, color="tab:red", label="labelled positive")
    above.set(title=name, xlabel="column 0")
    tenth = (10 * draw.propensity).astype(int)
    groups = [positive & (tenth == k) for k in np.unique(tenth[positive])]
    below.plot([0, 1], [0, 1], color="0.75", linewidth=1)
    below.plot([draw.propensity[g].mean() for g in groups], [draw.y[g].mean() for g in groups], "o", color="tab:red")
    below.set(xlabel="propensity", xlim=(0, 1), ylim=(0, 1))
panels[0, 0].set_ylabel("column 1")
panels[0, 0].legend(loc="upper left", fontsize="small")
panels[1, 0].set_ylabel("share of positives with a label")
plt.show()
