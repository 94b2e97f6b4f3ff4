"""
In-sample and out of fold
=========================

A network fits its training positives better than the positives that hide among the unlabelled rows, though both come
from one distribution. With ``cv``, :class:`~purely.PURL` gives every row a ratio from networks
that have not seen it: ``oof_density_ratio_`` treats both alike.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from purely.datasets import make_high_dimensional
from purely.exceptions import OverfittingWarning
from purely.representation import PURL

sample = make_high_dimensional(300, 600, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", OverfittingWarning)
    model = PURL(cv=5, random_state=0).fit(sample.X, sample.y)

# %%
# The ratio of labelled positives and of positives among the unlabelled rows.
labelled = sample.y == 1
hidden = ~labelled & (sample.y_true == 1)
figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), sharey=True, constrained_layout=True)
ratios = {"in-sample": model.density_ratio(sample.X), "out of fold": model.oof_density_ratio_}
for place, (name, ratio) in zip(axes, ratios.items(), strict=True):
    bins = np.linspace(0.0, np.quantile(ratio, 0.999), 25)
    place.hist(ratio[hidden], bins, density=True, alpha=0.6, color="C2", label="positives in U")
    place.hist(ratio[labelled], bins, density=True, histtype="step", linewidth=1.8, label="labelled positives")
    place.set(title=name, xlabel="density ratio")
axes[0].legend()
plt.show()
