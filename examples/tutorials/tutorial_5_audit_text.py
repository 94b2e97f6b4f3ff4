"""
Auditing texts: a list of which eight in ten are right
======================================================

Somebody has set aside 400 messages about computers and wants more of the kind from a pool of 1,500. How many are there,
and where does the list have to end for eight in ten messages on it to be right? Reading 100 messages answers both.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import draw_audit, make_pu, read_audit
from purely.audit import next_to_label
from purely.classifiers import PULogisticClassifier
from purely.datasets import fetch_20newsgroups_comp_sci
from purely.plotting import plot_audit

X, y_true = fetch_20newsgroups_comp_sci(return_X_y=True)
data = make_pu(X, y_true, n_positive=400, n_unlabelled=1500, class_prior=0.3, random_state=0)
pool, truth = data.X[data.y == 0], data.y_true[data.y == 0]

# %%
# Say that the share is thought to be 50 %; it is 30 %. Everything that follows from it is wrong, except the order.
model = PULogisticClassifier(class_prior=0.5).fit(data.X, data.y)
probability = model.predict_proba(pool)[:, 1]
print(f"by the model alone, {probability.mean():.0%} of the pool are about computers")

# %%
# Is reading worth the time? What the labels of the first messages would do to the standard error of the precision.
first = next_to_label(model, pool, 50, goal="precision")
for n in (10, 25, 50):
    print(f"{n} messages: down by {first.gain[n - 1]:.0%}")

# %%
# Read 100 messages. One may be left without a label where nobody can tell: intervals then allow for either.
sample = draw_audit(probability, 100, random_state=0)
labels = truth[sample.index].astype(float)
labels[:2] = np.nan
result = read_audit(sample, labels, probability)
print(result)

# %%
# Where the list has to end: above this probability so many messages of the pool are right, with a confidence of 90 %.
# The truth is looked up for this page only.
for promised in (0.6, 0.7, 0.8):
    threshold = result.threshold_for_precision(promised)
    listed = probability > threshold
    print(
        f"at least {promised:.0%} above {threshold:.3f}: {listed.sum()} messages, {truth[listed].mean():.0%} right, "
        f"{truth[listed].sum() / truth.sum():.0%} of all messages about computers"
    )

# %%
# Probabilities before and after: on the diagonal, of messages given .7, seven in ten are about computers.
better = result.recalibrated(model).predict_proba(pool)[:, 1]
second = draw_audit(better, 100, random_state=1)
again = read_audit(second, truth[second.index], better)
figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
plot_audit(result, ax=left)
plot_audit(again, ax=right)
plt.show()
