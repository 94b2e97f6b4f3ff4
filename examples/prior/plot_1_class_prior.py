"""
How many positives are in the pool
==================================

:class:`~purely.ClassPrior` scores every row by models of the density ratio that have not seen it, and reads the share
of positives off the scores, with an interval. Positives in the pool score like the labelled ones; what is left of the
pool are the negatives.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import ClassPrior
from purely.datasets import make_paper_data

# %%
# The paper's artificial data at four class priors, with fewer trees than by default to save time.
truth = [0.2, 0.4, 0.6, 0.8]
samples = [make_paper_data(300, 800, class_prior=share, random_state=0) for share in truth]
priors = [ClassPrior().fit(sample.X, sample.y) for sample in samples]
for share, prior in zip(truth, priors, strict=True):
    low, high = prior.class_prior_interval_
    print(f"true {share:.1f}   estimate {prior.class_prior_:.3f}   90 % interval [{low:.3f}, {high:.3f}]")

# %%
# On the left the scores at a class prior of 0.4: the distribution of the labelled positives is drawn at the height of
# the estimated share, and fits under that of the pool. On the right all four estimates.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.9), width_ratios=[1.35, 1.0])

sample, prior = samples[1], priors[1]
scores, positive = prior.scores_, sample.y == 1
bins = np.linspace(scores.min(), scores.max(), 41)
weight = np.full(np.count_nonzero(positive), 800 * prior.class_prior_ / np.count_nonzero(positive))
left.hist(scores[~positive], bins, color="C2", alpha=0.6, label="unlabelled rows")
left.hist(scores[positive], bins, weights=weight, histtype="step", linewidth=1.8, label="labelled positives, scaled")
left.set(xlabel="log density ratio, out of fold", ylabel="unlabelled rows")
left.set_title(f"The scaled positives fit under the pool: {prior.class_prior_:.2f}")
left.legend(loc="upper left")

estimate = np.array([prior.class_prior_ for prior in priors])
ends = np.array([prior.class_prior_interval_ for prior in priors])
right.plot([0, 1], [0, 1], color="C1", linestyle="--", linewidth=1.2, label="true")
right.errorbar(truth, estimate, yerr=np.abs(ends.T - estimate), fmt="o", capsize=4, label="estimate, 90 % interval")
right.set(xlabel="true class prior", ylabel="estimated class prior", xlim=(0, 1), ylim=(0, 1), aspect="equal")
right.set_title("Estimates at four class priors")
right.legend(loc="upper left")
plt.show()
