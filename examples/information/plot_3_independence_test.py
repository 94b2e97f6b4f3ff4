"""
Could it be chance? The permutation test
========================================

:func:`~purely.independence_test` compares the information statistic with what permuted labels give. The histogram is
the distribution under 'no information'; the line is the statistic at hand.
"""

import matplotlib.pyplot as plt

from purely import independence_test
from purely.datasets import make_gaussians, make_independent

# %%
# Three data sets of 150 positives and 400 unlabelled rows: nothing to find, a faint signal, a clear one.
sizes = {"n_positive": 150, "n_unlabelled": 400, "n_features": 2, "random_state": 3}
samples = {
    "nothing to find": make_independent(**sizes),
    "a faint signal": make_gaussians(shift=0.7, **sizes),
    "a clear signal": make_gaussians(shift=1.5, **sizes),
}
tests = {name: independence_test(sample.X, sample.y, random_state=0) for name, sample in samples.items()}

# %%
# The p-value is the share of labellings, the one at hand included, whose statistic is at least as large.
figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2), sharey=True)
for axes, (name, test) in zip(panels, tests.items(), strict=True):
    axes.hist(test.null_distribution, bins=30, color="C2", alpha=0.7)
    axes.axvline(test.statistic, color="C0", linewidth=2)
    axes.set(title=f"{name}\np = {test.p_value:.3f}", xlabel="largest standardised information")
    axes.set_xlim(right=1.08 * max(test.statistic, test.null_distribution.max()))
panels[0].set_ylabel("permutations")
plt.show()
