"""
Labels that depend on a column
==============================

If large amounts are investigated more often than small ones, labelled positives are not typical of all positives. Told
which column the labelling depends on, :class:`~purely.classifiers.SelectionAwareClassifier` estimates how, and corrects
for it. Here the rule is known, so both can be checked.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from purely import PUClassifier
from purely.classifiers import SelectionAwareClassifier
from purely.datasets import Labelling, make_gaussians, make_pu

full = make_gaussians(2000, 6000, n_features=3, random_state=0)
rule = Labelling("column", ratio=30.0, column=1)  # the odds of being labelled vary thirtyfold with column 1
data = make_pu(
    full.X, full.y_true, n_positive=300, n_unlabelled=1200, class_prior=0.3, n_test=2000, labelling=rule, random_state=0
)
plain = PUClassifier(0.3, members="light").fit(data.X, data.y)
aware = SelectionAwareClassifier(0.3, selection_features=[1], members="light").fit(data.X, data.y)

# %%
# Left: the true propensity of the positives, scaled to a mean of 1, and its estimate. The estimate has the right
# direction, but is too steep: it takes some rarely labelled positives for negatives. Right: both classifiers on test
# rows with known classes; the correction helps all the same.
positive = data.y_true == 1
column, true = data.X[positive, 1], data.propensity[positive]
estimate = aware.relative_propensity(data.X[positive])
order = np.argsort(column)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
left.plot(column[order], (true / true.mean())[order], color="C1", label="true")
left.plot(column[order], (estimate / estimate.mean())[order], color="C0", label="estimated")
left.set(xlabel="column 1", ylabel="propensity, relative", title="Who gets a label")
left.legend()
for name, model, colour in (("as if at random", plain, "C2"), ("corrected", aware, "C0")):
    score = model.predict_proba(data.X_test)[:, 1]
    wrong, found, _ = roc_curve(data.y_test, score)
    right.plot(wrong, found, color=colour, label=f"{name}: area {roc_auc_score(data.y_test, score):.3f}")
right.set(xlabel="false positive rate", ylabel="recall", title="Which rows are positive")
right.legend(loc="lower right")
plt.show()
