"""
Label a few records
===================

A model that was told a class prior far too large is audited with 100 labels, drawn with known probabilities that favour
doubtful and high-scoring rows (:func:`~purely.audit.draw_audit`). The labels say how many positives there really are
and set the probabilities right (:func:`~purely.audit.read_audit`, :class:`~purely.audit.RecalibratedClassifier`). The
right picture is an :class:`~purely.plotting.AuditDisplay`.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import draw_audit, read_audit, stack
from purely.classifiers import PULogisticClassifier
from purely.plotting import plot_audit

rng = np.random.default_rng(0)
truth = np.arange(4000) < 200
pool = rng.normal(1.5 * truth[:, None], 1.0, (4000, 3))
model = PULogisticClassifier(class_prior=0.3).fit(*stack(rng.normal(1.5, 1.0, (300, 3)), pool))
probability = model.predict_proba(pool)[:, 1]

# %%
# Somebody labels the rows ``sample.index``; here the truth is looked up.
sample = draw_audit(probability, 100, random_state=0)
result = read_audit(sample, truth[sample.index], probability)
better = result.recalibrated(model)
print(result)

# %%
# What the labels changed, and predicted probabilities against the shares of positives that they show.
for change in result.changes().values():
    print(f"{change.estimate}, by the model alone {change.without:.3f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
bins = np.linspace(0.0, 1.0, 41)
left.hist(probability, bins, color="0.8", label="pool")
left.hist(probability[sample.index], bins, color="C0", label="drawn")
left.set(xlabel="predicted probability", ylabel="rows", yscale="log", title="Which rows are labelled")
left.legend()
plot_audit(result, ax=right)
order = np.argsort(probability)
right.plot(probability[order], better.predict_proba(pool)[order, 1], color="0.3", linewidth=1.0, label="recalibrated")
right.legend(loc="center left")
plt.show()
