"""
What a threshold buys, without a negative
=========================================

:class:`~purely.plotting.ThresholdDisplay` shows estimated precision and recall at every threshold, with intervals that
carry the prior's own. :func:`~purely.plotting.threshold_table` holds the numbers: how long the list is, and how many
positives to expect on it.
"""

import matplotlib.pyplot as plt

from purely import PUClassifier
from purely.datasets import make_high_dimensional
from purely.plotting import ThresholdDisplay, threshold_table

data = make_high_dimensional(400, 1200, n_features=10, class_prior=0.4, random_state=0)
model = PUClassifier(members="light", random_state=0).fit(data.X, data.y)
ThresholdDisplay.from_estimator(model, data.X, data.y).plot()
plt.show()

# %%
table = threshold_table(data.y, model.oof_probability_, (0.4, *model.class_prior_interval_), thresholds=[0.3, 0.5, 0.8])
for k, threshold in enumerate(table.thresholds):
    truth = data.y_true[(data.y == 0) & (model.oof_probability_ >= threshold)].mean()
    print(
        f"at {threshold}: {table.size[k]} rows, precision {table.precision[k]:.2f} "
        f"[{table.precision_low[k]:.2f}, {table.precision_high[k]:.2f}], in truth {truth:.2f}"
    )
