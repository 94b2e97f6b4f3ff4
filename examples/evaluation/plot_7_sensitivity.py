"""
If labels were not chosen at random
===================================

Every estimate from positives and unlabelled rows assumes something about how positives came by their labels. If the
odds of being labelled vary over the positives by at most a factor gamma, share, precision and each probability lie in
ranges (:func:`~purely.audit.sensitivity`). The gamma from which on a conclusion may be wrong says how much the
conclusion rests on the assumption. The picture is a :class:`~purely.plotting.SensitivityDisplay`.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import PUClassifier, stack
from purely.audit import sensitivity
from purely.plotting import plot_sensitivity

rng = np.random.default_rng(0)
pool = np.concatenate([rng.normal(2, 1, (200, 2)), rng.normal(-1, 1, (800, 2))])
model = PUClassifier(members=["linear"], random_state=0).fit(*stack(rng.normal(2, 1, (150, 2)), pool))

# %%
# Ranges at gamma 2, and two conclusions: at most 25 % of the pool are positive, and at least half of the rows above the
# threshold are.
ranges = sensitivity(model, gamma=2.0)
print(ranges)
print(f"at most 25 % are positive, up to gamma {ranges.tips(share=0.25):.2f}")
print(f"at least half of the list is positive, up to gamma {ranges.tips(precision=0.5):.2f}")

# %%
plot_sensitivity(ranges, share=0.25)
plt.show()
