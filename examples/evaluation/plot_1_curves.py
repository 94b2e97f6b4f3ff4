"""
ROC and precision-recall curves without a negative
==================================================

From labelled positives, unlabelled rows and a class prior, :func:`~purely.metrics.pu_roc_curve` and
:func:`~purely.metrics.pu_precision_recall_curve` estimate the curves of positives against *negatives*. The shaded band
carries the uncertainty of the rows and that of the prior, here known to lie in [.35, .45].
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from purely.datasets import gaussians_problem
from purely.metrics import pu_precision_recall_curve, pu_roc_curve

problem = gaussians_problem(shift=2.0, class_prior=0.4)
sample = problem.sample(500, 1500, random_state=0)
score = sample.X[:, 0]
prior = (0.35, 0.45)

# %%
# What the naive curve shows, labelled against unlabelled, is a mixture: the unlabelled rows hold positives too.
roc = pu_roc_curve(sample.y, score, prior, random_state=0)
pr = pu_precision_recall_curve(sample.y, score, prior, random_state=0)
naive_rate, naive_recall, _ = roc_curve(sample.y, score)
naive_precision, naive_recall_pr, _ = precision_recall_curve(sample.y, score)

# %%
# The truth comes from a large sample with its classes.
new = problem.sample(1, 100_000, random_state=1)
true_rate, true_recall, _ = roc_curve(new.y_true, new.X[:, 0])
true_precision, true_recall_pr, _ = precision_recall_curve(new.y_true, new.X[:, 0])

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
left.plot(naive_rate, naive_recall, color="0.6", label="labelled against unlabelled")
left.fill_betweenx(
    roc.true_positive_rate, roc.false_positive_rate_low, roc.false_positive_rate_high, alpha=0.25, label="95 % band"
)
left.plot(roc.false_positive_rate, roc.true_positive_rate, label="corrected")
left.plot(true_rate, true_recall, "--", color="C1", label="truth")
left.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
left.legend(loc="lower right")
right.plot(naive_recall_pr, naive_precision, color="0.6")
right.fill_between(pr.recall, pr.precision_low, pr.precision_high, alpha=0.25)
right.plot(pr.recall, pr.precision)
right.plot(true_recall_pr, true_precision, "--", color="C1")
right.set(xlabel="recall", ylabel="precision", title="Precision and recall", ylim=(0.0, 1.03))
plt.show()

# %%
# The gap between the corrected and the true false positive rate, on average along the curve:
gap = np.abs(np.interp(roc.true_positive_rate, true_recall, true_rate) - roc.false_positive_rate).mean()
print(f"{gap:.3f}")
