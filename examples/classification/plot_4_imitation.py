"""
A fast copy of the recommended classifier
=========================================

A fitted :class:`~purely.PUClassifier` asks several models about every row. Given rows of the pool,
:meth:`~purely.PUClassifier.distil` trains one small network to imitate it, and measures on rows set aside how far the
probabilities differ. Only if they hardly do is the network used (:class:`~purely.classifiers.DistilledPUClassifier`).
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import PUClassifier, stack

rng = np.random.default_rng(0)
known = rng.normal([1.5, 0.5, 0.0], 1.0, (300, 3))
hidden = rng.normal([1.5, 0.5, 0.0], 1.0, (400, 3))
pool = np.concatenate([hidden, rng.normal([-1.0, 0.0, 0.0], 1.0, (1600, 3))])

model = PUClassifier(0.2, members=["logistic", "kernel-logistic"]).fit(*stack(known, pool))
fast = model.distil(pool)
print(type(fast.imitation_).__name__)
print(fast.difference_)

# %%
# New rows, which neither has seen: the probabilities of both, and what remains between them.
positives = rng.normal([1.5, 0.5, 0.0], 1.0, (400, 3))
new = np.concatenate([positives, rng.normal([-1.0, 0.0, 0.0], 1.0, (1600, 3))])
slow, quick = model.predict_proba(new)[:, 1], fast.predict_proba(new)[:, 1]

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
left.plot([0, 1], [0, 1], color="0.7", linewidth=1.0)
left.plot(slow, quick, ".", markersize=3, color="C0")
left.set_title("The network says nearly the same")
left.set(xlabel="probability by the combined models", ylabel="by the network")
right.hist(quick - slow, 60, color="C2")
right.set_title(f"{np.abs(quick - slow).mean():.4f} on average")
right.set(xlabel="difference of the probabilities", ylabel="new rows")
plt.show()
