"""
A few labels that settle it
===========================

A model that was told a class prior far too large is audited with 100 labels, drawn with known probabilities that favour
doubtful and high-scoring rows (:func:`~purely.audit.draw_audit`). The labels say how many positives there really are
and set the probabilities right (:func:`~purely.audit.read_audit`).
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import draw_audit, read_audit, stack
from purely.classifiers import PULogisticClassifier

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
# Predicted probabilities against the shares of positives that the audit found, before and after.
curve = result.calibration_curve(6)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
left.hist(probability, bins=40, color="0.8", label="pool")
left.hist(probability[sample.index], bins=40, color="C0", label="drawn")
left.set(xlabel="predicted probability", ylabel="rows", yscale="log", title="Which rows are labelled")
left.legend()
right.plot([0, 1], [0, 1], color="0.6", linewidth=1)
arms = np.abs(np.stack([curve.low, curve.high]) - curve.share)
right.errorbar(curve.predicted, curve.share, yerr=arms, fmt="o-", label="the model, by the audit")
order = np.argsort(probability)
right.plot(probability[order], better.predict_proba(pool)[order, 1], label="recalibrated")
right.set(
    xlabel="predicted probability", ylabel="share of positives", title=f"Share {result.share.value:.3f}, truly .05"
)
right.legend()
plt.show()
