"""
A report without negatives
==========================

:func:`~purely.metrics.pu_report` gives accuracy, precision, recall and the rest from positives, unlabelled rows and a
class prior. The interval of the prior is carried through: precision and accuracy depend on it, recall does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from purely.classifiers import PULeastSquaresClassifier
from purely.datasets import make_gaussians
from purely.metrics import pu_report
from purely.model_selection import pu_train_test_split
from purely.prior import ClassPrior

# %%
# The classifier is fitted to one half of the rows and judged on the other; the prior is estimated, with its interval.
sample = make_gaussians(1000, 3000, shift=3.0, class_prior=0.4, random_state=0)
X, X_test, y, y_test = pu_train_test_split(sample.X, sample.y, test_size=0.5, random_state=0)
prior = ClassPrior("linear").fit(X, y)
model = PULeastSquaresClassifier(class_prior=prior.class_prior_, random_state=0).fit(X, y)
report = pu_report(y_test, model.predict_proba(X_test)[:, 1], prior, random_state=0)
print(report)

# %%
# The true values, from many new rows whose classes are known, are dashes.
new = sample.problem.sample(1, 100_000, random_state=1)
probability = model.predict_proba(new.X)[:, 1]
called = probability > 0.5
truth = {
    "accuracy": np.mean(called == new.y_true),
    "balanced_accuracy": balanced_accuracy_score(new.y_true, called),
    "precision": precision_score(new.y_true, called),
    "recall": recall_score(new.y_true, called),
    "f1": f1_score(new.y_true, called),
    "roc_auc": roc_auc_score(new.y_true, probability),
}
estimates = [report[name] for name in truth]
value = np.array([estimate.value for estimate in estimates])
low, high = np.array([(estimate.low, estimate.high) for estimate in estimates]).T

figure, axes = plt.subplots(figsize=(7.5, 4.0))
place = np.arange(len(truth))[::-1]
axes.errorbar(value, place, xerr=[value - low, high - value], fmt="o", capsize=4, label="estimate, 95 % interval")
axes.plot(list(truth.values()), place, "|", color="C1", markersize=18, markeredgewidth=1.8, label="true")
axes.set_yticks(place, [name.replace("_", " ") for name in truth])
axes.tick_params(axis="y", length=0)
axes.set(xlabel="value", ylim=(-0.6, place[0] + 0.6))
axes.set_title("Estimated without a negative, and true")
figure.legend(loc="outside lower center", ncols=2)
plt.show()
