"""
Class priors with and without purely positive rows
==================================================

A prior is read off the top of a score, where rows are the most positive. If some rows are surely positive, the ratio
of the pool's share to the positives' share levels off at the prior, and :class:`~purely.prior.BestBinPrior` reads it
there. If no row is, the ratio never comes down to the prior; :class:`~purely.prior.LogisticCeilingPrior` extrapolates
from the form of the curve, and the estimators warn.
"""

import warnings

import matplotlib.pyplot as plt

from purely.datasets import make_gaussians
from purely.exceptions import ClassPriorWarning
from purely.prior import BestBinPrior, LogisticCeilingPrior

# %%
# One column, so it is the score itself. With classes far apart the top of the score is pure; with classes one standard
# deviation apart, positives and negatives are found at every score.
samples = {
    f"{name}: classes {shift} apart": make_gaussians(4000, 8000, shift=shift, class_prior=0.3, random_state=0)
    for name, shift in (("A pure top", 4), ("An impure top", 1))
}

# %%
# Every threshold gives an upper bound on the prior: the share of the pool above it, divided by the share of the
# positives above it. A dot is where the best bin reads; the dashed line is the truth.
figure, panels = plt.subplots(1, 2, figsize=(10.0, 4.0), sharey=True)
for axes, (name, sample) in zip(panels, samples.items(), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassPriorWarning)  # the impure top is what this example is about
        best_bin = BestBinPrior().fit(sample.X, sample.y)
        ceiling = LogisticCeilingPrior().fit(sample.X, sample.y)
    curve = best_bin.diagnostics_
    axes.plot(curve.x, curve.curve, color="C2", linewidth=1.6, label="upper bound at each threshold")
    axes.axhline(sample.class_prior, color="C1", linestyle="--", linewidth=1.2, label="true class prior")
    axes.plot(curve.chosen, best_bin.class_prior_, "o", color="C0", label="best bin")
    low, high = ceiling.class_prior_interval_
    axes.axhspan(low, high, color="C4", alpha=0.25, linewidth=0)
    axes.axhline(ceiling.class_prior_, color="C4", linewidth=1.4, label="logistic ceiling, 90 % interval")
    axes.set(xlabel="share of the positives above the threshold", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(name)
    print(f"{name}: best bin {best_bin.class_prior_:.2f}, logistic ceiling {ceiling.class_prior_:.2f}")
panels[0].set_ylabel("share of positives in the pool")
panels[0].legend(loc="upper left")
plt.show()
