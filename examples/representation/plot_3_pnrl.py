"""
What labels of negatives would add
==================================

:class:`~purely.PNRL` is PURL's supervised counterpart. Given the true classes it learns the best
two-dimensional picture there is; PURL gets close from positives and unlabelled rows.
"""

import matplotlib.pyplot as plt

from purely.datasets import make_paper_data
from purely.representation import PNRL, PURL

sample = make_paper_data(400, 1000, random_state=0)
unlabelled = sample.y == 0
settings = {"n_components": 2, "hidden": (30,), "random_state": 0}
pictures = {
    "PURL, positives and unlabelled rows": PURL(**settings).fit(sample.X, sample.y),
    "PNRL, all classes known": PNRL(**settings).fit(sample.X, sample.y_true),
}

# %%
# Unlabelled rows in both representations, coloured by their true classes.
figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), constrained_layout=True)
for place, (name, model) in zip(axes, pictures.items(), strict=True):
    Z, truth = model.transform(sample.X[unlabelled]), sample.y_true[unlabelled]
    for value, colour, label in ((0, "C2", "negative"), (1, "C0", "positive")):
        place.scatter(*Z[truth == value].T, s=9, alpha=0.6, linewidths=0, color=colour, label=label)
    place.set(title=name, xlabel="$v_1$", ylabel="$v_2$")
axes[0].legend(loc="upper right", markerscale=2, handletextpad=0.1)
plt.show()
