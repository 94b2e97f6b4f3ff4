"""
How the pool divides, and where the share is read
=================================================

:class:`~purely.plotting.ScoreDisplay` shows the scores of the pool and, scaled to the estimated share, those of the
labelled positives. :class:`~purely.plotting.DensityRatioDisplay` shows the curve that the share is read from: the
pool's share above a score over the positives' share. It comes down to the share of positives where the top is pure.
"""

import matplotlib.pyplot as plt

from purely import ClassPrior
from purely.datasets import make_high_dimensional
from purely.plotting import DensityRatioDisplay, ScoreDisplay

data = make_high_dimensional(400, 1200, n_features=10, class_prior=0.4, random_state=0)
prior = ClassPrior().fit(data.X, data.y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 3.9), layout="constrained")
ScoreDisplay.from_estimator(prior, data.X, data.y).plot(left)
DensityRatioDisplay.from_estimator(prior, data.X, data.y).plot(right)
plt.show()
