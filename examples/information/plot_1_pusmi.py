"""
Information and its interval as the sample grows
================================================

:class:`~purely.PUSMI` estimates how much *x* tells about the class, with a 95 % interval. The interval covers what the
fitted density ratio captures, a lower bound on the truth. With more rows the interval shrinks and the captured part
approaches the true information.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import PUSMI
from purely.datasets import make_paper_data, paper_problem

# %%
# Twice as many unlabelled rows as positives, and eight draws of each size. What a fitted ratio captures is known here:
# the ratio is scored on a large new sample of the same problem.
sizes = [200, 400, 800, 1600]
n_draws = 8
new = paper_problem().sample(10_000, 10_000, random_state=1)

intervals, captured = [], []
for size in sizes:
    for seed in range(n_draws):
        sample = make_paper_data(size, 2 * size, random_state=seed)
        estimator = PUSMI(random_state=0).fit(sample.X, sample.y)
        intervals.append(estimator.information_interval())
        captured.append(estimator.score(new.X, new.y) - 0.5)

# %%
# The intervals of the draws side by side, the captured information of each as a dash, and the true value as a line.
estimate = np.array([interval.information for interval in intervals])
ends = np.array([(interval.low, interval.high) for interval in intervals])
place = (np.arange(len(sizes))[:, None] + np.linspace(-0.3, 0.3, n_draws)).ravel()

figure, axes = plt.subplots(figsize=(7.5, 4.0))
axes.axhline(paper_problem().information().value, color="C1", linestyle="--", label="true")
axes.errorbar(place, estimate, yerr=np.abs(ends.T - estimate), fmt="o", markersize=3.5, label="estimate")
axes.plot(place, captured, "_", color="C1", markersize=6, markeredgewidth=1.8, label="captured")
axes.set_xticks(range(len(sizes)), [f"{size} + {2 * size}" for size in sizes])
axes.set(xlabel="positives + unlabelled rows", ylabel="information (prior-free)")
axes.set_title("More rows: narrower intervals, and more is captured")
axes.legend(loc="lower right", ncols=3)
plt.show()
