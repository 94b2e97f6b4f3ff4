"""
How much a projection keeps
===========================

:class:`~purely.LSDR` looks for the linear projection that keeps the most information, with a kernel
model in place of a network. :func:`~purely.information_retained` compares any representations: here of
one dimension, on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely.datasets import make_paper_data
from purely.representation import LSDR, information_retained

train, test = make_paper_data(random_state=0), make_paper_data(random_state=1)
model = LSDR(n_starts=4, random_state=0).fit(train.X, train.y)

# %%
# Every direction between the horizontal and the vertical axis, and the one that LSDR chose.
angles = np.linspace(0.0, 90.0, 7)
found = [information_retained(test.X @ [[np.cos(a)], [np.sin(a)]], test.X, test.y) for a in np.radians(angles)]
chosen = information_retained(model, test.X, test.y)

figure, axes = plt.subplots(figsize=(7.0, 4.0), constrained_layout=True)
retained = np.array([f.retained for f in found])
spread = [retained - [f.low for f in found], [f.high for f in found] - retained]
axes.errorbar(angles, retained, yerr=spread, fmt="o-", capsize=3, label="a fixed direction")
own = np.degrees(np.arccos(min(1.0, abs(model.components_[0, 0]))))
axes.plot(own, chosen.retained, "s", color="C1", label="LSDR")
axes.set(xlabel="degrees from the horizontal axis", ylabel="information retained", title="What a projection keeps")
axes.legend()
plt.show()
