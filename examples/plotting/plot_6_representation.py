"""
A representation, and how it was learnt
=======================================

:class:`~purely.plotting.RepresentationDisplay` shows rows in the plane of a representation, coloured by the density
ratio; :class:`~purely.plotting.HistoryDisplay` shows the training of the networks behind it, on batches and on rows
held out.
"""

import matplotlib.pyplot as plt

from purely import PURL
from purely.datasets import make_high_dimensional
from purely.plotting import HistoryDisplay, RepresentationDisplay

data = make_high_dimensional(800, 1600, n_features=10, class_prior=0.4, random_state=0)
half = slice(None, None, 2), slice(1, None, 2)
model = PURL(n_components=5, n_ensemble=3, max_epochs=60, device="cpu", random_state=0)
model.fit(data.X[half[0]], data.y[half[0]])

figure, (left, right) = plt.subplots(1, 2, figsize=(10.8, 4.2), layout="constrained")
RepresentationDisplay.from_estimator(model, data.X[half[1]], data.y[half[1]]).plot(left)
HistoryDisplay.from_estimator(model).plot(right)
plt.show()
