"""
Which model is better, without negatives
========================================

:func:`~purely.model_selection.select_model` scores candidates out of fold at one class prior. Two models that make the
same mistakes on the same rows can be compared more precisely than either can be measured, because the difference is
taken row by row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from purely.classifiers import PULeastSquaresClassifier, ReweightedPUClassifier
from purely.datasets import make_paper_data
from purely.model_selection import select_model

# %%
# The positives lie between the negatives, which a linear model cannot see. The last candidate takes the pool for
# negatives.
sample = make_paper_data(400, 1000, class_prior=0.5, random_state=0)
trees = ExtraTreesClassifier(50, min_samples_leaf=5, random_state=0)
candidates = {
    "least squares": PULeastSquaresClassifier(class_prior=0.5, random_state=0),
    "trees, reweighted": ReweightedPUClassifier(trees, class_prior=0.5, random_state=0),
    "linear, reweighted": ReweightedPUClassifier(LogisticRegression(), class_prior=0.5, random_state=0),
    "trees, P against U": trees,
}
chosen = select_model(candidates, sample.X, sample.y, class_prior=(0.45, 0.55), random_state=0)
print(chosen)

# %%
# On the left the risk of each (the share of errors), on the right its difference from the best; dashes are true values.
new = sample.problem.sample(1, 20_000, random_state=1)
truth = {
    name: np.mean(model.fit(sample.X, sample.y).predict(new.X) != new.y_true) for name, model in candidates.items()
}
figure, panels = plt.subplots(1, 2, figsize=(10.0, 3.6), sharey=True)
place = np.arange(len(candidates))[::-1]
for axes, table, origin, title in (
    (panels[0], chosen.estimates, 0.0, "Risk, 95 % interval"),
    (panels[1], chosen.differences, truth[chosen.best_name], f"Minus that of {chosen.best_name}"),
):
    shown = [(height, table[name]) for height, name in zip(place, candidates, strict=True) if name in table]
    heights, values = [height for height, _ in shown], np.array([(e.value, e.low, e.high) for _, e in shown])
    reach = np.abs(values[:, 1:].T - values[:, 0])
    axes.errorbar(values[:, 0], heights, xerr=reach, fmt="o", capsize=4, label="estimate")
    true_values = [truth[name] - origin for name in candidates]
    axes.plot(true_values, place, "|", color="C1", markersize=16, markeredgewidth=1.8, label="true")
    axes.axvline(0.0, color="C2", linewidth=0.8)
    axes.set_yticks(place, list(candidates))
    axes.set(xlabel="share of errors", ylim=(-0.6, place[0] + 0.6))
    axes.set_title(title)
panels[0].legend(loc="upper right")
plt.show()
