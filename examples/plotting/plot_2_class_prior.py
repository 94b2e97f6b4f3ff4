"""
How each method sees the class prior
====================================

:class:`~purely.plotting.ClassPriorDisplay` puts the readings of one score by every one-dimensional method beside the
estimate. The truth is .4 here.
"""

import matplotlib.pyplot as plt

from purely import ClassPrior
from purely.datasets import make_high_dimensional
from purely.plotting import ClassPriorDisplay

data = make_high_dimensional(400, 1200, n_features=10, class_prior=0.4, random_state=0)
prior = ClassPrior().fit(data.X, data.y)
display = ClassPriorDisplay.from_estimator(prior, data.X, data.y).plot()
display.ax_.axvline(0.4, color="#1f2a30", linestyle="--", linewidth=1.2)
plt.show()
