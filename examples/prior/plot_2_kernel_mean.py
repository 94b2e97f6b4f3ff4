r"""
The distance to the hull and its slope
======================================

:class:`~purely.prior.KernelMeanPrior` extrapolates the pool away from the positives, by a factor :math:`\lambda`, and
measures how far that is from being a distribution. Up to :math:`1 / (1 - \text{prior})` it is one; on a sample the
distance grows from the start, but slowly, and the estimate is read where its slope passes a threshold.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely.datasets import make_gaussians
from purely.prior import KernelMeanPrior

# %%
# Two normal classes, four in ten of the pool positive.
sample = make_gaussians(400, 1000, class_prior=0.4, shift=4.0, random_state=0)
priors = {name: KernelMeanPrior(name).fit(sample.X, sample.y) for name in ("km1", "km2")}
for name, prior in priors.items():
    low, high = prior.class_prior_interval_
    print(f"{name}: {prior.class_prior_:.3f} [{low:.3f}, {high:.3f}]; true {sample.class_prior}")

# %%
# Each point is one quadratic programme. The envelope theorem gives the slope from the same programme as the distance,
# so a search needs few of them; the bisection of the published code adds further points to the picture. The intervals
# that were printed reflect sampling noise; that the slope rises a little early, a bias, is not in them.
fits = [*priors.values(), KernelMeanPrior("km1", search="authors").fit(sample.X, sample.y)]
points = np.concatenate(
    [np.zeros((1, 3)) + [1.0, 0.0, 0.0]]
    + [np.column_stack([fit.result_.extrapolations, fit.result_.distances, fit.result_.slopes]) for fit in fits]
)
factor, distance, slope = points[np.argsort(points[:, 0])].T
exact = 1.0 / (1.0 - sample.class_prior)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.9))
for axes, values, name in ((left, distance, "distance to the hull"), (right, slope, "slope of the distance")):
    axes.plot(factor, values, "o-", color="C2", markersize=3.5, linewidth=1.4)
    axes.axvline(exact, color="C1", linestyle="--", linewidth=1.2, label="true: 1 / (1 - prior)")
    axes.set(xlabel="extrapolation $\\lambda$", ylabel=name, xlim=(1.0, 3.0))
left.set_ylim(0.0, 1.1 * np.interp(3.0, factor, distance))
left.set_title("Next to zero at first, then growing in proportion")
for colour, (name, prior) in zip(("C0", "C4"), priors.items(), strict=True):
    threshold, read = prior.diagnostics_.details["threshold"], prior.diagnostics_.chosen
    right.plot([1.0, read], [threshold, threshold], color=colour, linewidth=1.2)
    right.plot(read, threshold, "o", color=colour, label=f"{name}: prior {prior.class_prior_:.2f}")
right.set_ylim(0.0, 1.1 * np.interp(3.0, factor, slope))
right.set_title("Read where the slope passes a threshold")
right.legend(loc="lower right")
plt.show()
