"""
Probabilities, and thresholds that keep a promise
=================================================

With the class prior and scores of rows that were not trained on, the monotone ratio of the scores gives probabilities:
:class:`~purely.CalibratedPUClassifier` does this for any classifier. If the probabilities hold, they say without a
label what precision and recall to expect above a threshold.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from purely.classifiers import CalibratedPUClassifier, threshold_for_precision
from purely.datasets import make_gaussians

# %%
# Naive Bayes on columns that repeat each other is overconfident, and its probabilities are those of labels, not of
# classes.
sample = make_gaussians(600, 1500, shift=2.0, class_prior=0.3, random_state=0)
new = sample.problem.sample(1, 20_000, random_state=1)


def repeat(X):
    return np.tile(X, 4)


plain = GaussianNB().fit(repeat(sample.X), sample.y)
model = CalibratedPUClassifier(GaussianNB(), class_prior=0.3, random_state=0).fit(repeat(sample.X), sample.y)

# %%
# On the left probabilities against the true ones. On the right what is promised at each threshold, and what is kept.
probability, truth = model.predict_proba(repeat(new.X))[:, 1], new.y_true
order = np.argsort(-probability)
called = np.arange(1, order.size + 1)
expected = np.cumsum(probability[order]), np.cumsum(truth[order])
threshold = threshold_for_precision(probability, 0.8)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0))
line = np.linspace(-3.0, 4.0, 200)[:, np.newaxis]
posterior = sample.problem.posterior(line)
left.plot([0, 1], [0, 1], color="C1", linestyle="--", linewidth=1.2, label="true")
left.plot(posterior, plain.predict_proba(repeat(line))[:, 1], color="C2", label="naive Bayes, P against U")
left.plot(posterior, model.predict_proba(repeat(line))[:, 1], color="C0", linewidth=2, label="calibrated")
left.set(xlabel="true probability", ylabel="predicted probability", xlim=(0, 1), ylim=(0, 1.02))
left.set_title("Probabilities of the class")
left.legend(loc="lower right")

for values, style, name in ((expected[0], "-", "promised"), (expected[1], "--", "kept")):
    right.plot(probability[order], values / called, color="C0", linestyle=style, label=f"precision, {name}")
    right.plot(probability[order], values / values[-1], color="C3", linestyle=style, label=f"recall, {name}")
right.axvline(threshold, color="C2", linewidth=1.2)
right.annotate("precision 0.8", (threshold, 0.03), (5, 0), textcoords="offset points", color="C1", fontsize=9)
right.set(xlabel="threshold", xlim=(0, 0.95), ylim=(0, 1.02))
right.set_title("What a threshold will do")
right.legend(loc="lower left", fontsize=8)
plt.show()
